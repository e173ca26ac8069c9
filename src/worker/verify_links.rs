//! Job: verifies the links of a profile. A page that cannot be fetched is looked at again when the fields are saved.

use super::Run;
use context::Cx;
use context::queue::{Done, Failure, VerifyLinks};
use service::profile_link;
use store::job::Claim;

impl Run for VerifyLinks {
    async fn run(self, cx: &Cx, _: Claim) -> Result<Done, Failure> {
        profile_link::verify(cx, self.account).await?;
        Ok(Done::Remove)
    }
}
