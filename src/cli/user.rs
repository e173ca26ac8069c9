//! `rookery user …`: manages local accounts.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde::Serialize;

use super::account;
use super::create_users::{self, NewUser};
use super::settings::standard_input;
use super::transfer;
use context::{Cx, Error};
use crypto::Secret;
use model::transfer::TransferKind;
use model::{AccountId, Scopes, Staff, Time};
use service::moderation::account as managed;
use service::transfer::Mode;
use service::{application, removal, signing_key, staff, token};
use store::user::UserSummary;
use terminal::{Failure, Output};

/// Users per query of a list.
const LIST_PAGE: i64 = 500;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Create an account, or many from standard input
    Create(Create),
    /// Approve and confirm a pending sign-up
    Approve {
        /// User name
        username: String,
    },
    /// Set the role of a user
    SetRole {
        /// User name
        username: String,
        /// Owner, Admin, Moderator, another role of this server, or none
        role: String,
        /// Also take it from the last owner
        #[arg(long)]
        force: bool,
    },
    /// Set a new password, print it, and end all sessions of the user
    ResetPassword {
        /// User name
        username: String,
        /// Read the password from standard input instead of generating one
        #[arg(long)]
        password_stdin: bool,
    },
    /// Export a user's follows, blocks and so on to a file in Mastodon's format; without a kind, all other data,
    /// including plugins' data about the user, as JSON
    Export {
        /// User name
        username: String,
        /// following, blocking, muting, domain_blocking, lists, bookmarks or filters
        kind: Option<TransferKind>,
        /// The file to write (default: standard output)
        file: Option<PathBuf>,
    },
    /// Import such a file; a running server does it row by row
    Import {
        /// User name
        username: String,
        /// following, blocking, muting, domain_blocking, lists, bookmarks or filters
        kind: TransferKind,
        /// The file to read
        file: PathBuf,
        /// Remove existing records that are not in the file
        #[arg(long)]
        overwrite: bool,
    },
    /// List the last imports of a user, or print the rows of one that failed
    Imports {
        /// User name
        username: String,
        /// The import whose failed rows are printed
        id: Option<i64>,
    },
    /// Write all that a user wrote to a zip file: ActivityPub documents with the files, likes and bookmarks
    Archive {
        /// User name
        username: String,
        /// The file to write, which must not exist
        file: PathBuf,
    },
    /// Make other signing keys for the users whose keys were encrypted with another secret.key, after that was lost for good
    RenewKeys,
    /// List all users
    List,
    /// The same as `rookery account suspend`
    Suspend {
        /// User name
        username: String,
    },
    /// The same as `rookery account unsuspend`
    Unsuspend {
        /// User name
        username: String,
    },
    /// Delete a user for good, with all statuses and plugin data; the name stays reserved
    Remove {
        /// User name
        username: String,
        /// Confirm: this cannot be undone
        #[arg(long)]
        yes: bool,
    },
    /// Create an access token, and print it
    Token {
        /// User name
        username: String,
        /// Scopes, separated by spaces
        #[arg(long, default_value = "read write follow push profile")]
        scopes: String,
    },
}

impl Command {
    /// True for the first command of a new server.
    pub(super) fn makes_database(&self) -> bool {
        matches!(self, Self::Create(new) if new.new)
    }

    /// True for a command that a running server must apply.
    pub(super) fn changes(&self) -> bool {
        match self {
            Self::Export { .. } | Self::Imports { .. } | Self::Archive { .. } | Self::List => false,
            Self::Create(_)
            | Self::Approve { .. }
            | Self::SetRole { .. }
            | Self::ResetPassword { .. }
            | Self::Suspend { .. }
            | Self::Unsuspend { .. }
            | Self::Remove { .. }
            | Self::Import { .. }
            | Self::RenewKeys
            | Self::Token { .. } => true,
        }
    }
}

#[derive(Debug, Args)]
pub(super) struct Create {
    /// Make the database, if there is none yet
    #[arg(long)]
    new: bool,
    /// User name
    #[arg(required_unless_present = "stdin")]
    username: Option<String>,
    /// Create many: each line of standard input is a JSON object with the fields username, email, password, role,
    /// confirmed, approved, locale and scopes; only username is required. Prints one JSON object per line.
    #[arg(long, conflicts_with_all = ["username", "email", "password_stdin", "role", "unconfirmed", "unapproved"])]
    stdin: bool,
    /// E-mail address (default: USERNAME@this server's domain)
    #[arg(long)]
    email: Option<String>,
    /// Read the password from standard input; without one, sign-in needs reset-password first
    #[arg(long)]
    password_stdin: bool,
    /// Owner, Admin or Moderator
    #[arg(long)]
    role: Option<String>,
    /// Leave the e-mail address unconfirmed
    #[arg(long)]
    unconfirmed: bool,
    /// Leave the account pending approval
    #[arg(long)]
    unapproved: bool,
    /// Also create an access token with these scopes, separated by spaces
    #[arg(long, value_name = "SCOPES", num_args = 0..=1, default_missing_value = "read write follow push profile")]
    token: Option<String>,
}

