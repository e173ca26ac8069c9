//! Shortens mentions of local accounts to `@user`.

use super::scan::{EntityKind, scan};

/// `text` with `@user@domain` shortened to `@user` where `domain` is one of `local_domains`.
///
/// Local accounts are always written without a domain; domains are compared case-insensitively.
#[must_use]
pub fn rewrite_local_mentions(text: &str, local_domains: &[&str]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for entity in scan(text) {
        let EntityKind::Mention(mention) = entity.kind else {
            continue;
        };
        let local = |domain: &String| local_domains.iter().any(|local| domain.eq_ignore_ascii_case(local));
        if mention.domain.as_ref().is_some_and(local) {
            out.push_str(&text[at..entity.range.start]);
            out.push('@');
            out.push_str(&mention.username);
            at = entity.range.end;
        }
    }
    out.push_str(&text[at..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_only_local_domains() {
        let text = "@alice@Local.Example, @bob@remote.example @carol a@local.example https://x.org/@dan@local.example";
        assert_eq!(
            rewrite_local_mentions(text, &["local.example", "www.local.example"]),
            "@alice, @bob@remote.example @carol a@local.example https://x.org/@dan@local.example"
        );
    }

    #[test]
    fn keeps_everything_without_local_domains() {
        assert_eq!(rewrite_local_mentions("@alice@local.example", &[]), "@alice@local.example");
    }
}
