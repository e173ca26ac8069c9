//! Descriptions of scopes for the consent page.

use serde::Serialize;

use model::Scopes;

/// A scope with its description.
#[derive(Debug, Serialize)]
pub(super) struct ScopeDescription {
    scope: &'static str,
    text: &'static str,
}

/// Describes each of `scopes`.
pub(super) fn describe(scopes: &Scopes) -> Vec<ScopeDescription> {
    scopes.iter().map(|scope| ScopeDescription { scope, text: text(scope) }).collect()
}

fn text(scope: &str) -> &'static str {
    match scope {
        "profile" => "See who you are, and nothing else",
        "read" => "Read everything that you can read",
        "read:accounts" => "See your account and those of others",
        "read:blocks" => "See whom you block",
        "read:bookmarks" => "See your bookmarks",
        "read:favourites" => "See your favourites",
        "read:filters" => "See your filters",
        "read:follows" => "See whom you follow and who follows you",
        "read:lists" => "See your lists",
        "read:mutes" => "See whom you mute",
        "read:notifications" => "See your notifications",
        "read:search" => "Search for you",
        "read:statuses" => "Read posts that you can read",
        "write" => "Post, follow and change anything in your name, except your password",
        "write:accounts" => "Change your profile",
        "write:blocks" => "Block accounts and domains",
        "write:bookmarks" => "Bookmark posts",
        "write:conversations" => "Mute and delete conversations",
        "write:favourites" => "Favourite posts",
        "write:filters" => "Make filters",
        "write:follows" => "Follow and unfollow",
        "write:lists" => "Make and change lists",
        "write:media" => "Upload pictures and other media",
        "write:mutes" => "Mute accounts and conversations",
        "write:notifications" => "Clear your notifications",
        "write:reports" => "Report others to the moderators",
        "write:statuses" => "Post, edit and delete posts in your name",
        "follow" => "Follow, mute and block in your name",
        "push" => "Send you push notifications",
        "admin:read" => "Read everything that moderators can read",
        "admin:read:accounts" => "Read what moderators know of accounts",
        "admin:read:media_attachments" => "Read what moderators know of media",
        "admin:read:reports" => "Read reports and who is reported",
        "admin:read:domain_allows" => "Read which domains are allowed",
        "admin:read:domain_blocks" => "Read which domains are blocked",
        "admin:read:ip_blocks" => "Read which addresses are blocked",
        "admin:read:email_domain_blocks" => "Read which e-mail providers are blocked",
        "admin:read:canonical_email_blocks" => "Read which e-mail addresses are blocked",
        "admin:write" => "Do everything that moderators can do",
        "admin:write:accounts" => "Moderate accounts",
        "admin:write:media_attachments" => "Moderate media",
        "admin:write:reports" => "Work on reports",
        "admin:write:domain_allows" => "Allow domains",
        "admin:write:domain_blocks" => "Block domains",
        "admin:write:ip_blocks" => "Block addresses",
        "admin:write:email_domain_blocks" => "Block e-mail providers",
        "admin:write:canonical_email_blocks" => "Block e-mail addresses",
        _ => "Something this page has no words for",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scope_has_words() {
        for scope in model::scope::ALL {
            assert!(!text(scope).contains("no words"), "{scope}");
        }
    }
}
