//! <https://docs.joinmastodon.org/entities/Account/#MutedAccount>

use super::account;
use context::Cx;
use context::error::Result;
use context::json::{Array, Object};
use model::relationship::Muted;

/// Renders the visible accounts, each with the expiry of its mute.
pub async fn render(cx: &Cx, rows: &[Muted]) -> Result<Array> {
    let shown: Vec<&Muted> = rows.iter().filter(|row| !row.listed.hidden).collect();
    let versions: Vec<_> = shown.iter().map(|row| (row.listed.account_id, row.listed.version)).collect();
    let rendered = account::render_versions(cx, &versions).await?;
    let muted = shown.iter().filter_map(|row| Some((row.expires_at, rendered.get(&row.listed.account_id)?)));
    let capacity = muted.clone().map(|(_, account)| account.len() + 64).sum();
    Ok(Array::of(capacity, muted, |out, (expires_at, account)| {
        let ends = expires_at.map(|at| format!("\"{}\"", at.to_api()));
        Object::write(out, |muted| {
            muted.members_of(account).member("mute_expires_at", ends.as_deref().unwrap_or("null"));
        });
    }))
}
