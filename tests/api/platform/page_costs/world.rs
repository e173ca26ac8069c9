//! A server with a given number of entries on every page of the viewer.

use database::Engine;
use serde_json::{Value, json};

use crate::harness::{Browser, Client, PASSWORD, TestApp};
use crate::routes::announcements::announce;
use crate::routes::media::png;
use crate::seed::{LINK, Reply, Seed, Status};

/// A link that each of the people shared.
pub const LINKED: &str = "https://a.test/shared";

/// A text with a link, without which a card is not shown.
const FINDABLE: &str = "<p>findable <a href=\"https://a.test/\" target=\"_blank\" \
                        rel=\"nofollow noopener noreferrer\">a.test</a></p>";

pub struct World {
    pub app: TestApp,
    pub viewer: Client,
    pub me: i64,
    /// Author of the statuses on the timelines.
    pub author: i64,
    pub writer: Client,
    /// One account per entry; they follow the viewer and are followed back.
    pub people: Vec<i64>,
    /// One status of the author per entry.
    pub statuses: Vec<i64>,
    /// Status of the viewer that mentions all people.
    pub own: i64,
    /// Status that all people favourited and reblogged.
    pub liked: i64,
    /// Quoted status, and status with replies.
    pub quoted: i64,
    pub thread: i64,
    /// Edited status.
    pub edited: String,
    /// List with all people.
    pub list: i64,
    /// Filter with keywords and statuses.
    pub filter: String,
    /// Group key of the notifications about `own`.
    pub group: String,
    /// Failed import, set by [`World::imported`].
    pub import: i64,
    entries: usize,
}

impl World {
    pub async fn new(entries: usize) -> Self {
        Self::on(TestApp::new().await, entries).await
    }

    /// As [`World::new`], on an existing server.
    pub async fn on(app: TestApp, entries: usize) -> Self {
        let [viewer, author] = app.accounts(["viewer", "author"]).await;
        app.run_jobs().await;
        import_emojis(&app, entries).await;
        let mut seed = Seed::new(app.db().engine(), "example.test");
        let (me, author_id) = (i64::from(viewer.id()), i64::from(author.id()));
        let unlisted = |author: i64| Status { author, visibility: "unlisted", ..Status::default() };
        let [own, liked, quoted] = [me, author_id, author_id].map(|author| seed.status(&unlisted(author)));
        let mut world = Self {
            me,
            author: author_id,
            writer: author,
            people: Vec::new(),
            statuses: Vec::new(),
            own,
            liked,
            quoted,
            thread: seed.status(&Status { author: author_id, ..Status::default() }),
            edited: String::new(),
            list: seed.list(me, "list"),
            filter: String::new(),
            group: String::new(),
            import: 0,
            entries,
            app,
            viewer,
        };
        world.seed_people(&mut seed);
        world.seed_statuses(&mut seed);
        world.seed_others(&mut seed);
        seed.write(world.app.db()).await;
        world.finish().await;
        world.publish().await;
        world.own_things().await;
        let groups = world.viewer.get("/api/v2/notifications?types[]=reblog").ok().await;
        world.group = text(&groups["notification_groups"][0]["group_key"]);
        world.app.known(&world.viewer).await;
        world
    }

    /// Query parameters with the ids of all people.
    pub fn ids(&self) -> String {
        self.people.iter().map(|id| format!("id[]={id}&")).collect()
    }

    fn seed_people(&mut self, seed: &mut Seed) {
        // Familiar follower, and source of suggestions.
        let friend = seed.account("friend", None);
        seed.follow(self.me, friend);
        for n in 0..self.entries {
            let person = seed.account(&format!("person{n}"), None);
            self.people.push(person);
            seed.follow(person, self.me);
            seed.follow(self.me, person);
            seed.follow(friend, person);
            seed.endorse(self.me, person);
            seed.list_member(self.list, person);
            seed.favourite(person, self.liked);
            seed.interaction_request(person, self.own, self.me);
            seed.status(&Status { author: person, text: "", reblog_of: Some(self.liked), ..Status::default() });
            seed.mention(self.own, person);
            seed.grouped_notification(self.me, person, "reblog", Some(self.own));
            let letter = seed.status(&Status { author: person, visibility: "direct", ..Status::default() });
            seed.mention(letter, self.me);
            seed.conversation(self.me, &[person], letter);
            let quoting = seed.status(&Status { author: person, visibility: "unlisted", ..Status::default() });
            seed.reference(quoting, self.quoted);
            let parent = Reply { status: self.thread, account: self.author, conversation: self.thread };
            seed.reply(person, parent, "public");
        }
        for n in 0..self.entries {
            let popular = seed.account(&format!("popular{n}"), None);
            seed.follow(friend, popular);
            self.people.iter().for_each(|person| seed.follow(*person, popular));
        }
    }

