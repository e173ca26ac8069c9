//! Who reads a document: the account that signed the request, or someone unknown.
//!
//! In authorized fetch mode, documents of accounts and statuses need a valid signature. In any other mode a valid
//! signature shows what its account may see, and any other is ignored.
//!
//! Spec: docs/contract/federation.md#5-http-signatures, "Authorized fetch".

use std::net::IpAddr;

use context::{Cx, Error, Result};
use model::{Account, Actor};
use store::remote::ActorRow;

use super::served::{Keep, Served};
use crate::followers::origin_of;
use crate::signature::Incoming;
use crate::signer::{self, Rejection};

/// A request for a document.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub incoming: Incoming<'a>,
    /// Of the client.
    pub address: IpAddr,
    /// The capability that the request carries, if any.
    pub token: Option<&'a str>,
}

/// Why a document is not served.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The signature is missing where it is needed, or not valid.
    #[error("{0}")]
    Signer(Rejection),
    /// The signer was suspended.
    #[error("the signer is suspended here")]
    Suspended,
    /// The account has this id: the document is below it.
    #[error("the account has the id {0}")]
    Elsewhere(String),
    /// The document is missing, hidden or gone, or this server failed.
    #[error("{0}")]
    Document(#[from] Error),
}

impl From<Rejection> for Refusal {
    fn from(rejection: Rejection) -> Self {
        match rejection {
            Rejection::Local(error) => Self::Document(error),
            rejection => Self::Signer(rejection),
        }
    }
}

impl Refusal {
    /// The status of the response; `None` where the error decides.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Signer(rejection) => Some(rejection.status()),
            Self::Suspended => Some(403),
            Self::Elsewhere(_) => Some(301),
            Self::Document(_) => None,
        }
    }
}

/// The reader of a document.
pub(super) struct Reader {
    /// The account that signed the request, and its domain.
    signer: Option<(Actor, String)>,
    /// Scheme and host of the signer's URI, of a document that is only for its server.
    origin: Option<String>,
    /// The document is served only to signers.
    required: bool,
}

impl Reader {
    /// The reader of a document that is the same for everyone.
    pub(super) fn anyone() -> Self {
        Self { signer: None, origin: None, required: false }
    }

    /// The reader of a document that is only for its server.
    ///
    /// # Errors
    /// [`Refusal::Signer`] and [`Refusal::Suspended`].
    pub(super) async fn signed(cx: &Cx, request: &Request<'_>) -> Result<Self, Refusal> {
        let (row, _) = Box::pin(signer::signer(cx, &request.incoming, Some(request.address))).await?;
        let signer = Some(viewer(cx, &row).await?.ok_or(Refusal::Suspended)?);
        Ok(Self { signer, origin: origin_of(&row.uri), required: true })
    }

    /// The reader of a document of an account.
    ///
    /// # Errors
    /// [`Refusal::Signer`] and [`Refusal::Suspended`], in authorized fetch mode.
    pub(super) async fn of(cx: &Cx, request: &Request<'_>) -> Result<Self, Refusal> {
        if cx.config.requires_signed_fetches() {
            return Self::signed(cx, request).await;
        }
        let signer = match signer::known_signer(cx, &request.incoming).await {
            Ok(row) => viewer(cx, &row).await?,
            Err(Rejection::Local(error)) => return Err(error.into()),
            Err(_) => None,
        };
        Ok(Self { signer, origin: None, required: false })
    }

    /// The viewer of statuses; `None` for someone unknown.
    pub(super) fn viewer(&self) -> Option<&Actor> {
        self.signer.as_ref().map(|(actor, _)| actor)
    }

    /// Scheme and host of the signer's URI; `None` of a document that is not only for signers.
    pub(super) fn origin(&self) -> Option<&str> {
        self.origin.as_deref()
    }

    /// True when `account` blocks the signer or their domain.
    pub(super) async fn is_blocked_by(&self, cx: &Cx, account: &Account) -> Result<bool> {
        match &self.signer {
            None => Ok(false),
            Some((actor, domain)) => service::remote::is_blocked(cx, actor, domain, account.id).await,
        }
    }

    /// `served`, as it may be kept: an answer to a signer is not kept for others.
    pub(super) fn restrict(&self, served: Served) -> Served {
        let keep = if self.signer.is_some() { Keep::Nobody } else { served.keep };
        Served { keep, varies_by_signature: self.required, ..served }
    }
}

/// The account of `row` as a viewer, with its domain; `None` when it is suspended.
async fn viewer(cx: &Cx, row: &ActorRow) -> Result<Option<(Actor, String)>> {
    match service::remote::actor(cx, row.id).await {
        Ok(actor) => Ok(Some((actor, row.domain.clone().unwrap_or_default()))),
        Err(Error::NotFound) => Ok(None),
        Err(error) => Err(error),
    }
}