#[derive(Serialize)]
struct Changed<'a> {
    username: &'a str,
    changed: bool,
}

#[derive(Serialize)]
struct Renewed {
    users: u64,
}

#[derive(Serialize)]
struct WithRole<'a> {
    username: &'a str,
    role: Option<&'a str>,
}

#[derive(Serialize)]
struct WithPassword<'a> {
    username: &'a str,
    password: Option<&'a str>,
}

#[derive(Serialize)]
struct WithToken<'a> {
    username: &'a str,
    access_token: &'a str,
    scopes: String,
}

#[derive(Serialize)]
struct Listed {
    id: AccountId,
    username: String,
    email: String,
    role: Option<String>,
    confirmed: bool,
    approved: bool,
    disabled: bool,
    suspended: bool,
    last_active_at: Option<String>,
    created_at: String,
}

pub(super) async fn run(cx: &Cx, command: Command, output: Output) -> Result<(), Failure> {
    match command {
        Command::Create(create) if create.stdin => create_users::from_lines(cx, create.token.as_deref()).await,
        Command::Create(create) => make(cx, create, output).await,
        Command::Approve { username } => {
            let account = staff::find(cx, &username).await?;
            let changed = match managed::approve(cx, &Staff::operator(), account.id, true).await {
                Ok(()) => true,
                Err(Error::Forbidden(_)) => false,
                Err(error) => return Err(error.into()),
            };
            let result = if changed { "is in now" } else { "was in already" };
            output.respond(&Changed { username: &account.username, changed }, || {
                format!("@{} {result}.", account.username)
            })
        }
        Command::SetRole { username, role, force } => set_role(cx, &username, &role, force, output).await,
        Command::ResetPassword { username, password_stdin } => {
            reset_password(cx, &username, password_stdin, output).await
        }
        Command::Export { username, kind: None, .. } => export(cx, &username, output).await,
        Command::Export { username, kind: Some(kind), file } => {
            transfer::export(cx, &username, kind, file.as_deref(), output).await
        }
        Command::Import { username, kind, file, overwrite } => {
            let mode = if overwrite { Mode::Overwrite } else { Mode::Merge };
            transfer::import(cx, &username, kind, mode, &file, output).await
        }
        Command::Imports { username, id } => transfer::imports(cx, &username, id.map(Into::into), output).await,
        Command::Archive { username, file } => transfer::archive(cx, &username, &file, output).await,
        Command::RenewKeys => renew_keys(cx, output).await,
        Command::List => list(cx, output).await,
        Command::Suspend { username } => account::run(cx, account::Command::suspend(username), output).await,
        Command::Unsuspend { username } => {
            account::run(cx, account::Command::Unsuspend { name: username }, output).await
        }
        Command::Remove { username, yes } => remove(cx, &username, yes, output).await,
        Command::Token { username, scopes } => mint(cx, &username, &scopes, output).await,
    }
}

async fn make(cx: &Cx, create: Create, output: Output) -> Result<(), Failure> {
    let new = NewUser {
        username: create.username.unwrap_or_default(),
        email: create.email,
        password: create.password_stdin.then(standard_input).transpose()?,
        role: create.role,
        confirmed: !create.unconfirmed,
        approved: !create.unapproved,
        locale: None,
        scopes: create.token,
    };
    let can_sign_in = new.password.is_some();
    let made = create_users::one(cx, new).await?;
    output.respond(&made, || {
        let token = made.access_token.as_ref().map(|token| format!("\nAccess token: {token}")).unwrap_or_default();
        let hint = match can_sign_in {
            true => String::new(),
            false => format!("\nThere is no password yet: rookery user reset-password {}", made.username),
        };
        format!("Made @{} with the id {}.{token}{hint}", made.username, made.id)
    })
}

async fn export(cx: &Cx, username: &str, output: Output) -> Result<(), Failure> {
    let account = staff::find(cx, username).await?;
    let document = transfer::document(cx, account.id).await?;
    output.respond(&document, || format!("{document:#}"))
}

/// Generates new keys in place of keys that can no longer be decrypted.
async fn renew_keys(cx: &Cx, output: Output) -> Result<(), Failure> {
    let (mut after, mut users) = (AccountId::from(0), 0);
    loop {
        let mut tx = cx.db.begin().await?;
        let (last, renewed) = signing_key::renew_lost(cx, &mut tx, after).await?;
        tx.commit().await?;
        users += renewed;
        let Some(last) = last else { break };
        after = last;
    }
    output.respond(&Renewed { users }, || match users {
        0 => "All signing keys can be opened with this secret key.".to_owned(),
        _ => format!("{users} users get other signing keys, which the server makes."),
    })
}

