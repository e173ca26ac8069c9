//! `rookery account …`: moderation of accounts, local and remote, as `/api/v1/admin/accounts` does it.

use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;

use context::Cx;
use model::moderation::{AccountStatus, Origin, WarningAction};
use model::{AccountId, Cursor, Permissions, RowId, Staff, Time};
use service::moderation::account::{self, AccountFilter, ManagedAccount};
use service::moderation::action::{self, ActionParams};
use service::{staff, username};
use terminal::{Failure, Output};

use super::account_refresh;

/// Accounts per query of a list.
const LIST_PAGE: i64 = 200;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List accounts, newest first
    List(Filter),
    /// Show an account
    Show {
        /// alice, or bob@example.org
        name: String,
    },
    /// Approve a pending sign-up; its e-mail address may still be unconfirmed
    Approve {
        /// User name
        name: String,
    },
    /// Reject a pending sign-up: deletes it, and frees its name
    Reject(Destroy),
    /// Send a warning
    Warn(Action),
    /// Prevent sign-in; sessions and streams end
    Disable(Action),
    /// Permit sign-in again
    Enable {
        /// User name
        name: String,
    },
    /// Mark all media as sensitive
    Sensitive(Action),
    /// Lift the mark of all media as sensitive
    Unsensitive {
        /// alice, or bob@example.org
        name: String,
    },
    /// Hide from everyone who does not follow it
    Silence(Action),
    /// Lift a silence
    Unsilence {
        /// alice, or bob@example.org
        name: String,
    },
    /// Hide from everyone; the data is deleted after 30 days, unless that is lifted
    Suspend(Action),
    /// Lift a suspension
    Unsuspend {
        /// alice, or bob@example.org
        name: String,
    },
    /// Delete a suspended account with all its data now
    Delete(Destroy),
    /// Fetch the profiles of accounts of other servers again
    Refresh(account_refresh::Refresh),
    /// Give a local account another user name; the old one stays reserved and leads to it
    Rename {
        /// User name
        name: String,
        /// New user name
        new: String,
    },
}

#[derive(Debug, Args)]
pub(super) struct Filter {
    /// local or remote
    #[arg(long, value_enum)]
    origin: Option<From>,
    /// active, pending, disabled, silenced, suspended or sensitized
    #[arg(long)]
    status: Option<AccountStatus>,
    /// Only accounts whose role manages reports
    #[arg(long)]
    staff: bool,
    /// Beginning of the user name
    #[arg(long)]
    username: Option<String>,
    /// Beginning of the e-mail address
    #[arg(long)]
    email: Option<String>,
    /// Domain of remote accounts
    #[arg(long)]
    domain: Option<String>,
    /// Most accounts that are listed
    #[arg(long, default_value_t = 1_000)]
    limit: i64,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum From {
    Local,
    Remote,
}

#[derive(Debug, Args)]
pub(super) struct Action {
    /// alice, or bob@example.org
    name: String,
    /// Text for the person
    #[arg(long, default_value = "")]
    text: String,
    /// Id of the report that led to it
    #[arg(long)]
    report: Option<i64>,
    /// Id of a preset text, which comes before the text
    #[arg(long)]
    preset: Option<i64>,
    /// Send no mail and no notification
    #[arg(long)]
    quiet: bool,
    /// Only say what would happen
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Args)]
pub(super) struct Destroy {
    /// alice, or bob@example.org
    name: String,
    /// Confirm: this cannot be undone
    #[arg(long)]
    yes: bool,
    /// Only say what would happen
    #[arg(long)]
    dry_run: bool,
}

impl Command {
    /// The suspension of the account called `name`, with a mail and without further text.
    pub(super) fn suspend(name: String) -> Self {
        let text = String::new();
        Self::Suspend(Action { name, text, report: None, preset: None, quiet: false, dry_run: false })
    }

    /// True for a command that a running server must apply.
    pub(super) fn changes(&self) -> bool {
        !matches!(self, Self::List(_) | Self::Show { .. })
    }
}

