//! Visibility: every kind of viewer × every kind of author × every visibility × every path that reads statuses.
//!
//! The [`oracle`] defines the expected result. Every status has a unique mark in its text, so that a leak is found
//! anywhere in a response, JSON or not. A route that shows statuses and is not in [`READS`] fails the suite.

mod documents;
mod oracle;
#[cfg(feature = "plugins")]
mod plugins;
mod reads;
mod sessions;
mod streams;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use service::announcement::{self, Draft, Publication};

use crate::harness::liar::KEY;
use crate::harness::{Answer, Browser, Client, TestApp};
use crate::platform::contract;
use crate::platform::declarations::{plain, routed};
use crate::seed::{Reply, Seed, Status};

use oracle::{AUTHORS, Author, NOBODY, SIGNERS, Subject, Token, VIEWERS, Verdict, Viewer, may_see, verdict};
use reads::{Expected, How, Paths, READS, Read, SILENT};

const VISIBILITIES: [&str; 7] = ["public", "public_unlisted", "login", "unlisted", "private", "limited", "direct"];

/// The link in every subject.
const LINKED: &str = "https://a.test/linked";

/// Actions on a hidden status, which must fail and reveal nothing. An own favourite or bookmark can be undone
/// nevertheless (`status_actions::favourite_and_bookmark_are_undone_after_block`).
const ACTS: &[&str] = &["favourite", "reblog", "unreblog", "bookmark", "mute", "unmute", "pin", "unpin"];

struct World {
    app: TestApp,
    authors: Vec<i64>,
    names: Vec<String>,
    /// Tokens of the local authors.
    own: Vec<(Author, Client)>,
    viewers: Vec<(Viewer, Client)>,
    /// Remote accounts.
    signers: Vec<(Viewer, i64)>,
    subjects: Vec<Subject>,
    /// Statuses with subjects as ancestors or descendants.
    roots: Vec<i64>,
    booster: i64,
    /// A status of the booster that references the subjects, and a status that they reference.
    referring: i64,
    referred: i64,
    /// Statuses of the booster, each of which quotes a subject.
    quoting: Vec<i64>,
    notifications: Vec<i64>,
    /// A list of each person, as (person, list).
    lists: Vec<(i64, i64)>,
    requests: Vec<i64>,
    /// Filtered mentions, as (sender, receiver).
    asked: BTreeSet<(i64, i64)>,
    /// Objects of plugins by plugin name: owner and id.
    owned: BTreeMap<&'static str, Vec<(i64, i64)>>,
}

/// The result of reading paths as every viewer.
#[derive(Default)]
struct Findings {
    faults: BTreeSet<String>,
    /// Number of responses.
    answers: usize,
    /// How often each path showed a subject.
    shown: BTreeMap<&'static str, usize>,
}

impl Findings {
    /// Fails the test on any fault.
    fn check(&self) {
        let (faults, answers) = (&self.faults, self.answers);
        let list: Vec<_> = faults.iter().take(60).cloned().collect();
        assert!(faults.is_empty(), "{} faults in {answers} answers, the first:\n  {}", faults.len(), list.join("\n  "));
    }
}

impl World {
    fn page(&self, subject: &Subject) -> String {
        format!("/@{}", self.names[AUTHORS.iter().position(|author| *author == subject.author).unwrap()])
    }

    /// The path of the actor of a local author.
    fn actor(&self, author: Author) -> String {
        let (_, client) = self.own.iter().find(|(own, _)| *own == author).unwrap();
        if author == Author::Plain { format!("/ap/users/{}", client.id()) } else { format!("/users/{}", client.name) }
    }

    async fn new() -> Self {
        Self::on(TestApp::new().await).await
    }