    fn seed_statuses(&mut self, seed: &mut Seed) {
        let birds = seed.tag("birds");
        let mut linking = Vec::new();
        for person in self.people.clone() {
            let shown = Status {
                author: self.author,
                text: "findable",
                content: Some(FINDABLE),
                has_media: true,
                ..Status::default()
            };
            let status = seed.status(&shown);
            self.statuses.push(status);
            seed.image(self.author, status, "a rook");
            seed.poll(status, &["a", "b"]);
            seed.card(status);
            seed.reference(status, self.quoted);
            seed.tagged(status, birds);
            seed.trend(status);
            seed.home(self.me, status, None);
            seed.listed(self.list, status);
            seed.favourite(self.me, status);
            seed.bookmark(self.me, status);
            seed.notification(self.me, person, "mention", Some(status));
            seed.filtered_mention(self.me, person, status);
            seed.notification_request(self.me, person);
            linking.push(seed.status(&Status { author: person, content: Some(LINK), ..Status::default() }));
        }
        seed.link(LINKED, &linking);
    }

    fn seed_others(&self, seed: &mut Seed) {
        for n in 0..self.entries {
            let [asking, blocked, muted] =
                ["asking", "blocked", "muted"].map(|kind| seed.account(&format!("{kind}{n}"), None));
            seed.follow_request(asking, self.me);
            seed.block(self.me, blocked);
            seed.mute(self.me, muted);
            seed.block_domain(self.me, &format!("blocked{n}.test"));
            let list = seed.list(self.me, "list");
            seed.list_member(list, self.people[0]);
            let followed = seed.tag(&format!("followed{n}"));
            seed.follow_tag(self.me, followed);
            let used = seed.tag(&format!("used{n}"));
            let status = seed.status(&Status { author: self.me, visibility: "unlisted", ..Status::default() });
            seed.tagged(status, used);
        }
    }

    /// Inserts rows that [`Seed`] does not support.
    async fn finish(&self) {
        let db = self.app.db();
        let now = match db.engine() {
            Engine::Sqlite => "0",
            Engine::Postgres => "now()",
        };
        let mut statements = vec![
            "UPDATE accounts SET discoverable = TRUE, version = version + 1".to_owned(),
            "UPDATE users SET feed_state = 'live'".to_owned(),
            "UPDATE preview_cards SET trendable = TRUE".to_owned(),
            "UPDATE tags SET used_publicly = TRUE".to_owned(),
            "INSERT INTO trends (kind, subject_id, allowed, score, peak_at)
             SELECT 'tag', t.id, TRUE, 1, t.created_at FROM tags t"
                .to_owned(),
            "INSERT INTO trends (kind, subject_id, allowed, score, peak_at)
             SELECT 'link', c.id, TRUE, 1, c.created_at FROM preview_cards c"
                .to_owned(),
        ];
        for n in 0..self.entries {
            let id: i64 = self.app.app.ids.next();
            statements.push(format!(
                "INSERT INTO rules (id, priority, text, hint, created_at) VALUES ({id}, {n}, 'Rule {n}', '', {now})"
            ));
            statements.push(format!(
                "INSERT INTO instances (domain, features, created_at) VALUES ('peer{n}.test', '[]', {now})"
            ));
            statements.push(format!(
                "INSERT INTO domain_blocks
                     (id, domain, severity, reject_media, reject_reports, obfuscate, hidden, public_comment, created_at)
                 VALUES ({id}, 'bad{n}.test', 'silence', FALSE, FALSE, FALSE, FALSE, 'spam', {now})"
            ));
        }
        for statement in statements {
            db.execute_raw(&statement).await.unwrap();
        }
        self.app.index_statuses().await;
        // Also reloads the rules.
        self.app.set("show_domain_blocks", "all").await;
        self.app.run_jobs().await;
    }

