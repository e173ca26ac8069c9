//! An actor document as a profile: the members that are believed, and their bounds.

use crypto::multikey;
use crypto::rsa::{KEYS_MAX, VerifyingKey};
use model::Json;
use model::account::{ActorType, OtherSettings, Searchability};
use outbound::Target;
use service::remote::account::RemoteProfile;
use store::account::ActorObject;

use super::emoji::emojis;
use crate::Failure;
use crate::address::{is_usable, same_host};
use crate::steps::Steps;
use crate::vocabulary::{Actor, Id, Many, is_public};

/// Longest user name, in characters.
const USERNAME_MAX: usize = 2_048;
/// Most Multikeys of an actor that are decoded.
const MULTIKEYS_MAX: usize = 8;
/// Most further names, and most domains of attribution.
const NAMES_MAX: usize = 100;

/// The profile of `actor`, whose address is `username@domain`. `unstated`: its searchability if it states none.
///
/// # Errors
/// [`Failure::Disbelieved`] when it lacks a member that a follow needs.
pub(crate) fn profile(
    cx: &impl Steps,
    actor: &Actor,
    username: &str,
    domain: &str,
    unstated: Searchability,
) -> Result<RemoteProfile, Failure> {
    let disbelieved = Failure::Disbelieved;
    let (kind, inbox, public_key) = (kind(&actor.kind), inbox(actor.inbox.as_ref()), public_keys(actor));
    cx.step("type", kind.is_some(), || format!("the type {:?} is {}", &*actor.kind, known(kind.is_some())));
    cx.step("inbox", inbox.is_some(), || inbox.clone().unwrap_or_else(|| "there is none that can be used".to_owned()));
    cx.step("key", public_key.is_some(), || match public_key {
        Some(_) => "the actor has a key of its own".to_owned(),
        None => "the actor has no usable key of its own: what it sends here is refused".to_owned(),
    });
    let kind = kind.ok_or(disbelieved("the document is not an actor"))?;
    let inbox = inbox.ok_or(disbelieved("the actor has no inbox"))?;
    let shared = actor.endpoints.as_ref().and_then(|all| self::inbox(all.shared_inbox.as_ref()));
    let fields = actor.attachment.iter().filter(|field| field.kind.iter().any(|kind| kind == "PropertyValue"));
    let setting = |name: &str| actor.other_setting.iter().find(|one| one.name == name).map(|one| one.value);
    let own = |id: Option<&Id>| address(id).filter(|url| same_host(url, &actor.id));
    Ok(RemoteProfile {
        uri: actor.id.clone(),
        username: username.to_owned(),
        domain: domain.to_owned(),
        kind,
        display_name: actor.name.0.clone().unwrap_or_default(),
        note: actor.summary.0.clone().unwrap_or_default(),
        fields: fields.map(|field| (field.name.clone(), field.value.clone())).collect(),
        emojis: emojis(&actor.id, &actor.tag),
        // A profile page on another host could pretend to be someone's; apps expect one.
        url: actor.url.iter().find_map(|url| own(Some(url))).or_else(|| Some(actor.id.clone())),
        avatar_url: actor.icon.first().and_then(|icon| address(icon.url.first())),
        avatar_description: actor.icon.first().and_then(|icon| icon.name.0.clone()).unwrap_or_default(),
        header_url: actor.image.first().and_then(|image| address(image.url.first())),
        locked: actor.manually_approves_followers.unwrap_or_default(),
        discoverable: actor.discoverable.0,
        indexable: actor.indexable.unwrap_or_default(),
        memorial: actor.memorial.unwrap_or_default(),
        suspended: actor.suspended.unwrap_or_default(),
        moved_to: actor.moved_to.as_ref().map(|id| id.0.clone()).filter(|id| is_usable(id) && *id != actor.id),
        searchability: searchability(actor.searchable_by.as_ref(), actor.followers.as_ref(), &actor.id)
            .or_else(|| marked_searchability(actor.summary.as_deref().unwrap_or_default()))
            .unwrap_or(unstated),
        settings: OtherSettings {
            noindex: setting("noindex").unwrap_or_default(),
            hide_statuses_count: setting("hide_statuses_count").unwrap_or_default(),
            hide_following_count: setting("hide_following_count").unwrap_or_default(),
            hide_followers_count: setting("hide_followers_count").unwrap_or_default(),
            translatable_private: setting("translatable_private").unwrap_or_default(),
            allow_quote: setting("allow_quote").unwrap_or(true),
        },
        hide_collections: setting("hide_network"),
        attribution_domains: actor
            .attribution_domains
            .iter()
            .filter_map(|domain| service::domain::parse(domain))
            .take(NAMES_MAX)
            .collect(),
        created_at: actor.published.as_deref().and_then(model::Time::parse_rfc3339),
        actor: ActorObject {
            also_known_as: Json(actor.also_known_as.iter().take(NAMES_MAX).map(|id| id.0.clone()).collect()),
            // Elsewhere it would receive the activities for other accounts of this host.
            shared_inbox_url: shared.filter(|url| same_host(url, &inbox)),
            inbox_url: Some(inbox),
            outbox_url: own(actor.outbox.as_ref()),
            followers_url: own(actor.followers.as_ref()),
            following_url: own(actor.following.as_ref()),
            featured_url: own(actor.featured.as_ref()),
            public_key,
            fetched_at: None,
        },
    })
}

