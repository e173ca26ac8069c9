//! Account creation for `rookery user create`: one account, or thousands in batches of one transaction each.

use std::io::{self, BufRead as _};

use serde::{Deserialize, Serialize};

use super::user::read_scopes;
use context::Cx;
use context::error::Error;
use crypto::Secret;
use database::Tx;
use model::{AccountId, Scopes};
use service::sign_up::{self, NewAccount};
use service::{application, staff, token};
use terminal::Failure;

/// Accounts per transaction: more would save disk syncs, but make other writers wait longer.
const BATCH: usize = 100;

/// One line of standard input: the account to create.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewUser {
    pub(super) username: String,
    pub(super) email: Option<String>,
    pub(super) password: Option<String>,
    pub(super) role: Option<String>,
    #[serde(default = "yes")]
    pub(super) confirmed: bool,
    #[serde(default = "yes")]
    pub(super) approved: bool,
    pub(super) locale: Option<String>,
    /// Scopes of the access token; without them no token is created.
    pub(super) scopes: Option<String>,
}

fn yes() -> bool {
    true
}

/// The output for an account that was created.
#[derive(Debug, Serialize)]
pub(super) struct CreatedUser {
    pub(super) id: AccountId,
    pub(super) username: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) access_token: Option<String>,
}

/// The output for a line that failed.
#[derive(Serialize)]
struct Refused<'a> {
    username: Option<&'a str>,
    error: &'a str,
}

/// A validated account with its password hashed, ready to be inserted.
struct Ready {
    account: NewAccount,
    scopes: Option<Scopes>,
}

impl Ready {
    /// A copy, so that a batch that failed because of another account can be retried one by one.
    fn again(&self) -> NewAccount {
        let account = &self.account;
        NewAccount {
            username: account.username.clone(),
            email: account.email.clone(),
            password_hash: account.password_hash.clone(),
            confirmed: account.confirmed,
            approved: account.approved,
            role_id: account.role_id,
            locale: account.locale.clone(),
            time_zone: account.time_zone.clone(),
            app: account.app,
            reason: account.reason.clone(),
        }
    }
}

/// Creates one account.
pub(super) async fn one(cx: &Cx, new: NewUser) -> Result<CreatedUser, Failure> {
    let ready = prepare(cx, new).await?;
    write_one(cx, &ready).await
}

/// Creates an account for each line of standard input, and prints one line for each in the same order.
///
/// `token` holds the scopes for lines that name none. Fails when a line failed, after all were processed.
pub(super) async fn from_lines(cx: &Cx, token: Option<&str>) -> Result<(), Failure> {
    let mut lines = io::stdin().lock().lines();
    let mut refused = 0;
    loop {
        let batch: Vec<String> = lines
            .by_ref()
            .filter(|line| line.as_ref().map_or(true, |line| !line.trim().is_empty()))
            .take(BATCH)
            .collect::<Result<_, _>>()
            .map_err(|error| Failure::new(format!("standard input: {error}")))?;
        if batch.is_empty() {
            break;
        }
        refused += make_batch(cx, &batch, token).await?;
    }
    if refused == 0 { Ok(()) } else { Err(Failure::new(format!("{refused} lines were refused"))) }
}

