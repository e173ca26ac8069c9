//! Profiles: the data that an account's owner edits, and the account as its owner sees it (`CredentialAccount`).
//!
//! Reached from `service::profile` and the entity of credentials. Avatar and header are in [`account`](crate::account).

use crate::account_names;
use crate::role::{AssignedRole, RolePermissions, assigned_role_columns, role_joins, role_permission_columns};
use database::{Conn, Result, Tx, sql};
use model::account::{ActorType, OtherSettings, Searchability};
use model::{Account, AccountId, Field, Json, Preferences, Time, account_columns, boxed};

/// An account with data visible only to its owner.
#[derive(Debug, model::Row)]
pub struct CredentialRow {
    #[row(flatten)]
    pub account: Account,
    pub preferences: Json<Preferences>,
    #[row(flatten)]
    pub role: AssignedRole,
    pub role_highlighted: Option<bool>,
    #[row(flatten)]
    pub permissions: RolePermissions,
    /// Number of pending follow requests, counted up to 40.
    pub follow_requests_count: i64,
    /// URIs of actors.
    pub also_known_as: Json<Vec<String>>,
}

/// A local account as its owner sees it. The inner `LIMIT` bounds the cost of counting follow requests.
#[boxed]
pub async fn find(db: Conn<'_>, id: AccountId) -> Result<Option<CredentialRow>> {
    db.query(sql!(
        "SELECT " account_columns!() ", " assigned_role_columns!() ", " role_permission_columns!() ",
                r.highlighted AS role_highlighted, u.preferences, a.also_known_as,
                (SELECT COUNT(*) FROM (SELECT q.id FROM follow_requests q WHERE q.target_account_id = a.id LIMIT 40) waiting)
                AS follow_requests_count
         FROM accounts a
         JOIN users u ON u.account_id = a.id" role_joins!()
        "WHERE a.id = $1"
    ))
    .bind(id)
    .optional()
    .await
}

/// The parts of an account that its owner may edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    pub display_name: String,
    pub note: String,
    pub note_html: String,
    pub fields: Vec<Field>,
    pub locked: bool,
    pub actor_type: ActorType,
    pub discoverable: Option<bool>,
    pub indexable: bool,
    pub hide_collections: Option<bool>,
    pub searchability: Searchability,
    pub other_settings: OtherSettings,
    pub attribution_domains: Vec<String>,
    pub avatar_description: String,
    pub header_description: String,
    pub show_media: bool,
    pub show_media_replies: bool,
    pub show_featured: bool,
}

impl From<&Account> for Profile {
    fn from(account: &Account) -> Self {
        Self {
            display_name: account.display_name.clone(),
            note: account.note.clone(),
            note_html: account.note_html.clone(),
            fields: account.fields.0.clone(),
            locked: account.locked,
            actor_type: account.actor_type,
            discoverable: account.discoverable,
            indexable: account.indexable,
            hide_collections: account.hide_collections,
            searchability: account.searchability,
            other_settings: account.other_settings.0.clone(),
            attribution_domains: account.attribution_domains.0.clone(),
            avatar_description: account.avatar_description.clone(),
            header_description: account.header_description.clone(),
            show_media: account.show_media,
            show_media_replies: account.show_media_replies,
            show_featured: account.show_featured,
        }
    }
}

/// Writes a profile and its search names.
#[boxed]
pub async fn update(tx: &mut Tx, id: AccountId, profile: Profile, now: Time) -> Result<()> {
    let account: Option<(String, i64)> = tx.query(sql!(
        "UPDATE accounts
         SET display_name = $2, avatar_description = $3, note = $4, note_html = $5, fields = $6, locked = $7, actor_type = $8,
             discoverable = $9, indexable = $10, hide_collections = $11, searchability = $12,
             other_settings = $13, attribution_domains = $14, updated_at = $15,
             header_description = $16, show_media = $17, show_media_replies = $18, show_featured = $19,
             version = version + 1
         WHERE id = $1
         RETURNING username, followers_count"
    ))
    .bind(id)
    .bind(profile.display_name.clone())
    .bind(profile.avatar_description)
    .bind(profile.note)
    .bind(profile.note_html)
    .bind(Json(profile.fields))
    .bind(profile.locked)
    .bind(profile.actor_type)
    .bind(profile.discoverable)
    .bind(profile.indexable)
    .bind(profile.hide_collections)
    .bind(profile.searchability)
    .bind(Json(profile.other_settings))
    .bind(Json(profile.attribution_domains))
    .bind(now)
    .bind(profile.header_description)
    .bind(profile.show_media)
    .bind(profile.show_media_replies)
    .bind(profile.show_featured)
    .optional()
    .await?;
    if let Some((username, followers)) = account {
        let rank = account_names::rank(followers);
        account_names::replace(tx, id, &username, &profile.display_name, rank).await?;
    }
    Ok(())
}

/// Writes the fields of a profile.
#[boxed]
pub async fn set_fields(tx: &mut Tx, id: AccountId, fields: Vec<Field>) -> Result<()> {
    tx.query(sql!("UPDATE accounts SET fields = $2, version = version + 1 WHERE id = $1"))
        .bind(id)
        .bind(Json(fields))
        .execute()
        .await?;
    Ok(())
}

/// Writes the preferences of a local account.
#[boxed]
pub async fn update_preferences(tx: &mut Tx, id: AccountId, preferences: Preferences) -> Result<()> {
    tx.query(sql!("UPDATE users SET preferences = $2 WHERE account_id = $1"))
        .bind(id)
        .bind(Json(preferences))
        .execute()
        .await?;
    Ok(())
}
