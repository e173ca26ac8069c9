//! `rookery role list|show|create|update|delete`: roles and their permissions. `rookery user set-role` gives them.

use clap::{Args, Subcommand};
use serde::Serialize;

use context::Cx;
use model::{Permissions, RowId, Staff};
use service::role::{self, Role, RoleParams};
use terminal::{Failure, Output};

/// How the default role, which has no name, is called here.
const EVERYONE: &str = "everyone";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List the roles, the highest first
    List,
    /// Show a role
    Show {
        /// Name, or everyone for the permissions that all people have
        name: String,
    },
    /// Create a role
    Create {
        name: String,
        #[command(flatten)]
        values: Values,
    },
    /// Change a role; its holders have the changed permissions at once
    Update {
        /// Name, or everyone for the permissions that all people have
        name: String,
        /// Another name
        #[arg(long, value_name = "NAME")]
        new_name: Option<String>,
        #[command(flatten)]
        values: Values,
    },
    /// Delete a role; its holders have none then
    Delete {
        name: String,
        /// Only say what would happen
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(Debug, Args)]
pub(super) struct Values {
    /// As #ff0000, or empty
    #[arg(long)]
    color: Option<String>,
    /// 0 to 999: who is higher may act on who is lower
    #[arg(long)]
    position: Option<i64>,
    /// Names, separated by commas, or the sum of bits; empty for none
    #[arg(long, value_delimiter = ',')]
    permissions: Option<Vec<String>>,
    /// Whether profiles show the role
    #[arg(long)]
    highlighted: Option<bool>,
}

impl Command {
    /// True for a command that a running server must apply.
    pub(super) fn changes(&self) -> bool {
        match self {
            Self::List | Self::Show { .. } | Self::Delete { dry_run: true, .. } => false,
            Self::Create { .. } | Self::Update { .. } | Self::Delete { .. } => true,
        }
    }
}

#[derive(Serialize)]
struct Listed {
    id: RowId,
    name: String,
    color: String,
    position: i64,
    permissions: Vec<String>,
    highlighted: bool,
}

#[derive(Serialize)]
struct Deleted {
    name: String,
    /// How many people have the role.
    holders: i64,
    dry_run: bool,
}

pub(super) async fn run(cx: &Cx, command: Command, output: Output) -> Result<(), Failure> {
    let staff = Staff::operator();
    match command {
        Command::List => {
            let roles: Vec<Listed> = role::list(cx).await?.into_iter().map(Listed::from).collect();
            output.list(&roles, "There is no role.", Listed::line)
        }
        Command::Show { name } => {
            let role = Listed::from(find(cx, &name).await?);
            output.respond(&role, || role.line())
        }
        Command::Create { name, values } => {
            let params = RoleParams { name: Some(name), ..values.params()? };
            let role = Listed::from(role::create(cx, &staff, params).await?);
            output.respond(&role, || format!("Created the role {}.", role.name))
        }
        Command::Update { name, new_name, values } => {
            let found = find(cx, &name).await?;
            let params = RoleParams { name: new_name, ..values.params()? };
            let role = Listed::from(role::update(cx, &staff, found.id, params).await?);
            output.respond(&role, || format!("Changed the role {}.", role.name))
        }
        Command::Delete { name, dry_run } => delete(cx, &staff, &name, dry_run, output).await,
    }
}

async fn delete(cx: &Cx, staff: &Staff, name: &str, dry_run: bool, output: Output) -> Result<(), Failure> {
    let found = find(cx, name).await?;
    let holders = role::count_holders(cx, found.id).await?;
    if dry_run {
        role::require_deletable(staff, &found)?;
    } else {
        role::delete(cx, staff, found.id).await?;
    }
    let answer = Deleted { name: found.name, holders, dry_run };
    let verb = if dry_run { "Would delete" } else { "Deleted" };
    output.respond(&answer, || format!("{verb} the role {}, which {holders} people have.", answer.name))
}

async fn find(cx: &Cx, name: &str) -> Result<Role, Failure> {
    if name.eq_ignore_ascii_case(EVERYONE) {
        return Ok(role::find(cx, RowId::from(model::staff::DEFAULT_ROLE)).await?);
    }
    Ok(role::find_by_name(cx, name).await?)
}

impl Values {
    fn params(self) -> Result<RoleParams, Failure> {
        let bits = |names: Vec<String>| {
            let names = names.iter().map(|name| name.trim()).filter(|name| !name.is_empty());
            names.map(role::permission_bits).collect::<Result<Vec<i64>, String>>()
        };
        let permissions = self.permissions.map(bits).transpose().map_err(Failure::usage)?;
        Ok(RoleParams {
            name: None,
            color: self.color,
            position: self.position,
            permissions: permissions.map(|bits| bits.into_iter().fold(0, |all, bit| all | bit)),
            highlighted: self.highlighted,
        })
    }
}

impl From<Role> for Listed {
    fn from(role: Role) -> Self {
        Self {
            id: role.id,
            name: if role.is_default() { EVERYONE.to_owned() } else { role.name },
            color: role.color,
            position: role.position,
            permissions: Permissions::names(role.permissions),
            highlighted: role.highlighted,
        }
    }
}

impl Listed {
    fn line(&self) -> String {
        format!("{:<20} {:>4}  {}", self.name, self.position, self.permissions.join(", ")).trim_end().to_owned()
    }
}
