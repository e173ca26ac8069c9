//! The copies as a whole: figures, removal by hand, and comparison with the storage.
//!
//! Reached from `rookery media` and the admin API.

use std::collections::{BTreeMap, HashMap};

use context::Cx;
use context::error::{Error, Result};
use model::remote_file::{RemoteFileKind, RemoteMediaMode};
use store::remote_file::{self, RemoteFile, Usage};
use store::remote_media_mode::DomainMode;

use super::modes;
use super::trim::{self, Budget, Removed};

/// Copies that are read at a time.
const BATCH: i64 = 200;

/// Most hosts in an [`Overview`].
const HOSTS: usize = 100;

/// A sum of copies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Total {
    /// Number of copies.
    pub files: i64,
    pub bytes: i64,
    /// Files that could not be fetched.
    pub failed: i64,
}

impl Total {
    fn add(&mut self, usage: &Usage) {
        self.files += usage.files;
        self.bytes += usage.bytes;
        self.failed += usage.failed;
    }
}

/// The stored copies, and the domains with their own mode.
#[derive(Clone, Debug)]
pub struct Overview {
    pub total: Total,
    pub kinds: Vec<(RemoteFileKind, Total)>,
    /// Those with the most bytes, at most 100, and how their files are served.
    pub hosts: Vec<(String, RemoteMediaMode, Total)>,
    /// The domains whose files are served in their own way.
    pub domains: Vec<DomainMode>,
}

/// The stored copies, in sums.
#[model::use_case]
pub async fn overview(cx: &Cx) -> Result<Overview> {
    let mut total = Total::default();
    let (mut kinds, mut hosts) = (BTreeMap::new(), HashMap::new());
    for usage in remote_file::usage(&cx.db).await? {
        total.add(&usage);
        kinds.entry(usage.kind).or_insert_with(Total::default).add(&usage);
        hosts.entry(usage.host.clone()).or_insert_with(Total::default).add(&usage);
    }
    let mut hosts: Vec<_> =
        hosts.into_iter().map(|(host, total)| (host.clone(), modes::of(cx, &host), total)).collect();
    hosts.sort_unstable_by(|(one, _, first), (other, _, second)| second.bytes.cmp(&first.bytes).then(one.cmp(other)));
    hosts.truncate(HOSTS);
    Ok(Overview { total, kinds: kinds.into_iter().collect(), hosts, domains: modes::list(cx).await? })
}

/// The stored copies, by kind and host.
#[model::use_case]
pub async fn usage(cx: &Cx) -> Result<Vec<Usage>> {
    Ok(remote_file::usage(&cx.db).await?)
}

/// Removes copies until the others fit into `budget`.
///
/// # Errors
/// When the database fails; earlier removals stay.
#[model::use_case]
pub async fn prune(cx: &Cx, budget: Budget) -> Result<Removed> {
    let mut removed = Removed::default();
    while trim::fit(cx, budget, &mut removed).await? {}
    Ok(removed)
}

/// Removes the copies of files of `host`, and forgets failures, so that each file is fetched again when it is requested;
/// of all hosts without one.
#[model::use_case]
pub async fn refetch(cx: &Cx, host: Option<&str>) -> Result<Removed> {
    let (mut removed, mut walk) = (Removed::default(), Walk::begin());
    while let Some(batch) = walk.next(cx).await? {
        let mut tx = cx.db.begin().await?;
        for copy in batch.iter().filter(|copy| host.is_none_or(|host| host == copy.host)) {
            if trim::remove(cx, &mut tx, copy).await? {
                removed.add(copy);
            }
        }
        tx.commit().await?;
    }
    Ok(removed)
}

/// The result of a comparison with the storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Copies whose files are there.
    pub complete: u64,
    /// Copies without a file, which were forgotten: they are fetched again when they are requested.
    pub lost: u64,
}

/// Compares the copies with the storage.
///
/// # Errors
/// When the database or the storage fails.
#[model::use_case]
pub async fn verify(cx: &Cx) -> Result<Verified> {
    let (mut verified, mut walk) = (Verified::default(), Walk::begin());
    while let Some(batch) = walk.next(cx).await? {
        for copy in batch.iter().filter(|copy| copy.file.is_some()) {
            if is_complete(cx, copy).await? {
                verified.complete += 1;
                continue;
            }
            let mut tx = cx.db.begin().await?;
            trim::remove(cx, &mut tx, copy).await?;
            tx.commit().await?;
            verified.lost += 1;
        }
    }
    Ok(verified)
}

async fn is_complete(cx: &Cx, copy: &RemoteFile) -> Result<bool> {
    for file in copy.files() {
        let Ok(key) = file.parse() else { return Ok(false) };
        if !cx.storage.exists(&key).await.map_err(Error::internal)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A way through all entries.
struct Walk {
    kinds: std::slice::Iter<'static, RemoteFileKind>,
    kind: Option<RemoteFileKind>,
    after: i64,
}

impl Walk {
    fn begin() -> Self {
        let mut kinds = RemoteFileKind::ALL.iter();
        let kind = kinds.next().copied();
        Self { kinds, kind, after: 0 }
    }

    /// The next entries, at least one; `None` at the end.
    async fn next(&mut self, cx: &Cx) -> Result<Option<Vec<RemoteFile>>> {
        while let Some(kind) = self.kind {
            let batch = remote_file::list_of_kind(&cx.db, kind, self.after, BATCH).await?;
            if let Some(last) = batch.last() {
                self.after = last.subject_id;
                return Ok(Some(batch));
            }
            (self.kind, self.after) = (self.kinds.next().copied(), 0);
        }
        Ok(None)
    }
}
