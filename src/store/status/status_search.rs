//! The full-text index of statuses, and the conditions under which viewers may find them.
//!
//! Reached from `service::search`. The index is a set of pairs of a term and a status, so that each word's statuses
//! are a range of its key, newest or oldest first: a search reads the range of one term, in windows of bounded
//! length, and looks up the other terms for each status in it. Both engines do the same, and no plan depends on
//! statistics. The results are candidates: the service checks whether the words occur in order, and who may see the
//! status.
//!
//! Every condition on a status is a scalar subquery, which an engine can only answer by looking up that one row.

use database::sql::Ids;
use database::{Conn, Result, Tx, sql};
use model::{AccountId, StatusId, boxed};

/// Most statuses with a term to count.
pub const COUNTED: i64 = 1_000;

/// Adds the terms of `status`; existing ones are kept.
#[boxed]
pub async fn insert(tx: &mut Tx, status: StatusId, terms: &[i64]) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO status_terms (term, status_id)
         SELECT value, CAST($2 AS BIGINT) FROM" each("$1") "WHERE TRUE
         ON CONFLICT DO NOTHING"
    ))
    .bind(Ids::of(terms.iter().copied()))
    .bind(status)
    .execute()
    .await?;
    Ok(())
}

/// Removes the terms of `status`.
#[boxed]
pub async fn delete(tx: &mut Tx, status: StatusId, terms: &[i64]) -> Result<()> {
    tx.query(sql!("DELETE FROM status_terms WHERE term" in("$1") "AND status_id = $2"))
        .bind(Ids::of(terms.iter().copied()))
        .bind(status)
        .execute()
        .await?;
    Ok(())
}

/// The number of statuses with a term.
#[derive(Clone, Copy, Debug, model::Row)]
pub struct Frequency {
    pub term: i64,
    /// At most [`COUNTED`].
    pub count: i64,
}

/// The number of statuses with each of `terms`, in no order.
#[boxed]
pub async fn frequencies(db: Conn<'_>, terms: &[i64]) -> Result<Vec<Frequency>> {
    db.query(sql!(
        "SELECT value AS term,
                (SELECT COUNT(*) FROM (SELECT 1 FROM status_terms t WHERE t.term = value
                                       ORDER BY t.status_id DESC LIMIT $2) few) AS count
         FROM" each("$1")
    ))
    .bind(Ids::of(terms.iter().copied()))
    .bind(COUNTED)
    .all()
    .await
}

/// The set of statuses that a search scans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lead {
    /// The statuses with this term.
    Term(i64),
    /// Statuses that the viewer wrote, is mentioned in, favourited, bookmarked, reblogged or voted in, and
    /// [`Window::marked`].
    Library,
    /// [`Window::marked`] alone.
    Marked,
}

/// A window of a search: the statuses that it scans, and the viewer.
#[derive(Clone, Debug)]
pub struct Window {
    pub lead: Lead,
    /// Further terms that a status must have.
    pub terms: Vec<i64>,
    /// Statuses after this one.
    pub after: StatusId,
    /// Statuses before this one.
    pub before: StatusId,
    /// Most statuses to scan.
    pub length: i64,
    /// Ascending order, from the oldest status.
    pub oldest_first: bool,
    pub viewer: AccountId,
    /// The viewer's marks known to extensions, within the window and at most as many as its length; empty if a term
    /// leads.
    pub marked: Vec<StatusId>,
    /// The ways in which the viewer may find a status.
    pub ways: Ways,
}

/// Ways in which a viewer may find a status. A status that only its author may find is found only by the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each way is open or not, whatever the others are")]
pub struct Ways {
    /// It is the viewer's own.
    pub own: bool,
    /// Anyone who may see it may find it, or it is public and its author indexable.
    pub public: bool,
    /// Followers may find it, and the viewer follows its author.
    pub followed: bool,
    /// The viewer is mentioned in it, favourited, bookmarked or reblogged it or voted in it.
    pub library: bool,
}

/// A scanned status.
#[derive(Clone, Copy, Debug, model::Row)]
pub struct Candidate {
    pub id: StatusId,
    /// 1: it has the terms, and the viewer may find it. 2: it has them, and the viewer may find it as part of their
    /// library, for a mark known to an extension. 0: neither.
    pub verdict: i64,
}

impl Candidate {
    /// It has the terms, and the viewer may find it.
    #[must_use]
    pub fn is_found(&self) -> bool {
        self.verdict == 1
    }

    /// It has the terms, and a viewer who marked it finds it in their library.
    #[must_use]
    pub fn is_found_by_mark(&self) -> bool {
        self.verdict == 2
    }
}

