//! The refusals, each with a request that differs from an acceptable one in a single point.

use outbound::Method;

use super::super::{Refusal, digest};
use super::{BODY, Change, INPUT, KEY_ID, Message};

/// A change of an acceptable request, its name before it, and the label of its refusal.
type Case = (&'static str, Change, &'static str);

fn assert_refused(message: &Message, cases: &[Case]) {
    assert!(message.is_believed());
    for (name, change, label) in cases {
        let mut message = message.clone();
        change(&mut message);
        let refusal = message.claim().expect_err(name);
        assert_eq!(refusal.as_str(), *label, "{name}: {refusal}");
        assert!(refusal.to_string().len() < 128, "{name}: {refusal}");
    }
}

#[test]
fn cavage_post_is_refused() {
    let cases: &[Case] = &[
        ("no signature", |m| drop(m.headers.remove("signature")), "unsigned"),
        ("other body", |m| m.body.push(b' '), "digest"),
        ("other digest", |m| m.set("digest", &digest::of(b"")), "digest"),
        ("no digest", |m| drop(m.headers.remove("digest")), "missing"),
        ("only SHA-512", |m| m.replace("digest", "SHA-256", "SHA-512"), "missing"),
        ("two digests", |m| m.set("digest", &format!("{0},{0}", digest::of(BODY))), "duplicate"),
        ("digest not base64", |m| m.set("digest", "SHA-256=*"), "malformed"),
        ("digest not signed", |m| m.replace("signature", " digest", ""), "not_signed"),
        ("time not signed", |m| m.replace("signature", " date", ""), "not_signed"),
        ("empty list", |m| m.replace("signature", "(request-target) host date digest content-type", ""), "not_signed"),
        ("no date", |m| drop(m.headers.remove("date")), "missing"),
        ("old date", |m| m.set("date", "Tue, 14 Nov 2023 21:08:19 GMT"), "expired"),
        ("future date", |m| m.set("date", "Tue, 14 Nov 2023 23:13:21 GMT"), "from_the_future"),
        ("wrong weekday", |m| m.set("date", "Mon, 14 Nov 2023 22:13:20 GMT"), "malformed"),
        ("two dates", |m| m.append("date"), "malformed"),
        ("unknown algorithm", |m| m.replace("signature", "rsa-sha256", "rsa-sha512"), "unsupported_algorithm"),
        ("(created) with rsa-sha256", |m| m.replace("signature", "date", "date (created)"), "unsupported_algorithm"),
        ("unknown component", |m| m.replace("signature", "host", "host (other)"), "unsupported_component"),
        ("absent header", |m| m.replace("signature", "host", "host x-absent"), "missing"),
        ("component twice", |m| m.replace("signature", "host", "host host"), "duplicate"),
        ("parameter twice", |m| m.replace("signature", "keyId=", "keyId=\"a\",keyId="), "duplicate"),
        ("no key id", |m| m.replace("signature", "keyId=", "key="), "missing"),
        ("empty key id", |m| m.replace("signature", KEY_ID, ""), "missing"),
        ("no signature parameter", |m| m.replace("signature", "signature=", "sig="), "missing"),
        ("signature not base64", |m| m.replace("signature", "signature=\"", "signature=\"*"), "malformed"),
        ("malformed created", |m| m.replace("signature", "headers=", "created=-1,headers="), "malformed"),
        ("malformed expires", |m| m.replace("signature", "headers=", "expires=1e9,headers="), "malformed"),
        ("open quote", |m| m.replace("signature", "\",algorithm", ",algorithm"), "malformed"),
        ("no parameters", |m| m.set("signature", "x"), "malformed"),
        ("empty", |m| m.set("signature", ""), "malformed"),
        ("not ASCII", |m| m.replace("signature", "ann", "änn"), "malformed"),
        ("signed header not ASCII", |m| m.set("content-type", "é"), "malformed"),
        ("two headers", |m| m.append("signature"), "duplicate"),
        ("huge header", |m| m.replace("signature", KEY_ID, &"k".repeat(8 * 1024)), "too_long"),
        ("huge signed header", |m| m.set("content-type", &"k".repeat(9 * 1024)), "too_long"),
        ("many parameters", |m| m.replace("signature", "keyId", &format!("{}keyId", many("x", "=1,"))), "malformed"),
        (
            "many components",
            |m| m.replace("signature", "host", &format!("{}host", many("x", " "))),
            "too_many_components",
        ),
    ];
    assert_refused(&Message::post("https://local.example/inbox?a=b"), cases);
}

/// Forty names, each followed by `end`.
fn many(name: &str, end: &str) -> String {
    (0..40).map(|number| format!("{name}{number}{end}")).collect()
}

#[test]
fn cavage_get_is_refused() {
    let cases: &[Case] = &[
        ("host not signed", |m| m.replace("signature", " host", ""), "not_signed"),
        ("target not signed", |m| m.replace("signature", "(request-target) ", ""), "not_signed"),
        ("no host", |m| drop(m.headers.remove("host")), "missing"),
        (
            "as HEAD without host",
            |m| {
                m.method = Method::HEAD;
                m.replace("signature", " host", "");
            },
            "not_signed",
        ),
        ("as DELETE", |m| m.method = Method::DELETE, "not_signed"),
        (
            "hs2019 without created",
            |m| {
                m.replace("signature", "rsa-sha256", "hs2019");
                m.replace("signature", "date", "(created)");
            },
            "missing",
        ),
        ("no list for hs2019", |m| m.set("signature", "keyId=a,signature=\"YQ==\",created=1700000000"), "not_signed"),
    ];
    assert_refused(&Message::get("https://local.example/a?b"), cases);
}

