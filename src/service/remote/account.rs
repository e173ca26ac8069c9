//! Profiles of accounts of other servers.

use super::emoji::{self, RemoteEmoji};
use chrono::TimeDelta;

use crate::domain_policy;
use context::Cx;
use context::change::{self, Change};
use context::error::{Error, OnUnique, Result};
use context::queue::{self, FetchNodeInfo};
use database::Tx;
use model::account::{ActorType, Field, OtherSettings, Searchability};
use model::{Account, AccountId, Json, Time};
use store::account::ActorObject;

/// How long the NodeInfo of a server is believed.
const NODE_INFO: TimeDelta = TimeDelta::days(1);
/// Longest display name that is kept, in characters.
const NAME_MAX: usize = 200;
/// Longest note that is kept, in bytes of HTML.
const NOTE_MAX: usize = 64 * 1024;
/// Most fields of a profile.
const FIELDS_MAX: usize = 16;
/// Longest name or value of a field, in characters.
const FIELD_MAX: usize = 2_047;

/// What the server of an account says of it.
#[derive(Clone, Debug)]
pub struct RemoteProfile {
    /// The actor's id.
    pub uri: String,
    pub username: String,
    /// The domain in its address, in lower-case ASCII.
    pub domain: String,
    pub kind: ActorType,
    pub display_name: String,
    /// HTML, as received.
    pub note: String,
    /// Names, and values in HTML, as received.
    pub fields: Vec<(String, String)>,
    /// Custom emojis of its texts.
    pub emojis: Vec<RemoteEmoji>,
    pub url: Option<String>,
    pub avatar_url: Option<String>,
    pub avatar_description: String,
    pub header_url: Option<String>,
    pub locked: bool,
    pub discoverable: Option<bool>,
    pub indexable: bool,
    pub memorial: bool,
    /// Its own server suspended it.
    pub suspended: bool,
    /// The actor that it moved to.
    pub moved_to: Option<String>,
    pub searchability: Searchability,
    pub settings: OtherSettings,
    pub hide_collections: Option<bool>,
    pub attribution_domains: Vec<String>,
    pub created_at: Option<Time>,
    /// Its addresses and key.
    pub actor: ActorObject,
}

/// Stores the profile of a remote account: a new one, or what changed of a known one. Returns the account.
///
/// # Errors
/// [`Error::Conflict`] when the address belongs to another actor.
#[model::use_case]
pub async fn save(cx: &Cx, mut profile: RemoteProfile) -> Result<Account> {
    if cx.domain_policy().of(&profile.domain).flags.reject_media {
        (profile.avatar_url, profile.header_url) = (None, None);
    }
    let now = cx.clock.now();
    let actor = ActorObject { fetched_at: Some(now), ..profile.actor.clone() };
    emoji::save(cx, &profile.domain, &profile.emojis).await?;
    let mut tx = cx.db.begin().await?;
    let known = store::remote::find_account(&mut tx, &profile.uri).await?;
    let moved_to = match &profile.moved_to {
        // One that is not known here is not shown.
        Some(target) => store::remote::find_account(&mut tx, target).await?.map(|target| target.id),
        None => None,
    };
    let account = match known {
        Some(known) if known.is_local() => return Err(Error::Conflict("the actor is of this server".into())),
        Some(known) => {
            let account = Account { updated_at: now, moved_to_account_id: moved_to, ..filled(known, &profile) };
            store::remote::update_account(&mut tx, &account, &actor).await.on_unique(taken)?;
            account
        }
        None => {
            let id: AccountId = cx.ids.next();
            let created = profile.created_at.filter(|created| *created < now).unwrap_or(now);
            let new = Account::new(id, profile.username.clone(), profile.uri.clone(), created);
            let (suspended_at, limited_at) = domain_policy::standing_of_new(&cx.domain_policy(), &profile.domain);
            let new = Account {
                domain: Some(profile.domain.clone()),
                suspended_at,
                limited_at,
                moved_to_account_id: moved_to,
                updated_at: now,
                ..filled(new, &profile)
            };
            store::remote::insert_instance(&mut tx, &profile.domain, now).await?;
            store::account::insert(&mut tx, &new, actor).await.on_unique(taken)?;
            new
        }
    };
    if store::instance::claim_node_info(&mut tx, &profile.domain, now - NODE_INFO, now).await? {
        queue::enqueue(cx, &mut tx, &FetchNodeInfo { domain: profile.domain }).await?;
    }
    change::record(cx, &mut tx, Change::AccountUpdated { account: account.id }).await?;
    let account = hide_or_show(cx, &mut tx, account, profile.suspended).await?;
    tx.commit().await?;
    Ok(account)
}

fn taken() -> Error {
    Error::Conflict("the address belongs to another actor".into())
}

/// Hides `account` while its own server suspends it. What staff of this server decided stays.
async fn hide_or_show(cx: &Cx, tx: &mut Tx, account: Account, suspended: bool) -> Result<Account> {
    if suspended == account.is_suspended() {
        return Ok(account);
    }
    if !suspended {
        store::remote::unsuspend_by_origin(tx, account.id).await?;
    } else if store::remote::suspend_by_origin(tx, account.id, cx.clock.now()).await? {
        change::record(cx, tx, Change::AccountSuspended { account: account.id }).await?;
    }
    let changed = store::account::find(&mut *tx, account.id).await?;
    Ok(changed.unwrap_or(account))
}

/// `account` with the profile, as it is stored.
fn filled(account: Account, profile: &RemoteProfile) -> Account {
    Account {
        username: profile.username.clone(),
        url: profile.url.clone(),
        actor_type: profile.kind,
        display_name: clip(&profile.display_name, NAME_MAX),
        note_html: text::sanitise(clip_bytes(&profile.note, NOTE_MAX)),
        fields: Json(profile.fields.iter().take(FIELDS_MAX).map(field).collect()),
        avatar_remote_url: profile.avatar_url.clone(),
        avatar_description: profile.avatar_description.clone(),
        header_remote_url: profile.header_url.clone(),
        locked: profile.locked,
        discoverable: profile.discoverable,
        indexable: profile.indexable,
        memorial: profile.memorial,
        searchability: profile.searchability,
        other_settings: Json(profile.settings.clone()),
        hide_collections: profile.hide_collections,
        attribution_domains: Json(profile.attribution_domains.clone()),
        ..account
    }
}

fn field((name, value): &(String, String)) -> Field {
    let value = clip(value, FIELD_MAX);
    Field { name: clip(name, FIELD_MAX), value: String::new(), html: text::sanitise(&value), verified_at: None }
}

fn clip(text: &str, most: usize) -> String {
    text.chars().filter(|character| *character != '\0').take(most).collect()
}

/// The beginning of `text`, of at most `most` bytes.
pub(super) fn clip_bytes(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// Up to `limit` known accounts of `domain` after the account `after`, oldest first.
#[model::use_case]
pub async fn list_of(cx: &Cx, domain: &str, after: AccountId, limit: i64) -> Result<Vec<AccountId>> {
    Ok(store::domain_policy::list_accounts(&cx.db, domain, after, limit).await?)
}
