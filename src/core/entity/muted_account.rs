//! <https://docs.joinmastodon.org/entities/Account/#MutedAccount>

use super::{Fragment, account};
use crate::Cx;
use crate::error::Result;
use model::relationship::Muted;

/// Renders the accounts that may be shown, each with the expiry of its mute.
pub async fn render(cx: &Cx, rows: &[Muted]) -> Result<Vec<Fragment>> {
    let shown: Vec<&Muted> = rows.iter().filter(|row| !row.listed.hidden).collect();
    let listed: Vec<_> = shown.iter().map(|row| row.listed).collect();
    let accounts = account::render_listed(cx, &listed).await?;
    let muted = accounts.into_iter().zip(shown).map(|(account, row)| {
        let ends = row.expires_at.map(|at| format!("\"{}\"", at.to_api()));
        let mut muted = account.open();
        muted.member("mute_expires_at", ends.as_deref().unwrap_or("null"));
        muted.close()
    });
    Ok(muted.collect())
}
