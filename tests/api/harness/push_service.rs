//! A push service and an app behind it: receives pushes of the server, verifies their signatures, and decrypts them
//! as an app does.
//!
//! Written from RFC 8291, RFC 8292 and draft-ietf-webpush-encryption-04, without the server's own code.

use std::sync::{Arc, Mutex};

use aws_lc_rs::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::agreement::{ECDH_P256, PrivateKey, UnparsedPublicKey, agree};
use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Salt};
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey as Verifier};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Response of the service to the next requests.
#[derive(Clone, Debug)]
struct Answer {
    status: u16,
    retry_after: Option<String>,
}

/// Maps a decrypted message to the HTTP status of its response.
type Judge = Arc<dyn Fn(&Value) -> u16 + Send + Sync>;

/// A received request.
#[derive(Clone, Debug)]
pub struct Sent {
    /// Path, which identifies the subscription.
    pub path: String,
    pub headers: HeaderMap,
    /// Encrypted body.
    pub body: Bytes,
}

/// A push service that runs as long as the test, with the keys of an app. Cheap to clone.
#[derive(Clone)]
pub struct PushService {
    /// Scheme, host and port.
    pub origin: String,
    key: Arc<PrivateKey>,
    auth: [u8; 16],
    answer: Arc<Mutex<Answer>>,
    /// Overrides the response.
    judge: Option<Judge>,
    sent: Arc<Mutex<Vec<Sent>>>,
}

impl PushService {
    /// A service that accepts every push.
    pub async fn start() -> Self {
        Self::serve(None).await
    }

    /// A service that decrypts each message and responds with the HTTP status that `judge` returns.
    pub async fn judging(judge: impl Fn(&Value) -> u16 + Send + Sync + 'static) -> Self {
        Self::serve(Some(Arc::new(judge))).await
    }

    async fn serve(judge: Option<Judge>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let service = Self {
            origin: format!("http://{}", listener.local_addr().unwrap()),
            key: Arc::new(PrivateKey::generate(&ECDH_P256).unwrap()),
            auth: *b"sixteen bytes ok",
            answer: Arc::new(Mutex::new(Answer { status: 201, retry_after: None })),
            judge,
            sent: Arc::default(),
        };
        let served = service.clone();
        let router = Router::new().fallback(move |request: Request| {
            let served = served.clone();
            async move { served.take(request).await }
        });
        tokio::spawn(async move { axum::serve(listener, router).await });
        service
    }

    async fn take(&self, request: Request) -> Response<Body> {
        let (parts, body) = request.into_parts();
        assert_eq!(parts.method, "POST");
        let body = body.collect().await.unwrap().to_bytes();
        let sent = Sent { path: parts.uri.path().to_owned(), headers: parts.headers, body };
        if let Some(judge) = &self.judge {
            return Response::builder().status(judge(&self.read(&sent))).body(Body::empty()).unwrap();
        }
        self.sent.lock().unwrap().push(sent);
        let Answer { status, retry_after } = self.answer.lock().unwrap().clone();
        let mut answer = Response::builder().status(status);
        if let Some(pause) = retry_after {
            answer = answer.header("retry-after", pause);
        }
        answer.body(Body::empty()).unwrap()
    }

    /// Sets the HTTP status of the next responses.
    pub fn answers(&self, status: u16) {
        *self.answer.lock().unwrap() = Answer { status, retry_after: None };
    }

    /// As [`PushService::answers`], with `Retry-After`.
    pub fn answers_later(&self, status: u16, retry_after: &str) {
        *self.answer.lock().unwrap() = Answer { status, retry_after: Some(retry_after.to_owned()) };
    }

    /// Request body of an app that subscribes to `alerts` at `path`.
    pub fn subscription(&self, path: &str, standard: bool, alerts: &[&str], policy: &str) -> Value {
        let point = URL_SAFE_NO_PAD.encode(self.key.compute_public_key().unwrap());
        let alerts: serde_json::Map<String, Value> =
            alerts.iter().map(|name| ((*name).to_owned(), true.into())).collect();
        json!({
            "subscription": {
                "endpoint": format!("{}{path}", self.origin),
                "keys": { "p256dh": point, "auth": URL_SAFE_NO_PAD.encode(self.auth) },
                "standard": standard,
            },
            "data": { "alerts": alerts, "policy": policy },
        })
    }

    /// Requests received since the previous call.
    pub fn taken(&self) -> Vec<Sent> {
        std::mem::take(&mut *self.sent.lock().unwrap())
    }

    /// The only message received since the previous call, decrypted.
    pub fn message(&self) -> Value {
        let [sent] = <[Sent; 1]>::try_from(self.taken()).expect("one message");
        self.read(&sent)
    }

