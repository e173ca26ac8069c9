//! Settings that an admin changes while the server runs.
//!
//! Stored key by key in the database; the defaults are defined by the contract
//! (docs/contract/rules.md#28-defaults-of-settings).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use self::SettingType::{
    Choice, Email, Flag, Handles, Hashtags, Hours, Line, Markdown, Nothing, Patterns, Picture, SoftwareName,
    StyleSheet, Username, WebAddress, Whole,
};
use super::remote_file::RemoteMediaMode;
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
    /// The content of the front page below the name of the server.
    FrontPage {
        /// How to connect an app, rules and contact.
        About = "about",
        /// The newest posts of this server, if everyone may read them.
        Live = "live",
        /// The posts that trend, if everyone may read them.
        Trends = "trends",
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

text_enum! {
    /// Who may read statuses in a feed of the whole server.
    FeedAccess {
        /// As `timeline_preview` decides: everyone, or signed-in users.
        Preview = "default",
        /// Everyone.
        Public = "public",
        /// Signed-in users.
        Authenticated = "authenticated",
        /// People whose role has the permission to view feeds.
        Disabled = "disabled",
    }
}

/// A feed of the whole server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerFeed {
    /// The public timelines.
    Live,
    /// The timelines of hashtags and of links.
    Topic,
}

/// A picture of the server: its files by size. Without files, the picture that comes with the server is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerPicture {
    /// Storage keys, by the name of the size: `32x32`.
    pub files: BTreeMap<String, String>,
    /// A blurred placeholder; empty without files.
    pub blurhash: String,
}

/// The type of a setting.
#[derive(Clone, Copy, Debug)]
pub enum SettingType {
    /// True or false.
    Flag,
    /// A whole number between these bounds, inclusive.
    Whole(i64, i64),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// One line of at most this many characters.
    Line(usize),
    /// Markdown; the named setting records when it was written.
    Markdown(Option<&'static str>),
    /// CSS.
    StyleSheet,
    /// An e-mail address, or empty.
    Email,
    /// The address of a web page, http or https, or empty.
    WebAddress,
    /// The user name of an account of this server, or empty.
    Username,
    /// A software name as NodeInfo allows it.
    SoftwareName,
    /// Hashtags, separated by commas.
    Hashtags,
    /// Names of at most this many accounts, of this server or others.
    Handles(usize),
    /// Words and regular expressions, one a line.
    Patterns,
    /// Hours of the day.
    Hours,
    /// A picture, from a file.
    Picture,
    /// Read-only: the server sets it.
    Nothing,
}

/// A setting as it is declared.
#[derive(Clone, Copy, Debug)]
pub struct SettingRow {
    pub key: &'static str,
    pub takes: SettingType,
    /// Its effect, for admins.
    pub about: &'static str,
}

/// Declares the settings: `name [as "key"]: Type = default, SettingType, "its effect, for admins";`, each a member of
/// [`Settings`] and a row of [`SETTINGS`].
macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident $(as $key:literal)?: $type:ty = $default:expr, $takes:expr, $about:literal;)+) => {
        /// The settings. Every field has a default, so that a new one needs no migration.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct Settings {
            $($(#[$doc])* $(#[serde(rename = $key)])? pub $name: $type,)+
        }

        impl Default for Settings {
            fn default() -> Self {
                Self { $($name: $default),+ }
            }
        }

        /// Every setting, in the order of its declaration.
        pub const SETTINGS: &[SettingRow] =
            &[$(SettingRow { key: settings!(@key $name $($key)?), takes: $takes, about: $about }),+];
    };
    (@key $name:ident $key:literal) => { $key };
    (@key $name:ident) => { stringify!($name) };
}

