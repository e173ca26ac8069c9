//! Editing one's own profile and posting defaults.
//!
//! Texts are rendered to HTML here, when they are written. Reached from `update_credentials` and from plugins.
//! Knows nothing of HTTP; images are handled by [`profile_image`].
//!
//! Spec: docs/contract/rules.md#9-accounts.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::str::FromStr;

use crate::profile_image::{self, Picture};
use crate::rules::word;
use crate::{domain, profile_link};
use context::Cx;
use context::change::{self, Change};
use context::error::{Error, Result, Validation};
use database::Tx;
use model::account::{ActorType, OtherSettings, Searchability};
use model::{Account, AccountId, Actor, Field, Preferences, QuotePolicy, Visibility};
use store::profile::Profile;
use text::{Links, MentionTarget, language};

/// Longest display name, in characters.
pub const DISPLAY_NAME_MAX: usize = 30;
/// Longest note, as [`text::length`] counts.
pub const NOTE_MAX: usize = 500;
/// Most fields.
pub const FIELDS_MAX: usize = 6;
/// Longest name or value of a field, in characters.
pub const FIELD_MAX: usize = 255;

/// Longest description of a profile image, in characters: as for other media.
pub const DESCRIPTION_MAX: usize = 1_500;

/// Most domains of sites that may name an account as the author of their pages.
pub const ATTRIBUTION_DOMAINS_MAX: usize = 100;

/// The changes a client sent; `None` leaves a value unchanged.
#[derive(Debug, Default)]
pub struct Changes {
    pub display_name: Option<String>,
    pub note: Option<String>,
    pub locked: Option<bool>,
    pub bot: Option<bool>,
    pub discoverable: Option<bool>,
    pub hide_collections: Option<bool>,
    pub indexable: Option<bool>,
    pub searchability: Option<String>,
    /// Name and value of each; replaces all existing fields.
    pub fields: Option<Vec<(String, String)>>,
    pub privacy: Option<String>,
    pub sensitive: Option<bool>,
    /// Blank removes it.
    pub language: Option<String>,
    pub default_searchability: Option<String>,
    pub quote_policy: Option<String>,
    /// Each a domain, or the URL of a site; replaces all existing ones.
    pub attribution_domains: Option<Vec<String>>,
    pub avatar_description: Option<String>,
    pub header_description: Option<String>,
    pub show_media: Option<bool>,
    pub show_media_replies: Option<bool>,
    pub show_featured: Option<bool>,
}

/// [`Changes`] after validation.
struct Checked {
    changes: Changes,
    searchability: Option<Searchability>,
    privacy: Option<Visibility>,
    language: Option<Option<String>>,
    default_searchability: Option<Searchability>,
    quote_policy: Option<QuotePolicy>,
    attribution_domains: Option<Vec<String>>,
}

/// Updates the profile of `actor`, including its images. Unlocking the account accepts pending follow requests.
///
/// # Errors
/// [`Error::Validation`] with the errors of the texts, or else of the images; nothing is changed then.
#[model::use_case]
pub async fn update(cx: &Cx, actor: &Actor, changes: Changes, pictures: Vec<(Picture, PathBuf)>) -> Result<()> {
    let checked = check(normalised(cx, with_descriptions(changes, &pictures)))?;
    check_words(cx, &checked.changes)?;
    let stored = profile_image::store(cx, actor, pictures).await?;
    let mentions = mentioned(cx, &checked.changes).await?;
    let links = Links { web_origin: &cx.urls.origin, mentions: &mentions };
    let mut tx = cx.db.begin().await?;
    let account = store::account::lock(&mut tx, &[actor.id]).await?.pop().ok_or(Error::NotFound)?;
    let user = store::user::find(&mut tx, actor.id).await?.ok_or(Error::NotFound)?;
    let preferences = preferred(&user.preferences, &checked);
    if preferences != user.preferences.0 {
        store::profile::update_preferences(&mut tx, actor.id, preferences).await?;
    }
    let fields_sent = checked.changes.fields.is_some();
    let profile = changed(&account, checked, &links);
    if fields_sent && profile.fields.iter().any(|field| profile_link::unverified(cx, field).is_some()) {
        change::record(cx, &mut tx, Change::ProfileLinked { account: actor.id }).await?;
    }
    let is_changed = profile != Profile::from(&account);
    if is_changed {
        let unlocked = account.locked && !profile.locked;
        store::profile::update(&mut tx, actor.id, profile, cx.clock.now()).await?;
        if unlocked {
            change::record(cx, &mut tx, Change::AccountUnlocked { account: actor.id }).await?;
        }
    }
    for picture in &stored {
        profile_image::set(cx, &mut tx, &account, picture).await?;
    }
    if is_changed || !stored.is_empty() {
        change::record(cx, &mut tx, Change::AccountUpdated { account: actor.id }).await?;
    }
    tx.commit().await?;
    Ok(())
}