#[test]
fn rfc9421_is_refused() {
    fn sign(message: &mut Message, from: &str, to: &str) {
        assert!(INPUT.contains(from), "{from}");
        message.sign(&INPUT.replace(from, to));
    }
    let cases: &[Case] = &[
        ("no signature", |m| drop(m.headers.remove("signature")), "unsigned"),
        ("other label", |m| m.replace("signature", "sig=", "gis="), "missing"),
        ("not bytes", |m| m.set("signature", "sig=\"YQ==\""), "malformed"),
        ("not a list", |m| m.set("signature-input", "sig=1"), "malformed"),
        ("empty", |m| m.set("signature-input", ""), "malformed"),
        ("label twice", |m| m.set("signature-input", &format!("sig={INPUT},sig={INPUT}")), "malformed"),
        ("parameter twice", |m| sign(m, ";keyid", ";created=1;keyid"), "malformed"),
        ("no key id", |m| sign(m, ";keyid=\"k\"", ""), "missing"),
        ("key id not a string", |m| sign(m, "\"k\"", "k"), "malformed"),
        ("no created", |m| sign(m, ";created=1700000000", ""), "missing"),
        ("created not a number", |m| sign(m, "1700000000", "\"1700000000\""), "malformed"),
        ("created before 1970", |m| sign(m, "1700000000", "-1"), "malformed"),
        ("old", |m| sign(m, "1700000000", "1699996099"), "expired"),
        ("future", |m| sign(m, "1700000000", "1700003601"), "from_the_future"),
        ("short expires", |m| sign(m, "1700000000", "1699996099;expires=1699996399"), "expired"),
        ("capped expires", |m| sign(m, "1700000000", "1699953199;expires=1800000000"), "expired"),
        ("unknown algorithm", |m| sign(m, ";keyid", ";alg=\"hmac-sha256\";keyid"), "unsupported_algorithm"),
        ("algorithm not a string", |m| sign(m, ";keyid", ";alg=ed25519;keyid"), "malformed"),
        ("method not signed", |m| sign(m, "\"@method\" ", ""), "not_signed"),
        ("target not signed", |m| sign(m, "\"@target-uri\"", "\"@path\""), "not_signed"),
        ("digest not signed", |m| sign(m, " \"content-digest\"", ""), "not_signed"),
        ("empty list", |m| sign(m, r#""@method" "@target-uri" "content-digest""#, ""), "not_signed"),
        ("component twice", |m| sign(m, "\"@method\"", "\"@method\" \"@method\""), "duplicate"),
        ("component of response", |m| sign(m, "\"@method\"", "\"@method\" \"@status\""), "unsupported_component"),
        ("component with parameter", |m| sign(m, "\"@method\"", "\"@method\";req"), "unsupported_component"),
        ("component in capitals", |m| sign(m, "\"@method\"", "\"@method\" \"Date\""), "unsupported_component"),
        ("component not a string", |m| sign(m, "\"@method\"", "\"@method\" date"), "malformed"),
        (
            "parameter of query without name",
            |m| sign(m, "\"@method\"", "\"@method\" \"@query-param\""),
            "unsupported_component",
        ),
        (
            "parameter of query with two parameters",
            |m| sign(m, "\"@method\"", "\"@method\" \"@query-param\";name=\"a\";req"),
            "unsupported_component",
        ),
        ("absent header", |m| sign(m, "\"@method\"", "\"@method\" \"x-absent\""), "missing"),
        ("absent parameter of query", |m| sign(m, "\"@method\"", "\"@method\" \"@query-param\";name=\"z\""), "missing"),
        (
            "parameter of query twice",
            |m| {
                m.path_and_query = "/inbox?a=b&a=c".to_owned();
                sign(m, "\"@method\"", "\"@method\" \"@query-param\";name=\"a\"");
            },
            "duplicate",
        ),
        (
            "many components",
            |m| sign(m, "\"@method\"", &format!("\"@method\" {}", many("\"x", "\" "))),
            "too_many_components",
        ),
        ("other body", |m| m.body.push(b' '), "digest"),
        ("one digest of two", |m| m.replace("content-digest", "sha-256", "sha-512=:YQ==:, sha-256"), "digest"),
        ("no digest", |m| drop(m.headers.remove("content-digest")), "missing"),
        ("unknown digest", |m| m.replace("content-digest", "sha-256", "md5"), "missing"),
        ("malformed digest", |m| m.set("content-digest", "sha-256=YQ=="), "malformed"),
        ("digest not bytes", |m| m.set("content-digest", "sha-256=abc"), "malformed"),
        ("no host", |m| drop(m.headers.remove("host")), "missing"),
        (
            "huge header",
            |m| m.set("signature-input", &format!("sig={INPUT};x=\"{}\"", "x".repeat(8 * 1024))),
            "too_long",
        ),
        ("not ASCII", |m| m.set("signature-input", "sig=(\"é\")"), "malformed"),
    ];
    assert_refused(&Message::rfc9421(INPUT), cases);
}

#[test]
fn refusal_shows_little_of_the_peer() {
    let mut message = Message::post("https://local.example/inbox");
    message.replace("signature", "host", &format!("host ({}", "é".repeat(100).replace('é', "x")));
    let refusal = message.claim().unwrap_err();
    assert_eq!(refusal.to_string(), format!("the signed component `({}` is not supported", "x".repeat(63)));
    assert_eq!(Refusal::missing_header("date").to_string(), "the header `date` is missing");
}
