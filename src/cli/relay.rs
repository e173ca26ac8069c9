//! `rookery relay list|add|remove|enable|disable`: relays, which pass on public statuses.

use clap::{Subcommand, ValueEnum};
use context::Cx;
use entity::admin::Relay;
use model::relay::RelayKind;
use model::{RowId, Staff};
use service::moderation::relay;
use terminal::{Failure, Output};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List the relays, oldest first
    List,
    /// Follow a relay
    Add {
        /// The inbox of a relay of Mastodon's kind, or the actor of one of LitePub's
        url: String,
        /// The kind; by default mastodon for a URL that ends with /inbox, else litepub
        #[arg(long, value_enum)]
        kind: Option<Kind>,
    },
    /// Undo the follow of a relay, and remove it
    Remove {
        /// Id or inbox of the relay
        relay: String,
    },
    /// Follow a relay again that was disabled or refused
    Enable {
        /// Id or inbox of the relay
        relay: String,
    },
    /// Undo the follow of a relay, which stays in the list
    Disable {
        /// Id or inbox of the relay
        relay: String,
    },
}

/// The kind of a relay.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Kind {
    /// The public collection is followed
    Mastodon,
    /// The relay's actor is followed
    Litepub,
}

impl Command {
    /// True for a command that a running server must apply.
    pub(super) fn changes(&self) -> bool {
        !matches!(self, Self::List)
    }
}

pub(super) async fn run(cx: &Cx, command: Command, output: Output) -> Result<(), Failure> {
    let staff = Staff::operator();
    match command {
        Command::List => {
            let relays: Vec<Relay> = relay::list(cx).await?.into_iter().map(Relay::from).collect();
            output.list(&relays, "There is no relay.", line)
        }
        Command::Add { url, kind } => {
            let kind = kind.map(|kind| match kind {
                Kind::Mastodon => RelayKind::Mastodon,
                Kind::Litepub => RelayKind::Litepub,
            });
            let relay = relay::add(cx, &staff, &url, kind).await?.into();
            show(&relay, "is followed when it accepts.", output)
        }
        Command::Remove { relay } => {
            let relay = relay::remove(cx, &staff, find(cx, &relay).await?).await?.into();
            show(&relay, "was removed.", output)
        }
        Command::Enable { relay } => {
            let relay = relay::enable(cx, &staff, find(cx, &relay).await?).await?.into();
            show(&relay, "is followed when it accepts.", output)
        }
        Command::Disable { relay } => {
            let relay = relay::disable(cx, &staff, find(cx, &relay).await?).await?.into();
            show(&relay, "is no longer followed.", output)
        }
    }
}

fn show(relay: &Relay, effect: &str, output: Output) -> Result<(), Failure> {
    output.respond(relay, || format!("The relay {} {effect}", relay.inbox_url))
}

fn line(relay: &Relay) -> String {
    format!("{}  {:<8}  {:<8}  {}", relay.id, relay.kind.as_str(), relay.state.as_str(), relay.inbox_url)
}

/// The id of the relay that `text` names.
async fn find(cx: &Cx, text: &str) -> Result<RowId, Failure> {
    let relays = relay::list(cx).await?;
    let found = relays.into_iter().find(|relay| relay.id.to_string() == text || relay.inbox_url == text);
    Ok(found.ok_or_else(|| Failure::new(format!("{text:?} is no relay")))?.id)
}
