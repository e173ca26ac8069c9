//! Gives a new local account the key that signs what it sends to other servers.
//!
//! A job, since making an RSA key takes a processor some 100 ms, and a thousand accounts may be made at once. RSA 2048 is
//! what the network verifies (contract: federation, section 3).

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::KeyPair as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::{Done, Failure, Job};
use crate::app::App;
use crate::error::{Error, Result};
use model::job::Lane;
use model::{AccountId, JobId};

/// Characters of a line in a PEM file (RFC 7468, section 2).
const PEM_LINE: usize = 64;

/// Makes the signing key of an account that has none.
#[derive(Debug, Serialize, Deserialize)]
pub struct GenerateKey {
    /// Whose.
    pub account: AccountId,
}

impl Job for GenerateKey {
    const KIND: &'static str = "generate_key";
    const LANE: Lane = Lane::Background;

    async fn run(self, app: &App, id: JobId) -> Result<Done, Failure> {
        if !store::account::lacks_keys(&app.db, self.account).await? {
            return Ok(Done::Remove);
        }
        let (public, private) = tokio::task::spawn_blocking(generate).await.map_err(Error::internal)??;
        let mut tx = app.db.begin().await?;
        store::account::set_keys(&mut tx, self.account, &public, &private).await?;
        super::finish(&mut tx, id).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}

/// A new key pair: public and private, both PEM.
fn generate() -> Result<(String, String)> {
    let pair = KeyPair::generate(KeySize::Rsa2048).map_err(Error::internal)?;
    let private: Pkcs8V1Der<'_> = pair.as_der().map_err(Error::internal)?;
    let public: PublicKeyX509Der<'_> = pair.public_key().as_der().map_err(Error::internal)?;
    Ok((pem("PUBLIC KEY", public.as_ref()), pem("PRIVATE KEY", private.as_ref())))
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
