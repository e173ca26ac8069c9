//! <https://docs.joinmastodon.org/entities/Account/>

use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;

use super::emoji::{CustomEmoji, Palette};
use context::Cx;
use context::by_id::ById;
use context::caches::Generations;
use context::error::{Error, Result};
use context::extension::{Entity, Target};
use context::json::{Array, Fragment};
use model::account::{ActorType, OtherSettings};
use model::relationship::Listed;
use model::remote_file::RemoteFileKind;
use model::{AccountId, Time};
use store::account::AccountWithRole;

/// The member names of an account, including those only visible to its owner.
pub(super) const MEMBERS: &[&str] = &[
    "id",
    "username",
    "acct",
    "display_name",
    "locked",
    "bot",
    "discoverable",
    "indexable",
    "group",
    "created_at",
    "note",
    "url",
    "uri",
    "avatar",
    "avatar_static",
    "header",
    "header_static",
    "avatar_description",
    "header_description",
    "show_media",
    "show_media_replies",
    "show_featured",
    "followers_count",
    "following_count",
    "statuses_count",
    "last_status_at",
    "hide_collections",
    "noindex",
    "emojis",
    "fields",
    "roles",
    "moved",
    "suspended",
    "limited",
    "memorial",
    "subscribable",
    "other_settings",
    "server_features",
    "source",
    "role",
    "mute_expires_at",
];

/// A public profile.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Account {
    pub id: AccountId,
    pub username: String,
    pub acct: String,
    pub display_name: String,
    pub locked: bool,
    pub bot: bool,
    pub discoverable: Option<bool>,
    pub indexable: bool,
    pub group: bool,
    pub created_at: String,
    pub note: String,
    pub url: Option<String>,
    pub uri: String,
    pub avatar: String,
    pub avatar_static: String,
    pub header: String,
    pub header_static: String,
    pub avatar_description: String,
    pub header_description: String,
    pub show_media: bool,
    pub show_media_replies: bool,
    pub show_featured: bool,
    pub followers_count: i64,
    pub following_count: i64,
    pub statuses_count: i64,
    pub last_status_at: Option<String>,
    pub hide_collections: Option<bool>,
    pub noindex: bool,
    pub emojis: Vec<CustomEmoji>,
    pub fields: Vec<Field>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roles: Option<Vec<AccountRole>>,
    /// The inner `None` is `null`: the account moved and is suspended as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved: Option<Option<Box<Account>>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub suspended: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub limited: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub memorial: bool,
    pub subscribable: bool,
    pub other_settings: Settings,
    pub server_features: ServerFeatures,
}

/// A profile field; `value` is HTML in an account, the source text in an account's `source`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Field {
    pub name: String,
    pub value: String,
    pub verified_at: Option<String>,
}

impl Field {
    /// The public form.
    #[must_use]
    pub fn shown(field: &model::Field) -> Self {
        Self { name: field.name.clone(), value: field.html.clone(), verified_at: verified_at(field) }
    }

    /// The source form, for its owner.
    #[must_use]
    pub fn source(field: &model::Field) -> Self {
        Self { name: field.name.clone(), value: field.value.clone(), verified_at: verified_at(field) }
    }
}

fn verified_at(field: &model::Field) -> Option<String> {
    field.verified_at.map(|micros| Time::from_micros(micros).to_api())
}

/// <https://docs.joinmastodon.org/entities/Role/>, as shown on a profile.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AccountRole {
    pub id: String,
    pub name: String,
    pub color: String,
}

/// `other_settings`: `{}` when suspended.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Settings {
    #[serde(flatten)]
    #[cfg_attr(test, schemars(with = "Option<serde_json::Value>"))]
    pub declared: Option<OtherSettings>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hide_network: Option<bool>,
}

/// Features that the account's server is known to support.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ServerFeatures {
    pub emoji_reaction: bool,
    pub quote: bool,
    pub status_reference: bool,
    pub circle: bool,
}