    async fn on(app: TestApp) -> Self {
        let mut viewers = Vec::new();
        for viewer in VIEWERS {
            viewers.push((*viewer, client(&app, *viewer).await));
        }
        let booster = app.account("booster").await;
        let mut own = Vec::new();
        for author in [Author::Plain, Author::Limited, Author::Suspended] {
            let name = format!("{author:?}").to_lowercase();
            // Either form of the id of an account.
            own.push((
                author,
                if author == Author::Plain { app.account(&name).await } else { app.named_account(&name).await },
            ));
        }
        app.run_jobs().await;

        let mut seed = Seed::new(app.db().engine(), "example.test");
        let remote = ["remote", "remotelimited", "remotesuspended"].map(|name| seed.account(name, Some("remote.test")));
        let signer = |viewer: &Viewer| (*viewer, seed.account(viewer.name, Some(domain(*viewer))));
        let signers = SIGNERS.iter().map(signer).collect();
        let mut world = Self {
            authors: own.iter().map(|(_, client)| i64::from(client.id())).chain(remote).collect(),
            names: [
                "plain",
                "limited",
                "suspended",
                "remote@remote.test",
                "remotelimited@remote.test",
                "remotesuspended@remote.test",
            ]
            .map(str::to_owned)
            .to_vec(),
            own,
            viewers,
            signers,
            subjects: Vec::new(),
            roots: Vec::new(),
            booster: i64::from(booster.id()),
            referring: 0,
            referred: 0,
            quoting: Vec::new(),
            notifications: Vec::new(),
            lists: Vec::new(),
            requests: Vec::new(),
            asked: BTreeSet::new(),
            owned: BTreeMap::new(),
            app,
        };
        world.relate(&mut seed);
        world.write(&mut seed);
        let now = seed.time(seed_now());
        seed.write(world.app.db()).await;
        world.finish(&now).await;
        world
    }

    fn people(&self) -> impl Iterator<Item = (Viewer, i64)> {
        let people = self.viewers.iter().filter(|(viewer, client)| client.token.is_some() && has_account(*viewer));
        people.map(|(viewer, client)| (*viewer, i64::from(client.id())))
    }

    /// The local accounts and the remote ones.
    fn readers(&self) -> impl Iterator<Item = (Viewer, i64)> {
        self.people().chain(self.signers.iter().copied())
    }

    fn relate(&self, seed: &mut Seed) {
        for author in &self.authors[..3] {
            seed.block_domain(*author, BLOCKED_DOMAIN);
        }
        for (viewer, id) in self.readers() {
            for author in &self.authors {
                if viewer.follows {
                    seed.follow(id, *author);
                }
                if viewer.blocked {
                    seed.block(*author, id);
                }
                if viewer.blocks {
                    seed.block(id, *author);
                }
                if viewer.mutes || viewer.muted_once {
                    seed.mute(id, *author);
                }
            }
            if viewer.blocks_domain {
                seed.block_domain(id, "remote.test");
            }
        }
    }

    fn write(&mut self, seed: &mut Seed) {
        let own = self.own.iter().map(|(_, client)| i64::from(client.id()));
        self.lists = self.people().map(|(_, id)| id).chain(own).map(|id| (id, seed.list(id, "list"))).collect();
        let tags = ["plain", "replies"].map(|name| seed.tag(name));
        let unlisted = |text| Status { author: self.booster, text, visibility: "unlisted", ..Status::default() };
        let [referring, referred] = ["refers", "is referred to"].map(|text| seed.status(&unlisted(text)));
        (self.referring, self.referred) = (referring, referred);
        for reply in [false, true] {
            for (number, author) in AUTHORS.into_iter().enumerate() {
                let id = self.authors[number];
                let root = seed.status(&Status { author: self.booster, text: "a root", ..Status::default() });
                self.roots.push(root);
                let open = VISIBILITIES.into_iter().filter(|visibility| author.writes(visibility, reply));
                let kept = VISIBILITIES.into_iter().filter(|visibility| author.keeps_here(visibility, reply));
                for (visibility, local_only) in open.map(|one| (one, false)).chain(kept.map(|one| (one, true))) {
                    let kept = if local_only { "here_" } else { "" };
                    let mark = format!("zq{author:?}-{kept}{visibility}-{reply}qz");
                    let parent = Reply { status: root, account: self.booster, conversation: root };
                    let status = seed.status(&Status {
                        author: id,
                        text: &mark,
                        visibility,
                        reply_to: reply.then_some(parent),
                        local: !author.is_remote(),
                        local_only,
                        ..Status::default()
                    });
                    let subject = Subject { id: status, author, visibility, local_only, reply, mark };
                    seed.tagged(status, tags[usize::from(reply)]);
                    seed.poll(status, &[&subject.mark, "another"]);
                    if reply {
                        let parent = Reply { status, account: id, conversation: root };
                        self.roots.push(seed.reply(self.booster, parent, "public"));
                    } else {
                        self.spread(seed, &subject, id);
                    }
                    for (_, person) in self.readers().filter(|(viewer, _)| viewer.mentioned).collect::<Vec<_>>() {
                        seed.mention(status, person);
                    }
                    for (_, person) in self.readers().filter(|(viewer, _)| viewer.circled).collect::<Vec<_>>() {
                        if visibility == "limited" {
                            seed.silent_mention(status, person);
                        }
                    }
                    self.subjects.push(subject);
                }
            }
        }
        seed.link(LINKED, &self.subjects.iter().map(|subject| subject.id).collect::<Vec<_>>());
    }

