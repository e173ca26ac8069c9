//! Job: asks plugins whether pending notifications may be created (`service::notification::judge_waiting`). One job
//! handles all that are pending.

use super::Run;
use model::JobId;
use rookery_core::Cx;
use rookery_core::queue::{Done, Failure, JudgeNotices};
use rookery_core::service::notification;

impl Run for JudgeNotices {
    async fn run(self, cx: &Cx, _: JobId) -> Result<Done, Failure> {
        notification::judge_waiting(cx).await?;
        Ok(Done::Remove)
    }
}
