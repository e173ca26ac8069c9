//! The test vectors of draft-cavage-http-signatures-12 (appendix C) and RFC 9421 (section 4.3 and appendix B.2).

use aws_lc_rs::signature::{RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY, UnparsedPublicKey};
use crypto::rsa::{Algorithm, VerifyingKey};
use outbound::{HeaderMap, Method};

use super::super::fields::{self, InnerList, Member};
use super::super::{Claim, Incoming, Refusal, cavage, rfc9421, times};

const BODY: &[u8] = br#"{"hello": "world"}"#;

fn headers(fields: &[(&'static str, &str)]) -> HeaderMap {
    fields.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
}

fn post<'a>(path_and_query: &'a str, headers: &'a HeaderMap) -> Incoming<'a> {
    Incoming { method: &Method::POST, scheme: "https", path_and_query, headers, body: BODY }
}

/// The key of draft-cavage, of 1024 bits.
const CAVAGE_KEY: &str = "MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDCFENGw33yGihy92pDjZQhl0C36rPJj+CvfSC8+q28hxA161QFN\
    Ud13wuCTUcq0Qd2qsBe/2hFyc2DCJJg0h1L78+6Z4UMR7EOcpfdUE9Hf3m/hs+FUR45uBJeDK1HSFHD8bHKD6kv8FPGfJTotc+2xjJwoYi+1hqp1\
    fIekaxsyQIDAQAB";

/// The signed components, the text that is signed, and the signature. In C.3, the draft lists `(created)` and
/// `(expires)`, which its signature does not cover.
const CAVAGE: [(&str, &str, &str); 3] = [
    (
        "",
        "date: Sun, 05 Jan 2014 21:31:40 GMT",
        "SjWJWbWN7i0wzBvtPl8rbASWz5xQW6mcJmn+ibttBqtifLN7Sazz6m79cNfwwb8DMJ5cou1s7uEGKKCs+FLEEaDV5lp7q25WqS+lavg7T8\
         hc0GppauB6hbgEKTwblDHYGEtbGmtdHgVCk9SuS13F0hZ8FD0k/5OxEPXe5WozsbM=",
    ),
    (
        r#"headers="(request-target) host date","#,
        "(request-target): post /foo?param=value&pet=dog\nhost: example.com\ndate: Sun, 05 Jan 2014 21:31:40 GMT",
        "qdx+H7PHHDZgy4y/Ahn9Tny9V3GP6YgBPyUXMmoxWtLbHpUnXS2mg2+SbrQDMCJypxBLSPQR2aAjn7ndmw2iicw3HMbe8VfEdKFYRqzic+\
         efkb3nndiv/x1xSHDJWeSWkx3ButlYSuBskLu6kd9Fswtemr3lgdDEmn04swr2Os0=",
    ),
    (
        r#"headers="(request-target) host date content-type digest content-length","#,
        "(request-target): post /foo?param=value&pet=dog\nhost: example.com\ndate: Sun, 05 Jan 2014 21:31:40 GMT\n\
         content-type: application/json\ndigest: SHA-256=X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=\n\
         content-length: 18",
        "vSdrb+dS3EceC9bcwHSo4MlyKS59iFIrhgYkz8+oVLEEzmYZZvRs8rgOp+63LEM3v+MFHB32NfpB2bEKBIvB1q52LaEUHFv120V01IL+TA\
         D48XaERZFukWgHoBTLMhYS2Gb51gWxpeIq8knRmPnYePbF5MOkR0Zkly4zKH7s1dE=",
    ),
];

#[test]
fn cavage_vectors_verify() {
    let key = fields::base64(CAVAGE_KEY).unwrap();
    let key = UnparsedPublicKey::new(&RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY, key);
    let headers = headers(&[
        ("host", "example.com"),
        ("date", "Sun, 05 Jan 2014 21:31:40 GMT"),
        ("content-type", "application/json"),
        ("digest", "SHA-256=X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE="),
        ("content-length", "18"),
    ]);
    let request = post("/foo?param=value&pet=dog", &headers);
    for (list, text, signature) in CAVAGE {
        let field = format!(r#"keyId="Test",algorithm="rsa-sha256",{list}signature="{signature}""#);
        assert_eq!(cavage::message_of(&request, &field).unwrap(), text);
        key.verify(text.as_bytes(), &fields::base64(signature).unwrap()).expect(list);
    }
}

#[test]
fn complete_cavage_vector_is_a_claim() {
    let (list, text, signature) = CAVAGE[2];
    let field = format!(r#"keyId="Test",algorithm="rsa-sha256",{list}signature="{signature}""#);
    let headers = headers(&[
        ("host", "example.com"),
        ("date", "Sun, 05 Jan 2014 21:31:40 GMT"),
        ("content-type", "application/json"),
        ("digest", "SHA-256=X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE="),
        ("content-length", "18"),
        ("signature", &field),
    ]);
    let now = times::from_http_date("Sun, 05 Jan 2014 21:35:00 GMT").unwrap();
    let claim = Claim::parse(&post("/foo?param=value&pet=dog", &headers), now).unwrap();
    assert_eq!((claim.key_id(), claim.messages[0].as_str()), ("Test", text));
}

/// `test-key-rsa-pss`, as an RSA key.
const RSA_PSS: &str = "-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAr4tmm3r20Wd/PbqvP1s2
+QEtvpuRaV8Yq40gjUR8y2Rjxa6dpG2GXHbPfvMs8ct+Lh1GH45x28Rw3Ry53mm+
oAXjyQ86OnDkZ5N8lYbggD4O3w6M6pAvLkhk95AndTrifbIFPNU8PPMO7OyrFAHq
gDsznjPFmTOtCEcN2Z1FpWgchwuYLPL+Wokqltd11nqqzi+bJ9cvSKADYdUAAN5W
Utzdpiy6LbTgSxP7ociU4Tn0g5I6aDZJ7A8Lzo0KSyZYoA485mqcO0GVAdVw9lq4
aOT9v6d+nb4bnNkQVklLQ3fVAvJm+xdDOp9LCNCN48V2pnDOkFV6+U9nV5oyc6XI
2wIDAQAB
-----END PUBLIC KEY-----";

/// `test-key-ed25519`.
const ED25519: &str = "-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=
-----END PUBLIC KEY-----";

/// `test-key-rsa`.
const RSA: &str = "-----BEGIN RSA PUBLIC KEY-----
MIIBCgKCAQEAhAKYdtoeoy8zcAcR874L8cnZxKzAGwd7v36APp7Pv6Q2jdsPBRrw
WEBnez6d0UDKDwGbc6nxfEXAy5mbhgajzrw3MOEt8uA5txSKobBpKDeBLOsdJKFq
MGmXCQvEG7YemcxDTRPxAleIAgYYRjTSd/QBwVW9OwNFhekro3RtlinV0a75jfZg
kne/YiktSvLG34lw2zqXBDTC5NHROUqGTlML4PlNZS5Ri2U4aCNx2rUPRcKIlE0P
uKxI4T+HIaFpv8+rdV6eUgOrB2xeI1dSFFn/nnv5OoZJEIB+VmuKn3DCUcCZSFlQ
PSXSfBDiUGhwOw76WuSSsf1D4b/vLoJ10wIDAQAB
-----END RSA PUBLIC KEY-----";

const SHA_512: &str =
    "sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:";

/// A vector of RFC 9421, appendix B.2.
struct Vector {
    key: &'static str,
    algorithm: Algorithm,
    input: &'static str,
    /// The signature base without its last line.
    lines: &'static str,
    signature: &'static str,
}

const RFC_9421: [Vector; 4] = [
    Vector {
        key: RSA_PSS,
        algorithm: Algorithm::RsaPssSha512,
        input: r#"();created=1618884473;keyid="test-key-rsa-pss";nonce="b3k2pp5k7z-50gnwp.yemd""#,
        lines: "",
        signature: "d2pmTvmbncD3xQm8E9ZV2828BjQWGgiwAaw5bAkgibUopemLJcWDy/lkbbHAve4cRAtx31Iq786U7it++wgGxbtRxf8Udx7\
            zFZsckzXaJMkA7ChG52eSkFxykJeNqsrWH5S+oxNFlD4dzVuwe8DhTSja8xxbR/Z2cOGdCbzR72rgFWhzx2VjBqJzsPLMIQKhO4DGezX\
            ehhWwE56YCE+O6c0mKZsfxVrogUvA4HELjVKWmAvtl6UnCh8jYzuVG5WSb/QEVPnP5TmcAnLH1g+s++v6d4s8m0gCw1fV5/SITLq9mhh\
            o8K3+7EPYTU8IU1bLhdxO5Nyt8C8ssinQ98Xw9Q==",
    },
    Vector {
        key: RSA_PSS,
        algorithm: Algorithm::RsaPssSha512,
        input: concat!(
            r#"("@authority" "content-digest" "@query-param";name="Pet")"#,
            r#";created=1618884473;keyid="test-key-rsa-pss";tag="header-example""#
        ),
        lines: r#""@authority": example.com
"content-digest": sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:
"@query-param";name="Pet": dog
"#,
        signature: "LjbtqUbfmvjj5C5kr1Ugj4PmLYvx9wVjZvD9GsTT4F7GrcQEdJzgI9qHxICagShLRiLMlAJjtq6N4CDfKtjvuJyE5qH7KT8\
            UCMkSowOB4+ECxCmT8rtAmj/0PIXxi0A0nxKyB09RNrCQibbUjsLS/2YyFYXEu4TRJQzRw1rLEuEfY17SARYhpTlaqwZVtR8NV7+4UKk\
            jqpcAoFqWFQh62s7Cl+H2fjBSpqfZUJcsIk4N6wiKYd4je2U/lankenQ99PZfB4jY3I5rSV2DSBVkSFsURIjYErOs0tFTQosMTAoxk//\
            0RoKUqiYY8Bh0aaUEb0rQl3/XaVe4bXTugEjHSw==",
    },
    Vector {
        key: RSA_PSS,
        algorithm: Algorithm::RsaPssSha512,
        input: concat!(
            r#"("date" "@method" "@path" "@query" "@authority" "content-type" "content-digest" "content-length")"#,
            r#";created=1618884473;keyid="test-key-rsa-pss""#
        ),
        lines: r#""date": Tue, 20 Apr 2021 02:07:55 GMT
"@method": POST
"@path": /foo
"@query": ?param=Value&Pet=dog
"@authority": example.com
"content-type": application/json
"content-digest": sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:
"content-length": 18
"#,
        signature: "bbN8oArOxYoyylQQUU6QYwrTuaxLwjAC9fbY2F6SVWvh0yBiMIRGOnMYwZ/5MR6fb0Kh1rIRASVxFkeGt683+qRpRRU5p2v\
            oTp768ZrCUb38K0fUxN0O0iC59DzYx8DFll5GmydPxSmme9v6ULbMFkl+V5B1TP/yPViV7KsLNmvKiLJH1pFkh/aYA2HXXZzNBXmIkoQ\
            oLd7YfW91kE9o/CCoC1xMy7JA1ipwvKvfrs65ldmlu9bpG6A9BmzhuzF8Eim5f8ui9eH8LZH896+QIF61ka39VBrohr9iyMUJpvRX2Zb\
            hl5ZJzSRxpJyoEZAFL2FUo5fTIztsDZKEgM4cUA==",
    },
    Vector {
        key: ED25519,
        algorithm: Algorithm::Ed25519,
        input: concat!(
            r#"("date" "@method" "@path" "@authority" "content-type" "content-length")"#,
            r#";created=1618884473;keyid="test-key-ed25519""#
        ),
        lines: r#""date": Tue, 20 Apr 2021 02:07:55 GMT
"@method": POST
"@path": /foo
"@authority": example.com
"content-type": application/json
"content-length": 18
"#,
        signature: "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==",
    },
];

fn list(input: &str) -> InnerList {
    match fields::dictionary(&format!("sig={input}")).unwrap().remove(0).1 {
        Member::List(list) => list,
        Member::Item(item) => panic!("{item:?}"),
    }
}

#[test]
fn rfc9421_vectors_verify() {
    let headers = headers(&[
        ("host", "example.com"),
        ("date", "Tue, 20 Apr 2021 02:07:55 GMT"),
        ("content-type", "application/json"),
        ("content-digest", SHA_512),
        ("content-length", "18"),
    ]);
    let request = post("/foo?param=Value&Pet=dog", &headers);
    for Vector { key, algorithm, input, lines, signature } in RFC_9421 {
        let base = rfc9421::base(&request, &list(input)).unwrap();
        assert_eq!(base, format!("{lines}\"@signature-params\": {input}"));
        let (key, signature) = (VerifyingKey::parse(key).unwrap(), fields::base64(signature).unwrap());
        assert!(key.verify(algorithm, base.as_bytes(), &signature), "{input}");
        assert!(!key.verify(algorithm, &base.as_bytes()[1..], &signature), "{input}");
    }
}

#[test]
fn rfc9421_signature_of_proxy_is_a_claim() {
    let input = concat!(
        r#"("@method" "@authority" "@path" "content-digest" "content-type" "content-length" "forwarded")"#,
        r#";created=1618884480;keyid="test-key-rsa";alg="rsa-v1_5-sha256";expires=1618884540"#
    );
    let signature = "S6ZzPXSdAMOPjN/6KXfXWNO/f7V6cHm7BXYUh3YD/fRad4BCaRZxP+JH+8XY1I6+8Cy+CM5g92iHgxtRPz+MjniOaYmdkD\
        cnL9cCpXJleXsOckpURl49GwiyUpZ10KHgOEe11sx3G2gxI8S0jnxQB+Pu68U9vVcasqOWAEObtNKKZd8tSFu7LB5YAv0RAGhB8tmpv7sFnI\
        m9y+7X5kXQfi8NMaZaA8i2ZHwpBdg7a6CMfwnnrtflzvZdXAsD3LH2TwevU+/PBPv0B6NMNk93wUs/vfJvye+YuI87HU38lZHowtznbLVdp7\
        70I6VHR6WfgS9ddzirrswsE1w5o0LV/g==";
    let headers = headers(&[
        ("host", "Origin.host.internal.example:443"),
        ("content-type", "application/json"),
        ("content-length", "18"),
        ("forwarded", "for=192.0.2.123;host=example.com;proto=https"),
        ("content-digest", SHA_512),
        ("signature-input", &format!("sig1=(), proxy_sig={input}")),
        ("signature", &format!("sig1=:YQ==:, proxy_sig=:{signature}:")),
    ]);
    let request = post("/foo?param=Value&Pet=dog", &headers);
    let claim = Claim::parse(&request, times::from_seconds(1_618_884_500).unwrap()).unwrap();
    assert_eq!(claim.key_id(), "test-key-rsa");
    assert!(claim.verify(&VerifyingKey::parse(RSA).unwrap()));
    assert!(!claim.verify(&VerifyingKey::parse(RSA_PSS).unwrap()));
    assert!(!claim.verify(&VerifyingKey::parse(ED25519).unwrap()));
    let late = times::from_seconds(1_618_884_540 + 3601).unwrap();
    assert_eq!(Claim::parse(&request, late), Err(Refusal::missing_parameter("keyid")), "the first signature decides");
}
