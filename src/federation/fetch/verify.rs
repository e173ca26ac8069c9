//! The job that tries again to verify the quote or reply of a status of another server.

use context::queue::{Failure as JobFailure, VerifyQuote};
use context::{Cx, job};

use super::authorization::authorized;
use super::status::{note_document, status_of};

/// Tries again to verify the quote or reply of a status, which its server states anew.
#[model::use_case]
#[job]
async fn verify_quote(cx: &Cx, job: VerifyQuote) -> Result<(), JobFailure> {
    let Some(uri) = service::remote::consent::find_uri(cx, job.status).await? else { return Ok(()) };
    let note = note_document(cx, &uri).await?;
    let found = authorized(cx, &note, status_of(cx, &note).await?).await?;
    if found.verify_later {
        return Err(JobFailure::Retry("the authorization cannot be fetched".into()));
    }
    service::remote::consent::restate(cx, &found).await?;
    Ok(())
}
