//! Job: generates the RSA key pair with which a new local account signs its requests to other servers (HTTP
//! signatures).
//!
//! A job rather than part of the sign-up, since generating an RSA key takes some 100 ms of CPU time and a thousand
//! accounts may be created at once. RSA 2048 is what the network verifies (contract: federation, section 3).

use super::Run;
use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::KeyPair as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use crypto::Secret;
use rookery_core::Cx;
use rookery_core::error::{Error, Result};
use rookery_core::queue;
use rookery_core::queue::{Done, Failure, GenerateKey};
use rookery_core::service::signing_key;
use store::job::Claim;

/// Characters per line of a PEM file (RFC 7468, section 2).
const PEM_LINE: usize = 64;

impl Run for GenerateKey {
    async fn run(self, cx: &Cx, claim: Claim) -> Result<Done, Failure> {
        if !store::account::lacks_keys(&cx.db, self.account).await? {
            return Ok(Done::Remove);
        }
        let (public, private) = tokio::task::spawn_blocking(generate).await.map_err(Error::internal)??;
        let sealed = signing_key::seal(cx, self.account, &private)?;
        let mut tx = cx.db.begin().await?;
        store::account::set_keys(&mut tx, self.account, &public, &sealed).await?;
        queue::finish(&mut tx, claim).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}

/// A new key pair: public and private key, both PEM.
fn generate() -> Result<(String, Secret)> {
    let pair = KeyPair::generate(KeySize::Rsa2048).map_err(Error::internal)?;
    let private: Pkcs8V1Der<'_> = pair.as_der().map_err(Error::internal)?;
    let public: PublicKeyX509Der<'_> = pair.public_key().as_der().map_err(Error::internal)?;
    Ok((pem("PUBLIC KEY", public.as_ref()), pem("PRIVATE KEY", private.as_ref()).into()))
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let mut out = format!("-----BEGIN {label}-----\n");
    for line in text.as_bytes().chunks(PEM_LINE) {
        out.push_str(&String::from_utf8_lossy(line));
        out.push('\n');
    }
    out.push_str(&format!("-----END {label}-----\n"));
    out
}
