//! Settings that an admin changes while the server runs.
//!
//! Stored key by key in the database; the defaults are defined by the contract
//! (docs/contract/rules.md#28-defaults-of-settings).

use serde::{Deserialize, Serialize};

use super::text_enum;

text_enum! {
    /// Who may sign up.
    RegistrationsMode {
        /// By invitation only.
        None = "none",
        /// Everyone, after approval by the staff.
        Approved = "approved",
        /// Everyone.
        Open = "open",
    }
}

text_enum! {
    /// Who may read the list of blocked domains.
    Audience {
        /// The list is not shown.
        Disabled = "disabled",
        /// Signed-in users.
        Users = "users",
        /// Everyone.
        All = "all",
    }
}

/// The settings. Every field has a default, so that a new one needs no migration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Who may sign up.
    pub registrations_mode: RegistrationsMode,
    /// Markdown, shown while registrations are closed.
    pub registrations_message: String,
    /// Whether people who need approval must say why they want to join.
    pub require_invite_text: bool,
    /// Name of the server.
    pub site_title: String,
    /// One or two plain sentences.
    pub site_short_description: String,
    /// Markdown.
    pub site_extended_description: String,
    /// When the extended description was written, as `to_api_seconds`; empty while there is none.
    pub site_extended_description_updated_at: String,
    /// Markdown; empty shows the text that comes with the server.
    pub privacy_policy: String,
    /// When the privacy policy was written, as `to_api_seconds`.
    pub privacy_policy_updated_at: String,
    /// A style sheet that pages load after their own; empty: none.
    pub custom_css: String,
    /// Shown to everyone.
    pub contact_email: String,
    /// Username of the contact account.
    pub contact_username: String,
    /// Whether public timelines can be read without signing in.
    pub timeline_preview: bool,
    /// Whether the profile directory is available.
    pub profile_directory: bool,
    /// Whether trends are shown.
    pub trends: bool,
    /// Whether trends are shown before they are reviewed.
    pub trendable_by_default: bool,
    /// Whether `/api/v1/instance/activity` is served.
    pub activity_api_enabled: bool,
    /// Whether `/api/v1/instance/peers` is served.
    pub peers_api_enabled: bool,
    /// Who may read the list of blocked domains.
    pub show_domain_blocks: Audience,
    /// Who may read why they are blocked.
    pub show_domain_blocks_rationale: Audience,
    /// Most graphemes of a status, 1 to 100000.
    pub max_characters: i64,
    /// Most media attachments of a status, 1 to 16.
    pub max_media_attachments: i64,
    /// Most statuses pinned to a profile, 0 to 100.
    pub max_pinned_statuses: i64,
    /// Most hashtags featured on a profile, 0 to 100.
    pub max_featured_tags: i64,
    /// Most characters of a media description, 1 to 10000.
    pub media_description_limit: i64,
    /// An alternative `software.name` for NodeInfo, for clients that enable features by name; empty reports
    /// `rookery`.
    #[serde(rename = "compat.nodeinfo_name")]
    pub compat_nodeinfo_name: String,
    /// Accounts that staff suggests to follow: `user`, or `user@domain`, in lower case.
    pub bootstrap_timeline_accounts: Vec<String>,
    /// Hashtags that must not be used, in normal form.
    pub disallowed_hashtags: Vec<String>,
    /// Patterns that texts must not contain: each a text, or a regular expression between slashes.
    pub ng_words: Vec<String>,
    /// Patterns that make a status sensitive.
    pub sensitive_words: Vec<String>,
    /// The content warning of a status with such a pattern that has none; empty adds none.
    pub sensitive_words_warning: String,
    /// The age in hours, 0 to 8760, until which the first public statuses of an account are unlisted; 0: never.
    pub hold_back_new_accounts: i64,
    /// How many statuses these are, 1 to 100.
    pub hold_back_statuses: i64,
    /// Most sign-ups of a day in UTC without an invitation; 0: any number.
    pub sign_ups_per_day: i64,
    /// The hours of the day, in UTC, in which people may sign up without an invitation: `8-20`; empty: always.
    pub sign_up_hours: String,
}

impl Settings {
    /// True when people may sign up at `hour`, 0 to 23 in UTC, by `sign_up_hours`.
    #[must_use]
    pub fn is_sign_up_hour(&self, hour: u32) -> bool {
        match parse_hours(&self.sign_up_hours) {
            None => true,
            Some((from, to)) if from < to => (from..to).contains(&hour),
            Some((from, to)) => hour >= from || hour < to,
        }
    }
}

/// The first hour and the hour after the last of `8-20`, which may reach over midnight; `None` for any other text.
#[must_use]
pub fn parse_hours(text: &str) -> Option<(u32, u32)> {
    let (from, to) = text.split_once('-')?;
    let hour = |text: &str, last: u32| text.trim().parse().ok().filter(|hour| *hour <= last);
    let (from, to) = (hour(from, 23)?, hour(to, 24)?);
    (from != to).then_some((from, to))
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            registrations_mode: RegistrationsMode::None,
            registrations_message: String::new(),
            require_invite_text: false,
            site_title: "Rookery".to_owned(),
            site_short_description: String::new(),
            site_extended_description: String::new(),
            site_extended_description_updated_at: String::new(),
            privacy_policy: String::new(),
            privacy_policy_updated_at: "2022-10-07T00:00:00Z".to_owned(),
            custom_css: String::new(),
            contact_email: String::new(),
            contact_username: String::new(),
            timeline_preview: true,
            profile_directory: true,
            trends: true,
            trendable_by_default: false,
            activity_api_enabled: true,
            peers_api_enabled: true,
            show_domain_blocks: Audience::Disabled,
            show_domain_blocks_rationale: Audience::Disabled,
            max_characters: 500,
            max_media_attachments: 4,
            max_pinned_statuses: 5,
            max_featured_tags: 10,
            media_description_limit: 1500,
            compat_nodeinfo_name: String::new(),
            bootstrap_timeline_accounts: Vec::new(),
            disallowed_hashtags: Vec::new(),
            ng_words: Vec::new(),
            sensitive_words: Vec::new(),
            sensitive_words_warning: String::new(),
            hold_back_new_accounts: 0,
            hold_back_statuses: 5,
            sign_ups_per_day: 0,
            sign_up_hours: String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sign_up_hours_may_reach_over_midnight() {
        let open = |hours: &str, hour: u32| {
            Settings { sign_up_hours: hours.to_owned(), ..Settings::default() }.is_sign_up_hour(hour)
        };
        assert!(open("", 3) && open("8-20", 8) && open("8-20", 19) && open("22-6", 23) && open("22-6", 5));
        assert!(!open("8-20", 20) && !open("8-20", 7) && !open("22-6", 6) && !open("22-6", 21));
        assert!(open("0-24", 0) && open("0-24", 23));
        for text in ["8", "8-8", "24-3", "8-25", "-1-3", "a-b"] {
            assert_eq!(parse_hours(text), None, "{text}");
        }
    }
}
