//! Timelines: which statuses stand on one, as a page of ids and what of it the viewer may see.
//!
//! The page is cut from ids first and thinned afterwards, so it may be shorter than asked for while its paging ids are
//! right (contract rules, sections 4 and 12).

use crate::app::App;
use crate::error::{Error, Result};
use crate::jobs::{self, feed::Rebuild};
use crate::service::visibility::{self, Place, Seen};
use model::{AccountId, Actor, Cursor, StatusId, TagId, Visibility};
use store::timeline::{ProfileFilter, PublicFilter, TagFilter};

/// At most so many further hashtags of each kind are looked at.
const MORE_TAGS: usize = 4;
/// Ancestors, descendants and depth for whoever is signed in.
const FULL_CONTEXT: (i64, i64, i64) = (4096, 4096, 4096);
/// The same for everyone else.
const PUBLIC_CONTEXT: (i64, i64, i64) = (40, 60, 20);

/// A page: the ids it was cut from, newest first, and what of it is shown.
#[derive(Debug, Default)]
pub struct Slice {
    /// Paging ids.
    pub ids: Vec<i64>,
    /// What is shown.
    pub shown: Vec<Seen>,
}

async fn slice(app: &App, viewer: Option<&Actor>, place: Place, ids: Vec<StatusId>) -> Result<Slice> {
    let shown = visibility::statuses(app, viewer, place, &ids).await?;
    Ok(Slice { ids: ids.into_iter().map(i64::from).collect(), shown })
}

/// The home timeline of `actor`, and whether it is still being built after a long absence.
///
/// # Errors
/// When the database does.
pub async fn home(app: &App, actor: &Actor, cursor: &Cursor) -> Result<(Slice, bool)> {
    if !actor.feed_live {
        let mut tx = app.db.begin().await?;
        jobs::enqueue(app, &mut tx, &Rebuild { account: actor.id }).await?;
        tx.commit().await?;
    }
    let ids = store::timeline::home(&app.db, actor.id, cursor).await?;
    Ok((slice(app, Some(actor), Place::Home, ids).await?, !actor.feed_live))
}

/// What a client wants of a public or hashtag timeline.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the parameters of the timelines")]
pub struct Wanted {
    pub local: bool,
    pub remote: bool,
    pub only_media: bool,
    pub any: Vec<String>,
    pub all: Vec<String>,
    pub none: Vec<String>,
    /// `lang` of the request.
    pub lang: Option<String>,
    /// `Accept-Language` of the request.
    pub accept_language: Option<String>,
}

/// The public timeline.
///
/// # Errors
/// [`Error::Invalid`] when nobody is signed in and the preview is switched off.
pub async fn public(app: &App, viewer: Option<&Actor>, wanted: &Wanted, cursor: &Cursor) -> Result<Slice> {
    check_preview(app, viewer)?;
    let filter = PublicFilter {
        local: wanted.local,
        remote: wanted.remote,
        only_media: wanted.only_media,
        languages: languages(app, viewer, wanted),
    };
    let ids = store::timeline::public(&app.db, &filter, cursor).await?;
    slice(app, viewer, Place::Public { local: wanted.local }, ids).await
}

fn check_preview(app: &App, viewer: Option<&Actor>) -> Result<()> {
    if viewer.is_none() && !app.settings().timeline_preview {
        return Err(Error::invalid("This method requires an authenticated user"));
    }
    Ok(())
}

/// The person's own choice, else the language of their account or request; empty when none is known or wanted.
fn languages(app: &App, viewer: Option<&Actor>, wanted: &Wanted) -> Vec<String> {
    if let Some(chosen) = viewer.map(|actor| &actor.preferences.chosen_languages).filter(|chosen| !chosen.is_empty()) {
        return chosen.clone();
    }
    if !app.config.timelines.filter_by_locale {
        return Vec::new();
    }
    let locale =
        viewer.and_then(|actor| actor.locale.as_deref()).or(wanted.lang.as_deref()).and_then(text::language::resolve);
    let locale = locale.or_else(|| wanted.accept_language.as_deref().and_then(text::language::from_accept_language));
    locale.map(str::to_owned).into_iter().collect()
}

