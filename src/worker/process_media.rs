//! Job: converts an uploaded video or sound.
//!
//! Queued with the row of the attachment. A file that cannot be converted is no failure of the job: whoever sent it is told.

use super::Run;
use context::Cx;
use context::queue::{Done, Failure, ProcessMedia};
use service::media::moving::{self, Processing};
use store::job::Claim;

impl Run for ProcessMedia {
    async fn run(self, cx: &Cx, claim: Claim) -> Result<Done, Failure> {
        if moving::process(cx, &self, Processing::Later { attempt: claim.attempts }).await? {
            Ok(Done::Remove)
        } else {
            Err(Failure::NotNow("other files of the same account are converted first".to_owned()))
        }
    }
}
