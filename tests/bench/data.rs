//! The data set: people with profiles, realistic statuses with all their records, and viewers with read, marked and
//! blocked content.

use std::collections::HashSet;
use std::sync::Arc;

use database::Db;
use database::db::Engine;

use crate::draft::{Draft, person};
use crate::outbox;
use crate::scratch::{self, now};
use crate::seed::{Reply, Seed, Status, fill_homes, fill_lists};
use crate::site::Site;
use crate::targets::{Publisher, Targets};
use crate::words::{HASHTAGS, Words};

pub const DOMAIN: &str = "bench.test";

/// Number of viewers, each with a token.
const VIEWERS: usize = 50;
/// The last of the people, whose accounts have no followers and are blocked or muted by some.
const UNWELCOME: usize = 10;
const FOLLOWS_EACH: usize = 50;
/// Number of people that each member of the crowd follows.
const CROWD_FOLLOWS: usize = 10;
/// Threads of 50 replies.
const THREADS: usize = 10;
/// Favourites and bookmarks of each viewer.
const MARKS: usize = 150;
/// Notifications of each viewer: more than a page.
const NOTIFICATIONS: usize = 60;
/// Polls of an account without followers, on statuses that are not on public timelines.
const POLLS: usize = 160;
/// Conversations of each viewer.
const CONVERSATIONS: usize = 60;
/// Followers of the publishers; a publisher is left out if there are too few people.
const FOLLOWERS: [usize; 2] = [100, 1_000];

/// Number of records of each kind.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Authors, at least [`VIEWERS`] and [`UNWELCOME`].
    pub people: usize,
    /// Accounts that only read and follow the two publishers.
    pub crowd: usize,
    pub statuses: usize,
    /// Entries of a home timeline.
    pub home: i64,
}

impl Size {
    pub const MAIN: Self = Self { people: 200, crowd: 1_000, statuses: 10_000, home: 400 };
    /// For measurements of connections.
    pub const LOAD: Self = Self { people: 80, crowd: 1_000, statuses: 1_000, home: 40 };
}

pub struct Data {
    pub targets: Arc<Targets>,
    /// Public, by authors without blocks; oldest first.
    pub statuses: Vec<i64>,
}

impl Data {
    /// Tokens of the first viewer and of another one.
    pub fn tokens(&self) -> [&str; 2] {
        [&self.targets.tokens[0], &self.targets.tokens[1]]
    }
}

/// Creates the schema of `site`'s empty database with its program, and fills it.
pub async fn prepare(site: &Site<'_>, size: Size) -> Data {
    site.run(&["db", "migrate"], &[]);
    let db = scratch::open(site.url).await;
    let data = fill(&db, size).await;
    // Older programs can be measured too.
    if db.fetch_raw::<(i64,)>("SELECT term FROM status_terms LIMIT 1").await.is_ok() {
        site.run(&["search", "reindex"], &[]);
    }
    if site.plugins {
        // The first start creates the tables of plugins.
        site.start(&[]).await.stop();
        outbox::react(&db).await;
    }
    db.close().await;
    data
}

async fn fill(db: &Db, size: Size) -> Data {
    let mut builder = Builder::new(db, size);
    builder.follows();
    for number in 0..size.statuses {
        // In the middle, so that pages of the newest statuses are as mixed as others.
        if number == size.statuses / 2 {
            (0..THREADS).for_each(|thread| builder.thread(thread));
        }
        builder.status(number);
    }
    builder.marks();
    let tokens = (0..VIEWERS).map(|viewer| format!("bench-token-{viewer}")).collect::<Vec<_>>();
    for (token, person) in tokens.iter().zip(builder.people.clone()) {
        builder.seed.token(person, &crypto::hash(token), SCOPES);
    }
    let sessions = (0..VIEWERS).map(|viewer| format!("bench-session-{viewer}")).collect::<Vec<_>>();
    for (session, person) in sessions.iter().zip(builder.people.clone()) {
        builder.seed.session(person, &crypto::hash(session));
    }
    let owners = builder.people[..VIEWERS].to_vec();
    let lists = owners.iter().map(|owner| builder.seed.list(*owner, "followed").to_string()).collect();
    let enough = FOLLOWERS.into_iter().filter(|followers| *followers <= size.people.max(size.crowd));
    let publishers = enough.map(|followers| builder.publisher(followers)).collect();
    // Older programs can be measured too.
    let polls = match db.fetch_raw::<(i64,)>("SELECT id FROM polls LIMIT 1").await {
        Ok(_) => builder.polls(),
        Err(_) => Vec::new(),
    };
    let welcome = &builder.people[..builder.welcome()];
    let targets = Targets {
        host: DOMAIN.to_owned(),
        tokens,
        sessions,
        authors: welcome.iter().map(ToString::to_string).collect(),
        threads: builder.threads.iter().map(ToString::to_string).collect(),
        statuses: builder.open.iter().map(ToString::to_string).collect(),
        // Each is a prefix of more names than a page has.
        names: ["p", "pe", "per", "pers", "perso", "person"].map(str::to_owned).to_vec(),
        lists,
        publishers,
        polls,
    };
    builder.seed.write(db).await;
    finish(db, size.home).await;
    Data { targets: Arc::new(targets), statuses: builder.open }
}

