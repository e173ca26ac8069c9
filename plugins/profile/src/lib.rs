//! Taking the avatar and the header off one's profile.
//!
//! Two routes that the server does the work of: files, caches and followers are its own. Setting images is the core's
//! `update_credentials`. Spec: the contract's group `profile`, <https://docs.joinmastodon.org/methods/profile/>.

#[cfg(test)]
mod tests;

use rookery_plugin::prelude::*;

/// The plugin.
#[plugin]
pub struct Profile;

/// `DELETE /api/v1/profile/avatar`
#[route(delete, "/api/v1/profile/avatar", scopes = ["write:accounts"])]
fn delete_avatar(ctx: &Context) -> Result<Output> {
    remove(ctx, "avatar")
}

/// `DELETE /api/v1/profile/header`
#[route(delete, "/api/v1/profile/header", scopes = ["write:accounts"])]
fn delete_header(ctx: &Context) -> Result<Output> {
    remove(ctx, "header")
}

/// Takes an image off the caller's profile, if it has one, and answers with their account.
fn remove(ctx: &Context, image: &str) -> Result<Output> {
    core_write::remove_profile_images(ctx.account(), &[image])?;
    Output::template(&credentials_hole(ctx.account()))
}