settings! {
    /// Who may sign up.
    registrations_mode: RegistrationsMode =
        RegistrationsMode::None, Choice(RegistrationsMode::WORDS), "Who may sign up";
    /// Markdown, shown while registrations are closed.
    registrations_message: String = String::new(), Markdown(None), "Shown while registrations are closed";
    /// Whether people who need approval must say why they want to join.
    require_invite_text: bool = false, Flag, "Whether people who need approval must say why they want to join";
    /// Name of the server.
    site_title: String = "Rookery".to_owned(), Line(200), "Name of the server";
    /// Whether people may change their user name, once in 30 days.
    usernames_changeable: bool = false, Flag, "Whether people may change their user name, once in 30 days";
    /// One or two plain sentences.
    site_short_description: String = String::new(), Line(1000), "One or two plain sentences about the server";
    /// Markdown.
    site_extended_description: String =
        String::new(), Markdown(Some("site_extended_description_updated_at")),
        "Everything there is to say about the server";
    /// When the extended description was written, as `to_api_seconds`; empty while there is none.
    site_extended_description_updated_at: String = String::new(), Nothing, "When the extended description was written";
    /// Markdown; empty shows the text that comes with the server.
    privacy_policy: String =
        String::new(), Markdown(Some("privacy_policy_updated_at")), "Empty: the text that comes with the server";
    /// When the privacy policy was written, as `to_api_seconds`.
    privacy_policy_updated_at: String =
        "2022-10-07T00:00:00Z".to_owned(), Nothing, "When the privacy policy was written";
    /// The page with the state of the server's services; empty: none.
    status_page_url: String = String::new(), WebAddress, "Address of the page that shows whether the server is up";
    /// The picture that represents the server in apps, and where its pages are shared.
    thumbnail: ServerPicture = ServerPicture::default(), Picture, "The picture that represents the server";
    /// The icon of the server, for browsers and apps.
    icon: ServerPicture = ServerPicture::default(), Picture, "The icon of the server in browsers and apps";
    /// The mark in the header of pages, beside the name.
    logo: ServerPicture = ServerPicture::default(), Picture, "The mark beside the name in the header of pages";
    /// The description of the server's thumbnail, for people who do not see it.
    thumbnail_description: String =
        String::new(), Line(1500), "Describes the thumbnail of the server to people who do not see it";
    /// The days from which versions of the terms of service apply, the earliest first: `2026-11-21`.
    terms_of_service_dates: Vec<String> = Vec::new(), Nothing, "The days from which versions of the terms of service apply";
    /// The age in years that people must have to sign up, 0 to 120; 0: any.
    min_age: i64 = 0, Whole(0, 120), "Age in years that people must have to sign up; 0: any";
    /// A style sheet that pages load after their own; empty: none.
    custom_css: String = String::new(), StyleSheet, "A style sheet that pages load after their own";
    /// Shown to everyone.
    contact_email: String = String::new(), Email, "Shown to everyone";
    /// Username of the contact account.
    contact_username: String = String::new(), Username, "User name of the account to ask";
    /// Whether public timelines can be read without signing in.
    timeline_preview: bool = true, Flag, "Whether public timelines can be read without signing in";
    /// Who may read statuses of this server in the public timelines.
    local_live_feed_access: FeedAccess =
        FeedAccess::Preview, Choice(FeedAccess::WORDS),
        "Who may read posts of this server in public timelines; default: as timeline_preview";
    /// Who may read statuses of other servers in the public timelines.
    remote_live_feed_access: FeedAccess =
        FeedAccess::Preview, Choice(FeedAccess::WORDS),
        "Who may read posts of other servers in public timelines; default: as timeline_preview";
    /// Who may read statuses of this server in the timelines of hashtags and links.
    local_topic_feed_access: FeedAccess =
        FeedAccess::Preview, Choice(FeedAccess::WORDS),
        "Who may read posts of this server in timelines of hashtags and links; default: as timeline_preview";
    /// Who may read statuses of other servers in the timelines of hashtags and links.
    remote_topic_feed_access: FeedAccess =
        FeedAccess::Preview, Choice(FeedAccess::WORDS),
        "Who may read posts of other servers in timelines of hashtags and links; default: as timeline_preview";
    /// Whether statuses that stay on this server are shown to people who are not signed in.
    local_only_public: bool = false, Flag, "Whether local-only posts are shown to people who are not signed in";
    /// Whether the profile directory is available.
    profile_directory: bool = true, Flag, "Whether the profile directory is available";
    front_page: FrontPage =
        FrontPage::About, Choice(FrontPage::WORDS), "What the front page shows to visitors";
    /// Whether trends are shown.
    trends: bool = true, Flag, "Whether trends are shown";
    /// Whether trends are shown before they are reviewed.
    trendable_by_default: bool = false, Flag, "Whether trends are shown before a review";
    /// Whether `/api/v1/instance/activity` is served.
    activity_api_enabled: bool = true, Flag, "Whether figures of each week are served";
    /// Whether `/api/v1/instance/peers` is served.
    peers_api_enabled: bool = true, Flag, "Whether the list of known servers is served";
    /// Who may read the list of blocked domains.
    show_domain_blocks: Audience =
        Audience::Disabled, Choice(Audience::WORDS), "Who may read which domains are blocked";
    /// Who may read why they are blocked.
    show_domain_blocks_rationale: Audience =
        Audience::Disabled, Choice(Audience::WORDS), "Who may read why they are blocked";
    /// Most graphemes of a status, 1 to 100000.
    max_characters: i64 = 500, Whole(1, 100_000), "Characters of a status";
    /// Most media attachments of a status, 1 to 16.
    max_media_attachments: i64 = 4, Whole(1, 16), "Media of a status";
    /// How files of other servers are served, unless their domain has its own mode.
    remote_media: RemoteMediaMode =
        RemoteMediaMode::Cache, Choice(RemoteMediaMode::WORDS), "How files of other servers are served";
    /// Days after their last use until copies of files of other servers are removed; 0: no limit.
    remote_media_days: i64 = 30, Whole(0, 3650), "Days until unused copies of files of other servers are removed; 0: no limit";
    /// Days until statuses of other servers are removed, 0 to 3650; 0: they are kept.
    remote_status_days: i64 = 0, Whole(0, 3650), "Days until posts of other servers are removed; 0: never";
    /// Whether an old status of another server stays if an account of this server wrote in its thread.
    remote_keep_answered: bool = true, Flag, "Keep old remote posts with a reply of this server in their thread";
    /// Whether it stays if an account of this server marked it as a favourite.
    remote_keep_favourited: bool = true, Flag, "Keep old remote posts that people of this server favourited";
    /// Whether it stays if an account of this server boosted it.
    remote_keep_boosted: bool = true, Flag, "Keep old remote posts that people of this server boosted";
    /// Whether it stays if an account of this server bookmarked it.
    remote_keep_bookmarked: bool = true, Flag, "Keep old remote posts that people of this server bookmarked";
    /// Whether it stays if a status of this server quotes it or refers to it.
    remote_keep_quoted: bool = true, Flag, "Keep old remote posts that posts of this server quote or reference";
    /// Whether it stays if it mentions an account of this server.
    remote_keep_mentioned: bool = true, Flag, "Keep old remote posts that mention people of this server";
    /// Whether it stays if an account of this server follows its author.
    remote_keep_followed: bool = true, Flag, "Keep old remote posts whose author has followers on this server";
    /// Days after their last fetch until accounts of other servers without any relation are removed, 0 to 3650; 0: they
    /// are kept.
    remote_account_days: i64 = 0, Whole(0, 3650), "Days until unused accounts of other servers are removed; 0: never";
    /// Most statuses pinned to a profile, 0 to 100.
    max_pinned_statuses: i64 = 5, Whole(0, 100), "Statuses pinned to a profile";
    /// Most hashtags featured on a profile, 0 to 100.
    max_featured_tags: i64 = 10, Whole(0, 100), "Hashtags featured on a profile";
    /// Most characters of a media description, 1 to 10000.
    media_description_limit: i64 = 1500, Whole(1, 10_000), "Characters of a media description";
    /// An alternative `software.name` for NodeInfo, for clients that enable features by name; empty reports
    /// `rookery`.
    compat_nodeinfo_name as "compat.nodeinfo_name": String =
        String::new(), SoftwareName, "Another software name for NodeInfo; empty announces rookery";
    /// Accounts that staff suggests to follow: `user`, or `user@domain`, in lower case.
    bootstrap_timeline_accounts: Vec<String> = Vec::new(), Handles(40), "Accounts that staff suggests to follow";
    /// Hashtags that must not be used, in normal form.
    disallowed_hashtags: Vec<String> = Vec::new(), Hashtags, "Hashtags that must not be used";
    /// Patterns that texts must not contain: each a text, or a regular expression between slashes.
    ng_words: Vec<String> =
        Vec::new(), Patterns,
        "Words that posts, polls and profiles must not contain; remote posts with one are dropped";
    /// Patterns that make a status sensitive.
    sensitive_words: Vec<String> = Vec::new(), Patterns, "Words that make a post sensitive";
    /// The content warning of a status with such a pattern that has none; empty adds none.
    sensitive_words_warning: String = String::new(), Line(200), "Content warning of such a post that has none";
    /// The age in hours, 0 to 8760, until which the first public statuses of an account are unlisted; 0: never.
    hold_back_new_accounts: i64 =
        0, Whole(0, 8_760), "Hours in which the first public posts of an account are unlisted; 0: off";
    /// How many statuses these are, 1 to 100.
    hold_back_statuses: i64 = 5, Whole(1, 100), "How many posts these are";
    /// Most sign-ups of a day in UTC without an invitation; 0: any number.
    sign_ups_per_day: i64 = 0, Whole(0, 1_000_000), "Sign-ups of a day (UTC) without an invitation; 0: any number";
    /// The hours of the day, in UTC, in which people may sign up without an invitation: `8-20`; empty: always.
    sign_up_hours: String = String::new(), Hours, "Hours (UTC) in which people may sign up without an invitation";
}

impl Settings {
    /// Who may read statuses of this server (`local`), or of other servers, in `feed`; never
    /// [`FeedAccess::Preview`].
    #[must_use]
    pub fn feed_access(&self, feed: ServerFeed, local: bool) -> FeedAccess {
        let access = match (feed, local) {
            (ServerFeed::Live, true) => self.local_live_feed_access,
            (ServerFeed::Live, false) => self.remote_live_feed_access,
            (ServerFeed::Topic, true) => self.local_topic_feed_access,
            (ServerFeed::Topic, false) => self.remote_topic_feed_access,
        };
        match access {
            FeedAccess::Preview if self.timeline_preview => FeedAccess::Public,
            FeedAccess::Preview => FeedAccess::Authenticated,
            FeedAccess::Public | FeedAccess::Authenticated | FeedAccess::Disabled => access,
        }
    }

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
