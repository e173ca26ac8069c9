//! `rookery trend tags|statuses|links|publishers|approve|reject|hashtags|hashtag`: what trends, what of it may be shown,
//! and what staff decided about hashtags.

use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;

use context::Cx;
use model::trend::TrendKind;
use model::{Cursor, Staff, Time};
use service::tag_review;
use service::tag_review::TagDecision;
use service::trend::card_review;
use service::trend::publisher;
use service::trend::review::{self, NamedTrend, Subject};
use terminal::{Failure, Output};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List the hashtags that trend, the highest score first
    Tags {
        /// Only hashtags without a review
        #[arg(long)]
        pending: bool,
    },
    /// List the statuses that trend, the highest score first
    Statuses {
        /// Only statuses without a review of them or of their authors
        #[arg(long)]
        pending: bool,
    },
    /// List the links that trend, the highest score first
    Links {
        /// Only links without a review
        #[arg(long)]
        pending: bool,
    },
    /// List the publishers of links, the last recorded one first
    Publishers {
        /// Only publishers without a review
        #[arg(long)]
        pending: bool,
        /// How many to read
        #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(i64).range(1..=1000))]
        limit: i64,
        /// Only publishers recorded before the one with this id
        #[arg(long)]
        before: Option<i64>,
    },
    /// Allow something in trends
    Approve {
        /// The kind of subject
        kind: Kind,
        /// The hashtag, the id of the status, the name of the author, the address of the link, or the publisher's domain
        subject: String,
    },
    /// Exclude something from trends
    Reject {
        /// The kind of subject
        kind: Kind,
        /// The hashtag, the id of the status, the name of the author, the address of the link, or the publisher's domain
        subject: String,
    },
    /// List all hashtags, the last recorded one first, with the decisions about them
    Hashtags {
        /// How many
        #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(i64).range(1..=1000))]
        limit: i64,
        /// Only hashtags recorded before the one with this id
        #[arg(long)]
        before: Option<i64>,
    },
    /// Show a hashtag, or decide about it
    Hashtag {
        /// With or without the `#`
        name: String,
        #[command(flatten)]
        decision: DecisionArgs,
    },
}

/// A decision about a hashtag. What is not given is not changed.
#[derive(Debug, Args)]
pub(super) struct DecisionArgs {
    /// How it is spelled: the same letters, in upper or lower case, with or without accents
    #[arg(long)]
    display_name: Option<String>,
    /// Whether it may be shown as a trend
    #[arg(long)]
    trendable: Option<bool>,
    /// Whether local statuses may have it
    #[arg(long)]
    usable: Option<bool>,
    /// Whether a search may find it
    #[arg(long)]
    listable: Option<bool>,
}

impl DecisionArgs {
    fn is_empty(&self) -> bool {
        let Self { display_name, trendable, usable, listable } = self;
        display_name.is_none() && trendable.is_none() && usable.is_none() && listable.is_none()
    }
}

/// The kind of subject of a review.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Kind {
    /// A hashtag
    Tag,
    /// A status
    Status,
    /// All statuses of an author without a separate review
    Author,
    /// A link
    Link,
    /// All links of a site without a separate review
    Publisher,
}

impl Command {
    /// True for a command that a running server must apply.
    pub(super) fn changes(&self) -> bool {
        match self {
            Self::Tags { .. }
            | Self::Statuses { .. }
            | Self::Links { .. }
            | Self::Publishers { .. }
            | Self::Hashtags { .. } => false,
            Self::Approve { .. } | Self::Reject { .. } => true,
            Self::Hashtag { decision, .. } => !decision.is_empty(),
        }
    }
}

#[derive(Serialize)]
struct TrendRow<'a> {
    id: String,
    name: &'a str,
    domain: Option<&'a str>,
    score: f64,
    approved: Option<bool>,
    review_requested_at: Option<String>,
}

#[derive(Serialize)]
struct Reviewed<'a> {
    subject: &'a str,
    approved: bool,
}

pub(super) async fn run(cx: &Cx, command: Command, output: Output) -> Result<(), Failure> {
    match command {
        Command::Tags { pending } => list(cx, TrendKind::Tag, pending, output).await,
        Command::Statuses { pending } => list(cx, TrendKind::Status, pending, output).await,
        Command::Links { pending } => list(cx, TrendKind::Link, pending, output).await,
        Command::Publishers { pending, limit, before } => publishers(cx, pending, page(limit, before), output).await,
        Command::Approve { kind, subject } => decide(cx, kind, &subject, true, output).await,
        Command::Reject { kind, subject } => decide(cx, kind, &subject, false, output).await,
        Command::Hashtags { limit, before } => {
            let tags = tag_review::list(cx, None, &page(limit, before)).await?;
            let rows: Vec<TagRow<'_>> = tags.iter().map(TagRow::from).collect();
            output.list(&rows, "No hashtag is recorded.", TagRow::line)
        }
        Command::Hashtag { name, decision } => hashtag(cx, &name, decision, output).await,
    }
}

fn page(limit: i64, before: Option<i64>) -> Cursor {
    Cursor { limit, max_id: before, ..Cursor::default() }
}

async fn publishers(cx: &Cx, pending: bool, page: Cursor, output: Output) -> Result<(), Failure> {
    let mut publishers = publisher::list(cx, &page).await?;
    publishers.retain(|publisher| !pending || publisher.reviewed_at.is_none());
    let rows: Vec<PublisherRow<'_>> = publishers.iter().map(PublisherRow::from).collect();
    output
        .list(&rows, "No publisher is recorded.", |row| format!("{}  {}  {}", row.domain, row.id, state(row.approved)))
}