const SCOPES: &str = "read write follow";

/// Fills home timelines and marks all people as active now.
async fn finish(db: &Db, home: i64) {
    fill_homes(db, home).await;
    fill_lists(db).await;
    let now = now(db);
    db.execute_raw(&format!("UPDATE users SET last_active_at = {now}; UPDATE oauth_tokens SET last_used_at = {now};"))
        .await
        .expect("people were here");
    if db.engine() == Engine::Postgres {
        // Counting wrote every row again; the remains are not part of the data.
        for table in ["accounts", "statuses"] {
            db.execute_raw(&format!("VACUUM FULL {table}")).await.expect("the table is written anew");
        }
    }
    assert_ne!(scratch::number(db, "SELECT COUNT(*) FROM feed_entries").await, 0);
}

/// A status that can be replied to and reblogged.
#[derive(Clone, Copy)]
struct Written {
    reply: Reply,
    author: usize,
}

struct Builder {
    seed: Seed,
    words: Words,
    people: Vec<i64>,
    crowd: Vec<i64>,
    tags: Vec<i64>,
    written: Vec<Written>,
    boosted: HashSet<(usize, i64)>,
    /// Statuses of each person that can be marked.
    own: Vec<Vec<i64>>,
    open: Vec<i64>,
    threads: Vec<i64>,
}

impl Builder {
    fn new(db: &Db, size: Size) -> Self {
        let mut seed = Seed::new(db.engine(), DOMAIN);
        let mut words = Words::new();
        let people = (0..size.people).map(|number| person(&mut seed, &mut words, number)).collect();
        let crowd =
            (size.people..size.people + size.crowd).map(|number| person(&mut seed, &mut words, number)).collect();
        let tags = HASHTAGS.map(|name| seed.hashtag(&name.to_lowercase(), name)).to_vec();
        Self {
            seed,
            words,
            people,
            crowd,
            tags,
            written: Vec::new(),
            boosted: HashSet::new(),
            own: vec![Vec::new(); size.people],
            open: Vec::new(),
            threads: Vec::new(),
        }
    }

    /// Number of people without blocks and mutes.
    fn welcome(&self) -> usize {
        self.people.len() - UNWELCOME
    }

    fn follows(&mut self) {
        let welcome = self.welcome();
        for (number, person) in self.people.clone().into_iter().enumerate() {
            let targets: HashSet<usize> = (1..=FOLLOWS_EACH).map(|step| (number + step * 3) % welcome).collect();
            let mut targets: Vec<usize> = targets.into_iter().filter(|target| *target != number).collect();
            targets.sort_unstable();
            targets.into_iter().for_each(|target| self.seed.follow(person, self.people[target]));
        }
        for (number, reader) in self.crowd.clone().into_iter().enumerate() {
            for step in 0..CROWD_FOLLOWS {
                self.seed.follow(reader, self.people[(number + step * 7) % welcome]);
            }
        }
    }

    /// Of a hundred statuses, 15 are reblogs and 25 are replies.
    fn status(&mut self, number: usize) {
        let author = self.words.below(self.people.len());
        match number % 20 {
            2 | 9 | 15 if number > 300 => self.boost(author),
            1 | 5 | 8 | 12 | 18 if number > 300 => {
                let parent = self.words.recent(&self.written);
                self.write(author, Some(parent), "public");
            }
            _ => {
                let visibility = if number % 20 == 17 { "unlisted" } else { "public" };
                self.write(author, None, visibility);
            }
        }
    }

    fn boost(&mut self, author: usize) {
        let original = loop {
            let original = self.words.recent(&self.written).reply.status;
            if self.boosted.insert((author, original)) {
                break original;
            }
        };
        let author = self.people[author];
        self.seed.status(&Status { author, text: "", reblog_of: Some(original), ..Status::default() });
    }

