//! Rows of statuses and their records: conversations, mentions, hashtags, media.

use super::{Seed, boolean, key, quoted};

/// The HTML of a link.
pub const LINK: &str =
    "<p><a href=\"https://a.test/\" target=\"_blank\" rel=\"nofollow noopener noreferrer\">a.test</a></p>";

/// A status to be written. The default is public and not a reply.
#[derive(Clone, Debug)]
pub struct Status<'a> {
    pub author: i64,
    pub text: &'a str,
    /// The HTML; without it, the text in a paragraph.
    pub content: Option<&'a str>,
    /// The content warning, which makes the status sensitive.
    pub spoiler_text: &'a str,
    pub language: &'a str,
    pub visibility: &'a str,
    pub reply_to: Option<Reply>,
    pub reblog_of: Option<i64>,
    /// [`Seed::image`] adds the attachment.
    pub has_media: bool,
    pub local: bool,
    /// It stays on this server.
    pub local_only: bool,
}

/// The parent of a reply: status, author and conversation.
#[derive(Clone, Copy, Debug)]
pub struct Reply {
    pub status: i64,
    pub account: i64,
    pub conversation: i64,
}

impl Default for Status<'_> {
    fn default() -> Self {
        Self {
            author: 0,
            text: "hello",
            content: None,
            spoiler_text: "",
            language: "en",
            visibility: "public",
            reply_to: None,
            reblog_of: None,
            has_media: false,
            local: true,
            local_only: false,
        }
    }
}

impl Status<'_> {
    fn html(&self) -> String {
        match (self.content, self.reblog_of) {
            (Some(content), _) => content.to_owned(),
            (None, Some(_)) => String::new(),
            (None, None) => format!("<p>{}</p>", self.text),
        }
    }

    /// True if the status is on public timelines.
    fn listed(&self) -> bool {
        self.reply_to.is_none_or(|reply| reply.account == self.author)
            && self.reblog_of.is_none()
            && matches!(self.visibility, "public" | "public_unlisted" | "login")
    }
}

impl Seed {
    /// A status and the conversation that it starts, unless it is a reply or a reblog.
    pub fn status(&mut self, status: &Status<'_>) -> i64 {
        let id = self.next_id();
        let now = self.time(id);
        let conversation = match (status.reply_to, status.reblog_of) {
            (Some(reply), _) => reply.conversation.to_string(),
            // The conversation of the original: see `COUNTERS`.
            (None, Some(_)) => "NULL".to_owned(),
            (None, None) => {
                self.row("conversations (id, owner_account_id, created_at)", format!("{id}, {}, {now}", status.author));
                id.to_string()
            }
        };
        let parent = status.reply_to.map_or("NULL, NULL".to_owned(), |to| format!("{}, {}", to.status, to.account));
        let original = status.reblog_of.map_or("NULL".to_owned(), |id| id.to_string());
        let host = if status.local { self.domain.clone() } else { "remote.test".to_owned() };
        let name = self.usernames.get(&status.author).map_or("x", String::as_str).to_owned();
        self.row(
            "statuses (id, account_id, uri, url, local, local_only, text, content, spoiler_text, sensitive, visibility, searchability, \
             language, conversation_id, in_reply_to_id, in_reply_to_account_id, reblog_of_id, listed, has_media, \
             replies_count, reblogs_count, favourites_count, created_at, version)",
            format!(
                "{id}, {}, 'https://{host}/users/{name}/statuses/{id}', 'https://{host}/@{name}/{id}', {}, {}, {}, {}, {}, {}, \
                 '{}', 'public', '{}', {conversation}, {parent}, {original}, {}, {}, 0, 0, 0, {now}, 1",
                status.author,
                boolean(status.local),
                boolean(status.local_only),
                quoted(status.text),
                quoted(&status.html()),
                quoted(status.spoiler_text),
                boolean(!status.spoiler_text.is_empty()),
                status.visibility,
                status.language,
                boolean(status.listed()),
                boolean(status.has_media),
            ),
        );
        id
    }

    /// A reply to `parent`, which started its conversation.
    pub fn reply(&mut self, author: i64, parent: Reply, visibility: &str) -> i64 {
        self.status(&Status { author, text: "an answer", visibility, reply_to: Some(parent), ..Status::default() })
    }

