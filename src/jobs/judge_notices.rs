//! Asks plugins about the notices that wait for their judgement. One job does for all that wait.

use serde::{Deserialize, Serialize};

use super::{Done, Failure, Job};
use crate::app::App;
use crate::service::notification;
use model::JobId;
use model::job::Lane;

/// Judges what waits.
#[derive(Debug, Serialize, Deserialize)]
pub struct JudgeNotices {}

impl Job for JudgeNotices {
    const KIND: &'static str = "judge_notices";
    const LANE: Lane = Lane::Feed;

    fn key(&self) -> Option<String> {
        Some("all".to_owned())
    }

    async fn run(self, app: &App, _: JobId) -> Result<Done, Failure> {
        notification::judge_waiting(app).await?;
        Ok(Done::Remove)
    }
}
