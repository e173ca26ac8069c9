//! Signing requests and reading the signatures of the same requests. Refusals, published test vectors and property tests are in
//! files of their own.

mod fuzz;
mod refusals;
mod vectors;

use std::sync::LazyLock;

use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::Duration;
use crypto::key_pair;
use crypto::rsa::{SigningKey, VerifyingKey};
use model::Time;
use outbound::header::{HeaderName, HeaderValue};
use outbound::{HeaderMap, Method, Target};

use super::fields::{self, Member};
use super::{Claim, Incoming, Post, Refusal, SignError, Signer, rfc9421, times};

const KEY_ID: &str = "https://remote.example/users/ann#main-key";
const ACTIVITY: &str = "application/activity+json";
const BODY: &[u8] = br#"{"type":"Like"}"#;
const NOW: i64 = 1_700_000_000;

static KEYS: LazyLock<(SigningKey, VerifyingKey)> = LazyLock::new(keys);

fn keys() -> (SigningKey, VerifyingKey) {
    let (public, private) = key_pair::generate().unwrap();
    (SigningKey::parse(&private).unwrap(), VerifyingKey::parse(&public).unwrap())
}

fn now() -> Time {
    times::from_seconds(NOW).unwrap()
}

fn signer() -> Signer<'static> {
    Signer { key: &KEYS.0, key_id: KEY_ID }
}

/// A change of a request on its way.
type Change = fn(&mut Message);