    /// Decrypts a message.
    pub fn read(&self, sent: &Sent) -> Value {
        let text = match sent.header("content-encoding") {
            "aes128gcm" => self.aes128gcm(&sent.body),
            "aesgcm" => self.aesgcm(sent),
            other => panic!("the encoding {other}"),
        };
        serde_json::from_slice(&text).expect("JSON")
    }

    fn aes128gcm(&self, body: &[u8]) -> Vec<u8> {
        let (salt, rest) = body.split_at(16);
        let (record_bytes, rest) = rest.split_at(4);
        assert_eq!(record_bytes, 4096_u32.to_be_bytes());
        assert_eq!(rest[0], 65);
        let (sender, record) = rest[1..].split_at(65);
        let info = [b"WebPush: info\0".as_slice(), self.point().as_slice(), sender].concat();
        let input = hkdf::<32>(&self.auth, &self.shared(sender), &info);
        let key = hkdf::<16>(salt, &input, b"Content-Encoding: aes128gcm\0");
        let nonce = hkdf::<12>(salt, &input, b"Content-Encoding: nonce\0");
        let mut text = decrypt(key, nonce, record);
        assert_eq!(text.pop(), Some(2), "the last record");
        text
    }

    fn aesgcm(&self, sent: &Sent) -> Vec<u8> {
        let salt = URL_SAFE_NO_PAD.decode(parameter(sent.header("encryption"), "salt")).unwrap();
        let sender = URL_SAFE_NO_PAD.decode(parameter(sent.header("crypto-key"), "dh")).unwrap();
        let context = [b"P-256\0\0\x41".as_slice(), &self.point(), b"\0\x41", &sender].concat();
        let input = hkdf::<32>(&self.auth, &self.shared(&sender), b"Content-Encoding: auth\0");
        let key = hkdf::<16>(&salt, &input, &[b"Content-Encoding: aesgcm\0".as_slice(), &context].concat());
        let nonce = hkdf::<12>(&salt, &input, &[b"Content-Encoding: nonce\0".as_slice(), &context].concat());
        let text = decrypt(key, nonce, &sent.body);
        let padding = usize::from(u16::from_be_bytes([text[0], text[1]]));
        text[2 + padding..].to_vec()
    }

    fn point(&self) -> Vec<u8> {
        self.key.compute_public_key().unwrap().as_ref().to_vec()
    }

    fn shared(&self, sender: &[u8]) -> Vec<u8> {
        agree(&self.key, UnparsedPublicKey::new(&ECDH_P256, sender), (), |secret| Ok(secret.to_vec())).unwrap()
    }
}

impl Sent {
    /// A header's value; "" when it is missing.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Claims of the signature, after verification with the server's `key`.
    pub fn claims(&self, key: &str) -> Value {
        let authorization = self.header("authorization");
        let token = match authorization.strip_prefix("WebPush ") {
            Some(token) => {
                assert_eq!(parameter(self.header("crypto-key"), "p256ecdsa"), key);
                token
            }
            None => {
                let parameters = authorization.strip_prefix("vapid ").expect("a signature");
                let (token, sender) = parameters.split_once(", k=").unwrap();
                assert_eq!(sender, key);
                token.strip_prefix("t=").unwrap()
            }
        };
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let verifier = Verifier::new(&ECDSA_P256_SHA256_FIXED, URL_SAFE_NO_PAD.decode(key).unwrap());
        verifier.verify(signed.as_bytes(), &URL_SAFE_NO_PAD.decode(signature).unwrap()).expect("signed by the server");
        let (header, claims) = signed.split_once('.').unwrap();
        let header: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).unwrap()).unwrap();
        assert_eq!(header, json!({ "typ": "JWT", "alg": "ES256" }));
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap()
    }
}

/// The parameter `name` of a header such as `dh=…;p256ecdsa=…`.
fn parameter<'a>(header: &'a str, name: &str) -> &'a str {
    let mut parameters = header.split(';').filter_map(|parameter| parameter.split_once('='));
    parameters.find(|(known, _)| *known == name).unwrap_or_else(|| panic!("{name} in {header:?}")).1
}

fn hkdf<const N: usize>(salt: &[u8], input: &[u8], info: &[u8]) -> [u8; N] {
    struct Bytes(usize);
    impl KeyType for Bytes {
        fn len(&self) -> usize {
            self.0
        }
    }
    let mut derived = [0; N];
    let extracted = Salt::new(HKDF_SHA256, salt).extract(input);
    extracted.expand(&[info], Bytes(N)).unwrap().fill(&mut derived).unwrap();
    derived
}

fn decrypt(key: [u8; 16], nonce: [u8; 12], text: &[u8]) -> Vec<u8> {
    let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key).unwrap());
    let mut text = text.to_vec();
    let opened = key.open_in_place(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut text);
    opened.expect("encrypted for this app").to_vec()
}