/// Returns the number of lines that failed.
async fn make_batch(cx: &Cx, lines: &[String], token: Option<&str>) -> Result<usize, Failure> {
    let parsed: Vec<Result<NewUser, Failure>> = lines.iter().map(|line| parse(line, token)).collect();
    let names: Vec<Option<String>> = parsed.iter().map(|new| Some(new.as_ref().ok()?.username.clone())).collect();
    // Hashing a password takes about 30 ms of CPU time on a blocking thread: hash the whole batch in parallel.
    let prepared = futures_util::future::join_all(parsed.into_iter().map(|new| async { prepare(cx, new?).await }));
    let prepared: Vec<Result<Ready, Failure>> = prepared.await;
    let ready: Vec<&Ready> = prepared.iter().filter_map(|one| one.as_ref().ok()).collect();
    let mut together = write_together(cx, &ready).await.map(Vec::into_iter).ok();
    let mut refused = 0;
    for (one, name) in prepared.iter().zip(names) {
        let made = match (one, &mut together) {
            (Err(failure), _) => Err(Failure::new(failure.text())),
            (Ok(_), Some(made)) => made.next().ok_or_else(|| Failure::new("an account was lost")),
            // An account in the batch failed: insert one by one, so that only that one is lost.
            (Ok(ready), None) => write_one(cx, ready).await,
        };
        refused += usize::from(made.is_err());
        answer(&made, name.as_deref())?;
    }
    Ok(refused)
}

fn answer(made: &Result<CreatedUser, Failure>, username: Option<&str>) -> Result<(), Failure> {
    let line = match made {
        Ok(made) => serde_json::to_string(made),
        Err(failure) => serde_json::to_string(&Refused { username, error: failure.text() }),
    };
    terminal::Output::new(true).say(&line.map_err(Failure::new)?);
    Ok(())
}

fn parse(line: &str, token: Option<&str>) -> Result<NewUser, Failure> {
    let mut new: NewUser =
        serde_json::from_str(line).map_err(|error| Failure::new(format!("not understood: {error}")))?;
    new.scopes = new.scopes.or_else(|| token.map(str::to_owned));
    Ok(new)
}

async fn prepare(cx: &Cx, new: NewUser) -> Result<Ready, Failure> {
    let scopes = match new.scopes.as_deref() {
        None => None,
        Some(scopes) => Some(read_scopes(cx, scopes).await?),
    };
    let role_id = match &new.role {
        None => None,
        Some(name) => staff::role(cx, name).await?.map(i64::from),
    };
    let password_hash = match new.password {
        None => None,
        Some(password) => {
            check_password(&password)?;
            Some(crypto::hash_password(Secret::from(password)).await.map_err(Error::from)?)
        }
    };
    let domain = cx.config.server.local_domain.host();
    let account = NewAccount {
        email: new.email.unwrap_or_else(|| format!("{}@{domain}", new.username)),
        username: new.username,
        password_hash,
        confirmed: new.confirmed,
        approved: new.approved,
        role_id,
        locale: new.locale,
        time_zone: None,
        app: None,
        reason: None,
    };
    Ok(Ready { account, scopes })
}

/// Checks the length of a password (docs/contract/rules.md#8-oauth-and-sign-up).
pub(super) fn check_password(password: &str) -> Result<(), Failure> {
    let length = password.chars().count();
    if (8..=72).contains(&length) {
        return Ok(());
    }
    Err(Failure::usage("a password has 8 to 72 characters"))
}

async fn write_together(cx: &Cx, ready: &[&Ready]) -> Result<Vec<CreatedUser>, Failure> {
    let mut tx = cx.db.begin().await?;
    let mut made = Vec::with_capacity(ready.len());
    for one in ready {
        made.push(write(cx, &mut tx, one).await?);
    }
    tx.commit().await?;
    Ok(made)
}

async fn write_one(cx: &Cx, ready: &Ready) -> Result<CreatedUser, Failure> {
    let made = write_together(cx, &[ready]).await?;
    made.into_iter().next().ok_or_else(|| Failure::new("an account was lost"))
}

async fn write(cx: &Cx, tx: &mut Tx, ready: &Ready) -> Result<CreatedUser, Failure> {
    let id = sign_up::create(cx, tx, ready.again()).await?;
    let access_token = match &ready.scopes {
        None => None,
        Some(scopes) => {
            let app = application::command_line(cx, tx).await?;
            Some(token::mint(cx, tx, Some(app), Some(id), scopes).await?.expose().to_owned())
        }
    };
    Ok(CreatedUser { id, username: ready.account.username.clone(), access_token })
}