    /// Puts a status on every page that could show it.
    fn spread(&mut self, seed: &mut Seed, subject: &Subject, author: i64) {
        let boost =
            seed.status(&Status { author: self.booster, text: "", reblog_of: Some(subject.id), ..Status::default() });
        seed.pin(author, subject.id);
        let quoting = Status { author: self.booster, text: "quotes", visibility: "unlisted", ..Status::default() };
        let quoting = seed.status(&quoting);
        self.quoting.push(quoting);
        for (status, target) in [(quoting, subject.id), (self.referring, subject.id), (subject.id, self.referred)] {
            seed.reference(status, target);
        }
        self.lists.iter().for_each(|(_, list)| seed.listed(*list, subject.id));
        let own = self.own.iter().map(|(_, client)| i64::from(client.id()));
        for person in self.people().map(|(_, id)| id).chain(own).collect::<Vec<_>>() {
            seed.home(person, subject.id, None);
            seed.home(person, boost, Some(subject.id));
            seed.favourite(person, subject.id);
            seed.bookmark(person, subject.id);
            self.notifications.push(seed.notification(person, author, "mention", Some(subject.id)));
            seed.filtered_mention(person, author, subject.id);
            if self.asked.insert((person, author)) {
                self.requests.push(seed.notification_request(person, author));
            }
            seed.conversation(person, &[author], subject.id);
        }
    }

    async fn finish(&self, now: &str) {
        let db = self.app.db();
        let [limited, suspended] = [Author::is_limited, Author::is_suspended].map(|is: fn(Author) -> bool| {
            let marked = AUTHORS.iter().zip(&self.authors).filter(|(author, _)| is(**author));
            marked.map(|(_, id)| id.to_string()).collect::<Vec<_>>().join(", ")
        });
        let once =
            self.people().filter(|(viewer, _)| viewer.muted_once).map(|(_, id)| id.to_string()).collect::<Vec<_>>();
        for statement in [
            format!("UPDATE accounts SET limited_at = {now}, version = version + 1 WHERE id IN ({limited})"),
            format!("UPDATE accounts SET suspended_at = {now}, version = version + 1 WHERE id IN ({suspended})"),
            format!("UPDATE mutes SET expires_at = {now} WHERE account_id IN ({})", once.join(", ")),
            format!("UPDATE users SET feed_state = 'live', last_active_at = {now}"),
            // Every status that a public timeline may contain, with or without favourites.
            format!(
                "INSERT INTO trends (kind, subject_id, allowed, score, peak_at)
                 SELECT 'status', s.id, TRUE, 1, {now} FROM statuses s
                 JOIN status_tags t ON t.status_id = s.id
                 WHERE s.visibility IN ('public', 'public_unlisted', 'login')"
            ),
            "UPDATE accounts SET discoverable = TRUE, version = version + 1".to_owned(),
            "UPDATE statuses SET limited_scope = 'circle' WHERE visibility = 'limited'".to_owned(),
            "UPDATE preview_cards SET trendable = TRUE".to_owned(),
            format!(
                "UPDATE accounts SET public_key = '{}' WHERE domain IN ('{SIGNING_DOMAIN}', '{BLOCKED_DOMAIN}')",
                KEY.public
            ),
        ] {
            db.execute_raw(&statement).await.unwrap();
        }
        self.app.index_statuses().await;
        self.app.run_jobs().await;
        let address = |s: &Subject| format!("https://example.test{}/{}\n", self.page(s), s.id);
        for subjects in self.subjects.chunks(20) {
            let draft =
                Draft { text: subjects.iter().map(address).collect(), starts_at: None, ends_at: None, all_day: false };
            announcement::create(&self.app.app, &model::Staff::operator(), draft, Publication::Now).await.unwrap();
        }
        for (viewer, id) in self.people() {
            let change = match viewer.token {
                Token::Unconfirmed => "confirmed_at = NULL",
                Token::Pending => "approved = FALSE",
                Token::Moderator => "role_id = 1",
                _ => continue,
            };
            db.execute_raw(&format!("UPDATE users SET {change} WHERE account_id = {id}")).await.unwrap();
        }
    }