/// The statuses that lead from `$1` to `$2`, at most `$3`. `$12`: the term; `$6`: the viewer; `marked`: the marks
/// known to extensions.
macro_rules! leading {
    (term, $order:literal) => {
        concat!(
            "SELECT t.status_id FROM status_terms t
             WHERE t.term = $12 AND t.status_id > $1 AND t.status_id < $2
             ORDER BY t.status_id ",
            $order,
            " LIMIT $3"
        )
    };
    (marked, $order:literal) => {
        concat!("SELECT value AS status_id FROM marked WHERE value > $1 AND value < $2 ORDER BY value ", $order, " LIMIT $3")
    };
    (library, $order:literal) => {
        concat!(
            leading!(@source "s.id", "statuses s", "s.account_id = $6 AND s.reblog_of_id IS NULL", $order, "own"),
            " UNION ",
            leading!(@source "s.reblog_of_id", "statuses s", "s.account_id = $6", $order, "reblogged"),
            " UNION ",
            leading!(@source "x.status_id", "mentions x", "x.account_id = $6", $order, "mentioned"),
            " UNION ",
            leading!(@source "x.status_id", "favourites x", "x.account_id = $6", $order, "favourited"),
            " UNION ",
            leading!(@source "x.status_id", "bookmarks x", "x.account_id = $6", $order, "bookmarked"),
            " UNION ",
            leading!(
                @source
                "x.status_id",
                "(SELECT (SELECT p.status_id FROM polls p WHERE p.id = v.poll_id) AS status_id
                  FROM poll_votes v WHERE v.account_id = $6) x",
                "TRUE",
                $order,
                "voted"
            ),
            " UNION ",
            leading!(@source "x.value", "marked x", "TRUE", $order, "marked_by_extensions"),
            " ORDER BY status_id ",
            $order,
            " LIMIT $3"
        )
    };
    (@source $id:literal, $table:literal, $whose:literal, $order:literal, $name:literal) => {
        concat!(
            "SELECT status_id FROM (SELECT ", $id, " AS status_id FROM ", $table, " WHERE ", $whose,
            " AND ", $id, " > $1 AND ", $id, " < $2 ORDER BY ", $id, " ", $order, " LIMIT $3) ", $name
        )
    };
}

/// The condition that the viewer `$6` may find the status `s` in one of the ways `$7` to `$10`. Counts instead of
/// `EXISTS`, which PostgreSQL may evaluate by reading all marks of the viewer.
macro_rules! may_find {
    () => {
        "(($7 AND s.account_id = $6)
          OR (s.searchability <> 'limited' AND (
              ($8 AND (s.searchability IN ('public', 'public_unlisted')
                       OR (s.searchability = 'direct' AND s.visibility = 'public'
                           AND (SELECT a.indexable FROM accounts a WHERE a.id = s.account_id))))
              OR ($9 AND s.searchability = 'private' AND (
                  SELECT COUNT(*) FROM follows f WHERE f.account_id = $6 AND f.target_account_id = s.account_id) > 0)
              OR ($10 AND (
                  (SELECT COUNT(*) FROM mentions m WHERE m.account_id = $6 AND m.status_id = s.id) > 0
                  OR (SELECT COUNT(*) FROM favourites m WHERE m.account_id = $6 AND m.status_id = s.id) > 0
                  OR (SELECT COUNT(*) FROM bookmarks m WHERE m.account_id = $6 AND m.status_id = s.id) > 0
                  OR (SELECT COUNT(*) FROM statuses r WHERE r.account_id = $6 AND r.reblog_of_id = s.id) > 0
                  OR (SELECT COUNT(*) FROM polls p JOIN poll_votes v ON v.poll_id = p.id
                      WHERE p.status_id = s.id AND v.account_id = $6) > 0)))))"
    };
}

/// The statuses of a window, in its order.
#[boxed]
pub async fn look(db: Conn<'_>, window: &Window) -> Result<Vec<Candidate>> {
    macro_rules! look_sql {
        ($lead:ident, $order:literal) => {
            sql!(
                "WITH marked AS (SELECT value FROM" each("$11") ")
                 SELECT w.status_id AS id,
                        CAST(CASE WHEN (SELECT COUNT(*) FROM status_terms t
                                        WHERE t.term" in("$4") "AND t.status_id = w.status_id) = $5
                                  THEN COALESCE((SELECT CASE WHEN " may_find!() " THEN 1
                                                             WHEN s.searchability <> 'limited' THEN 2 ELSE 0 END
                                                 FROM statuses s WHERE s.id = w.status_id), 0)
                                  ELSE 0 END AS BIGINT) AS verdict
                 FROM (" leading!($lead, $order) ") w
                 ORDER BY w.status_id " $order
            )
        };
    }
    let sql = match (window.lead, window.oldest_first) {
        (Lead::Term(_), false) => look_sql!(term, "DESC"),
        (Lead::Term(_), true) => look_sql!(term, "ASC"),
        (Lead::Library, false) => look_sql!(library, "DESC"),
        (Lead::Library, true) => look_sql!(library, "ASC"),
        (Lead::Marked, false) => look_sql!(marked, "DESC"),
        (Lead::Marked, true) => look_sql!(marked, "ASC"),
    };
    let Ways { own, public, followed, library } = window.ways;
    let query = db
        .query(sql)
        .bind(window.after)
        .bind(window.before)
        .bind(window.length)
        .bind(Ids::of(window.terms.iter().copied()))
        .bind(i64::try_from(window.terms.len()).unwrap_or(i64::MAX))
        .bind(window.viewer)
        .bind(own)
        .bind(public)
        .bind(followed)
        .bind(library)
        .bind(Ids::of(window.marked.iter().copied()));
    match window.lead {
        Lead::Term(term) => query.bind(term).all().await,
        Lead::Library | Lead::Marked => query.all().await,
    }
}

/// The size of the index in bytes. On SQLite it reads all its pages: not for every request.
#[boxed]
pub async fn size_bytes(db: Conn<'_>) -> Result<i64> {
    db.query(sql!(
        sqlite: "SELECT coalesce(SUM(d.pgsize), 0) FROM dbstat d WHERE d.name = 'status_terms' AND d.aggregate = 1";
        postgres: "SELECT pg_total_relation_size('status_terms')"
    ))
    .scalar()
    .await
}

/// The newest statuses before `before` that are not reblogs, for the job that indexes them.
#[boxed]
pub async fn list_before(db: Conn<'_>, before: StatusId, limit: i64) -> Result<Vec<StatusId>> {
    db.query(sql!("SELECT s.id FROM statuses s WHERE s.id < $1 AND s.reblog_of_id IS NULL ORDER BY s.id DESC LIMIT $2"))
        .bind(before)
        .bind(limit)
        .scalars()
        .await
}