fn known(is_known: bool) -> &'static str {
    if is_known { "known" } else { "not the type of an actor" }
}

fn kind(types: &[String]) -> Option<ActorType> {
    types.iter().find_map(|name| name.parse().ok())
}

/// A URL that may be stored.
fn address(id: Option<&Id>) -> Option<String> {
    id.map(|id| &id.0).filter(|url| is_usable(url)).cloned()
}

/// The URL of an inbox in its canonical form, so that several ways to write it are one inbox.
fn inbox(id: Option<&Id>) -> Option<String> {
    let url = id.map(|id| &id.0).filter(|url| is_usable(url))?;
    let target = Target::parse(url).ok()?;
    Some(target.url().to_owned()).filter(|url| is_usable(url))
}

/// The keys that the actor claims as its own, as PEM: the first usable `publicKey`, and Multikeys (FEP-521a) with other
/// ids.
fn public_keys(actor: &Actor) -> Option<String> {
    let is_usable = |pem: &String| VerifyingKey::parse(pem).is_some();
    let own = |id: &str| same_host(id, &actor.id);
    let mut keys = actor.public_key.iter().filter(|key| key.owner.0 == actor.id && own(&key.id));
    let key = keys.find(|key| is_usable(&key.public_key_pem));
    let is_other = |id: &str| key.is_none_or(|key| key.id != id);
    let multikeys = actor.multikeys().take(MULTIKEYS_MAX).filter(|key| own(&key.id) && is_other(&key.id));
    let multikeys = multikeys.filter_map(|key| multikey::to_pem(&key.public_key_multibase)).filter(is_usable);
    let pems: Vec<String> = key.map(|key| key.public_key_pem.clone()).into_iter().chain(multikeys).collect();
    (!pems.is_empty()).then(|| pems[..pems.len().min(KEYS_MAX)].join("\n"))
}

/// A user name that can be part of an address.
pub(crate) fn username(actor: &Actor) -> Result<&str, Failure> {
    let name = actor.preferred_username.as_deref().unwrap_or_default();
    if is_username(name) { Ok(name) } else { Err(Failure::Disbelieved("the actor has no usable name")) }
}

/// True for a name that can be part of an address and of a path: ASCII, since other letters may look alike.
pub(crate) fn is_username(name: &str) -> bool {
    let fits = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | '.');
    !name.is_empty() && name.chars().count() <= USERNAME_MAX && name.chars().all(fits)
}

/// True for software of the Misskey family, whose documents do not state searchability and language.
pub(crate) fn is_misskey(software: &str) -> bool {
    const FAMILY: [&str; 12] = [
        "misskey",
        "calckey",
        "firefish",
        "sharkey",
        "foundkey",
        "cherrypick",
        "meisskey",
        "groundpolis",
        "iceshrimp",
        "magnetar",
        "catodon",
        "hajkey",
    ];
    FAMILY.contains(&software)
}

