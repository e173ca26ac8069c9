//! Jobs: make a requested archive, and delete it when it expires (`service::archive`).

use context::job;
use context::queue::{Done, ExpireArchive, Failure, MakeArchive};
use context::{Cx, Result};
use model::Account;
use service::archive::{self, Archive};
use store::job::Claim;

#[job]
async fn make_archive(cx: &Cx, job: MakeArchive, claim: Claim) -> Result<Done, Failure> {
    let Some((archive, account)) = archive::find_unfinished(cx, job.archive).await? else {
        return Ok(Done::Remove);
    };
    match make(cx, &archive, &account).await {
        Ok((key, size_bytes)) => archive::end(cx, &archive, Some((&key, size_bytes)), claim).await,
        Err(error) if !error.is_fault() && claim.attempts >= i64::from(cx.config.jobs.max_attempts) => {
            tracing::error!(%error, archive.id = %archive.id, "could not make an archive");
            archive::end(cx, &archive, None, claim).await
        }
        Err(error) => Err(error.into()),
    }
}

/// Writes the archive and stores it. Returns its key and its size in bytes.
async fn make(cx: &Cx, archive: &Archive, account: &Account) -> Result<(String, i64)> {
    let scratch = archive::scratch(cx)?;
    let path = scratch.path().join("archive.zip");
    let size_bytes = entity::archive::write(cx, account, &path, Some(archive.id)).await?;
    Ok((archive::store(cx, archive, &path).await?.to_string(), size_bytes))
}

#[job]
async fn expire_archive(cx: &Cx, job: ExpireArchive) -> Result<(), Failure> {
    archive::expire(cx, &job).await?;
    Ok(())
}