/// A request as it arrives, to be changed on its way.
#[derive(Clone)]
struct Message {
    method: Method,
    path_and_query: String,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Message {
    /// A signed `GET`.
    fn get(url: &str) -> Self {
        let target = Target::parse(url).unwrap();
        Self::new(Method::GET, &target, signer().get(&target, now()).unwrap(), b"")
    }

    /// A signed `POST`.
    fn post(url: &str) -> Self {
        let target = Target::parse(url).unwrap();
        let post = Post { content_type: ACTIVITY, body: BODY, synchronization: None };
        Self::new(Method::POST, &target, signer().post(&target, now(), post).unwrap(), BODY)
    }

    /// Sets `Host`, as the HTTP client does.
    fn new(method: Method, target: &Target, mut headers: HeaderMap, body: &[u8]) -> Self {
        headers.insert("host", target.authority().parse().unwrap());
        Self { method, path_and_query: target.path_and_query().to_owned(), headers, body: body.to_vec() }
    }

    /// A `POST` signed as RFC 9421 describes it, with these components and parameters.
    fn rfc9421(input: &str) -> Self {
        let mut message = Self::post("https://local.example/inbox?a=b");
        let digest = STANDARD.encode(crypto::digest_sha256(BODY));
        message.set("content-digest", &format!("sha-256=:{digest}:"));
        message.sign(input);
        message
    }

    fn sign(&mut self, input: &str) {
        self.set("signature-input", &format!("sig={input}"));
        let Some(Member::List(list)) = fields::dictionary(&format!("sig={input}")).map(|mut all| all.remove(0).1)
        else {
            return;
        };
        let base = rfc9421::base(&self.incoming(), &list).unwrap_or_default();
        let signature = STANDARD.encode(KEYS.0.sign(base.as_bytes()).unwrap());
        self.set("signature", &format!("sig=:{signature}:"));
    }

    fn set(&mut self, name: &'static str, value: &str) {
        self.headers.insert(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }

    /// Repeats a header.
    fn append(&mut self, name: &'static str) {
        self.headers.append(name, self.headers[name].clone());
    }

    /// Replaces a part of a header.
    fn replace(&mut self, name: &'static str, from: &str, to: &str) {
        let value = self.headers[name].to_str().unwrap();
        assert!(value.contains(from), "{value}");
        self.set(name, &value.replace(from, to));
    }

    fn incoming(&self) -> Incoming<'_> {
        Incoming {
            method: &self.method,
            scheme: "https",
            path_and_query: &self.path_and_query,
            headers: &self.headers,
            body: &self.body,
        }
    }

    fn claim_at(&self, seconds: i64) -> Result<Claim, Refusal> {
        Claim::parse(&self.incoming(), now() + Duration::seconds(seconds))
    }

    fn claim(&self) -> Result<Claim, Refusal> {
        self.claim_at(0)
    }

    /// True when there is an acceptable signature by the usual key.
    fn is_believed(&self) -> bool {
        self.claim().expect("acceptable").verify(&KEYS.1)
    }
}

#[test]
fn signed_get_is_believed() {
    let message = Message::get("https://Local.example:8443/users/bob/outbox?page=true&max_id=1#top");
    let signature = message.headers["signature"].to_str().unwrap();
    let begin = format!(r#"keyId="{KEY_ID}",algorithm="rsa-sha256",headers="(request-target) host date","#);
    assert!(signature.starts_with(&begin), "{signature}");
    assert_eq!(message.headers["date"], "Tue, 14 Nov 2023 22:13:20 GMT");
    assert_eq!(message.headers["host"], "local.example:8443");
    assert_eq!(message.headers["accept"], "application/activity+json, application/ld+json");
    assert_eq!(message.headers.len(), 4);
    assert_eq!(message.claim().unwrap().key_id(), KEY_ID);
    assert!(message.is_believed());
    let mut rewritten = message;
    rewritten.set("accept", "*/*");
    assert!(rewritten.is_believed(), "a proxy may rewrite it");
}

#[test]
fn signed_post_is_believed() {
    let message = Message::post("https://local.example/inbox?a=b");
    let signature = message.headers["signature"].to_str().unwrap();
    assert!(signature.contains(r#"headers="(request-target) host date digest content-type","#), "{signature}");
    assert_eq!(message.headers["content-type"], ACTIVITY);
    assert!(message.is_believed());

    let target = Target::parse("http://[::1]/inbox").unwrap();
    let post = Post { content_type: ACTIVITY, body: b"", synchronization: Some("collectionId=\"x\"") };
    let headers = signer().post(&target, now(), post).unwrap();
    let signature = headers["signature"].to_str().unwrap();
    assert!(signature.contains("digest content-type collection-synchronization"), "{signature}");
    assert!(Message::new(Method::POST, &target, headers, b"").is_believed());
}

#[test]
fn key_id_with_a_quote_cannot_sign() {
    let target = Target::parse("https://local.example/").unwrap();
    for key_id in ["a\",headers=\"", "a b", "a\\", "é", "a\nb"] {
        let refused = Signer { key: &KEYS.0, key_id }.get(&target, now());
        assert!(matches!(refused, Err(SignError::Header("keyId"))), "{key_id}");
    }
}

#[test]
fn changed_request_is_not_believed() {
    let changes: [(&str, Change); 8] = [
        ("path", |message| message.path_and_query = "/other?a=b".to_owned()),
        ("method", |message| message.method = Method::PUT),
        ("host", |message| message.set("host", "other.example")),
        ("date", |message| message.set("date", "Tue, 14 Nov 2023 22:13:21 GMT")),
        ("content type", |message| message.set("content-type", "application/json")),
        ("second value", |message| {
            message.headers.append(HeaderName::from_static("content-type"), HeaderValue::from_static("text/plain"));
        }),
        ("list", |message| message.replace("signature", "host date", "date host")),
        ("body and digest", |message| {
            message.body = b"{}".to_vec();
            let digest = super::digest::of(b"{}");
            message.set("digest", &digest);
        }),
    ];
    for (name, change) in changes {
        let mut message = Message::post("https://local.example/inbox?a=b");
        change(&mut message);
        assert!(!message.is_believed(), "{name}");
    }
    let other = keys().1;
    assert!(!Message::get("https://local.example/").claim().unwrap().verify(&other));
}

#[test]
fn query_may_be_unsigned() {
    let mut message = Message::get("https://local.example/outbox");
    message.path_and_query = "/outbox?page=1".to_owned();
    assert!(message.is_believed());
    message.path_and_query = "/outbox/1".to_owned();
    assert!(!message.is_believed());
    let mut message = Message::get("https://local.example/outbox?page=1");
    message.path_and_query = "/outbox?page=2".to_owned();
    assert!(!message.is_believed());
}

#[test]
fn scheme_before_signature_is_tolerated() {
    for scheme in ["Signature ", "signature   "] {
        let mut message = Message::get("https://local.example/");
        let value = format!("{scheme}{}", message.headers["signature"].to_str().unwrap());
        message.set("signature", &value);
        assert!(message.is_believed());
    }
}

/// A `GET` signed with `hs2019`, with these lines signed and these parameters.
fn hs2019(components: &str, lines: &str, parameters: &str) -> Message {
    let mut message = Message::get("https://local.example/a");
    let signature = STANDARD.encode(KEYS.0.sign(lines.as_bytes()).unwrap());
    message.set("signature", &format!(r#"keyId="k",headers="{components}",{parameters},signature="{signature}""#));
    message
}

#[test]
fn hs2019_signs_its_own_times() {
    let (created, expires) = (NOW - 10, NOW + 3600);
    let lines = format!("(request-target): get /a\nhost: local.example\n(created): {created}\n(expires): {expires}.5");
    let parameters = format!("algorithm=hs2019 , created={created},expires=\"{expires}.5\"");
    let message = hs2019("(request-target) Host (created)  (expires)", &lines, &parameters);
    assert!(message.is_believed());
    assert!(message.claim_at(3600 + 3600).is_ok());
    assert_eq!(message.claim_at(3600 + 3601), Err(Refusal::Expired));
    assert_eq!(message.claim_at(-3611), Err(Refusal::FromTheFuture));
}

#[test]
fn unsigned_times_extend_nothing() {
    let lines = "(request-target): get /a\nhost: local.example\ndate: Tue, 14 Nov 2023 22:13:20 GMT";
    let parameters = format!("created={},expires={}", NOW + 40_000, NOW + 50_000);
    let message = hs2019("(request-target) host date", lines, &parameters);
    assert!(message.is_believed());
    assert!(message.claim_at(300 + 3600).is_ok());
    assert_eq!(message.claim_at(300 + 3601), Err(Refusal::Expired));

    let message = hs2019("(request-target) host date", lines, &format!("expires={}", NOW + 1));
    assert_eq!(message.claim_at(3602), Err(Refusal::Expired));
}

#[test]
fn long_validity_is_capped() {
    let expires = NOW + 30 * 24 * 3600;
    let parameters = format!("created={NOW},expires={expires}");
    let message = hs2019("(request-target) host (created) (expires)", "", &parameters);
    assert!(message.claim_at(13 * 3600).is_ok());
    assert_eq!(message.claim_at(13 * 3600 + 1), Err(Refusal::Expired));
}

const INPUT: &str = r#"("@method" "@target-uri" "content-digest");created=1700000000;keyid="k""#;

#[test]
fn rfc9421_post_is_believed() {
    for input in [
        INPUT,
        concat!(
            r#"("@authority" "@request-target" "@method" "content-digest")"#,
            r#";keyid="k";created=1700000000;alg="rsa-v1_5-sha256""#
        ),
        concat!(
            r#"("@authority"  "@path" "@query" "@scheme" "@query-param";name="a" "@method" "content-digest" )"#,
            r#"; created=1700000000; keyid="k""#
        ),
    ] {
        let message = Message::rfc9421(input);
        assert!(message.is_believed(), "{input}");
        assert_eq!(message.claim().unwrap().key_id(), "k");
        for change in ["/other?a=b", "/inbox?a=c"] {
            let changed = Message { path_and_query: change.to_owned(), ..message.clone() };
            assert!(!changed.is_believed(), "{input}");
        }
    }
    let pss = Message::rfc9421(&format!("{INPUT};alg=\"rsa-pss-sha512\""));
    assert!(!pss.is_believed());
}

#[test]
fn rfc9421_get_needs_no_digest() {
    let mut message = Message::get("https://local.example/a%20b?c+d=%C3%A9&e=f+g");
    message.sign(concat!(
        r#"("@method" "@authority" "@path" "@query-param";name="c%20d" "@query-param";name="e")"#,
        r#";created=1700000000;keyid="k""#
    ));
    assert!(message.is_believed());
    let text = &message.claim().unwrap().messages[0];
    assert!(text.contains("\"@path\": /a%20b\n\"@query-param\";name=\"c%20d\": %C3%A9\n"), "{text}");
    assert!(text.contains("\"@query-param\";name=\"e\": f%20g\n"), "{text}");
}

#[test]
fn rfc9421_without_algorithm_follows_the_key() {
    let pair = Ed25519KeyPair::generate().unwrap();
    let spki: PublicKeyX509Der<'_> = pair.public_key().as_der().unwrap();
    let pem = format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----", STANDARD.encode(spki.as_ref()));
    let key = VerifyingKey::parse(&pem).unwrap();

    let mut message = Message::rfc9421(INPUT);
    let text = message.claim().unwrap().messages[0].clone();
    message.set("signature", &format!("sig=:{}:", STANDARD.encode(pair.sign(text.as_bytes()))));
    assert!(message.claim().unwrap().verify(&key));
    assert!(!message.is_believed(), "another key");
}

#[test]
fn rfc9421_third_signature_is_found() {
    let mut message = Message::rfc9421(INPUT);
    message.replace("signature-input", "sig=", "a=1, b=(), sig=");
    message.replace("signature", "sig=", "b=:YQ==:, sig=");
    assert!(message.is_believed());
    message.replace("signature-input", "sig=", "c=(), sig=");
    assert_eq!(message.claim().unwrap_err().as_str(), "malformed", "the refusal of the first");
}

/// Every prefix of a header and every replaced byte: some are refused, some not believed, and none panics.
#[test]
fn damaged_headers_do_no_harm() {
    for (message, headers) in [
        (Message::post("https://local.example/inbox?a=b"), &["signature", "digest", "date"][..]),
        (Message::rfc9421(INPUT), &["signature-input", "signature", "content-digest"]),
    ] {
        for name in headers {
            let value = message.headers[*name].as_bytes().to_vec();
            for at in 0..value.len() {
                let mut damaged = vec![value[..at].to_vec()];
                for byte in b"\"\\:;,=() \t*?-09aZ\xff" {
                    let mut value = value.clone();
                    value[at] = *byte;
                    damaged.push(value);
                }
                for value in damaged {
                    let mut message = message.clone();
                    message.headers.insert(HeaderName::from_static(name), HeaderValue::from_bytes(&value).unwrap());
                    drop(message.claim());
                }
            }
        }
    }
}