/// Renders the existing accounts among `ids`, in the order given. Two statements, or one when no account changed.
pub async fn render(cx: &Cx, ids: &[AccountId]) -> Result<Array> {
    let versions = store::account::versions(&cx.db, ids).await?;
    let rendered = render_versions(cx, &versions).await?;
    Ok(Array::join(ids.iter().filter_map(|id| rendered.get(id)).map(AsRef::as_ref)))
}

/// Renders one account.
///
/// # Errors
/// [`Error::NotFound`] when it does not exist.
pub async fn render_one(cx: &Cx, id: AccountId) -> Result<Fragment> {
    let versions = store::account::versions(&cx.db, &[id]).await?;
    let rendered = render_versions(cx, &versions).await?;
    rendered.get(&id).map(|text| Fragment::from_json(text)).ok_or(Error::NotFound)
}

/// Renders an account that was already read. No statement when it is cached.
///
/// # Errors
/// [`Error::NotFound`] when it was deleted meanwhile.
pub async fn render_found(cx: &Cx, account: &model::Account) -> Result<Fragment> {
    let rendered = render_versions(cx, &[(account.id, account.version)]).await?;
    rendered.get(&account.id).map(|text| Fragment::from_json(text)).ok_or(Error::NotFound)
}

/// Renders the visible accounts of a collection, in the order given. No statement when all are cached.
pub async fn render_listed(cx: &Cx, rows: &[Listed]) -> Result<Array> {
    let versions: Vec<_> = rows.iter().filter(|row| !row.hidden).map(|row| (row.account_id, row.version)).collect();
    render_in_order(cx, &versions).await
}

/// Renders accounts of known versions, in the order given. No statement when all are cached.
pub async fn render_in_order(cx: &Cx, versions: &[(AccountId, i64)]) -> Result<Array> {
    let rendered = render_versions(cx, versions).await?;
    Ok(Array::join(versions.iter().filter_map(|(id, _)| rendered.get(id)).map(AsRef::as_ref)))
}

/// Renders accounts of known versions. No statement when all are cached. A response calls this once for all its
/// accounts, so that plugins are called once.
///
/// # Errors
/// [`Error::Plugin`] when a plugin whose members are required does not respond.
pub async fn render_versions(cx: &Cx, versions: &[(AccountId, i64)]) -> Result<Rendered> {
    let rendered = if cx.extensions().decorates(Entity::Account) {
        render_decorated(cx, versions).await?
    } else {
        render_plain(cx, versions).await?
    };
    Ok(rendered.into())
}

/// Rendered accounts by id.
pub type Rendered = ById<AccountId, Arc<str>>;
type Texts = Vec<(AccountId, Arc<str>)>;

/// The current generations. When one changes, accounts are rendered again.
pub(super) fn generations(cx: &Cx) -> Generations {
    (cx.emojis().generation, cx.extensions().generation())
}

/// True when the cached account is complete: every plugin that adds members to it responded.
pub(super) fn is_cached(cx: &Cx, id: AccountId, version: i64) -> bool {
    !cx.extensions().decorates(Entity::Account)
        || cx.caches.decorated_accounts.get(&(id, version, generations(cx))).is_some()
}

/// With the members that plugins add. They do not depend on the viewer and are cached until the account changes, a
/// plugin invalidates them (`core-write.touch`), or the set of active plugins changes.
async fn render_decorated(cx: &Cx, versions: &[(AccountId, i64)]) -> Result<Texts> {
    let generations = generations(cx);
    let kept = |(id, version)| cx.caches.decorated_accounts.get(&(id, version, generations));
    let (mut rendered, mut missing) = parted(versions, kept);
    if missing.is_empty() {
        return Ok(rendered);
    }
    let plain = Rendered::from(render_plain(cx, &missing).await?);
    missing.retain(|(id, _)| plain.get(id).is_some());
    missing.sort_unstable();
    missing.dedup();
    let target = |(id, _): &(AccountId, i64)| Target {
        id: (*id).into(),
        owner: (*id).into(),
        subject: None,
        activity: None,
        code: String::new(),
    };
    let decorations =
        cx.extensions().decorate(cx, None, Entity::Account, missing.iter().map(target).collect(), &[]).await;
    for (index, (id, version)) in missing.iter().enumerate() {
        let Some(plain) = plain.get(id) else { continue };
        let text = decorations.of(index).map_or_else(|| Arc::clone(plain), |members| members.added_to(plain).into());
        if decorations.complete {
            cx.caches.decorated_accounts.insert((*id, *version, generations), Arc::clone(&text));
        }
        rendered.push((*id, text));
    }
    Ok(rendered)
}

