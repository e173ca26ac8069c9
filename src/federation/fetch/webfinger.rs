//! WebFinger (RFC 7033): which actor an address belongs to, and where its owner acts on things of other servers.

use config::Scheme;
use context::Cx;
use outbound::Target;

use super::document::{plain, text_at};
use crate::Failure;
use crate::address::host_of;
use crate::reading::is_username;
use crate::vocabulary::{HostMeta, Jrd, parse_plain};

/// What the template of a page for interactions has in the place of a URI.
const PLACEHOLDER: &str = "{uri}";

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

/// The address at which `visitor`, `user@domain` or a domain alone, acts on `uri`: the template that its server names for
/// it, with `uri` in the place of its placeholder.
///
/// # Errors
/// [`Failure`], with [`Failure::Disbelieved`] when it names none, or one that leads nowhere.
pub(super) async fn interaction_page(cx: &Cx, visitor: &str, uri: &str) -> Result<String, Failure> {
    // The server's own actor has the domain as its user name (docs/contract/federation.md#1-discovery-documents).
    let (username, domain) = visitor.rsplit_once('@').unwrap_or((visitor, visitor));
    let domain = service::domain::parse(domain).ok_or(Failure::Gone)?;
    crate::policy::may_talk(cx, &domain)?;
    let jrd = descriptor(cx, username, &domain).await?;
    let template = jrd.subscribe().ok_or(Failure::Disbelieved("WebFinger names no page for interactions"))?;
    filled(template, uri, cx.config.server.scheme)
}

/// `template` with `uri` in the place of `{uri}`, percent-encoded: a URL without TLS only where `scheme` has none either.
fn filled(template: &str, uri: &str, scheme: Scheme) -> Result<String, Failure> {
    if !template.contains(PLACEHOLDER) {
        return Err(Failure::Disbelieved("the template has no placeholder"));
    }
    let encoded: String = url::form_urlencoded::byte_serialize(uri.as_bytes()).collect();
    let page = Target::parse(&template.replace(PLACEHOLDER, &encoded))?;
    if page.is_secure() || scheme == Scheme::Http {
        Ok(page.url().to_owned())
    } else {
        Err(Failure::Disbelieved("the template is not of https"))
    }
}

async fn descriptor(cx: &Cx, username: &str, domain: &str) -> Result<Jrd, Failure> {
    let scheme = cx.config.server.scheme.as_str();
    let resource = format!("acct:{username}@{domain}");
    let encoded: String = url::form_urlencoded::byte_serialize(resource.as_bytes()).collect();
    let url = format!("{scheme}://{domain}/.well-known/webfinger?resource={encoded}");
    let fetched = match plain(cx, &url).await {
        Err(Failure::Status(404)) => {
            let template = host_meta(cx, domain).await.map_err(|failure| match failure {
                failure @ (Failure::Local(_) | Failure::Deferred) => failure,
                _ => Failure::Status(404),
            })?;
            plain(cx, &filled(&template, &resource, cx.config.server.scheme)?).await?
        }
        fetched => fetched?,
    };
    Ok(parse_plain(&fetched.body)?)
}

/// The template of the addresses where `domain` describes its people, for hosts that answer elsewhere than at the usual
/// place (RFC 6415): from JSON or XML.
async fn host_meta(cx: &Cx, domain: &str) -> Result<String, Failure> {
    let url = format!("{}://{domain}/.well-known/host-meta", cx.config.server.scheme.as_str());
    let text = text_at(cx, &url).await?;
    let by_json = parse_plain::<HostMeta>(text.as_bytes()).ok().and_then(|meta| meta.template().map(str::to_owned));
    let template = by_json.or_else(|| text::page::resource_template(&text));
    let template = template.filter(|template| !template.contains("/.well-known/webfinger?"));
    template.ok_or(Failure::Disbelieved("host-meta names no other place for WebFinger"))
}

async fn ask(cx: &Cx, username: &str, domain: &str) -> Result<Found, Failure> {
    let jrd = descriptor(cx, username, domain).await?;
    let (username, domain) =
        address(&jrd.subject).ok_or(Failure::Disbelieved("the subject of WebFinger is not an address"))?;
    cx.step("webfinger", true, || format!("the subject is {}", jrd.subject));
    cx.step("webfinger", jrd.actor().is_some(), || match jrd.actor() {
        Some(actor) => format!("the self link is {actor}"),
        None => "there is no self link to a document".to_owned(),
    });
    let actor = jrd.actor().ok_or(Failure::Disbelieved("WebFinger names no actor"))?;
    Ok(Found { username: username.to_owned(), domain, actor: actor.to_owned() })
}

/// The user name and the domain of `acct:user@domain`. The domain is written as in URLs, so that policies about it hold: in
/// lower-case ASCII, its port as a number, or left out if it is the usual one.
pub(super) fn address(subject: &str) -> Option<(&str, String)> {
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

    #[test]
    fn template_is_filled_only_when_it_leads_somewhere() {
        let filled = |template: &str, scheme| filled(template, "https://a.test/@b?c=d&e", scheme).ok();
        let encoded = "https%3A%2F%2Fa.test%2F%40b%3Fc%3Dd%26e";
        let page = filled("https://b.test/authorize_interaction?uri={uri}", Scheme::Https);
        assert_eq!(page, Some(format!("https://b.test/authorize_interaction?uri={encoded}")));
        assert_eq!(filled("http://b.test/{uri}", Scheme::Http), Some(format!("http://b.test/{encoded}")));
        for template in ["http://b.test/{uri}", "https://b.test/", "javascript:{uri}", "{uri}", "//b.test/{uri}", ""] {
            assert_eq!(filled(template, Scheme::Https), None, "{template}");
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