#[derive(Serialize)]
struct AccountRow {
    id: AccountId,
    acct: String,
    email: Option<String>,
    role: Option<String>,
    confirmed: Option<bool>,
    approved: Option<bool>,
    disabled: Option<bool>,
    silenced: bool,
    sensitized: bool,
    suspended_at: Option<String>,
    created_at: String,
}

#[derive(Serialize)]
struct Done<'a> {
    acct: &'a str,
    action: &'a str,
    /// The strike, of an action that is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    warning_id: Option<RowId>,
    dry_run: bool,
}

#[derive(Serialize)]
struct Renamed<'a> {
    id: AccountId,
    from: &'a str,
    username: &'a str,
}

pub(super) async fn run(cx: &Cx, command: Command, output: Output) -> Result<(), Failure> {
    let operator = Staff::operator();
    match command {
        Command::List(filter) => list(cx, filter, output).await,
        Command::Show { name } => {
            let row = AccountRow::from(account::find(cx, staff::find_any(cx, &name).await?.id).await?);
            output.respond(&row, || row.line())
        }
        Command::Warn(action) => act(cx, action, WarningAction::None, "warn", output).await,
        Command::Disable(action) => act(cx, action, WarningAction::Disable, "disable", output).await,
        Command::Sensitive(action) => act(cx, action, WarningAction::Sensitive, "sensitive", output).await,
        Command::Silence(action) => act(cx, action, WarningAction::Silence, "silence", output).await,
        Command::Suspend(action) => act(cx, action, WarningAction::Suspend, "suspend", output).await,
        Command::Reject(destroy) => {
            let Some((id, acct)) = confirmed(cx, destroy, "reject", output).await? else { return Ok(()) };
            account::reject(cx, &operator, id).await?;
            done(&acct, "reject", output)
        }
        Command::Delete(destroy) => {
            let Some((id, acct)) = confirmed(cx, destroy, "delete", output).await? else { return Ok(()) };
            account::delete(cx, &operator, id).await?;
            done(&acct, "delete", output)
        }
        Command::Refresh(refresh) => account_refresh::run(cx, refresh, output).await,
        Command::Rename { name, new } => {
            let found = staff::find(cx, &name).await?;
            let renamed = username::rename(cx, &operator, &found, &new).await?;
            let response = Renamed { id: renamed.id, from: &found.username, username: &renamed.username };
            output.respond(&response, || {
                format!("@{} is @{} now; the old name stays reserved.", response.from, response.username)
            })
        }
        Command::Approve { name } => {
            let found = staff::find_any(cx, &name).await?;
            account::approve(cx, &operator, found.id, false).await?;
            done(&found.acct(), "approve", output)
        }
        Command::Enable { name } => {
            let found = staff::find_any(cx, &name).await?;
            account::enable(cx, &operator, found.id).await?;
            done(&found.acct(), "enable", output)
        }
        Command::Unsensitive { name } => {
            let found = staff::find_any(cx, &name).await?;
            account::unsensitive(cx, &operator, found.id).await?;
            done(&found.acct(), "unsensitive", output)
        }
        Command::Unsilence { name } => {
            let found = staff::find_any(cx, &name).await?;
            account::unsilence(cx, &operator, found.id).await?;
            done(&found.acct(), "unsilence", output)
        }
        Command::Unsuspend { name } => {
            let found = staff::find_any(cx, &name).await?;
            account::unsuspend(cx, &operator, found.id).await?;
            done(&found.acct(), "unsuspend", output)
        }
    }
}

fn done(acct: &str, action: &str, output: Output) -> Result<(), Failure> {
    output.respond(&Done { acct, action, warning_id: None, dry_run: false }, || format!("@{acct}: {action} is done."))
}

fn would(acct: &str, action: &str, output: Output) -> Result<(), Failure> {
    let response = Done { acct, action, warning_id: None, dry_run: true };
    output.respond(&response, || format!("@{acct}: {action} would be done."))
}

