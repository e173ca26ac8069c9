//! The follows, blocks and mutes of an account, and the blocks of it by others, as one set with a version.
//!
//! Reached from `service::relations`, which caches the sets, and from every function of `store` that changes a
//! follow, a block or a mute: it calls [`raise`] in its transaction. Follow requests, and the options of follows, are
//! not included. The effect of a relation on visibility is decided in `service::visibility`.

use database::sql::Ids;
use database::{Conn, Result, Tx, sql};
use model::{AccountId, Time, boxed};

/// The relations of one account that affect the statuses it sees. Lists are sorted, so that a look-up is a binary
/// search.
#[derive(Debug, Default)]
pub struct Relations {
    /// `accounts.relations_version` when this was read.
    pub version: i64,
    following: Box<[AccountId]>,
    blocking: Box<[AccountId]>,
    blocked_by: Box<[AccountId]>,
    /// With the expiry.
    muting: Box<[(AccountId, Option<Time>)]>,
    blocked_domains: Box<[String]>,
}

impl Relations {
    /// True when the account follows `target`.
    #[must_use]
    pub fn is_following(&self, target: AccountId) -> bool {
        self.following.binary_search(&target).is_ok()
    }

    /// True when the account blocks `target`.
    #[must_use]
    pub fn is_blocking(&self, target: AccountId) -> bool {
        self.blocking.binary_search(&target).is_ok()
    }

    /// True when `target` blocks the account.
    #[must_use]
    pub fn is_blocked_by(&self, target: AccountId) -> bool {
        self.blocked_by.binary_search(&target).is_ok()
    }

    /// True when the account mutes `target` with a mute that has not expired by `now`.
    #[must_use]
    pub fn is_muting(&self, target: AccountId, now: Time) -> bool {
        let found = self.muting.binary_search_by_key(&target, |(account, _)| *account);
        found.is_ok_and(|index| self.muting[index].1.is_none_or(|expires_at| expires_at > now))
    }

    /// True when the account blocks any domain.
    #[must_use]
    pub fn blocks_domains(&self) -> bool {
        !self.blocked_domains.is_empty()
    }

    /// True when the account blocks `domain`.
    #[must_use]
    pub fn is_blocking_domain(&self, domain: &str) -> bool {
        self.blocked_domains.binary_search_by(|blocked| blocked.as_str().cmp(domain)).is_ok()
    }

    /// The approximate size in memory, in bytes; every domain counts with an average length.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        let accounts = self.following.len() + self.blocking.len() + self.blocked_by.len();
        size_of::<Self>()
            + accounts * size_of::<AccountId>()
            + self.muting.len() * size_of::<(AccountId, Option<Time>)>()
            + self.blocked_domains.len() * 2 * size_of::<String>()
    }
}

/// A row of [`find`]; `kind` is the kind of relation.
#[derive(Debug, model::Row)]
struct RelationRow {
    kind: i64,
    id: i64,
    expires_at: Option<Time>,
    domain: String,
}

/// The relations of `account` with their version, consistent because one statement reads them.
///
/// The mutes are the first part: PostgreSQL takes the types of the columns from it.
#[boxed]
pub async fn find(db: Conn<'_>, account: AccountId) -> Result<Relations> {
    let rows: Vec<RelationRow> = db
        .query(sql!(
            "SELECT CAST(1 AS BIGINT) AS kind, m.target_account_id AS id, m.expires_at, '' AS domain
             FROM mutes m WHERE m.account_id = $1
             UNION ALL SELECT 2, f.target_account_id, NULL, '' FROM follows f WHERE f.account_id = $1
             UNION ALL SELECT 3, b.target_account_id, NULL, '' FROM blocks b WHERE b.account_id = $1
             UNION ALL SELECT 4, b.account_id, NULL, '' FROM blocks b WHERE b.target_account_id = $1
             UNION ALL SELECT 5, d.id, NULL, d.domain FROM account_domain_blocks d WHERE d.account_id = $1
             UNION ALL SELECT 6, a.relations_version, NULL, '' FROM accounts a WHERE a.id = $1"
        ))
        .bind(account)
        .all()
        .await?;
    Ok(Relations::of(rows))
}

impl Relations {
    fn of(rows: Vec<RelationRow>) -> Self {
        let (mut version, mut muting, mut domains) = (0, Vec::new(), Vec::new());
        let [mut following, mut blocking, mut blocked_by] = [Vec::new(), Vec::new(), Vec::new()];
        for row in rows {
            let id = AccountId::from(row.id);
            match row.kind {
                1 => muting.push((id, row.expires_at)),
                2 => following.push(id),
                3 => blocking.push(id),
                4 => blocked_by.push(id),
                5 => domains.push(row.domain),
                _ => version = row.id,
            }
        }
        Self {
            version,
            following: sorted(following),
            blocking: sorted(blocking),
            blocked_by: sorted(blocked_by),
            muting: sorted(muting),
            blocked_domains: sorted(domains),
        }
    }
}

fn sorted<T: Ord>(mut list: Vec<T>) -> Box<[T]> {
    list.sort_unstable();
    list.into()
}

/// Raises the relations versions of `accounts`, whose relations `tx` changes: servers then read them again. The
/// versions of the accounts are raised as well, because they are part of the cache key of plugin responses to a
/// viewer.
#[boxed]
pub async fn raise(tx: &mut Tx, accounts: &[AccountId]) -> Result<()> {
    tx.query(sql!(
        "UPDATE accounts SET relations_version = relations_version + 1, version = version + 1 WHERE id" in("$1")
    ))
    .bind(Ids::of(accounts.iter().copied()))
    .execute()
    .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(kind: i64, id: i64) -> RelationRow {
        RelationRow { kind, id, expires_at: None, domain: String::new() }
    }

    #[test]
    fn relation_is_found_by_its_kind() {
        let domain = RelationRow { domain: "b.test".to_owned(), ..row(5, 8) };
        let rows = vec![row(2, 9), row(2, 3), row(3, 4), row(4, 5), row(6, 7), domain];
        let relations = Relations::of(rows);
        assert_eq!(relations.version, 7);
        for id in 1..10 {
            let account = AccountId::from(id);
            assert_eq!(relations.is_following(account), id == 3 || id == 9, "{id}");
            assert_eq!(relations.is_blocking(account), id == 4, "{id}");
            assert_eq!(relations.is_blocked_by(account), id == 5, "{id}");
            assert!(!relations.is_muting(account, Time::from_micros(0)), "{id}");
        }
        assert!(relations.blocks_domains() && relations.is_blocking_domain("b.test"));
        assert!(!relations.is_blocking_domain("a.test"));
    }

    #[test]
    fn mute_ends_when_it_expires() {
        let [before, end] = [Time::from_micros(99), Time::from_micros(100)];
        let expiring = RelationRow { expires_at: Some(end), ..row(1, 2) };
        let relations = Relations::of(vec![row(1, 1), expiring]);
        let [always, once] = [AccountId::from(1), AccountId::from(2)];
        assert!(relations.is_muting(always, end));
        assert!(relations.is_muting(once, before));
        assert!(!relations.is_muting(once, end));
    }
}