/// Without the members that plugins add.
async fn render_plain(cx: &Cx, versions: &[(AccountId, i64)]) -> Result<Texts> {
    let generation = cx.emojis().generation;
    let (mut rendered, missing) = parted(versions, |(id, version)| cx.caches.accounts.get(&(id, version, generation)));
    if !missing.is_empty() {
        let missing: Vec<AccountId> = missing.into_iter().map(|(id, _)| id).collect();
        for (account, version) in load(cx, &missing).await? {
            let text: Arc<str> = Fragment::of(&account)?.as_str().into();
            cx.caches.accounts.insert((account.id, version, generation), Arc::clone(&text));
            rendered.push((account.id, text));
        }
    }
    Ok(rendered)
}

/// Splits `versions` into the texts that `kept` returns and the accounts without one.
fn parted(
    versions: &[(AccountId, i64)],
    kept: impl Fn((AccountId, i64)) -> Option<Arc<str>>,
) -> (Texts, Vec<(AccountId, i64)>) {
    let (mut rendered, mut missing) = (Vec::with_capacity(versions.len()), Vec::new());
    for wanted in versions {
        match kept(*wanted) {
            Some(text) => rendered.push((wanted.0, text)),
            None => missing.push(*wanted),
        }
    }
    (rendered, missing)
}

/// Loads accounts as entities with their versions. Includes the account that an account moved to, one level deep.
pub async fn load(cx: &Cx, ids: &[AccountId]) -> Result<Vec<(Account, i64)>> {
    let rows = store::account::list_with_roles(&cx.db, ids).await?;
    let targets: Vec<AccountId> = rows.iter().filter_map(|row| row.account.moved_to_account_id).collect();
    let targets =
        if targets.is_empty() { Vec::new() } else { store::account::list_with_roles(&cx.db, &targets).await? };
    let texts = rows.iter().chain(&targets).flat_map(|row| {
        let account = &row.account;
        let fields = account.fields.iter().flat_map(|field| [field.name.as_str(), field.html.as_str()]);
        [account.display_name.as_str(), account.note_html.as_str()]
            .into_iter()
            .chain(fields)
            .map(|text| (account.domain.as_deref(), text))
    });
    let palette = Palette::load(cx, &texts.collect::<Vec<_>>()).await?;
    let targets: HashMap<AccountId, &AccountWithRole> = targets.iter().map(|row| (row.account.id, row)).collect();
    Ok(rows
        .iter()
        .map(|row| {
            let mut account = Account::new(cx, &palette, row);
            if let Some(target) = row.account.moved_to_account_id.and_then(|id| targets.get(&id)) {
                let shown = !row.account.is_suspended();
                account.moved = Some(shown.then(|| Box::new(Account::new(cx, &palette, target))));
            }
            (account, row.account.version)
        })
        .collect())
}