    fn write(&mut self, author: usize, parent: Option<Written>, visibility: &str) -> Written {
        let welcome = self.welcome();
        let draft = Draft::new(&mut self.words, author, parent.map(|parent| parent.author), welcome);
        let account = self.people[author];
        let status = self.seed.status(&Status {
            author: account,
            visibility,
            reply_to: parent.map(|parent| parent.reply),
            ..draft.status()
        });
        if let Some(description) = &draft.image {
            self.seed.image(account, status, description);
        }
        if let Some(mentioned) = draft.mentioned {
            self.seed.mention(status, self.people[mentioned]);
        }
        draft.tags.into_iter().for_each(|tag| self.seed.tagged(status, self.tags[tag]));
        let conversation = parent.map_or(status, |parent| parent.reply.conversation);
        let written = Written { reply: Reply { status, account, conversation }, author };
        self.keep(written, parent.is_none(), visibility);
        written
    }

    /// Remembers statuses that can be marked, replied to and reblogged.
    fn keep(&mut self, written: Written, begins: bool, visibility: &str) {
        let status = written.reply.status;
        self.own[written.author].push(status);
        if written.author < self.welcome() && visibility == "public" {
            self.open.push(status);
        }
        // Only a third of the replies get replies themselves.
        if begins || status / 65_536_000 % 3 == 0 {
            self.written.push(written);
        }
    }

    /// A status with 50 replies, in chains of five.
    fn thread(&mut self, number: usize) {
        let root = self.write(number * 3, None, "public");
        self.threads.push(root.reply.status);
        let mut parent = root;
        for answer in 0..50 {
            let written = self.write((number + answer * 7) % self.welcome(), Some(parent), "public");
            parent = if answer % 5 == 4 { root } else { written };
        }
    }

    /// Favourites, bookmarks, blocks, mutes and notifications of each viewer.
    fn marks(&mut self) {
        let welcome = self.welcome();
        let open = self.open.clone();
        for viewer in 0..VIEWERS {
            let account = self.people[viewer];
            self.seed.block(account, self.people[welcome + viewer % 5]);
            self.seed.mute(account, self.people[welcome + 5 + viewer % 5]);
            for (number, status) in open.iter().skip(viewer).step_by(open.len() / MARKS).enumerate() {
                match number % 3 {
                    0 => self.seed.bookmark(account, *status),
                    _ => self.seed.favourite(account, *status),
                }
            }
            (0..NOTIFICATIONS).for_each(|number| self.notification(viewer, number));
            (0..CONVERSATIONS).for_each(|number| self.conversation(viewer, number));
        }
    }

    fn notification(&mut self, viewer: usize, number: usize) {
        let from = self.people[(viewer + 1 + number) % self.welcome()];
        let own = &self.own[viewer];
        let (kind, about) = match number % 4 {
            0 => ("favourite", Some(own[number % own.len()])),
            1 => ("mention", Some(self.words.recent(&self.open))),
            2 => ("reblog", Some(own[number * 7 % own.len()])),
            _ => ("follow", None),
        };
        match kind {
            "mention" => self.seed.notification(self.people[viewer], from, kind, about),
            _ => self.seed.grouped_notification(self.people[viewer], from, kind, about),
        };
    }

    /// Polls to vote in, by their ids.
    fn polls(&mut self) -> Vec<String> {
        let author = self.seed.account("pollster", None);
        let status = Status { author, visibility: "unlisted", ..Status::default() };
        let polls: Vec<i64> = (0..POLLS).map(|_| self.seed.status(&status)).collect();
        polls.iter().for_each(|status| self.seed.poll(*status, &["to the church", "to the river", "round again"]));
        polls.iter().map(ToString::to_string).collect()
    }

    /// A direct status to a viewer.
    fn conversation(&mut self, viewer: usize, number: usize) {
        let (author, owner) = (self.people[(viewer + 1 + number) % self.welcome()], self.people[viewer]);
        let status = self.seed.status(&Status { author, visibility: "direct", ..Status::default() });
        self.seed.mention(status, owner);
        self.seed.conversation(owner, &[author], status);
    }

    /// An account with this many followers and a token.
    fn publisher(&mut self, followers: usize) -> Publisher {
        let username = format!("publisher{followers}");
        let account = self.seed.account(&username, None);
        let readers = if self.crowd.len() < followers { &self.people } else { &self.crowd };
        readers.iter().take(followers).for_each(|follower| self.seed.follow(*follower, account));
        let token = format!("bench-token-{username}");
        self.seed.token(account, &crypto::hash(&token), SCOPES);
        Publisher { followers, token }
    }
}
