//! `rookery trend tags|statuses|links|approve|reject`: what trends, and what of it may be shown.

use clap::{Subcommand, ValueEnum};
use serde::Serialize;

use context::Cx;
use model::Time;
use model::trend::TrendKind;
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
    /// List the links that trend, the highest score first; `rookery card approve` reviews them
    Links {
        /// Only links without a review
        #[arg(long)]
        pending: bool,
    },
    /// Allow something in trends
    Approve {
        /// The kind of subject
        kind: Kind,
        /// The hashtag, the id of the status, or the name of the author
        subject: String,
    },
    /// Exclude something from trends
    Reject {
        /// The kind of subject
        kind: Kind,
        /// The hashtag, the id of the status, or the name of the author
        subject: String,
    },
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
}

impl Command {
    /// True for a command that a running server must apply.
    pub(super) fn changes(&self) -> bool {
        match self {
            Self::Tags { .. } | Self::Statuses { .. } | Self::Links { .. } => false,
            Self::Approve { .. } | Self::Reject { .. } => true,
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
        Command::Approve { kind, subject } => decide(cx, kind, &subject, true, output).await,
        Command::Reject { kind, subject } => decide(cx, kind, &subject, false, output).await,
    }
}

async fn list(cx: &Cx, kind: TrendKind, pending: bool, output: Output) -> Result<(), Failure> {
    let trends = review::list(cx, kind, pending).await?;
    let shown: Vec<TrendRow<'_>> = trends.iter().map(TrendRow::from).collect();
    output.answer(&shown, || shown.iter().map(TrendRow::line).collect())
}

async fn decide(cx: &Cx, kind: Kind, text: &str, approved: bool, output: Output) -> Result<(), Failure> {
    review::review(cx, find(cx, kind, text).await?, approved).await?;
    let done = if approved { "Approved" } else { "Rejected" };
    output.answer(&Reviewed { subject: text, approved }, || format!("{done} {text}."))
}

async fn find(cx: &Cx, kind: Kind, text: &str) -> Result<Subject, Failure> {
    let found = match kind {
        Kind::Tag => review::find_tag(cx, text).await,
        Kind::Author => review::find_author(cx, text).await,
        Kind::Status => match text.parse() {
            Ok(id) => review::find_status(cx, id).await,
            Err(_) => return Err(Failure::new(format!("{text:?} is not the id of a status"))),
        },
    };
    found.map_err(|error| match error {
        context::Error::NotFound => Failure::new(format!("there is no {} {text:?}", kind.word())),
        error => error.into(),
    })
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Tag => "hashtag",
            Self::Status => "status",
            Self::Author => "account",
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
        let state = match self.approved {
            Some(true) => "approved",
            Some(false) => "rejected",
            None => "not reviewed",
        };
        let at = self.domain.map(|domain| format!("@{domain}")).unwrap_or_default();
        format!("{:>10.1}  {}{at}  {}  {state}\n", self.score, self.name, self.id)
    }
}
