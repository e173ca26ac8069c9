//! Fixtures: accounts, statuses, follows, blocks, emojis, configuration and settings.

use super::Fake;
use crate::Id;
use crate::contract::core::Emoji;
use crate::contract::types::{Account, Status};

/// The fake server's own domain.
pub(super) const DOMAIN: &str = "rookery.example";

/// A local account, or one of another server when `acct` has a domain.
#[must_use]
pub fn account(id: i64, acct: &str) -> Account {
    let (name, domain) = match acct.split_once('@') {
        Some((name, domain)) => (name, Some(domain.to_owned())),
        None => (acct, None),
    };
    let host = domain.as_deref().unwrap_or(DOMAIN);
    Account {
        id,
        acct: acct.to_owned(),
        uri: format!("https://{host}/users/{name}"),
        display_name: name.to_owned(),
        domain,
        created_at: 1_700_000_000_000,
        locked: false,
        bot: false,
        state: 0,
        followers: 0,
        following: 0,
        statuses: 0,
        extra: None,
    }
}

/// A public status.
#[must_use]
pub fn status(id: i64, author: &Account, text: &str) -> Status {
    Status {
        id,
        account: author.id,
        domain: author.domain.clone(),
        uri: format!("{}/statuses/{id}", author.uri),
        created_at: 1_704_000_000_000 + id,
        visibility: 0,
        searchability: "public".into(),
        text: text.to_owned(),
        language: Some("en".into()),
        sensitive: false,
        local: author.domain.is_none(),
        reply_to: None,
        reply_to_account: None,
        reblog_of: None,
        quote_of: None,
        tags: hashtags(text),
        mentions: Vec::new(),
        media_count: 0,
        has_poll: false,
        extra: None,
    }
}

fn hashtags(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '#' && c != '_');
    words.filter_map(|word| word.strip_prefix('#')).map(str::to_lowercase).collect()
}

impl Fake {
    /// Adds an account: `name`, or `name@domain` for one of another server.
    pub fn account(&self, acct: &str) -> Id {
        self.state(|state| {
            let id = state.next_id();
            let account = account(id, acct);
            if account.domain.is_none() {
                state.tokens.insert(id, id);
            }
            state.accounts.push(account);
            Id(id)
        })
    }

    /// Makes an account discoverable, as its owner's setting does.
    pub fn discoverable(&self, account: impl Into<i64>) {
        let account = account.into();
        self.state(|state| state.discoverable.insert(account));
    }

    /// Gives an account another access token: for [`TestRequest::with_token`](super::TestRequest::with_token).
    pub fn token(&self, account: impl Into<i64>) -> Id {
        let account = account.into();
        self.state(|state| {
            let id = state.next_id();
            state.tokens.insert(id, account);
            Id(id)
        })
    }

    /// Adds a public status.
    ///
    /// # Panics
    /// When there is no such author.
    pub fn status(&self, author: impl Into<i64>, text: &str) -> Id {
        self.status_with(author, text, |_| {})
    }

    /// Adds a public status that `change` may modify first.
    ///
    /// # Panics
    /// When there is no such author.
    #[expect(clippy::expect_used, reason = "a test's own mistake")]
    pub fn status_with(&self, author: impl Into<i64>, text: &str, change: impl FnOnce(&mut Status)) -> Id {
        let author = author.into();
        self.state(|state| {
            let id = state.next_id();
            let author = state.accounts.iter().find(|account| account.id == author).expect("add the author first");
            let mut status = status(id, author, text);
            change(&mut status);
            state.statuses.push(status);
            Id(id)
        })
    }

    /// Makes one account follow another.
    pub fn follow(&self, follower: impl Into<i64>, followed: impl Into<i64>) {
        let pair = (follower.into(), followed.into());
        self.state(|state| {
            if state.follows.insert(pair) {
                let number = state.next_id();
                state.followed_at.insert(pair, state.now);
                state.follow_numbers.insert(pair, number);
            }
        });
    }

    /// Makes one account block another.
    pub fn block(&self, blocker: impl Into<i64>, blocked: impl Into<i64>) {
        let pair = (blocker.into(), blocked.into());
        self.state(|state| state.blocks.insert(pair));
    }

    /// Adds a custom emoji of this server.
    pub fn emoji(&self, shortcode: &str) -> Id {
        self.state(|state| {
            let id = state.next_id();
            let url = Some(format!("https://{DOMAIN}/emoji/{shortcode}.png"));
            state.emojis.push(Emoji {
                name: shortcode.to_owned(),
                domain: None,
                custom: Some(id),
                url: url.clone(),
                static_url: url,
                width: Some(32),
                height: Some(32),
            });
            Id(id)
        })
    }

    /// Sets a key of the plugin's configuration.
    pub fn configure(&self, key: &str, value: impl Into<serde_json::Value>) {
        self.state(|state| {
            state.config.insert(key.to_owned(), value.into());
            state.config_version += 1;
        });
    }

    /// Sets a key of an account's settings for this plugin.
    pub fn set(&self, account: impl Into<i64>, key: &str, value: impl Into<serde_json::Value>) {
        let account = account.into();
        self.state(|state| state.settings.entry(account).or_default().insert(key.to_owned(), value.into()));
    }
}
