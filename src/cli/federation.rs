//! `rookery federation fetch|explain|hosts|dead|retry|pause|resume`: lookups at other servers, and what is owed to them.

use clap::Subcommand;
use serde::Serialize;

use context::Cx;
use context::federation::{Resolved, Step};
use federation::deliver::{self, OwedHost};
use federation::fetch;
use model::{AccountId, RowId, StatusId};
use store::host::DeadDelivery;
use terminal::{Failure, Output};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Fetch an account or status of another server now, and store it as a lookup by a person does
    Fetch {
        /// Its URL, or the address of an account: name@example.org
        address: String,
    },
    /// Print the steps of a lookup and what they decide; nothing is stored
    Explain {
        /// A URL, or the address of an account: name@example.org
        address: String,
    },
    /// List the hosts that deliveries are owed to, that failed or that are paused, most deliveries first
    Hosts {
        /// Most hosts, by name
        #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(i64).range(1..=1000))]
        limit: i64,
        /// Only hosts after this one, by name
        #[arg(long, value_name = "HOST", default_value = "")]
        after: String,
    },
    /// List deliveries that were given up, newest first
    Dead {
        /// Only those to this host
        host: Option<String>,
        /// Most deliveries
        #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(i64).range(1..=1000))]
        limit: i64,
        /// Only deliveries before the one with this id
        #[arg(long, value_name = "ID")]
        before: Option<i64>,
    },
    /// Make the deliveries to a host due now, those that were given up included
    Retry {
        /// The host, with its port unless it is the usual one: example.org
        host: String,
    },
    /// Let the deliveries to a host wait until `resume`
    Pause {
        /// The host, with its port unless it is the usual one: example.org
        host: String,
    },
    /// Continue the deliveries to a paused host
    Resume {
        /// The host, with its port unless it is the usual one: example.org
        host: String,
    },
}

impl Command {
    /// True for a command that a running server must apply.
    pub(super) fn changes(&self) -> bool {
        match self {
            Self::Explain { .. } | Self::Hosts { .. } | Self::Dead { .. } => false,
            Self::Fetch { .. } | Self::Retry { .. } | Self::Pause { .. } | Self::Resume { .. } => true,
        }
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Fetched {
    Account { id: AccountId, acct: String, uri: String, url: Option<String> },
    Status { id: StatusId, author: String, visibility: &'static str, uri: String, url: Option<String> },
}

#[derive(Serialize)]
struct Explained<'a> {
    steps: Vec<StepRow<'a>>,
    would_be_stored: bool,
    verdict: &'a str,
}

#[derive(Serialize)]
struct StepRow<'a> {
    step: &'a str,
    passed: bool,
    text: &'a str,
}

#[derive(Serialize)]
struct HostRow<'a> {
    host: &'a str,
    state: &'static str,
    owed: i64,
    attempts: i64,
    oldest_at: Option<String>,
    next_at: Option<String>,
    failures: i64,
    error: Option<&'a str>,
}

#[derive(Serialize)]
struct DeadRow<'a> {
    id: RowId,
    host: &'a str,
    inbox: &'a str,
    error: &'a str,
    queued_at: String,
    given_up_at: String,
}

#[derive(Serialize)]
struct Paused<'a> {
    host: &'a str,
    paused: bool,
    changed: bool,
}

#[derive(Serialize)]
struct Retried<'a> {
    host: &'a str,
}

