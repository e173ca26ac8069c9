//! Finds mentions: `@username` and `@username@domain`.

use std::net::Ipv4Addr;

use super::Mention;
use crate::chars::is_word;

/// The mention at the start of `rest` (which begins with `@`) and its length in bytes.
pub(super) fn prefix(rest: &str, before: Option<char>) -> Option<(usize, Mention)> {
    if before.is_some_and(|c| is_word(c) || matches!(c, '/' | '=')) {
        return None;
    }
    let username = words(&rest[1..], |c| c.is_ascii_alphanumeric() || c == '_')?;
    let mut len = 1 + username.len();
    let domain = rest[len..].strip_prefix('@').and_then(|after| words(after, is_word));
    len += domain.map_or(0, |domain| 1 + domain.len());
    let port = domain.filter(|domain| is_this_machine(domain)).and_then(|_| port(&rest[len..]));
    len += port.map_or(0, str::len);
    let domain = domain.map(|domain| ascii_domain(domain) + port.unwrap_or_default());
    Some((len, Mention { username: username.to_owned(), domain }))
}

/// True for names that always mean this machine: only servers in development have such addresses, and they have ports.
fn is_this_machine(domain: &str) -> bool {
    domain == "localhost" || domain.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
}

/// The port at the start of `rest`, with its colon.
fn port(rest: &str) -> Option<&str> {
    let digits = rest.strip_prefix(':')?;
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse::<u16>().ok().map(|_| &rest[..=end])
}

/// The prefix of `text` that consists of `part` characters with dots and hyphens between them; `None` when it is
/// empty.
fn words(text: &str, part: impl Fn(char) -> bool) -> Option<&str> {
    if !text.starts_with(&part) {
        return None;
    }
    let end = text.find(|c| !part(c) && !matches!(c, '.' | '-')).unwrap_or(text.len());
    Some(text[..end].trim_end_matches(['.', '-']))
}

/// `domain` in the ASCII form that identifies servers; an invalid domain name is only converted to lower case.
fn ascii_domain(domain: &str) -> String {
    match url::Host::parse(domain) {
        Ok(url::Host::Domain(ascii)) => ascii,
        Ok(url::Host::Ipv4(_) | url::Host::Ipv6(_)) | Err(_) => domain.to_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use crate::scan;

    /// The mentions in `text`, written `username` or `username@domain`.
    fn mentions(text: &str) -> Vec<String> {
        let name = |m: &super::Mention| m.domain.as_ref().map_or(m.username.clone(), |d| format!("{}@{d}", m.username));
        scan(text).mentions().map(name).collect()
    }

    #[test]
    fn finds_local_and_remote_mentions() {
        assert_eq!(mentions("@alice, @Bob_2@Example.COM!"), ["alice", "Bob_2@example.com"]);
        assert_eq!(mentions("(@alice)"), ["alice"]);
        assert_eq!(mentions("やあ @aliceさん"), ["alice"]);
    }

    #[test]
    fn punctuation_at_the_end_is_not_part_of_it() {
        assert_eq!(
            mentions("@alice. @bob- @carol@example.com. @dan@ @eve@example.com:3000"),
            ["alice", "bob", "carol@example.com", "dan", "eve@example.com"]
        );
        assert_eq!(mentions("@a.b-c@d-e.f"), ["a.b-c@d-e.f"]);
    }

    #[test]
    fn port_is_part_of_an_address_of_this_machine() {
        assert_eq!(
            mentions("@a@127.0.0.1:3000: @b@localhost:80, @c@localhost:x @d@127.0.0.1:99999"),
            ["a@127.0.0.1:3000", "b@localhost:80", "c@localhost", "d@127.0.0.1"]
        );
    }

    #[test]
    fn addresses_and_paths_are_not_mentions() {
        for text in ["alice@example.com", "x.org/@alice", "q=@alice", "é@alice", "@", "@@", "@-a", "@é", "＠alice"] {
            assert_eq!(mentions(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn international_domains_are_ascii() {
        assert_eq!(mentions("@a@Bücher.example"), ["a@xn--bcher-kva.example"]);
    }
}
