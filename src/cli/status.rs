//! `rookery status`: shows, deletes and marks single posts of any visibility, and removes old ones of other servers.

use clap::Subcommand;
use serde::Serialize;

use context::Cx;
use model::{Staff, StatusId, Time};
use service::held_status::{self, NamedStatus};
use service::moderation::status;
use terminal::{Failure, Output};

use crate::status_prune::{self, Prune};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Show the text of a post, also of one that was deleted and that a report names
    Show {
        /// Id of the post
        id: i64,
    },
    /// Delete a post
    Remove {
        /// Id of the post
        id: i64,
    },
    /// Mark the media of a post as sensitive
    Sensitive {
        /// Id of the post
        id: i64,
    },
    /// Take the mark of a post's media as sensitive back
    Unsensitive {
        /// Id of the post
        id: i64,
    },
    /// Remove old posts and unused accounts of other servers, unless people of this server refer to them
    Prune(Prune),
}

impl Command {
    /// True for a command that a running server must apply.
    pub(super) fn changes(&self) -> bool {
        match self {
            Self::Show { .. } => false,
            Self::Prune(prune) => prune.changes(),
            Self::Remove { .. } | Self::Sensitive { .. } | Self::Unsensitive { .. } => true,
        }
    }
}

/// A post, as text.
#[derive(Serialize)]
pub(super) struct StatusRow {
    id: StatusId,
    created_at: String,
    /// Deleted by its author since.
    deleted_at: Option<String>,
    spoiler_text: String,
    text: String,
}

#[derive(Serialize)]
struct Done {
    id: StatusId,
    done: &'static str,
}

pub(super) async fn run(cx: &Cx, command: Command, output: Output) -> Result<(), Failure> {
    let operator = Staff::operator();
    let (id, done) = match command {
        Command::Show { id } => return show(cx, id.into(), output).await,
        Command::Prune(prune) => return status_prune::run(cx, &prune, output).await,
        Command::Remove { id } => (id, status::remove(cx, &operator, id.into()).await.map(|()| "removed")),
        Command::Sensitive { id } => {
            (id, status::set_sensitive(cx, &operator, id.into(), true).await.map(|()| "marked as sensitive"))
        }
        Command::Unsensitive { id } => {
            (id, status::set_sensitive(cx, &operator, id.into(), false).await.map(|()| "not marked as sensitive"))
        }
    };
    let done = Done { id: id.into(), done: done.map_err(|error| missing(id, error))? };
    output.respond(&done, || format!("The post {id} is {} now.", done.done))
}

fn missing(id: i64, error: context::Error) -> Failure {
    match error {
        context::Error::NotFound => Failure::new(format!("there is no post {id}")),
        error => error.into(),
    }
}

async fn show(cx: &Cx, id: StatusId, output: Output) -> Result<(), Failure> {
    let found = held_status::texts(cx, &[id]).await?.pop();
    let row = StatusRow::from(found.ok_or_else(|| missing(id.into(), context::Error::NotFound))?);
    output.respond(&row, || row.text())
}

/// Untrusted text: control characters are removed for the terminal.
pub(super) fn plain(text: &str) -> String {
    text.replace(|c: char| c.is_control() && c != '\n', " ")
}

impl From<NamedStatus> for StatusRow {
    fn from(status: NamedStatus) -> Self {
        Self {
            id: status.id,
            created_at: status.created_at.to_api(),
            deleted_at: status.deleted_at.map(Time::to_api),
            spoiler_text: status.spoiler_text,
            text: status.text,
        }
    }
}

impl StatusRow {
    pub(super) fn text(&self) -> String {
        let deleted = self.deleted_at.as_ref().map(|at| format!(", deleted {at}")).unwrap_or_default();
        let warning = match self.spoiler_text.as_str() {
            "" => String::new(),
            warning => format!("[{}] ", plain(warning)),
        };
        format!("Status {} of {}{deleted}:\n{warning}{}", self.id, self.created_at, plain(&self.text))
    }
}
