//! Making accounts for `rookery user create`: one, or thousands in transactions of a hundred each.

use std::io::{self, BufRead as _};

use serde::{Deserialize, Serialize};

use super::output::Failure;
use super::user::read_scopes;
use crate::app::App;
use crate::error::Error;
use crate::service::sign_up::{self, NewAccount};
use crate::service::{staff, token};
use crypto::Secret;
use model::{AccountId, Scopes};
use store::Tx;

/// Accounts made in one transaction: what is written to disk at once, and what another writer may have to wait for.
const BATCH: usize = 100;

/// An account as a line of standard input asks for it.
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
    /// Of the access token; none: no token.
    pub(super) scopes: Option<String>,
}

fn yes() -> bool {
    true
}

/// An account that was made.
#[derive(Debug, Serialize)]
pub(super) struct Made {
    pub(super) id: AccountId,
    pub(super) username: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) access_token: Option<String>,
}

/// A line that no account was made of.
#[derive(Serialize)]
struct Refused<'a> {
    username: Option<&'a str>,
    error: &'a str,
}

/// An account, checked and with its password hashed: what is left is writing it.
struct Ready {
    account: NewAccount,
    scopes: Option<Scopes>,
}

impl Ready {
    /// To try once more after a transaction that failed because of another account.
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

/// Makes one account.
pub(super) async fn one(app: &App, new: NewUser) -> Result<Made, Failure> {
    let ready = prepare(app, new).await?;
    write_one(app, &ready).await
}

/// Makes an account of each line of standard input and answers a line each, in the same order; `token` are the scopes of
/// a token for whoever's line names none. Fails when a line did, after all of them were tried.
pub(super) async fn from_lines(app: &App, token: Option<&str>) -> Result<(), Failure> {
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
        refused += make_batch(app, &batch, token).await?;
    }
    if refused == 0 { Ok(()) } else { Err(Failure::new(format!("{refused} lines were refused"))) }
}

/// Gives how many lines were refused.
async fn make_batch(app: &App, lines: &[String], token: Option<&str>) -> Result<usize, Failure> {
    let parsed: Vec<Result<NewUser, Failure>> = lines.iter().map(|line| parse(line, token)).collect();
    let names: Vec<Option<String>> = parsed.iter().map(|new| Some(new.as_ref().ok()?.username.clone())).collect();
    // Hashing a password takes a processor some 30 ms, on threads of its own: all of the batch at once.
    let prepared = futures_util::future::join_all(parsed.into_iter().map(|new| async { prepare(app, new?).await }));
    let prepared: Vec<Result<Ready, Failure>> = prepared.await;
    let ready: Vec<&Ready> = prepared.iter().filter_map(|one| one.as_ref().ok()).collect();
    let mut together = write_together(app, &ready).await.map(Vec::into_iter).ok();
    let mut refused = 0;
    for (one, name) in prepared.iter().zip(names) {
        let made = match (one, &mut together) {
            (Err(failure), _) => Err(Failure::new(failure.text())),
            (Ok(_), Some(made)) => made.next().ok_or_else(|| Failure::new("an account was lost")),
            // Someone in the batch cannot be made: everyone by themselves, so that it is only them.
            (Ok(ready), None) => write_one(app, ready).await,
        };
        refused += usize::from(made.is_err());
        answer(&made, name.as_deref())?;
    }
    Ok(refused)
}

fn answer(made: &Result<Made, Failure>, username: Option<&str>) -> Result<(), Failure> {
    let line = match made {
        Ok(made) => serde_json::to_string(made),
        Err(failure) => serde_json::to_string(&Refused { username, error: failure.text() }),
    };
    super::output::Output::new(true).say(&line.map_err(Failure::new)?);
    Ok(())
}

fn parse(line: &str, token: Option<&str>) -> Result<NewUser, Failure> {
    let mut new: NewUser =
        serde_json::from_str(line).map_err(|error| Failure::new(format!("not understood: {error}")))?;
    new.scopes = new.scopes.or_else(|| token.map(str::to_owned));
    Ok(new)
}

async fn prepare(app: &App, new: NewUser) -> Result<Ready, Failure> {
    let scopes = new.scopes.as_deref().map(read_scopes).transpose()?;
    let role_id = match &new.role {
        None => None,
        Some(name) => staff::role(app, name).await?,
    };
    let password_hash = match new.password {
        None => None,
        Some(password) => {
            check_password(&password)?;
            Some(crypto::hash_password(Secret::from(password)).await.map_err(Error::from)?)
        }
    };
    let domain = app.config.server.local_domain.host();
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

/// A password as long as one must be (contract rules, section 8).
pub(super) fn check_password(password: &str) -> Result<(), Failure> {
    let length = password.chars().count();
    if (8..=72).contains(&length) {
        return Ok(());
    }
    Err(Failure::usage("a password has 8 to 72 characters"))
}

async fn write_together(app: &App, ready: &[&Ready]) -> Result<Vec<Made>, Failure> {
    let mut tx = app.db.begin().await?;
    let mut made = Vec::with_capacity(ready.len());
    for one in ready {
        made.push(write(app, &mut tx, one).await?);
    }
    tx.commit().await?;
    Ok(made)
}

async fn write_one(app: &App, ready: &Ready) -> Result<Made, Failure> {
    let made = write_together(app, &[ready]).await?;
    made.into_iter().next().ok_or_else(|| Failure::new("an account was lost"))
}

async fn write(app: &App, tx: &mut Tx, ready: &Ready) -> Result<Made, Failure> {
    let id = sign_up::create(app, tx, ready.again()).await?;
    let access_token = match &ready.scopes {
        None => None,
        Some(scopes) => Some(token::mint(app, tx, None, Some(id), scopes).await?.expose().to_owned()),
    };
    Ok(Made { id, username: ready.account.username.clone(), access_token })
}