/// The searchability that a profile states by a word in its text, for servers without a member for it.
fn marked_searchability(note: &str) -> Option<Searchability> {
    const MARKS: [(&str, &str, Searchability); 4] = [
        ("[searchability:public]", "searchable_by_all_users", Searchability::Public),
        ("[searchability:followers]", "searchable_by_followers_only", Searchability::Private),
        ("[searchability:reactors]", "searchable_by_reacted_users_only", Searchability::Direct),
        ("[searchability:private]", "searchable_by_nobody", Searchability::Limited),
    ];
    let marked = MARKS.into_iter().find(|(mark, word, _)| note.contains(mark) || note.contains(word));
    marked.map(|(_, _, searchability)| searchability)
}

/// Who may find what `author` wrote by its words (docs/contract/federation.md#7-accepting-activities); `None` when it is
/// not stated.
pub(crate) fn searchability(stated: Option<&Many<Id>>, followers: Option<&Id>, author: &str) -> Option<Searchability> {
    let stated = stated?;
    let states = |wanted: &dyn Fn(&str) -> bool| stated.iter().any(|id| wanted(id));
    Some(if states(&|id| is_public(id)) {
        Searchability::Public
    } else if followers.is_some_and(|followers| states(&|id| id == followers.0)) {
        Searchability::Private
    } else if states(&|id| matches!(id, "as:Limited" | "kmyblue:Limited")) {
        Searchability::Limited
    } else if states(&|id| id == author) {
        Searchability::Direct
    } else {
        Searchability::Limited
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// The keys of the actor `https://a.test/u` with these members.
    fn keys(members: &Value) -> Vec<&'static str> {
        let mut actor = json!({ "id": "https://a.test/u", "type": "Person" });
        actor.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        let pems = public_keys(&serde_json::from_str(&actor.to_string()).unwrap()).unwrap_or_default();
        let name = |key: VerifyingKey| match key.algorithm() {
            crypto::rsa::Algorithm::Ed25519 => "ed25519",
            _ => "rsa",
        };
        VerifyingKey::parse_all(&pems).map(name).collect()
    }

    #[test]
    fn multikeys_of_the_actor_itself_are_its_keys() {
        let (pem, _) = crypto::key_pair::generate().unwrap();
        let pem = json!({ "id": "https://a.test/u#main-key", "owner": "https://a.test/u", "publicKeyPem": pem });
        let multikey = |id: &str, controller: &str| {
            let key = "z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK";
            json!({ "id": id, "type": "Multikey", "controller": controller, "publicKeyMultibase": key })
        };
        let own = multikey("https://a.test/u#ed25519-key", "https://a.test/u");
        assert_eq!(keys(&json!({ "assertionMethod": [own.clone()] })), ["ed25519"]);
        assert_eq!(keys(&json!({ "publicKey": pem, "authentication": own.clone() })), ["rsa", "ed25519"]);
        assert_eq!(keys(&json!({ "assertionMethod": own.clone(), "authentication": own.clone() })), ["ed25519"]);
        let same = multikey("https://a.test/u#main-key", "https://a.test/u");
        assert_eq!(keys(&json!({ "publicKey": pem, "assertionMethod": [same] })), ["rsa"]);
        let many: Vec<Value> = (0..9).map(|n| multikey(&format!("https://a.test/u#{n}"), "https://a.test/u")).collect();
        assert_eq!(keys(&json!({ "assertionMethod": many })).len(), KEYS_MAX);
        for (id, controller) in [
            ("https://b.test/u#key", "https://a.test/u"),
            ("https://a.test/u#key", "https://a.test/v"),
            ("https://a.test/u#key", "https://b.test/u"),
        ] {
            assert!(keys(&json!({ "assertionMethod": [multikey(id, controller)] })).is_empty(), "{id} {controller}");
        }
        assert!(keys(&json!({ "assertionMethod": "https://a.test/u#key" })).is_empty());
    }

    #[test]
    fn profile_may_state_its_searchability_in_its_text() {
        assert_eq!(marked_searchability("<p>hi [searchability:followers]</p>"), Some(Searchability::Private));
        assert_eq!(marked_searchability("#searchable_by_nobody"), Some(Searchability::Limited));
        assert_eq!(marked_searchability("search me"), None);
    }
}