    /// Every viewer. The viewer [`Token::Author`] is repeated for each author.
    fn lookers(&self) -> Vec<(Viewer, Option<Author>, &Client)> {
        let mut lookers = Vec::new();
        for (viewer, client) in &self.viewers {
            match viewer.token {
                Token::Author => lookers.extend(self.own.iter().map(|(author, own)| (*viewer, Some(*author), own))),
                _ => lookers.push((*viewer, None, client)),
            }
        }
        lookers
    }
}

/// The domains of remote accounts that sign.
const SIGNING_DOMAIN: &str = "signing.test";
const BLOCKED_DOMAIN: &str = "blocked.test";

fn domain(viewer: Viewer) -> &'static str {
    if viewer.domain_blocked { BLOCKED_DOMAIN } else { SIGNING_DOMAIN }
}

/// A quarter of an hour before the clock of the tests.
fn seed_now() -> i64 {
    (1_768_478_400_000 - 900_000) << 16
}

fn has_account(viewer: Viewer) -> bool {
    !matches!(viewer.token, Token::None | Token::Application | Token::Author)
}

async fn client(app: &TestApp, viewer: Viewer) -> Client {
    match viewer.token {
        Token::None | Token::Author => app.anonymous(),
        Token::Application => app.application("read write").await,
        Token::Unconfirmed | Token::Pending | Token::Moderator | Token::Person => app.account(viewer.name).await,
    }
}

/// The relation of a looker to `subject`: an author is a stranger to statuses of other authors.
fn seen_by(viewer: Viewer, own: Option<Author>, subject: &Subject) -> Viewer {
    match own {
        Some(author) if author != subject.author => Viewer { name: "author", ..NOBODY },
        _ => viewer,
    }
}

/// Reads all subjects by `reads` as every viewer.
async fn look<'a>(world: &World, reads: impl Iterator<Item = &'a Read>) -> Findings {
    let mut findings = Findings::default();
    for read in reads {
        for (viewer, own, client) in world.lookers() {
            look_by(world, read, (viewer, own, Eyes::Token(client)), &mut findings).await;
        }
    }
    findings
}

/// Reads all subjects by one path as one viewer.
async fn look_by(world: &World, read: &Read, looker: Looker<'_>, findings: &mut Findings) {
    match &read.how {
        How::Each(path) | How::Gate(path) => look_at_each(world, read, looker, path, findings).await,
        How::Pages(paths, there) => look_at_pages(world, read, looker, (paths, there), findings).await,
    }
}

/// The viewer, the author if the viewer is one, and the credentials.
type Looker<'a> = (Viewer, Option<Author>, Eyes<'a>);

/// The credentials of a viewer.
#[derive(Clone, Copy)]
enum Eyes<'a> {
    Token(&'a Client),
    Session(&'a Browser),
}

impl Eyes<'_> {
    async fn get(self, path: &str) -> Answer {
        match self {
            Self::Token(client) => client.get(path).send().await,
            Self::Session(browser) => browser.get(path).await,
        }
    }
}

/// Suspended accounts get 403. Some paths need a user.
fn is_barred((viewer, own, _): Looker<'_>, read: &Read) -> bool {
    own == Some(Author::Suspended) || (!viewer.is_person() && needs_person(read.name))
}

async fn look_at_each(
    world: &World,
    read: &Read,
    looker: Looker<'_>,
    path: &fn(&World, &Subject) -> String,
    findings: &mut Findings,
) {
    let (viewer, own, eyes) = looker;
    let barred = is_barred(looker, read);
    // Replies matter only for lists.
    for subject in world.subjects.iter().filter(|subject| !subject.reply) {
        let verdict = verdict(seen_by(viewer, own, subject), subject, read.place);
        let path = path(world, subject);
        let answer = eyes.get(&path).await;
        findings.answers += 1;
        let shown = match read.how {
            How::Gate(_) => answer.status == 200,
            _ => answer.text().contains(&subject.mark),
        };
        *findings.shown.entry(read.name).or_default() += usize::from(shown);
        let wrong = match verdict {
            Verdict::Hidden => shown || answer.status == 200,
            Verdict::Shown => !shown && !barred,
            Verdict::Either => false,
        };
        if wrong || answer.status.is_server_error() {
            let at = own.map_or(String::new(), |author| format!(" ({author:?})"));
            findings.faults.insert(format!(
                "{}{at}: {path}: {} should be {verdict:?}: {}",
                viewer.name, subject.mark, answer.status
            ));
        }
    }
}