async fn act(cx: &Cx, sent: Action, kind: WarningAction, action: &'static str, output: Output) -> Result<(), Failure> {
    let found = staff::find_any(cx, &sent.name).await?;
    let acct = found.acct();
    if kind == WarningAction::Suspend && found.is_suspended() {
        return Err(Failure::new(format!("@{acct} is suspended already")));
    }
    if sent.dry_run {
        return would(&acct, action, output);
    }
    let params = ActionParams {
        action: kind,
        report: sent.report.map(RowId::from),
        preset: sent.preset.map(RowId::from),
        text: sent.text,
        notify: !sent.quiet,
    };
    let warning = action::act(cx, &Staff::operator(), found.id, params).await?;
    let response = Done { acct: &acct, action, warning_id: Some(warning.id), dry_run: false };
    output.respond(&response, || format!("@{acct}: {action} is done, as strike {}.", warning.id))
}

/// The account to destroy; `None` when that is only a trial.
async fn confirmed(
    cx: &Cx,
    destroy: Destroy,
    action: &'static str,
    output: Output,
) -> Result<Option<(AccountId, String)>, Failure> {
    let found = staff::find_any(cx, &destroy.name).await?;
    let acct = found.acct();
    if destroy.dry_run {
        would(&acct, action, output)?;
        return Ok(None);
    }
    if !destroy.yes {
        return Err(Failure::usage(format!("this cannot be undone: say --yes to {action} @{acct}, or --dry-run")));
    }
    Ok(Some((found.id, acct)))
}

async fn list(cx: &Cx, sent: Filter, output: Output) -> Result<(), Failure> {
    let filter = AccountFilter {
        origin: sent.origin.map(|origin| match origin {
            From::Local => Origin::Local,
            From::Remote => Origin::Remote,
        }),
        status: sent.status,
        permissions: if sent.staff { Permissions::MANAGE_REPORTS | Permissions::ADMINISTRATOR } else { 0 },
        username: sent.username,
        email: sent.email,
        domain: sent.domain.map(|domain| service::domain::normalise(&domain).unwrap_or(domain)),
        ..AccountFilter::default()
    };
    let (mut left, mut cursor, mut rows) = (sent.limit, Cursor::default(), Vec::new());
    while left > 0 {
        cursor.limit = left.min(LIST_PAGE);
        let page = account::list(cx, &filter, &cursor).await?;
        let Some(last) = page.last() else { break };
        cursor.max_id = Some(last.id.into());
        left -= cursor.limit;
        rows.extend(page.into_iter().map(AccountRow::from));
    }
    output.list(&rows, "There is no such account.", AccountRow::line)
}

impl std::convert::From<ManagedAccount> for AccountRow {
    fn from(row: ManagedAccount) -> Self {
        let acct = match &row.domain {
            Some(domain) => format!("{}@{domain}", row.username),
            None => row.username.clone(),
        };
        Self {
            id: row.id,
            acct,
            confirmed: row.user_id.map(|_| row.confirmed_at.is_some()),
            email: row.email,
            role: row.role.name,
            approved: row.approved,
            disabled: row.disabled,
            silenced: row.limited_at.is_some(),
            sensitized: row.sensitized_at.is_some(),
            suspended_at: row.suspended_at.map(Time::to_api),
            created_at: row.created_at.to_api(),
        }
    }
}

impl AccountRow {
    fn line(&self) -> String {
        let states = [
            (self.confirmed == Some(false), "unconfirmed"),
            (self.approved == Some(false), "waiting for approval"),
            (self.disabled == Some(true), "disabled"),
            (self.silenced, "silenced"),
            (self.sensitized, "sensitive"),
            (self.suspended_at.is_some(), "suspended"),
        ];
        let states: Vec<&str> = states.iter().filter(|(applies, _)| *applies).map(|(_, word)| *word).collect();
        let (email, role) = (self.email.as_deref().unwrap_or("-"), self.role.as_deref().unwrap_or("-"));
        format!("{:<40} {email:<40} {role:<10} {}", self.acct, states.join(", ")).trim_end().to_owned()
    }
}