/// Removes images from the profile of `actor`; does nothing when `pictures` is empty.
///
/// # Errors
/// As [`remove_pictures`].
#[model::use_case]
pub async fn take_pictures_off(cx: &Cx, actor: &Actor, pictures: &[Picture]) -> Result<()> {
    if pictures.is_empty() {
        return Ok(());
    }
    let mut tx = cx.db.begin().await?;
    remove_pictures(cx, &mut tx, actor.id, pictures).await?;
    Ok(tx.commit().await?)
}

/// Removes images from the profile of `account`, which counts as updated even if it has none of them. Returns the
/// number of removed images.
///
/// # Errors
/// [`Error::NotFound`] when there is no such account.
#[model::use_case]
pub async fn remove_pictures(cx: &Cx, tx: &mut Tx, account: AccountId, pictures: &[Picture]) -> Result<usize> {
    let found = store::account::lock(tx, &[account]).await?.pop().ok_or(Error::NotFound)?;
    let mut removed = 0;
    for picture in [Picture::Avatar, Picture::Header].into_iter().filter(|picture| pictures.contains(picture)) {
        removed += usize::from(profile_image::remove(cx, tx, &found, picture).await?);
    }
    change::record(cx, tx, Change::AccountUpdated { account }).await?;
    Ok(removed)
}

/// `changes` of a request that replaces `pictures`: a description does not carry over to the new image.
fn with_descriptions(mut changes: Changes, pictures: &[(Picture, PathBuf)]) -> Changes {
    for (picture, _) in pictures {
        let description = match picture {
            Picture::Avatar => &mut changes.avatar_description,
            Picture::Header => &mut changes.header_description,
        };
        description.get_or_insert_default();
    }
    changes
}

/// Trims texts, drops this server's domain from mentions, and drops fields without a name.
fn normalised(cx: &Cx, changes: Changes) -> Changes {
    let own = [cx.urls.local_domain.as_str(), cx.urls.web_domain.as_str()];
    let local = |written: &str| text::rewrite_local_mentions(written.trim(), &own);
    let fields = |fields: Vec<(String, String)>| {
        let named = fields.iter().filter(|(name, _)| !name.trim().is_empty());
        named.map(|(name, value)| (name.trim().to_owned(), local(value))).collect()
    };
    Changes {
        display_name: changes.display_name.map(|name| name.trim().to_owned()),
        note: changes.note.map(|note| local(&note)),
        fields: changes.fields.map(fields),
        avatar_description: changes.avatar_description.map(|text| text.trim().to_owned()),
        header_description: changes.header_description.map(|text| text.trim().to_owned()),
        ..changes
    }
}

/// Checks the texts that people write about themselves against the words that staff does not allow.
fn check_words(cx: &Cx, changes: &Changes) -> Result<()> {
    let texts = [&changes.display_name, &changes.note, &changes.avatar_description, &changes.header_description];
    let fields = changes.fields.iter().flatten().flat_map(|(name, value)| [name.as_str(), value.as_str()]);
    word::check(cx, texts.into_iter().flatten().map(String::as_str).chain(fields))
}