async fn hashtag(cx: &Cx, name: &str, decision: DecisionArgs, output: Output) -> Result<(), Failure> {
    let missing = |error| match error {
        context::Error::NotFound => Failure::new(format!("there is no hashtag {name:?}")),
        error => error.into(),
    };
    let tag = if decision.is_empty() {
        tag_review::find_named(cx, name).await.map_err(missing)?
    } else {
        let id = review::find_tag(cx, name).await.map_err(missing)?;
        let DecisionArgs { display_name, trendable, usable, listable } = decision;
        tag_review::update(cx, &Staff::operator(), id, TagDecision { display_name, trendable, usable, listable })
            .await?
    };
    let row = TagRow::from(&tag);
    output.respond(&row, || row.line())
}

async fn list(cx: &Cx, kind: TrendKind, pending: bool, output: Output) -> Result<(), Failure> {
    let trends = review::list(cx, kind, pending).await?;
    let shown: Vec<TrendRow<'_>> = trends.iter().map(TrendRow::from).collect();
    output.list(&shown, if pending { "No trend waits for a review." } else { "Nothing trends." }, TrendRow::line)
}

async fn decide(cx: &Cx, kind: Kind, text: &str, approved: bool, output: Output) -> Result<(), Failure> {
    let staff = Staff::operator();
    let decided = match kind {
        Kind::Tag => match review::find_tag(cx, text).await {
            Ok(id) => review::review(cx, &staff, Subject::Tag(id), text, approved).await,
            Err(error) => Err(error),
        },
        Kind::Author => match review::find_author(cx, text).await {
            Ok(author) => review::review(cx, &staff, author, text, approved).await,
            Err(error) => Err(error),
        },
        Kind::Status => match text.parse() {
            Ok(id) => match review::find_status(cx, id).await {
                Ok(status) => review::review(cx, &staff, status, text, approved).await,
                Err(error) => Err(error),
            },
            Err(_) => return Err(Failure::new(format!("{text:?} is not the id of a status"))),
        },
        Kind::Link => match text.parse() {
            Ok(id) => card_review::review_card(cx, &staff, id, approved).await.map(drop),
            Err(_) => card_review::review(cx, &staff, text, approved).await,
        },
        Kind::Publisher => match publisher::find(cx, text).await {
            Ok(id) => publisher::review(cx, &staff, id, approved).await.map(drop),
            Err(error) => Err(error),
        },
    };
    decided.map_err(|error| match error {
        context::Error::NotFound => Failure::new(format!("there is no {} {text:?}", kind.word())),
        error => error.into(),
    })?;
    let done = if approved { "Approved" } else { "Rejected" };
    output.respond(&Reviewed { subject: text, approved }, || format!("{done} {text}."))
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Tag => "hashtag",
            Self::Status => "status",
            Self::Author => "account",
            Self::Link => "link",
            Self::Publisher => "domain",
        }
    }
}

impl<'a> From<&'a NamedTrend> for TrendRow<'a> {
    fn from(trend: &'a NamedTrend) -> Self {
        Self {
            id: trend.subject_id.to_string(),
            name: &trend.name,
            domain: trend.domain.as_deref(),
            score: trend.score,
            approved: trend.allowed,
            review_requested_at: trend.requested_review_at.map(Time::to_api),
        }
    }
}

impl TrendRow<'_> {
    fn line(&self) -> String {
        let at = self.domain.map(|domain| format!("@{domain}")).unwrap_or_default();
        format!("{:>10.1}  {}{at}  {}  {}\n", self.score, self.name, self.id, state(self.approved))
    }
}

/// The result of a review, in words.
fn state(approved: Option<bool>) -> &'static str {
    match approved {
        Some(true) => "approved",
        Some(false) => "rejected",
        None => "not reviewed",
    }
}

#[derive(Serialize)]
struct PublisherRow<'a> {
    id: String,
    domain: &'a str,
    approved: Option<bool>,
    reviewed_at: Option<String>,
    review_requested_at: Option<String>,
}

impl<'a> From<&'a publisher::Publisher> for PublisherRow<'a> {
    fn from(publisher: &'a publisher::Publisher) -> Self {
        Self {
            id: publisher.id.to_string(),
            domain: &publisher.domain,
            approved: publisher.trendable,
            reviewed_at: publisher.reviewed_at.map(Time::to_api),
            review_requested_at: publisher.requested_review_at.map(Time::to_api),
        }
    }
}

#[derive(Serialize)]
struct TagRow<'a> {
    id: String,
    name: &'a str,
    display_name: &'a str,
    trendable: Option<bool>,
    usable: bool,
    listable: Option<bool>,
    reviewed_at: Option<String>,
}

impl<'a> From<&'a tag_review::ReviewedTag> for TagRow<'a> {
    fn from(reviewed: &'a tag_review::ReviewedTag) -> Self {
        Self {
            id: reviewed.tag.id.to_string(),
            name: &reviewed.tag.name,
            display_name: &reviewed.tag.display_name,
            trendable: reviewed.trendable,
            usable: reviewed.usable,
            listable: reviewed.listable,
            reviewed_at: reviewed.reviewed_at.map(Time::to_api),
        }
    }
}

impl TagRow<'_> {
    fn line(&self) -> String {
        let usable = if self.usable { "usable" } else { "not usable" };
        let listed = if self.listable == Some(false) { "not listed" } else { "listed" };
        let Self { display_name, id, .. } = self;
        format!("{display_name}  {id}  {usable}, {listed}, for trends {}\n", state(self.trendable))
    }
}
