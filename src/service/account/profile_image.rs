//! Profile images (avatar and header): stored before the profile is changed, set in the transaction that changes it.
//!
//! A [`PurgeProfileImages`] job deletes files that no profile shows (any longer). It is queued before a file is
//! written, and again when another image replaces it. Reached from `update_credentials` and from plugins.
//!
//! Spec: docs/contract/rules.md#9-accounts.

use std::path::PathBuf;

use chrono::Duration;

use crate::media::{decode, new_key, put_all};
use context::error::{Error, Result, Validation};
use context::queue::{self, Failure, PurgeProfileImages};
use context::{Cx, job};
use database::Tx;
use media::storage::{FileKind, Key};
use media::{Processed, Purpose};
use model::{Account, AccountId, Actor};

/// How long a stored image may wait to be set; it normally takes seconds.
const UNSET_TTL: Duration = Duration::hours(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picture {
    /// Shown beside the name.
    Avatar,
    /// Shown above the profile.
    Header,
}

impl Picture {
    /// The image of this name: `avatar`, `header`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::Avatar, Self::Header].into_iter().find(|picture| picture.name() == name)
    }

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

    /// Storage keys of the files that `account` shows.
    fn files(self, account: &Account) -> Vec<String> {
        let files = match self {
            Self::Avatar => [&account.avatar, &account.avatar_static],
            Self::Header => [&account.header, &account.header_static],
        };
        files.into_iter().flatten().cloned().collect()
    }

    const fn kind(self) -> FileKind {
        match self {
            Self::Avatar => FileKind::Avatar,
            Self::Header => FileKind::Header,
        }
    }
}

/// An image with stored files that is not on a profile yet.
#[derive(Debug)]
pub struct Stored {
    picture: Picture,
    image: Key,
    /// The first frame of an animation.
    still: Option<Key>,
}

/// Decodes, strips and stores the images that `actor` sent.
///
/// # Errors
/// [`Error::Validation`] for files that are not images, too large or corrupt; nothing is stored then.
pub async fn store(cx: &Cx, actor: &Actor, sent: Vec<(Picture, PathBuf)>) -> Result<Vec<Stored>> {
    let mut faults = Validation::default();
    let mut accepted = Vec::with_capacity(sent.len());
    for (picture, path) in sent {
        match decode(cx, actor.id, &path, picture.purpose()).await? {
            Ok(processed) => accepted.push((picture, processed)),
            Err(media::Error::Internal { cause }) => return Err(Error::internal(cause)),
            Err(fault) => faults.add(picture.name(), "ERR_INVALID", lower(&fault.to_string())),
        }
    }
    faults.check()?;
    let mut stored = Vec::with_capacity(accepted.len());
    for (picture, processed) in accepted {
        stored.push(write(cx, actor.id, picture, processed).await?);
    }
    Ok(stored)
}

/// Lower-cases the first letter, since an error's description follows the attribute's name.
fn lower(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| format!("is no good: {}{}", first.to_lowercase(), letters.as_str()))
}

async fn write(cx: &Cx, account: AccountId, picture: Picture, processed: Processed) -> Result<Stored> {
    let image = new_key(picture.kind(), &processed.original);
    let still = processed.static_version.as_ref().map(|file| new_key(picture.kind(), file));
    let files = [Some(&image), still.as_ref()].into_iter().flatten().map(ToString::to_string).collect();
    let mut tx = cx.db.begin().await?;
    let purge = PurgeProfileImages { account, files };
    queue::enqueue_at(cx, &mut tx, &purge, cx.clock.now() + UNSET_TTL).await?;
    tx.commit().await?;
    let files = [(Some(image.clone()), Some(processed.original)), (still.clone(), processed.static_version)];
    put_all(cx, files).await?;
    Ok(Stored { picture, image, still })
}

/// Sets a stored image on the profile of `account`.
pub async fn set(cx: &Cx, tx: &mut Tx, account: &Account, stored: &Stored) -> Result<()> {
    let (image, still) = (Some(stored.image.to_string()), stored.still.as_ref().map(Key::to_string));
    replace(cx, tx, account, stored.picture, image, still).await
}

/// Removes an image from the profile of `account`; false when it has none.
pub async fn remove(cx: &Cx, tx: &mut Tx, account: &Account, picture: Picture) -> Result<bool> {
    let remote = match picture {
        Picture::Avatar => &account.avatar_remote_url,
        Picture::Header => &account.header_remote_url,
    };
    if picture.files(account).is_empty() && remote.is_none() {
        return Ok(false);
    }
    replace(cx, tx, account, picture, None, None).await?;
    Ok(true)
}

async fn replace(
    cx: &Cx,
    tx: &mut Tx,
    account: &Account,
    picture: Picture,
    image: Option<String>,
    still: Option<String>,
) -> Result<()> {
    let now = cx.clock.now();
    let files = picture.files(account);
    match picture {
        Picture::Avatar => store::account::set_avatar(tx, account.id, image, still, now).await?,
        Picture::Header => store::account::set_header(tx, account.id, image, still, now).await?,
    }
    if !files.is_empty() {
        queue::enqueue(cx, tx, &PurgeProfileImages { account: account.id, files }).await?;
    }
    Ok(())
}

#[model::use_case]
#[job]
async fn purge_profile_images(cx: &Cx, job: PurgeProfileImages) -> Result<(), Failure> {
    let account = store::account::find(&cx.db, job.account).await?;
    let shown: Vec<String> = account.map_or_else(Vec::new, |account| {
        let files = [account.avatar, account.avatar_static, account.header, account.header_static];
        files.into_iter().flatten().collect()
    });
    let unused: Vec<String> = job.files.into_iter().filter(|file| !shown.contains(file)).collect();
    crate::media::purge::remove(cx, &unused).await?;
    Ok(())
}