    /// An image of `status`, which was created with [`Status::has_media`]; its files do not exist.
    pub fn image(&mut self, account: i64, status: i64, description: &str) {
        let id = self.next_id();
        let now = self.time(id);
        let (file, preview) = (key("media", id, "jpg"), key("media", id + 1, "webp"));
        let size = |width: u32, height: u32| {
            format!(r#"{{"width":{width},"height":{height},"size":"{width}x{height}","aspect":1.7777777777777777}}"#)
        };
        let meta = format!(r#"{{"original":{},"small":{}}}"#, size(1920, 1080), size(640, 360));
        self.row(
            "media_attachments (id, account_id, status_id, position, kind, state, mime, file, size_bytes, preview, meta, \
             description, blurhash, created_at, updated_at)",
            format!(
                "{id}, {account}, {status}, 0, 'image', 'ready', 'image/jpeg', '{file}', 384211, '{preview}', \
                 {}, {}, 'LEHV6nWB2yk8pyo0adR*.7kCMdnj', {now}, {now}",
                quoted(&meta),
                quoted(description),
            ),
        );
    }

    /// A card of a link in `status`, whose content must have [`LINK`].
    pub fn card(&mut self, status: i64) {
        self.link(&format!("https://a.test/{status}"), &[status]);
    }

    /// The card of the link `url` in each of `statuses`.
    pub fn link(&mut self, url: &str, statuses: &[i64]) {
        let id = self.next_id();
        let now = self.time(id);
        self.row(
            "preview_cards (id, url, state, kind, page_url, title, due_at, used_at, created_at)",
            format!("{id}, '{url}', 'found', 'link', '{url}', 'a', {now}, {now}, {now}"),
        );
        for status in statuses {
            self.row("status_cards (status_id, card_id)", format!("{status}, {id}"));
        }
    }

    /// A poll of `status` without an end, with a single choice and the id of the status.
    pub fn poll(&mut self, status: i64, options: &[&str]) {
        let now = self.time(status);
        self.row(
            "polls (id, status_id, multiple, hide_totals, voters_count, created_at)",
            format!("{status}, {status}, FALSE, FALSE, 0, {now}"),
        );
        for (position, title) in options.iter().enumerate() {
            self.row(
                "poll_options (poll_id, position, title, votes_count)",
                format!("{status}, {position}, {}, 0", quoted(title)),
            );
        }
    }

    /// Makes a status trend.
    pub fn trend(&mut self, status: i64) {
        let now = self.time(status);
        self.row("trends (kind, subject_id, allowed, score, peak_at)", format!("'status', {status}, TRUE, 1, {now}"));
    }

    /// `status` references `target`, and quotes the oldest status that it references.
    pub fn reference(&mut self, status: i64, target: i64) {
        let id = self.next_id();
        let row = format!("{target}, {status}, {id}, {}, TRUE", id >> 16);
        self.row("status_references (target_id, status_id, id, position, in_text)", row);
    }

    pub fn mention(&mut self, status: i64, account: i64) -> i64 {
        self.mention_as(status, account, "FALSE")
    }

    /// Adds an account to the audience of a limited status.
    pub fn silent_mention(&mut self, status: i64, account: i64) -> i64 {
        self.mention_as(status, account, "TRUE")
    }

    fn mention_as(&mut self, status: i64, account: i64, silent: &str) -> i64 {
        let id = self.next_id();
        self.row("mentions (id, status_id, account_id, silent)", format!("{id}, {status}, {account}, {silent}"));
        id
    }

    /// The conversation of `owner` with `others` whose first and last status is a direct status.
    pub fn conversation(&mut self, owner: i64, others: &[i64], status: i64) -> i64 {
        let id = self.next_id();
        let others = others.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
        self.row(
            "account_conversations (id, account_id, conversation_id, participants, last_status_id, unread)",
            format!("{id}, {owner}, {status}, '{others}', {status}, TRUE"),
        );
        self.row("account_conversation_statuses (account_conversation_id, status_id)", format!("{id}, {status}"));
        id
    }

    /// A hashtag; [`Seed::tagged`] adds it to statuses. `name` is in lower case, `display_name` as displayed.
    pub fn hashtag(&mut self, name: &str, display_name: &str) -> i64 {
        let id = self.next_id();
        let now = self.time(id);
        self.row(
            "tags (id, name, display_name, usable, created_at)",
            format!("{id}, '{name}', '{display_name}', TRUE, {now}"),
        );
        id
    }

    /// As [`Seed::hashtag`], with equal name and display name.
    pub fn tag(&mut self, name: &str) -> i64 {
        self.hashtag(name, name)
    }

    pub fn tagged(&mut self, status: i64, tag: i64) {
        self.row("status_tags (tag_id, status_id)", format!("{tag}, {status}"));
    }
}