fn check(changes: Changes) -> Result<Checked> {
    let mut faults = Validation::default();
    let too_long = |max: usize| format!("is too long (maximum is {max} characters)");
    if changes.display_name.as_ref().is_some_and(|name| name.chars().count() > DISPLAY_NAME_MAX) {
        faults.add("display_name", "ERR_TOO_LONG", too_long(DISPLAY_NAME_MAX));
    }
    if changes.note.as_ref().is_some_and(|note| text::length(note) > NOTE_MAX) {
        faults.add("note", "ERR_TOO_LONG", too_long(NOTE_MAX));
    }
    for (attribute, description) in
        [("avatar_description", &changes.avatar_description), ("header_description", &changes.header_description)]
    {
        if description.as_ref().is_some_and(|text| text.chars().count() > DESCRIPTION_MAX) {
            faults.add(attribute, "ERR_TOO_LONG", too_long(DESCRIPTION_MAX));
        }
    }
    if let Some(fields) = &changes.fields {
        check_fields(fields, &mut faults);
    }
    let checked = Checked {
        searchability: word(changes.searchability.as_deref(), "searchability", &mut faults),
        privacy: privacy(changes.privacy.as_deref(), &mut faults),
        language: changes.language.as_deref().and_then(known_language),
        default_searchability: word(changes.default_searchability.as_deref(), "source[searchability]", &mut faults),
        quote_policy: word(changes.quote_policy.as_deref(), "source[quote_policy]", &mut faults),
        attribution_domains: changes.attribution_domains.as_deref().map(|sites| domains(sites, &mut faults)),
        changes,
    };
    faults.check()?;
    Ok(checked)
}

/// The domains of `sites`, each once.
fn domains(sites: &[String], faults: &mut Validation) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for site in sites.iter().map(|site| site.trim()).filter(|site| !site.is_empty()) {
        match site_domain(site) {
            Some(domain) if found.contains(&domain) => {}
            Some(domain) => found.push(domain),
            None => {
                faults.add("attribution_domains", "ERR_INVALID", "contain something that is not the domain of a site");
            }
        }
    }
    if found.len() > ATTRIBUTION_DOMAINS_MAX {
        faults.add(
            "attribution_domains",
            "ERR_TOO_LONG",
            format!("are too many (maximum is {ATTRIBUTION_DOMAINS_MAX})"),
        );
    }
    found
}

/// The domain of a site. The input may be a URL, or a pattern for all its subdomains.
fn site_domain(site: &str) -> Option<String> {
    let host = site.strip_prefix("https://").or_else(|| site.strip_prefix("http://")).unwrap_or(site);
    let host = host.strip_prefix("*.").unwrap_or(host);
    domain::parse(host).filter(|domain| domain.contains('.') && !domain.contains(':'))
}

fn check_fields(fields: &[(String, String)], faults: &mut Validation) {
    if fields.len() > FIELDS_MAX {
        faults.add("fields", "ERR_TOO_LONG", format!("are too many (maximum is {FIELDS_MAX})"));
    }
    if fields.iter().any(|(name, value)| name.chars().count() > FIELD_MAX || value.chars().count() > FIELD_MAX) {
        faults.add(
            "fields",
            "ERR_TOO_LONG",
            format!("have a name or value that is too long (maximum is {FIELD_MAX} characters)"),
        );
    }
}

/// Parses an enum value; a blank one counts as absent.
fn word<T: FromStr<Err = String>>(word: Option<&str>, attribute: &'static str, faults: &mut Validation) -> Option<T> {
    match word.filter(|word| !word.is_empty())?.parse() {
        Ok(value) => Some(value),
        Err(wanted) => {
            faults.add(attribute, "ERR_INCLUSION", wanted);
            None
        }
    }
}

fn privacy(sent: Option<&str>, faults: &mut Validation) -> Option<Visibility> {
    let visibility = word(sent, "source[privacy]", faults)?;
    if matches!(visibility, Visibility::Direct | Visibility::Limited) {
        faults.add(
            "source[privacy]",
            "ERR_INCLUSION",
            "must be one of public, public_unlisted, login, unlisted, private",
        );
        return None;
    }
    Some(visibility)
}

/// The code of a language, or `Some(None)` if `tag` is blank; `None` for an unknown one, which is ignored.
fn known_language(tag: &str) -> Option<Option<String>> {
    if tag.trim().is_empty() {
        return Some(None);
    }
    language::resolve(tag).map(|code| Some(code.to_owned()))
}