async fn remove(cx: &Cx, username: &str, yes: bool, output: Output) -> Result<(), Failure> {
    let account = staff::find(cx, username).await?;
    if !yes {
        return Err(Failure::usage(format!(
            "this removes @{} with all that they wrote, for good: say --yes, or `rookery user export` first",
            account.username
        )));
    }
    removal::remove(cx, &Staff::operator(), &account).await?;
    output.respond(&Changed { username: &account.username, changed: true }, || {
        format!("@{} is hidden now, and removed as soon as the server comes to it.", account.username)
    })
}

async fn set_role(cx: &Cx, username: &str, role: &str, force: bool, output: Output) -> Result<(), Failure> {
    let account = staff::find(cx, username).await?;
    let id = staff::role(cx, role).await?;
    service::role::assign(cx, &Staff::operator(), account.id, id, force).await.map_err(|error| match error {
        Error::Forbidden(why) => Failure::new(format!("{why}, or say --force")),
        other => other.into(),
    })?;
    let answer = WithRole { username: &account.username, role: id.map(|_| role) };
    output.respond(&answer, || format!("@{} has the role {role} now.", answer.username))
}

async fn reset_password(cx: &Cx, username: &str, from_stdin: bool, output: Output) -> Result<(), Failure> {
    let account = staff::find(cx, username).await?;
    let given = from_stdin.then(standard_input).transpose()?;
    if let Some(password) = &given {
        create_users::check_password(password)?;
    }
    let password = staff::set_password(cx, &Staff::operator(), &account, given.map(Secret::from)).await?;
    let made = (!from_stdin).then(|| password.expose());
    let answer = WithPassword { username: &account.username, password: made };
    output.respond(&answer, || match made {
        Some(password) => format!("The new password of @{}: {password}", account.username),
        None => format!("@{} has the new password.", account.username),
    })
}

async fn mint(cx: &Cx, username: &str, scopes: &str, output: Output) -> Result<(), Failure> {
    let account = staff::find(cx, username).await?;
    let scopes = read_scopes(cx, scopes).await?;
    let mut tx = cx.db.begin().await?;
    let app = application::command_line(cx, &mut tx).await?;
    let token = token::mint(cx, &mut tx, Some(app), Some(account.id), &scopes).await?;
    tx.commit().await?;
    let answer = WithToken { username: &account.username, access_token: token.expose(), scopes: scopes.to_string() };
    output.respond(&answer, || token.expose().to_owned())
}

/// Parses scopes of the server and of its plugins; at least one is required.
pub(super) async fn read_scopes(cx: &Cx, text: &str) -> Result<Scopes, Failure> {
    let declared = cx.extensions().stored_scopes(&cx.db).await?;
    let is_declared = |word: &str| declared.iter().any(|scope| scope.name == word);
    let scopes =
        Scopes::parse_with(text, is_declared).map_err(|word| Failure::usage(format!("there is no scope {word:?}")))?;
    if scopes.is_empty() { Err(Failure::usage("a token needs at least one scope")) } else { Ok(scopes) }
}

async fn list(cx: &Cx, output: Output) -> Result<(), Failure> {
    let (mut after, mut users) = (AccountId::from(0), Vec::new());
    loop {
        let page = store::user::list(&cx.db, after, LIST_PAGE).await?;
        let Some(last) = page.last() else { break };
        after = last.id;
        users.extend(page.into_iter().map(Listed::from));
    }
    output.list(&users, "There is no user.", Listed::line)
}

impl From<UserSummary> for Listed {
    fn from(user: UserSummary) -> Self {
        Self {
            id: user.id,
            username: user.username,
            email: user.email,
            role: user.role,
            confirmed: user.confirmed_at.is_some(),
            approved: user.approved,
            disabled: user.disabled,
            suspended: user.suspended_at.is_some(),
            last_active_at: user.last_active_at.map(Time::to_api),
            created_at: user.created_at.to_api(),
        }
    }
}

impl Listed {
    fn line(&self) -> String {
        let states = [
            (!self.confirmed, "unconfirmed"),
            (!self.approved, "waiting for approval"),
            (self.disabled, "disabled"),
            (self.suspended, "suspended"),
        ];
        let states: Vec<&str> = states.iter().filter(|(applies, _)| *applies).map(|(_, word)| *word).collect();
        let role = self.role.as_deref().unwrap_or("-");
        format!("{:<30} {:<40} {role:<10} {}", self.username, self.email, states.join(", ")).trim_end().to_owned()
    }
}
