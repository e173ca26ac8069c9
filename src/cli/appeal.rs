//! `rookery appeal list|approve|reject`: appeals against strikes, as `/api/v1/admin/appeals` does it.

use clap::Subcommand;
use serde::Serialize;

use context::Cx;
use context::error::Error;
use model::moderation::AppealState;
use model::{AccountId, Cursor, RowId, Staff, Time};
use service::moderation::appeal::{self, Appeal};
use terminal::{Failure, Output};

/// Appeals per query of a list.
const LIST_PAGE: i64 = 200;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List appeals, newest first
    List {
        /// pending, approved or rejected
        #[arg(long, default_value = "pending")]
        status: AppealState,
    },
    /// Approve an appeal: lifts what the strike imposed
    Approve {
        /// Id of the appeal
        id: i64,
    },
    /// Reject an appeal
    Reject {
        /// Id of the appeal
        id: i64,
    },
}

impl Command {
    /// True for a command that a running server must apply.
    pub(super) fn changes(&self) -> bool {
        !matches!(self, Self::List { .. })
    }
}

#[derive(Serialize)]
struct AppealRow {
    id: RowId,
    account_id: AccountId,
    warning_id: RowId,
    state: AppealState,
    created_at: String,
    text: String,
}

#[derive(Serialize)]
struct Decided {
    id: RowId,
    state: AppealState,
}

pub(super) async fn run(cx: &Cx, command: Command, output: Output) -> Result<(), Failure> {
    match command {
        Command::List { status } => list(cx, status, output).await,
        Command::Approve { id } => decide(cx, id, true, output).await,
        Command::Reject { id } => decide(cx, id, false, output).await,
    }
}

async fn decide(cx: &Cx, id: i64, approve: bool, output: Output) -> Result<(), Failure> {
    let appeal = RowId::from(id);
    match appeal::decide(cx, &Staff::operator(), appeal, approve).await {
        Ok(()) => {}
        Err(Error::NotFound) => return Err(Failure::new(format!("there is no appeal {id}"))),
        Err(other) => return Err(other.into()),
    }
    let state = if approve { AppealState::Approved } else { AppealState::Rejected };
    output.respond(&Decided { id: appeal, state }, || format!("The appeal {id} is {state}."))
}

async fn list(cx: &Cx, status: AppealState, output: Output) -> Result<(), Failure> {
    let (mut cursor, mut rows) = (Cursor::first(LIST_PAGE), Vec::new());
    loop {
        let page = appeal::list(cx, status, &cursor).await?;
        let Some(last) = page.last() else { break };
        cursor.max_id = Some(last.id.into());
        rows.extend(page.into_iter().map(AppealRow::from));
    }
    output.list(&rows, &format!("No appeal is {status}."), AppealRow::line)
}

impl From<Appeal> for AppealRow {
    fn from(appeal: Appeal) -> Self {
        let state = appeal.state();
        Self {
            id: appeal.id,
            account_id: appeal.account_id,
            warning_id: appeal.warning_id,
            state,
            created_at: Time::to_api(appeal.created_at),
            text: appeal.text,
        }
    }
}

impl AppealRow {
    fn line(&self) -> String {
        // Untrusted text: control characters are removed for the terminal.
        let text = self.text.replace(char::is_control, " ");
        format!("{}  {}  {}  strike {}: {text}", self.id, self.created_at, self.state, self.warning_id)
    }
}
