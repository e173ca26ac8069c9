//! The audience of a note: its visibility, and the accounts that it addresses, as far as they are known here.

use std::borrow::Cow;

use context::Cx;
use model::status::LimitedScope;
use model::{AccountId, Visibility};

use super::author::Author;
use super::known::is_foreign;
use crate::Failure;
use crate::address::{WrittenNames, host_of};
use crate::vocabulary::{Id, Note, is_public};

/// The audience of signed-in people, in the forms in which it is written.
const LOGIN: [&str; 3] = ["as:LoginOnly", "kmyblue:LoginOnly", "LoginUser"];
/// Most mentioned actors that are fetched.
const UNKNOWN_MAX: usize = 20;
/// Most addressees that are looked up.
const ADDRESSEES_MAX: usize = 1_000;

/// Who may see a note.
pub(super) struct Audience {
    pub(super) visibility: Visibility,
    pub(super) limited_scope: Option<LimitedScope>,
    pub(super) addressees: Addressees,
}

/// The audience of `note`. `mailbox`: the owner of the inbox that it came to.
pub(super) async fn audience(
    cx: &Cx,
    note: &Note,
    author: &Author,
    mailbox: Option<AccountId>,
) -> Result<Audience, Failure> {
    let addressees = addressees(cx, note, author.followers.as_deref(), mailbox).await?;
    let stated = visibility(&note.to, &note.cc, author.followers.as_deref());
    let limited = stated == Visibility::Direct && !addressees.silent.is_empty();
    Ok(Audience {
        visibility: if limited { Visibility::Limited } else { stated },
        limited_scope: limited.then(|| scope(note.limited_scope.as_deref())),
        addressees,
    })
}

/// The visibility of an object with these recipients (`to`) and recipients of copies (`cc`).
pub(crate) fn visibility(to: &[Id], cc: &[Id], followers: Option<&str>) -> Visibility {
    let has = |ids: &[Id], fits: &dyn Fn(&str) -> bool| ids.iter().any(|id| fits(&id.0));
    let is_followers = |id: &str| followers == Some(id);
    let is_login = |id: &str| LOGIN.contains(&id);
    if has(to, &is_public) {
        Visibility::Public
    } else if has(cc, &is_public) {
        Visibility::Unlisted
    } else if has(to, &is_login) || has(cc, &is_login) {
        Visibility::Login
    } else if has(to, &is_followers) || has(cc, &is_followers) {
        Visibility::Private
    } else {
        Visibility::Direct
    }
}

/// The accounts that a note addresses, as far as they are known here.
pub(super) struct Addressees {
    /// Named in the text.
    pub(super) tagged: Vec<AccountId>,
    /// The others.
    pub(super) silent: Vec<AccountId>,
    /// The accounts of this server among all.
    pub(super) local: Vec<AccountId>,
    /// Actors of other servers that the text names and that are not known.
    pub(super) unknown: Vec<String>,
    /// Others that are not known, of a note for named accounts only: they may see it too.
    pub(super) unnamed: Vec<String>,
}

async fn addressees(
    cx: &Cx,
    note: &Note,
    followers: Option<&str>,
    mailbox: Option<AccountId>,
) -> Result<Addressees, Failure> {
    let mentions = note.tag.iter().filter(|tag| tag.is("Mention")).filter_map(|tag| tag.href.as_deref());
    let mentions: Vec<&str> = mentions.collect();
    let written = note.to.iter().chain(&*note.cc).map(|id| id.0.as_str()).take(ADDRESSEES_MAX);
    let names = WrittenNames::find(cx, written.chain(mentions.iter().copied().take(ADDRESSEES_MAX))).await?;
    let tagged: Vec<Cow<'_, str>> = mentions.into_iter().map(|href| names.actor(&cx.urls, href)).collect();
    let addressed = note.to.iter().chain(&*note.cc).map(|id| names.actor(&cx.urls, &id.0));
    let all = addressed.chain(tagged.iter().cloned()).filter(|id| !is_public(id) && host_of(id).is_some());
    let mut all: Vec<String> = all.take(ADDRESSEES_MAX).map(Cow::into_owned).collect();
    all.sort_unstable();
    all.dedup();
    let known = if all.is_empty() { Vec::new() } else { store::remote::list_accounts(&cx.db, &all).await? };
    let is_known = |id: &str| known.iter().any(|(_, uri, _)| uri == id);
    let strangers = all.iter().filter(|id| !is_known(id) && is_foreign(cx, id)).take(UNKNOWN_MAX);
    let is_named = |id: &&String| tagged.contains(&Cow::Borrowed(id.as_str()));
    let (unknown, mut unnamed): (Vec<&String>, Vec<&String>) = strangers.partition(is_named);
    if visibility(&note.to, &note.cc, followers) != Visibility::Direct {
        unnamed.clear();
    }
    let owned = |ids: Vec<&String>| ids.into_iter().cloned().collect();
    let (unknown, unnamed) = (owned(unknown), owned(unnamed));
    let mut found = Addressees { tagged: Vec::new(), silent: Vec::new(), local: Vec::new(), unknown, unnamed };
    for (id, uri, domain) in known {
        if tagged.contains(&Cow::Borrowed(uri.as_str())) {
            found.tagged.push(id);
        } else {
            found.silent.push(id);
        }
        if domain.is_none() {
            found.local.push(id);
        }
    }
    if let Some(owner) = mailbox.filter(|owner| !found.tagged.contains(owner) && !found.silent.contains(owner)) {
        // Others may be addressed by a collection that only their server knows.
        let of_followers = visibility(&note.to, &note.cc, None) != Visibility::Direct;
        if !of_followers && found.local.is_empty() {
            found.silent.push(owner);
            found.local.push(owner);
        }
    }
    Ok(found)
}

fn scope(stated: Option<&str>) -> LimitedScope {
    match stated {
        Some("Mutual") => LimitedScope::Mutual,
        Some("Reply") => LimitedScope::Reply,
        Some(_) | None => LimitedScope::Circle,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(names: &[&str]) -> Vec<Id> {
        names.iter().map(|name| Id((*name).to_owned())).collect()
    }

    #[test]
    fn visibility_follows_from_the_addressees() {
        let of = |to: &[&str], cc: &[&str]| visibility(&ids(to), &ids(cc), Some("https://a.test/f"));
        let public = "https://www.w3.org/ns/activitystreams#Public";
        assert_eq!(of(&[public], &["https://a.test/f"]), Visibility::Public);
        assert_eq!(of(&["https://a.test/f"], &["as:Public"]), Visibility::Unlisted);
        assert_eq!(of(&["https://a.test/f", "LoginUser"], &[]), Visibility::Login);
        assert_eq!(of(&["https://a.test/f"], &["https://b.test/u"]), Visibility::Private);
        assert_eq!(of(&["https://b.test/u"], &[]), Visibility::Direct);
        assert_eq!(of(&["https://b.test/f"], &[]), Visibility::Direct, "the followers of someone else");
        assert_eq!(of(&[], &[]), Visibility::Direct);
    }
}
