//! Rows of accounts and of their users.

use super::{Seed, key, quoted};

/// An account to be written. The default is a local account with a short note.
#[derive(Clone, Debug)]
pub struct Profile<'a> {
    pub username: &'a str,
    /// Domain of a remote account.
    pub domain: Option<&'a str>,
    pub display_name: Option<&'a str>,
    pub note: &'a str,
    /// The note as returned to clients.
    pub note_html: &'a str,
    /// As JSON.
    pub fields: &'a str,
    /// With an avatar and a header, whose files do not exist.
    pub pictures: bool,
}

impl Default for Profile<'_> {
    fn default() -> Self {
        Self {
            username: "someone",
            domain: None,
            display_name: None,
            note: "I write.",
            note_html: "<p>I write.</p>",
            fields: "[]",
            pictures: false,
        }
    }
}

impl Seed {
    /// A local account with a confirmed and approved user, or a remote one.
    pub fn account(&mut self, username: &str, domain: Option<&str>) -> i64 {
        self.profile(&Profile { username, domain, ..Profile::default() })
    }

    /// As [`Seed::account`], with more columns.
    pub fn profile(&mut self, profile: &Profile<'_>) -> i64 {
        let id = self.next_id();
        let now = self.time(id);
        let username = profile.username;
        let host = profile.domain.unwrap_or(&self.domain).to_owned();
        let actor = format!("https://{host}/users/{username}");
        let remote = profile.domain.map_or("NULL".to_owned(), quoted);
        let name = profile.display_name.map_or_else(|| format!("{username} of {host}"), str::to_owned);
        let picture = |folder, format| match profile.pictures {
            true => quoted(&key(folder, id, format)),
            false => "NULL".to_owned(),
        };
        let (avatar, header) = (picture("avatars", "png"), picture("headers", "jpg"));
        self.row(
            "accounts (id, username, domain, uri, url, actor_type, display_name, note, note_html, fields, avatar, \
             header, locked, indexable, searchability, memorial, also_known_as, other_settings, inbox_url, shared_inbox_url, \
             followers_url, followers_count, following_count, statuses_count, created_at, updated_at, version)",
            format!(
                "{id}, '{username}', {remote}, '{actor}', 'https://{host}/@{username}', 'Person', {}, {}, {}, {}, {avatar}, \
                 {header}, FALSE, TRUE, 'public', FALSE, '[]', '{{}}', '{actor}/inbox', 'https://{host}/inbox', \
                 '{actor}/followers', 0, 0, 0, {now}, {now}, 1",
                quoted(&name),
                quoted(profile.note),
                quoted(profile.note_html),
                quoted(profile.fields),
            ),
        );
        for known in text::names(username, &name) {
            self.row("account_names (rank, name, account_id)", format!("0, {}, {id}", quoted(&known)));
        }
        if profile.domain.is_none() {
            self.row(
                "users (account_id, email, confirmed_at, approved, disabled, preferences, last_active_at, feed_state, created_at)",
                format!("{id}, '{username}@example.test', {now}, TRUE, FALSE, '{{}}', {now}, 'live', {now}"),
            );
        }
        self.usernames.insert(id, username.to_owned());
        id
    }
}
