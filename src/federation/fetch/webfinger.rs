//! WebFinger (RFC 7033): which actor an address belongs to.

use context::Cx;

use super::document::plain;
use crate::Failure;
use crate::address::host_of;
use crate::reading::is_username;
use crate::vocabulary::{Jrd, parse_plain};

/// The answer for an address, after at most one redirect of its subject.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) username: String,
    /// In lower case.
    pub(crate) domain: String,
    /// The id of the actor.
    pub(crate) actor: String,
}

/// Asks `domain` about `username`. A subject on another domain is asked about once more there.
///
/// # Errors
/// [`Failure`], with [`Failure::Disbelieved`] when the subjects do not agree.
pub(super) async fn find(cx: &Cx, username: &str, domain: &str) -> Result<Found, Failure> {
    let first = ask(cx, username, domain).await?;
    if first.domain == domain.to_lowercase() && first.username.eq_ignore_ascii_case(username) {
        return Ok(first);
    }
    let second = ask(cx, &first.username, &first.domain).await?;
    let same = second.domain == first.domain && second.username.eq_ignore_ascii_case(&first.username);
    if same { Ok(second) } else { Err(Failure::Disbelieved("WebFinger redirects more than once")) }
}

async fn ask(cx: &Cx, username: &str, domain: &str) -> Result<Found, Failure> {
    let scheme = cx.config.server.scheme.as_str();
    let resource =
        url::form_urlencoded::byte_serialize(format!("acct:{username}@{domain}").as_bytes()).collect::<String>();
    let url = format!("{scheme}://{domain}/.well-known/webfinger?resource={resource}");
    let fetched = plain(cx, &url).await?;
    let jrd: Jrd = parse_plain(&fetched.body)?;
    let (username, domain) =
        address(&jrd.subject).ok_or(Failure::Disbelieved("the subject of WebFinger is not an address"))?;
    let actor = jrd.actor().ok_or(Failure::Disbelieved("WebFinger names no actor"))?;
    Ok(Found { username: username.to_owned(), domain, actor: actor.to_owned() })
}

/// The user name and the domain of `acct:user@domain`. The domain is written as in URLs, so that policies about it hold: in
/// lower-case ASCII, its port as a number, or left out if it is the usual one.
fn address(subject: &str) -> Option<(&str, String)> {
    let (username, domain) = subject.strip_prefix("acct:").unwrap_or(subject).split_once('@')?;
    let host = host_of(&format!("https://{}/", service::domain::parse(domain)?))?;
    is_username(username).then_some((username, host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domain_has_one_form() {
        let domain = |subject: &str| address(subject).map(|(_, domain)| domain);
        for subject in
            ["acct:u@a.test", "u@A.test", "acct:u@a.test/", "acct:u@ a.test ", "u@a.test:443", "u@a.test:0443"]
        {
            assert_eq!(domain(subject).as_deref(), Some("a.test"), "{subject}");
        }
        assert_eq!(domain("u@Bücher.test").as_deref(), Some("xn--bcher-kva.test"));
        assert_eq!(domain("u@a.test:8443").as_deref(), Some("a.test:8443"));
        for subject in
            ["a.test", "@a.test", "u@a.test/x", "u@a.test?x", "u@b@a.test", "u@a.test:99999", "u@", "ü@a.test"]
        {
            assert_eq!(domain(subject), None, "{subject}");
        }
    }
}

#[cfg(test)]
mod fuzz {
    //! Property tests: a subject that is accepted is an address, and its domain is a host and nothing more.

    use proptest::prelude::*;

    use super::*;

    fn subject() -> impl Strategy<Value = String> {
        let domain = prop_oneof![
            "[a-zA-Z0-9.-]{1,12}",
            "[a-z]{1,5}\\.(test|example)(:[0-9]{1,6})?[/. ]{0,2}",
            "[0-9]{1,3}(\\.[0-9]{1,3}){1,3}",
            "[a-zé例ß．。%@/?#\\[\\]:\\\\. ]{1,12}",
            any::<String>(),
        ];
        let name = prop_oneof!["[a-zA-Z0-9_.-]{1,8}", "\\PC{0,4}", any::<String>()];
        ("(acct:|ACCT:|acct:@|https://|)", name, domain)
            .prop_map(|(scheme, name, domain)| format!("{scheme}{name}@{domain}"))
    }

    fn jrd() -> impl Strategy<Value = String> {
        let kind = prop_oneof![
            Just("application/activity+json".to_owned()),
            Just("application/ld+json; profile=\"https://www.w3.org/ns/activitystreams\"".to_owned()),
            any::<String>(),
        ];
        let link = ("(self|profile-page|)", kind, any::<Option<String>>());
        (subject(), prop::collection::vec(link, 0..4)).prop_map(|(subject, links)| {
            let links: Vec<_> = links
                .into_iter()
                .map(|(rel, kind, href)| serde_json::json!({ "rel": rel, "type": kind, "href": href }))
                .collect();
            serde_json::json!({ "subject": subject, "links": links }).to_string()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn domain_of_a_subject_is_a_host(subject in subject()) {
            if let Some((username, domain)) = address(&subject) {
                prop_assert!(is_username(username));
                prop_assert_eq!(service::domain::parse(&domain), Some(domain.clone()));
                prop_assert!(domain.bytes().all(|byte| byte.is_ascii_graphic() && !b"/@?#\\".contains(&byte)), "{}", domain);
                let host = host_of(&format!("https://{domain}/.well-known/webfinger"));
                prop_assert_eq!(host, Some(domain));
            }
        }

        #[test]
        fn answer_is_read_or_refused(text in prop_oneof![jrd(), any::<String>()]) {
            if let Ok(answer) = parse_plain::<Jrd>(text.as_bytes()) {
                _ = address(&answer.subject);
                _ = answer.actor();
            }
        }
    }
}