    /// Publishes edits and announcements.
    async fn publish(&mut self) {
        let author = &self.writer;
        let edited = author.post("/api/v1/statuses").json(&json!({ "status": "first", "visibility": "unlisted" }));
        self.edited = text(&edited.ok().await["id"]);
        let path = format!("/api/v1/statuses/{}", self.edited);
        for n in 0..self.entries {
            self.app.tick();
            author.put(&path).json(&json!({ "status": format!("again {n}") })).ok().await;
            let shown = format!("https://example.test/@author/{}", self.statuses[n]);
            let announced = announce(&self.app, &format!("Hi @author :rook{n}: #birds {shown}")).await;
            self.viewer.put(&format!("{announced}/reactions/%F0%9F%8E%89")).ok().await;
        }
        self.app.run_jobs().await;
    }

    /// Creates featured hashtags, filters, scheduled statuses and profile fields.
    async fn own_things(&mut self) {
        let keywords: Vec<Value> = (0..self.entries).map(|n| json!({ "keyword": format!("word{n}") })).collect();
        for n in 0..self.entries {
            let topic = json!({ "name": format!("topic{n}") });
            for person in [&self.viewer, &self.writer] {
                person.post("/api/v1/featured_tags").json(&topic).ok().await;
            }
            // Does not filter statuses of other pages.
            let filter =
                json!({ "title": format!("filter {n}"), "context": ["thread"], "keywords_attributes": keywords });
            let made = self.viewer.post("/api/v2/filters").json(&filter).ok().await;
            self.filter = text(&made["id"]);
            let later = json!({ "status": "later", "scheduled_at": format!("2027-02-{:02}T12:00:00Z", n + 1) });
            self.viewer.post("/api/v1/statuses").json(&later).ok().await;
        }
        for status in &self.statuses {
            let path = format!("/api/v2/filters/{}/statuses", self.filter);
            self.viewer.post(&path).json(&json!({ "status_id": status.to_string() })).ok().await;
        }
        let fields: serde_json::Map<String, Value> = (0..self.entries)
            .map(|n| (n.to_string(), json!({ "name": format!("name {n}"), "value": "a value" })))
            .collect();
        let profile = json!({ "fields_attributes": fields });
        self.viewer.patch("/api/v1/accounts/update_credentials").json(&profile).ok().await;
        self.app.run_jobs().await;
    }

    /// A browser of the viewer. Adds one more session and one authorised application per entry.
    pub async fn browser(&self) -> Browser {
        let browser = Browser::signed_in(&self.app, "viewer").await;
        let redirect = "urn:ietf:wg:oauth:2.0:oob";
        for n in 0..self.entries {
            let other = Browser::new(&self.app).sign_in("viewer", PASSWORD).await;
            assert_eq!(other.status, 302, "{}", other.text());
            let new = json!({ "client_name": format!("client {n}"), "redirect_uris": redirect, "scopes": "read" });
            let application = self.app.anonymous().post("/api/v1/apps").json(&new).ok().await;
            let (id, nonce) = (self.app.app.ids.next::<i64>(), format!("nonce {n}"));
            let token = format!(
                "INSERT INTO oauth_tokens (id, token_hash, nonce, app_id, account_id, scopes, created_at)
                 SELECT {id}, 'hash {n}', '{nonce}', {}, a.id, 'read', a.created_at FROM accounts a WHERE a.id = {}",
                text(&application["id"]),
                self.me
            );
            self.app.execute(&token).await;
        }
        browser
    }

    /// Runs an import with one unknown account per entry.
    pub async fn imported(mut self, browser: &Browser) -> Self {
        let path = "/settings/transfer";
        let file: String = (0..self.entries).map(|n| format!("nobody{n}\n")).collect();
        let page = browser.get(path).await;
        let files = [("file", "blocked_accounts.csv", file.as_bytes())];
        let begun = browser.upload(&page, path, &[("kind", "blocking")], &files).await;
        assert_eq!(begun.status, 302, "{}", begun.text());
        self.app.run_jobs().await;
        self.import = self.app.number("SELECT id FROM imports").await;
        self
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// Imports custom emojis: `rook0`, `rook1` …
async fn import_emojis(app: &TestApp, entries: usize) {
    let folder = tempfile::tempdir().unwrap();
    for n in 0..entries {
        std::fs::write(folder.path().join(format!("rook{n}.png")), png(20, 20)).unwrap();
    }
    app.run(&["emoji", "import", folder.path().to_str().unwrap()]).await.ok();
    app.app.reload().await.unwrap();
}