async fn look_at_pages(
    world: &World,
    read: &Read,
    looker: Looker<'_>,
    (paths, there): (&Paths, &Expected),
    findings: &mut Findings,
) {
    let (viewer, own, eyes) = looker;
    let barred = is_barred(looker, read);
    let mut text = String::new();
    for path in paths(world) {
        let answer = eyes.get(&path).await;
        findings.answers += 1;
        assert!(!answer.status.is_server_error(), "{path}: {}", answer.text());
        let _ = writeln!(text, "{}", answer.text());
    }
    for subject in &world.subjects {
        let verdict = verdict(seen_by(viewer, own, subject), subject, read.place);
        let shown = text.contains(&subject.mark);
        *findings.shown.entry(read.name).or_default() += usize::from(shown);
        let wrong = match verdict {
            Verdict::Hidden => shown,
            Verdict::Shown => !shown && there(subject) && !barred,
            Verdict::Either => false,
        };
        if wrong {
            let at = own.map_or(String::new(), |author| format!(" ({author:?})"));
            findings.faults.insert(format!(
                "{}{at}: {} {:?}: {} should be {verdict:?}",
                viewer.name, read.name, read.place, subject.mark
            ));
        }
    }
}

#[tokio::test]
async fn visibility_matrix_matches_oracle() {
    let (world, routed) = (World::new().await, routed());
    let findings = look(&world, READS.iter().filter(|read| routed.contains(read.name))).await;
    assert!(findings.answers > 2_000, "only {} responses were checked", findings.answers);
    findings.check();
}

/// True if the table restricts the route to callers with an account.
fn needs_person(name: &str) -> bool {
    let mut rows = contract::routes().into_iter().chain(contract::extensions());
    rows.any(|row| format!("{} {}", row.method, plain(&row.path)) == name && row.auth == "user")
}

#[tokio::test]
async fn hidden_status_cannot_be_acted_on() {
    let world = World::new().await;
    let routed = routed();
    let mut faults = Vec::new();
    for (viewer, own, client) in world.lookers().into_iter().filter(|(viewer, ..)| viewer.is_person()) {
        let hidden = world.subjects.iter().filter(|subject| {
            may_see(seen_by(viewer, own, subject), subject) == Some(false) && own != Some(Author::Suspended)
        });
        for subject in hidden.filter(|subject| !subject.reply) {
            for act in ACTS.iter().filter(|act| routed.contains(&format!("POST /api/v1/statuses/:/{act}"))) {
                let path = format!("/api/v1/statuses/{}/{act}", subject.id);
                let answer = client.post(&path).send().await;
                if answer.status != 404 || answer.text().contains(&subject.mark) {
                    faults.push(format!("{}: {act} {}: {}", viewer.name, subject.mark, answer.status));
                }
            }
            let vote = serde_json::json!({ "choices": [0] });
            let answer = client.post(&format!("/api/v1/polls/{}/votes", subject.id)).json(&vote).send().await;
            if answer.status != 404 || answer.text().contains(&subject.mark) {
                faults.push(format!("{}: vote {}: {}", viewer.name, subject.mark, answer.status));
            }
            if routed.contains("POST /api/v1/statuses") {
                let reply = serde_json::json!({ "status": "an answer", "in_reply_to_id": subject.id.to_string() });
                let answer = client.post("/api/v1/statuses").json(&reply).send().await;
                if answer.status != 404 {
                    faults.push(format!("{}: answer {}: {}", viewer.name, subject.mark, answer.status));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{} faults:\n  {}", faults.len(), faults.join("\n  "));
}

#[test]
fn every_path_that_reads_statuses_is_in_the_matrix() {
    let known: BTreeSet<&str> = READS.iter().chain(sessions::PAGES).map(|read| read.name).collect();
    let routed = routed();
    let missing: Vec<String> = contract::routes()
        .iter()
        .filter(|row| row.method == "GET" && contract::shows(&row.response, "Status"))
        .map(|row| format!("GET {}", plain(&row.path)))
        .filter(|name| routed.contains(name) && !known.contains(name.as_str()))
        .collect();
    let pages = routed.iter().filter(|name| name.starts_with("GET /") && !name.starts_with("GET /api/"));
    let silent = |name: &String| {
        SILENT.iter().any(|start| name.strip_prefix("GET ").is_some_and(|path| path.starts_with(start)))
    };
    let missing: Vec<String> = missing
        .into_iter()
        .chain(pages.filter(|name| !silent(name) && !known.contains(name.as_str())).cloned())
        .collect();
    assert!(missing.is_empty(), "these show statuses and are not in READS: {missing:#?}");
}