/// The accounts mentioned in the texts that may be linked, in at most two queries.
async fn mentioned(cx: &Cx, changes: &Changes) -> Result<Vec<MentionTarget>> {
    let fields = changes.fields.iter().flatten().map(|(_, value)| value.as_str());
    let mut handles = BTreeSet::new();
    for written in changes.note.as_deref().into_iter().chain(fields) {
        for mention in text::scan(written).mentions() {
            let username = mention.username.to_lowercase();
            handles.insert(match &mention.domain {
                None => username,
                Some(domain) => format!("{username}@{domain}"),
            });
        }
    }
    if handles.is_empty() {
        return Ok(Vec::new());
    }
    let accounts = store::account::list_by_handles(&cx.db, &handles.into_iter().collect::<Vec<_>>()).await?;
    let ids: Vec<AccountId> = accounts.iter().map(|account| account.id).collect();
    let known = store::account::list_known(&cx.db, &ids).await?;
    let linkable = accounts.into_iter().filter(|account| known.contains(&account.id) && !account.is_suspended());
    Ok(linkable.map(target).collect())
}

fn target(account: Account) -> MentionTarget {
    MentionTarget {
        url: account.url.unwrap_or(account.uri),
        domain: account.domain.map(|domain| domain.to_lowercase()),
        username: account.username,
    }
}

fn preferred(current: &Preferences, checked: &Checked) -> Preferences {
    Preferences {
        default_visibility: checked.privacy.or(current.default_visibility),
        default_sensitive: checked.changes.sensitive.unwrap_or(current.default_sensitive),
        default_language: checked.language.clone().unwrap_or_else(|| current.default_language.clone()),
        default_searchability: checked.default_searchability.or(current.default_searchability),
        default_quote_policy: checked.quote_policy.unwrap_or(current.default_quote_policy),
        ..current.clone()
    }
}

fn changed(account: &Account, checked: Checked, links: &Links<'_>) -> Profile {
    let current = Profile::from(account);
    let changes = checked.changes;
    let note_html = changes.note.as_deref().map(|note| text::note_to_html(note, links));
    Profile {
        display_name: changes.display_name.unwrap_or(current.display_name),
        note: changes.note.unwrap_or(current.note),
        note_html: note_html.unwrap_or(current.note_html),
        fields: match changes.fields {
            Some(written) => written.into_iter().map(|field| rendered(field, &current.fields, links)).collect(),
            None => current.fields,
        },
        locked: changes.locked.unwrap_or(current.locked),
        actor_type: match changes.bot {
            Some(true) => ActorType::Service,
            Some(false) if current.actor_type == ActorType::Service => ActorType::Person,
            Some(false) | None => current.actor_type,
        },
        discoverable: changes.discoverable.or(current.discoverable),
        indexable: changes.indexable.unwrap_or(current.indexable),
        hide_collections: changes.hide_collections.or(current.hide_collections),
        searchability: checked.searchability.unwrap_or(current.searchability),
        other_settings: match checked.quote_policy {
            Some(policy) => quoting(&current.other_settings, policy),
            None => current.other_settings,
        },
        attribution_domains: checked.attribution_domains.unwrap_or(current.attribution_domains),
        avatar_description: changes.avatar_description.unwrap_or(current.avatar_description),
        header_description: changes.header_description.unwrap_or(current.header_description),
        show_media: changes.show_media.unwrap_or(current.show_media),
        show_media_replies: changes.show_media_replies.unwrap_or(current.show_media_replies),
        show_featured: changes.show_featured.unwrap_or(current.show_featured),
    }
}

/// `settings` with the quote policy of an account. Other servers learn only whether quotes are allowed at all.
pub(super) fn quoting(settings: &OtherSettings, policy: QuotePolicy) -> OtherSettings {
    OtherSettings { allow_quote: policy != QuotePolicy::Nobody, ..*settings }
}

/// Renders a field to HTML. A field with an unchanged value stays verified.
fn rendered((name, value): (String, String), current: &[Field], links: &Links<'_>) -> Field {
    let verified_at = current.iter().find(|field| field.value == value).and_then(|field| field.verified_at);
    Field { html: text::field_to_html(&value, links), name, value, verified_at }
}
