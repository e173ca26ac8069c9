//! The pictures of a profile: taken in before the profile is changed, set in the transaction that changes it.
//!
//! A file that was stored and is not, or no longer, shown is removed by a [`PurgeProfileImages`]: queued before the
//! file is written, and again when another takes its place. Reached from `update_credentials` and the profile routes.
//!
//! Spec: contract rules, section 9.

use bytes::Bytes;
use chrono::Duration;

use super::media::{new_key, put_all};
use crate::app::App;
use crate::error::{Error, Result, Validation};
use crate::jobs;
use crate::jobs::purge_profile_images::PurgeProfileImages;
use media::storage::{Key, Kind};
use media::{Processed, Purpose};
use model::{Account, AccountId, Actor};
use store::Tx;

/// How long a stored picture waits to be set; the work between takes seconds.
const SET_WITHIN: Duration = Duration::hours(1);

/// Which picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picture {
    /// Beside the name.
    Avatar,
    /// Above the profile.
    Header,
}

impl Picture {
    const fn name(self) -> &'static str {
        match self {
            Self::Avatar => "avatar",
            Self::Header => "header",
        }
    }

    const fn purpose(self) -> Purpose {
        match self {
            Self::Avatar => Purpose::Avatar,
            Self::Header => Purpose::Header,
        }
    }

    /// Storage keys of what `account` shows.
    fn files(self, account: &Account) -> Vec<String> {
        let files = match self {
            Self::Avatar => [&account.avatar, &account.avatar_static],
            Self::Header => [&account.header, &account.header_static],
        };
        files.into_iter().flatten().cloned().collect()
    }

    const fn kind(self) -> Kind {
        match self {
            Self::Avatar => Kind::Avatar,
            Self::Header => Kind::Header,
        }
    }
}

/// A picture whose files are written, not yet on any profile.
#[derive(Debug)]
pub struct Stored {
    picture: Picture,
    image: Key,
    /// The first frame, when it moves.
    still: Option<Key>,
}

/// Decodes, cleans and stores what `actor` sent.
///
/// # Errors
/// [`Error::Validation`] for files that are no pictures, too large or broken; nothing is kept then.
pub async fn store(app: &App, actor: &Actor, sent: Vec<(Picture, Bytes)>) -> Result<Vec<Stored>> {
    let mut faults = Validation::default();
    let mut accepted = Vec::with_capacity(sent.len());
    for (picture, bytes) in sent {
        match app.sandbox.process(&bytes, picture.purpose()).await {
            Ok(processed) => accepted.push((picture, processed)),
            Err(media::Error::Internal { cause }) => return Err(Error::internal(cause)),
            Err(fault) => faults.add(picture.name(), "ERR_INVALID", lower(&fault.to_string())),
        }
    }
    faults.check()?;
    let mut stored = Vec::with_capacity(accepted.len());
    for (picture, processed) in accepted {
        stored.push(keep(app, actor.id, picture, processed).await?);
    }
    Ok(stored)
}

/// A fault continues the name of its attribute.
fn lower(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| format!("is no good: {}{}", first.to_lowercase(), letters.as_str()))
}

async fn keep(app: &App, account: AccountId, picture: Picture, processed: Processed) -> Result<Stored> {
    let image = new_key(picture.kind(), &processed.original);
    let still = processed.static_version.as_ref().map(|file| new_key(picture.kind(), file));
    let files = [Some(&image), still.as_ref()].into_iter().flatten().map(ToString::to_string).collect();
    let mut tx = app.db.begin().await?;
    let purge = PurgeProfileImages { account, files };
    jobs::enqueue_at(app, &mut tx, &purge, app.clock.now() + SET_WITHIN).await?;
    tx.commit().await?;
    let files = [(Some(image.clone()), Some(processed.original)), (still.clone(), processed.static_version)];
    put_all(app, files).await?;
    Ok(Stored { picture, image, still })
}

/// Puts a stored picture on the profile of `account`.
///
/// # Errors
/// When the database does.
pub async fn set(app: &App, tx: &mut Tx, account: &Account, stored: &Stored) -> Result<()> {
    let (image, still) = (Some(stored.image.to_string()), stored.still.as_ref().map(Key::to_string));
    replace(app, tx, account, stored.picture, image, still).await
}

/// Takes a picture off the profile of `account`, if it has one.
///
/// # Errors
/// When the database does.
pub async fn remove(app: &App, tx: &mut Tx, account: &Account, picture: Picture) -> Result<()> {
    let remote = match picture {
        Picture::Avatar => &account.avatar_remote_url,
        Picture::Header => &account.header_remote_url,
    };
    if picture.files(account).is_empty() && remote.is_none() {
        return Ok(());
    }
    replace(app, tx, account, picture, None, None).await
}

async fn replace(
    app: &App,
    tx: &mut Tx,
    account: &Account,
    picture: Picture,
    image: Option<String>,
    still: Option<String>,
) -> Result<()> {
    let now = app.clock.now();
    let files = picture.files(account);
    match picture {
        Picture::Avatar => store::account::set_avatar(tx, account.id, image, still, now).await?,
        Picture::Header => store::account::set_header(tx, account.id, image, still, now).await?,
    }
    if !files.is_empty() {
        jobs::enqueue(app, tx, &PurgeProfileImages { account: account.id, files }).await?;
    }
    Ok(())
}
