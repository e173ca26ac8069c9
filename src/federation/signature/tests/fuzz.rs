//! Property tests: whatever the headers, nothing panics, and a changed request is not believed.

use std::sync::LazyLock;

use outbound::Method;
use outbound::header::{HeaderName, HeaderValue};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::{INPUT, KEY_ID, KEYS, Message};

/// One signed request of each kind. All of them have a query, which is signed.
static SIGNED: LazyLock<[Message; 3]> = LazyLock::new(|| {
    [
        Message::get("https://local.example/users/bob?page=true"),
        Message::post("https://local.example/inbox?a=b"),
        Message::rfc9421(INPUT),
    ]
});

const NAMES: [&str; 8] =
    ["signature", "signature-input", "digest", "content-digest", "date", "host", "content-type", "accept"];

/// Text that resembles the headers of signatures.
fn header() -> impl Strategy<Value = String> {
    let component = "(\\(request-target\\)|\\(created\\)|\\(expires\\)|host|date|digest|\"@method\"|\"@path\"|\"content-digest\"|[a-z@()\"; ]{0,8})";
    let piece = prop_oneof![
        prop::collection::vec(component, 0..6).prop_map(|all| format!("headers=\"{}\"", all.join(" "))),
        prop::collection::vec(component, 0..6).prop_map(|all| format!("sig=({})", all.join(" "))),
        "(keyId|keyid|algorithm|alg|signature|created|expires|nonce|tag)=\"?[a-zA-Z0-9+/=:. -]{0,20}\"?",
        "(sha-256|SHA-256|sha-512)=:?[a-zA-Z0-9+/=]{0,44}:?",
        "(Mon|Tue), [0-9]{2} Nov 2023 [0-9]{2}:[0-9]{2}:[0-9]{2} (GMT|UTC)",
        "[,;:=()\" \\\\]{1,3}",
        "[ -~]{0,12}",
        any::<String>(),
    ];
    (prop::collection::vec(piece, 0..8), select(&[",", ";", ", ", ""][..])).prop_map(|(all, between)| all.join(between))
}

/// A change at a place of a text.
#[derive(Clone, Debug)]
enum Edit {
    Insert(String),
    Remove(usize),
    Replace(char),
    Double(usize),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        "[ -~]{1,4}".prop_map(Edit::Insert),
        (1..20_usize).prop_map(Edit::Remove),
        proptest::char::range(' ', '~').prop_map(Edit::Replace),
        (1..40_usize).prop_map(Edit::Double),
    ]
}

fn edited(text: &str, at: Index, edit: &Edit) -> String {
    let chars: Vec<char> = text.chars().collect();
    if chars.is_empty() {
        return "x".to_owned();
    }
    let (before, after) = chars.split_at(at.index(chars.len()));
    let (before, after) = (before.iter().collect::<String>(), after.iter().collect::<String>());
    let rest = |most: usize| after.chars().skip(most).collect::<String>();
    match edit {
        Edit::Insert(text) => format!("{before}{text}{after}"),
        Edit::Remove(most) => format!("{before}{}", rest(*most)),
        Edit::Replace(char) => format!("{before}{char}{}", rest(1)),
        Edit::Double(most) => format!("{before}{}{after}", after.chars().take(*most).collect::<String>()),
    }
}

/// True when the usual key confirms a signature that says that it is by this key.
fn is_accepted(message: &Message) -> bool {
    message.claim().is_ok_and(|claim| claim.key_id() == KEY_ID && claim.verify(&KEYS.1))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_headers_are_not_believed(
        which in any::<Index>(),
        headers in prop::collection::vec((select(&NAMES[..]), header()), 1..4),
        signature in header(),
    ) {
        let mut message = which.get(&*SIGNED).clone();
        for (name, value) in headers.iter().map(|(name, value)| (*name, value)).chain([("signature", &signature)]) {
            if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
                message.headers.insert(HeaderName::from_static(name), value);
            }
        }
        let kept = message.headers["signature"] == which.get(&*SIGNED).headers["signature"];
        prop_assert!(kept || !is_accepted(&message));
    }

    #[test]
    fn changed_request_is_not_accepted(
        which in any::<Index>(),
        edits in prop::collection::vec((0..11_usize, any::<Index>(), edit()), 1..3),
    ) {
        let original = which.get(&*SIGNED);
        let mut message = original.clone();
        for (place, at, edit) in &edits {
            match NAMES.get(*place) {
                Some(name) => {
                    let old = message.headers.get(*name).and_then(|value| value.to_str().ok()).unwrap_or_default();
                    if let Ok(value) = HeaderValue::from_str(&edited(old, *at, edit)) {
                        message.headers.insert(HeaderName::from_static(name), value);
                    }
                }
                None if *place == 8 => message.path_and_query = format!("/{}", edited(&message.path_and_query[1..], *at, edit)),
                None if *place == 9 => {
                    let body = String::from_utf8_lossy(&message.body).into_owned();
                    message.body = edited(&body, *at, edit).into_bytes();
                }
                None => message.method = at.get(&[Method::GET, Method::POST, Method::PUT, Method::DELETE]).clone(),
            }
        }
        // Unsigned headers may change, and so may white space around values.
        if is_accepted(&message) {
            let host = |message: &Message| message.headers["host"].to_str().unwrap().trim().to_ascii_lowercase();
            prop_assert_eq!(&message.method, &original.method);
            prop_assert_eq!(&message.path_and_query, &original.path_and_query);
            prop_assert_eq!(host(&message), host(original));
            prop_assert!(message.body == original.body || original.method == Method::GET);
        }
    }

    #[test]
    fn changed_signature_is_not_accepted(which in any::<Index>(), at in any::<Index>(), bit in 0..8_u32) {
        let message = which.get(&*SIGNED);
        let mut claim = message.claim().unwrap();
        prop_assert!(claim.verify(&KEYS.1));
        let byte = at.index(claim.signature.len());
        claim.signature[byte] ^= 1 << bit;
        prop_assert!(!claim.verify(&KEYS.1));
    }
}
