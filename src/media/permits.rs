//! Permits to run children: so many in all, and half of them at most for one owner.
//!
//! Further files wait. Beyond its share, an owner queues for the shared permits with one file at a time, so that no
//! owner waits for all files of another.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

use super::error::{Error, Result};

/// The permits of one kind of child.
#[derive(Debug)]
pub(super) struct Permits {
    all: Semaphore,
    /// The permits of each owner, for as long as one of its files waits or is processed.
    owners: Mutex<HashMap<i64, Arc<Semaphore>>>,
    /// How many permits each owner has.
    each: usize,
}

/// Leave to run one child.
#[derive(Debug)]
pub struct Permit<'a> {
    _all: SemaphorePermit<'a>,
    _own: Option<Own<'a>>,
}

/// A file's hold on the permits of its owner, which are forgotten with their last file.
#[derive(Debug)]
struct Own<'a> {
    permits: &'a Permits,
    owner: i64,
    permit: Option<OwnedSemaphorePermit>,
}

impl Permits {
    pub(super) fn new(count: usize) -> Self {
        Self { all: Semaphore::new(count), owners: Mutex::default(), each: (count / 2).max(1) }
    }

    /// Waits for a permit for the account `owner` (`None`: an admin).
    pub(super) async fn acquire(&self, owner: Option<i64>) -> Result<Permit<'_>> {
        let own = match owner {
            Some(owner) => {
                let mut own = Own { permits: self, owner, permit: None };
                own.permit = Some(self.share_of(owner).acquire_owned().await.map_err(Error::internal)?);
                Some(own)
            }
            None => None,
        };
        Ok(Permit { _all: self.all.acquire().await.map_err(Error::internal)?, _own: own })
    }

    /// As [`acquire`](Self::acquire), but `None` immediately when `owner` already has its share.
    pub(super) async fn acquire_within_share(&self, owner: i64) -> Result<Option<Permit<'_>>> {
        let mut own = Own { permits: self, owner, permit: None };
        let Ok(permit) = self.share_of(owner).try_acquire_owned() else { return Ok(None) };
        own.permit = Some(permit);
        Ok(Some(Permit { _all: self.all.acquire().await.map_err(Error::internal)?, _own: Some(own) }))
    }

    fn share_of(&self, owner: i64) -> Arc<Semaphore> {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(owners.entry(owner).or_insert_with(|| Arc::new(Semaphore::new(self.each))))
    }

    /// How many are free, and how many owners are known.
    #[cfg(test)]
    pub(super) fn state(&self) -> (usize, usize) {
        (self.all.available_permits(), self.owners.lock().unwrap().len())
    }
}

impl Drop for Own<'_> {
    fn drop(&mut self) {
        drop(self.permit.take());
        let mut owners = self.permits.owners.lock().unwrap_or_else(PoisonError::into_inner);
        // No file waits or is processed: the map has the only reference.
        if owners.get(&self.owner).is_some_and(|share| Arc::strong_count(share) == 1) {
            owners.remove(&self.owner);
        }
    }
}