pub(super) async fn run(cx: &Cx, command: Command, output: Output) -> Result<(), Failure> {
    match command {
        Command::Fetch { address } => {
            let found =
                fetch::now(cx, &address).await.map_err(|failure| Failure::new(format!("{address}: {failure}")))?;
            let fetched = Fetched::read(cx, found).await?;
            output.respond(&fetched, || fetched.text())
        }
        Command::Explain { address } => {
            let explanation = fetch::explain(cx, &address).await?;
            let step = |step: &'_ Step| -> String {
                format!("{:<4} {:<10} {}\n", if step.passed { "ok" } else { "no" }, step.name, step.text)
            };
            let steps = explanation.steps.iter();
            let explained = Explained {
                steps: steps.map(|step| StepRow { step: step.name, passed: step.passed, text: &step.text }).collect(),
                would_be_stored: explanation.stored,
                verdict: &explanation.verdict,
            };
            output.respond(&explained, || {
                let lines: String = explanation.steps.iter().map(step).collect();
                match explanation.stored {
                    true => format!("{lines}{}\n", explanation.verdict),
                    false => format!("{lines}refused: {}\n", explanation.verdict),
                }
            })
        }
        Command::Hosts { limit, after } => {
            let mut hosts = deliver::hosts(cx, &after, limit).await?;
            hosts.sort_by(|one, other| other.owed.cmp(&one.owed).then_with(|| one.host.cmp(&other.host)));
            let rows: Vec<HostRow<'_>> = hosts.iter().map(HostRow::from).collect();
            output.respond(&rows, || text(&rows))
        }
        Command::Dead { host, limit, before } => {
            let dead = deliver::dead(cx, host.as_deref(), before.map(RowId::from), limit).await?;
            let rows: Vec<DeadRow<'_>> = dead.iter().map(DeadRow::from).collect();
            output.list(&rows, "No delivery was given up.", |row| {
                format!("{}  {}  {}  {}", row.id, row.given_up_at, row.inbox, row.error)
            })
        }
        Command::Pause { host } => pause(cx, &host, true, output).await,
        Command::Resume { host } => pause(cx, &host, false, output).await,
        Command::Retry { host } => {
            let host = deliver::retry(cx, &host).await.map_err(|error| match error {
                context::Error::NotFound => Failure::new(format!("nothing is owed to {host}")),
                error => error.into(),
            })?;
            output.respond(&Retried { host: &host }, || format!("The deliveries to {host} are due now."))
        }
    }
}

async fn pause(cx: &Cx, host: &str, paused: bool, output: Output) -> Result<(), Failure> {
    let changed = deliver::set_paused(cx, host, paused).await?;
    output.respond(&Paused { host, paused, changed }, || match (paused, changed) {
        (true, true) => format!("Deliveries to {host} wait now."),
        (true, false) => format!("Deliveries to {host} waited already."),
        (false, true) => format!("Deliveries to {host} continue."),
        (false, false) => format!("Deliveries to {host} were not paused."),
    })
}

impl Fetched {
    /// The row of what was found, for printing.
    async fn read(cx: &Cx, found: Resolved) -> Result<Self, Failure> {
        let gone = || Failure::new("it was deleted meanwhile");
        match found {
            Resolved::Account(id) => {
                let account = service::account::find_visible(cx, id).await?;
                Ok(Self::Account { id, acct: account.acct(), uri: account.uri, url: account.url })
            }
            Resolved::Status(id) => {
                let status = store::status::find(&cx.db, id).await.map_err(Failure::new)?.ok_or_else(gone)?;
                let author = service::account::find_visible(cx, status.account_id).await?;
                let visibility = status.visibility.as_str();
                Ok(Self::Status { id, author: author.acct(), visibility, uri: status.uri, url: status.url })
            }
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Account { id, acct, uri, .. } => format!("Account {acct}, stored with the id {id}: {uri}"),
            Self::Status { id, author, visibility, uri, .. } => {
                format!("Status by {author}, {visibility}, stored with the id {id}: {uri}")
            }
        }
    }
}

impl<'a> From<&'a OwedHost> for HostRow<'a> {
    fn from(host: &'a OwedHost) -> Self {
        Self {
            host: &host.host,
            state: host.state.as_str(),
            owed: host.owed,
            attempts: host.attempts,
            oldest_at: host.oldest_at.map(model::Time::to_api),
            next_at: host.next_at.map(model::Time::to_api),
            failures: host.failures,
            error: host.error.as_deref(),
        }
    }
}

impl<'a> From<&'a DeadDelivery> for DeadRow<'a> {
    fn from(dead: &'a DeadDelivery) -> Self {
        Self {
            id: dead.id,
            host: &dead.host,
            inbox: &dead.inbox,
            error: &dead.error,
            queued_at: dead.created_at.to_api(),
            given_up_at: dead.died_at.to_api(),
        }
    }
}

fn text(rows: &[HostRow<'_>]) -> String {
    if rows.is_empty() {
        return "Nothing is owed to any host, and none failed.".to_owned();
    }
    let line = |row: &HostRow<'_>| {
        let (oldest, next) = (row.oldest_at.as_deref().unwrap_or("-"), row.next_at.as_deref().unwrap_or("-"));
        let error = row.error.map(|error| format!("  ({} failures: {error})", row.failures)).unwrap_or_default();
        format!("{:>7} {:<9} {:>8}  {oldest:<24}  {next:<24}  {}{error}\n", row.owed, row.state, row.attempts, row.host)
    };
    let head =
        format!("{:>7} {:<9} {:>8}  {:<24}  {:<24}  host\n", "owed", "state", "attempts", "oldest", "next attempt");
    std::iter::once(head).chain(rows.iter().map(line)).collect()
}
