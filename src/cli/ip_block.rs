//! `rookery ip-block list|add|update|remove`: blocked networks.

use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;

use context::Cx;
use model::ip_block::IpSeverity;
use model::{Cursor, RowId, Staff};
use service::ip_block::{self, IpBlockParams};
use store::ip_block::IpBlock;
use terminal::{Failure, Output};

/// Blocks read at a time.
const PAGE: i64 = 500;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List the blocked networks
    List,
    /// Block an address or a network
    Add {
        /// The address or network: 203.0.113.7 or 2001:db8::/32
        ip: String,
        #[command(flatten)]
        block: Values,
    },
    /// Change the block of a network
    Update {
        /// The address or network, as it is blocked
        ip: String,
        #[command(flatten)]
        block: Values,
        /// Another address or network in its place
        #[arg(long, value_name = "NETWORK")]
        new_ip: Option<String>,
        /// The block no longer expires
        #[arg(long, conflicts_with = "expires_in")]
        never_expires: bool,
    },
    /// Remove the block of a network
    Remove {
        /// The address or network, as it is blocked
        ip: String,
    },
}

#[derive(Debug, Args)]
pub(super) struct Values {
    /// What clients in the network may not do [default for a new block: no-access]
    #[arg(long, value_enum)]
    severity: Option<Severity>,
    /// Reason for the staff
    #[arg(long, value_name = "TEXT")]
    comment: Option<String>,
    /// The block ends after this time
    #[arg(long, value_name = "SECONDS")]
    expires_in: Option<i64>,
}

/// The severity of a block.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Severity {
    /// A moderator decides about each sign-up
    SignUpRequiresApproval,
    /// No sign-up
    SignUpBlock,
    /// Every request is refused
    NoAccess,
}

impl Command {
    /// True for a command that a running server must apply.
    pub(super) fn changes(&self) -> bool {
        match self {
            Self::List => false,
            Self::Add { .. } | Self::Update { .. } | Self::Remove { .. } => true,
        }
    }
}

#[derive(Serialize)]
struct Listed {
    id: RowId,
    ip: String,
    severity: IpSeverity,
    comment: String,
    created_at: String,
    expires_at: Option<String>,
}

#[derive(Serialize)]
struct Removed {
    ip: String,
}

pub(super) async fn run(cx: &Cx, command: Command, output: Output) -> Result<(), Failure> {
    let staff = Staff::operator();
    match command {
        Command::List => {
            let blocks = list(cx).await?;
            output.list(&blocks, "No address is blocked.", Listed::line)
        }
        Command::Add { ip, block } => {
            let mut params = block.params();
            params.ip = Some(ip);
            params.severity = params.severity.or(Some(IpSeverity::NoAccess));
            let block = Listed::from(ip_block::create(cx, &staff, params).await?);
            output.respond(&block, || format!("{} is blocked now: {}.", block.ip, block.severity))
        }
        Command::Update { ip, block, new_ip, never_expires } => {
            let mut params = block.params();
            params.ip = new_ip;
            if never_expires {
                params.expires_in = Some(None);
            }
            let id = ip_block::find_by_ip(cx, &ip).await?.id;
            let block = Listed::from(ip_block::update(cx, &staff, id, params).await?);
            output.respond(&block, || format!("The block of {} is changed: {}.", block.ip, block.severity))
        }
        Command::Remove { ip } => {
            let block = ip_block::find_by_ip(cx, &ip).await?;
            ip_block::delete(cx, &staff, block.id).await?;
            let response = Removed { ip: block.ip };
            output.respond(&response, || format!("{} is no longer blocked.", response.ip))
        }
    }
}

/// All blocks, newest first.
async fn list(cx: &Cx) -> Result<Vec<Listed>, Failure> {
    let (mut all, mut cursor) = (Vec::new(), Cursor::first(PAGE));
    loop {
        let page = ip_block::list(cx, &cursor).await?;
        let Some(last) = page.last() else { return Ok(all) };
        cursor.max_id = Some(last.id.into());
        all.extend(page.into_iter().map(Listed::from));
    }
}

impl Values {
    fn params(self) -> IpBlockParams {
        let severity = self.severity.map(|severity| match severity {
            Severity::SignUpRequiresApproval => IpSeverity::SignUpRequiresApproval,
            Severity::SignUpBlock => IpSeverity::SignUpBlock,
            Severity::NoAccess => IpSeverity::NoAccess,
        });
        let expires_in = self.expires_in.map(Some);
        IpBlockParams { severity, comment: self.comment, expires_in, ..IpBlockParams::default() }
    }
}

impl From<IpBlock> for Listed {
    fn from(block: IpBlock) -> Self {
        Self {
            id: block.id,
            ip: block.ip,
            severity: block.severity,
            comment: block.comment,
            created_at: block.created_at.to_api(),
            expires_at: block.expires_at.map(model::Time::to_api),
        }
    }
}

impl Listed {
    fn line(&self) -> String {
        let until = self.expires_at.as_ref().map(|time| format!("until {time}")).unwrap_or_default();
        let line = format!("{:<43} {:<25} {until}  {}", self.ip, self.severity.as_str(), self.comment);
        format!("{}\n", line.replace(char::is_control, " ").trim_end())
    }
}