/// The timeline of a hashtag; empty for one that nobody used.
///
/// # Errors
/// As [`public`].
pub async fn tag(app: &App, viewer: Option<&Actor>, name: &str, wanted: &Wanted, cursor: &Cursor) -> Result<Slice> {
    check_preview(app, viewer)?;
    let normal = |names: &[String]| {
        names
            .iter()
            .filter_map(|name| text::hashtag::normalise(text::hashtag::bare(name)))
            .take(MORE_TAGS)
            .collect::<Vec<_>>()
    };
    let (any, all, none) = (normal(&wanted.any), normal(&wanted.all), normal(&wanted.none));
    let Some(name) = text::hashtag::normalise(text::hashtag::bare(name)) else { return Ok(Slice::default()) };
    let names: Vec<String> = [&any, &all, &none].into_iter().flatten().chain([&name]).cloned().collect();
    let known = store::tag::list_by_names(&app.db, &names).await?;
    let ids = |names: &[String]| {
        names
            .iter()
            .filter_map(|name| known.iter().find(|(_, known)| known == name))
            .map(|(id, _)| *id)
            .collect::<Vec<TagId>>()
    };
    let all_known = ids(&all);
    if all_known.len() < all.len() {
        return Ok(Slice::default());
    }
    let filter = TagFilter {
        local: wanted.local,
        remote: wanted.remote,
        only_media: wanted.only_media,
        all: all_known,
        none: ids(&none),
    };
    let mut statuses = Vec::new();
    for tag in ids(&[any, vec![name]].concat()) {
        statuses.extend(store::timeline::tag(&app.db, tag, &filter, cursor).await?);
    }
    let statuses = cut(statuses, cursor);
    slice(app, viewer, Place::Public { local: wanted.local }, statuses).await
}

/// The page of several pages together, newest first.
fn cut(mut ids: Vec<StatusId>, cursor: &Cursor) -> Vec<StatusId> {
    ids.sort_unstable();
    ids.dedup();
    let limit = usize::try_from(cursor.limit).unwrap_or_default();
    if cursor.ascending() {
        ids.truncate(limit);
        ids.reverse();
    } else {
        ids.reverse();
        ids.truncate(limit);
    }
    ids
}

/// What a client wants of someone's statuses.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the parameters of GET /api/v1/accounts/{id}/statuses")]
pub struct ProfileWanted {
    pub pinned: bool,
    pub only_media: bool,
    pub exclude_replies: bool,
    pub exclude_reblogs: bool,
    pub tagged: Option<String>,
}

/// The statuses of an account, or those pinned to its profile.
///
/// # Errors
/// [`Error::NotFound`] when there is no such account.
pub async fn profile(
    app: &App,
    viewer: Option<&Actor>,
    account: AccountId,
    wanted: &ProfileWanted,
    cursor: &Cursor,
) -> Result<Slice> {
    let found = store::account::find(&app.db, account).await?.ok_or(Error::NotFound)?;
    if found.is_suspended() {
        return Ok(Slice::default());
    }
    if wanted.pinned {
        let pins = store::timeline::pinned(&app.db, account, cursor).await?;
        return marked(app, viewer, Place::Profile, pins).await;
    }
    let tagged = match wanted.tagged.as_deref().filter(|name| !name.is_empty()) {
        None => None,
        Some(name) => {
            let name = text::hashtag::normalise(text::hashtag::bare(name)).unwrap_or_default();
            match store::tag::list_by_names(&app.db, &[name]).await?.first() {
                Some((id, _)) => Some(*id),
                None => return Ok(Slice::default()),
            }
        }
    };
    let filter = ProfileFilter {
        only_media: wanted.only_media,
        exclude_replies: wanted.exclude_replies,
        exclude_reblogs: wanted.exclude_reblogs,
        tagged,
    };
    let audience = audience(app, viewer, account).await?;
    let ids =
        store::timeline::profile(&app.db, account, viewer.map(|actor| actor.id), &audience, &filter, cursor).await?;
    slice(app, viewer, Place::Profile, ids).await
}

