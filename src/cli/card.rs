//! `rookery card list|approve|reject|fetch`: previews of links, and which of them may be shown as trends.

use clap::Subcommand;
use serde::Serialize;

use context::Cx;
use model::{RowId, Staff, Time};
use service::trend::card_review;
use terminal::{Failure, Output};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List the newest links, and whether they were reviewed
    List {
        /// How many
        #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(i64).range(1..=1000))]
        limit: i64,
    },
    /// Let a link be shown as a trend
    Approve {
        /// Its address
        url: String,
    },
    /// Never show a link as a trend
    Reject {
        /// Its address
        url: String,
    },
    /// Fetch the page of a link again
    Fetch {
        /// Its address
        url: String,
    },
}

#[derive(Serialize)]
struct Listed<'a> {
    id: RowId,
    url: &'a str,
    title: &'a str,
    trendable: Option<bool>,
    reviewed_at: Option<String>,
}

#[derive(Serialize)]
struct Changed<'a> {
    url: &'a str,
}

pub(super) async fn run(cx: &Cx, command: Command, output: Output) -> Result<(), Failure> {
    match command {
        Command::List { limit } => list(cx, limit, output).await,
        Command::Approve { url } => {
            card_review::review(cx, &Staff::operator(), &url, true).await?;
            output.respond(&Changed { url: &url }, || format!("{url} may be shown as a trend."))
        }
        Command::Reject { url } => {
            card_review::review(cx, &Staff::operator(), &url, false).await?;
            output.respond(&Changed { url: &url }, || format!("{url} is never shown as a trend."))
        }
        Command::Fetch { url } => {
            card_review::refetch(cx, &url).await?;
            output.respond(&Changed { url: &url }, || format!("{url} is fetched again."))
        }
    }
}

async fn list(cx: &Cx, limit: i64, output: Output) -> Result<(), Failure> {
    let cards = card_review::list(cx, limit).await?;
    let cards: Vec<Listed<'_>> = cards
        .iter()
        .map(|card| Listed {
            id: card.id,
            url: &card.page_url,
            title: &card.title,
            trendable: card.trendable,
            reviewed_at: card.reviewed_at.map(Time::to_api),
        })
        .collect();
    let state = |card: &Listed<'_>| match card.trendable {
        None => "not reviewed",
        Some(true) => "approved",
        Some(false) => "rejected",
    };
    output.list(&cards, "No preview is stored.", |card| format!("{:<12}  {}  {}", state(card), card.url, card.title))
}