impl Account {
    fn new(cx: &Cx, palette: &Palette, row: &AccountWithRole) -> Self {
        let account = &row.account;
        let suspended = account.is_suspended();
        let settings = &account.other_settings.0;
        let images = Images::new(cx, account);
        let contents: Vec<&str> = [account.display_name.as_str(), account.note_html.as_str()]
            .into_iter()
            .chain(account.fields.iter().flat_map(|field| [field.name.as_str(), field.html.as_str()]))
            .collect();
        Self {
            id: account.id,
            username: account.username.clone(),
            acct: account.acct(),
            display_name: if suspended { String::new() } else { account.display_name.clone() },
            locked: account.locked && !suspended,
            bot: matches!(account.actor_type, ActorType::Service | ActorType::Application) && !suspended,
            discoverable: if suspended { Some(false) } else { account.discoverable },
            indexable: account.indexable && !suspended,
            group: account.actor_type == ActorType::Group,
            created_at: account.created_at.to_api_midnight(),
            note: if suspended { String::new() } else { account.note_html.clone() },
            url: account.url.clone(),
            uri: account.uri.clone(),
            avatar: images.avatar,
            avatar_static: images.avatar_static,
            header: images.header,
            header_static: images.header_static,
            avatar_description: if suspended { String::new() } else { account.avatar_description.clone() },
            header_description: if suspended { String::new() } else { account.header_description.clone() },
            show_media: account.show_media,
            show_media_replies: account.show_media_replies,
            show_featured: account.show_featured,
            followers_count: if settings.hide_followers_count { 0 } else { account.followers_count },
            following_count: if settings.hide_following_count { 0 } else { account.following_count },
            statuses_count: if settings.hide_statuses_count { 0 } else { account.statuses_count },
            last_status_at: account.last_status_at.map(Time::to_api_date),
            hide_collections: account.hide_collections,
            noindex: settings.noindex,
            emojis: if suspended { Vec::new() } else { palette.of(&cx.urls, account.domain.as_deref(), &contents) },
            fields: if suspended { Vec::new() } else { account.fields.iter().map(Field::shown).collect() },
            roles: account.is_local().then(|| if suspended { Vec::new() } else { role(row).into_iter().collect() }),
            moved: None,
            suspended,
            limited: account.is_limited(),
            memorial: account.memorial,
            subscribable: false,
            other_settings: other_settings(account),
            server_features: ServerFeatures {
                quote: account.is_local(),
                status_reference: account.is_local(),
                ..ServerFeatures::default()
            },
        }
    }
}

fn role(AccountWithRole { role, .. }: &AccountWithRole) -> Option<AccountRole> {
    Some(AccountRole { id: role.id?.to_string(), name: role.name.clone()?, color: role.color.clone()? })
}

fn other_settings(account: &model::Account) -> Settings {
    if account.is_suspended() {
        return Settings::default();
    }
    Settings {
        declared: Some(account.other_settings.0.clone()),
        hide_network: Some(account.hide_collections.unwrap_or_default()),
    }
}

/// URLs of an account's images.
pub(super) struct Images {
    pub(super) avatar: String,
    pub(super) avatar_static: String,
    pub(super) header: String,
    pub(super) header_static: String,
}

impl Images {
    pub(super) fn new(cx: &Cx, account: &model::Account) -> Self {
        let picture = |kind, [whole, small]: [&Option<String>; 2], remote: &Option<String>, default: String| {
            let remote = remote.as_deref().map(|url| cx.urls.remote_file(kind, account.id, url));
            match (whole, remote) {
                _ if account.is_suspended() => (default.clone(), default),
                (Some(key), _) => (cx.urls.media(key), cx.urls.media(small.as_ref().unwrap_or(key))),
                (None, Some(remote)) => {
                    let small = remote.small();
                    (remote.whole(), small)
                }
                (None, None) => (default.clone(), default),
            }
        };
        let avatar = [&account.avatar, &account.avatar_static];
        let avatar = picture(RemoteFileKind::Avatar, avatar, &account.avatar_remote_url, cx.urls.default_avatar());
        let header = [&account.header, &account.header_static];
        let header = picture(RemoteFileKind::Header, header, &account.header_remote_url, cx.urls.default_header());
        Self { avatar: avatar.0, avatar_static: avatar.1, header: header.0, header_static: header.1 }
    }
}