/// What of someone's statuses is open to `viewer` without a mention. Only to read no more than needed:
/// [`visibility`] decides.
async fn audience(app: &App, viewer: Option<&Actor>, account: AccountId) -> Result<Vec<Visibility>> {
    let mut open = vec![Visibility::Public, Visibility::PublicUnlisted, Visibility::Unlisted];
    let Some(actor) = viewer else { return Ok(open) };
    open.push(Visibility::Login);
    if actor.id == account {
        return Ok(Visibility::ALL.to_vec());
    }
    let (follows, _) = store::feed::tie(&app.db, actor.id, account).await?;
    if follows {
        open.push(Visibility::Private);
    }
    Ok(open)
}

async fn marked(app: &App, viewer: Option<&Actor>, place: Place, rows: Vec<(model::RowId, StatusId)>) -> Result<Slice> {
    let statuses: Vec<StatusId> = rows.iter().map(|(_, status)| *status).collect();
    let shown = visibility::statuses(app, viewer, place, &statuses).await?;
    Ok(Slice { ids: rows.into_iter().map(|(row, _)| i64::from(row)).collect(), shown })
}

/// What `actor` marked as a favourite.
///
/// # Errors
/// When the database does.
pub async fn favourites(app: &App, actor: &Actor, cursor: &Cursor) -> Result<Slice> {
    marked(app, Some(actor), Place::Collection, store::timeline::favourites(&app.db, actor.id, cursor).await?).await
}

/// What `actor` bookmarked.
///
/// # Errors
/// When the database does.
pub async fn bookmarks(app: &App, actor: &Actor, cursor: &Cursor) -> Result<Slice> {
    marked(app, Some(actor), Place::Collection, store::timeline::bookmarks(&app.db, actor.id, cursor).await?).await
}

/// What a status answers, and what answers it: root first, then depth first.
#[derive(Debug)]
#[expect(missing_docs, reason = "named by the Context entity")]
pub struct Thread {
    pub ancestors: Vec<Seen>,
    pub descendants: Vec<Seen>,
}

/// The thread around a status.
///
/// # Errors
/// [`Error::NotFound`] when the status is missing or hidden.
pub async fn context(app: &App, viewer: Option<&Actor>, id: StatusId) -> Result<Thread> {
    let seen = visibility::status(app, viewer, id).await?;
    let head = seen.proper();
    let (up, down, depth) = if viewer.is_some() { FULL_CONTEXT } else { PUBLIC_CONTEXT };
    let ancestors = store::timeline::ancestors(&app.db, head.id, up).await?;
    let replies = store::timeline::descendants(&app.db, head.id, depth, down).await?;
    let descendants = depth_first(head.id, head.account_id, replies);
    let all: Vec<StatusId> = ancestors.iter().chain(&descendants).copied().collect();
    let shown = visibility::statuses(app, viewer, Place::Thread, &all).await?;
    let above: std::collections::HashSet<StatusId> = ancestors.into_iter().collect();
    let is_ancestor = |seen: &Seen| above.contains(&seen.head().id);
    let (ancestors, descendants) = shown.into_iter().partition(is_ancestor);
    Ok(Thread { ancestors, descendants })
}

/// Each answer right after what it answers, the author's own answers to themselves first.
fn depth_first(root: StatusId, author: AccountId, replies: Vec<store::timeline::Reply>) -> Vec<StatusId> {
    let mut children: std::collections::HashMap<StatusId, Vec<store::timeline::Reply>> =
        std::collections::HashMap::new();
    for reply in replies {
        children.entry(reply.parent).or_default().push(reply);
    }
    let mut ordered = Vec::new();
    let mut waiting = Vec::new();
    let mut push = |waiting: &mut Vec<StatusId>, parent: StatusId| {
        if let Some(mut answers) = children.remove(&parent) {
            answers.sort_by_key(|reply| (parent != root || reply.account_id != author, reply.id));
            waiting.extend(answers.into_iter().rev().map(|reply| reply.id));
        }
    };
    push(&mut waiting, root);
    while let Some(id) = waiting.pop() {
        ordered.push(id);
        push(&mut waiting, id);
    }
    ordered
}
