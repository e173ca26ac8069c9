//! Counts of past days, so that metrics over years read a row for each day.
//!
//! A job counts days (`service::metrics::count`) and replaces their rows. Ids contain times, so that the rows of a day
//! are one range of a primary key. The domain of this server is empty here.

use serde::Serialize;

use database::sql::Texts;
use database::{Conn, Db, Error, Result, Tx, sql};
use model::{Json, Time, boxed};

/// The ids of a day or of several: from the first one on, and below the second one.
pub type IdRange = (i64, i64);

/// Statuses of a server in one language.
#[derive(Clone, Debug, PartialEq, Serialize, model::Row)]
pub struct StatusCount {
    pub domain: String,
    /// Empty: none.
    pub language: String,
    /// With reblogs.
    pub statuses: i64,
    pub reblogs: i64,
}

/// What else a server did.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ServerCount {
    pub domain: String,
    /// New accounts.
    pub accounts: i64,
    /// Size of stored files.
    pub media_bytes: i64,
    /// Reports of its accounts.
    pub reports: i64,
    /// Follows of its accounts by local ones.
    pub follows: i64,
    /// Follows of local accounts by its accounts.
    pub followers: i64,
}

/// The statuses of each server and language.
#[boxed]
pub async fn count_statuses(db: Conn<'_>, (from, until): IdRange) -> Result<Vec<StatusCount>> {
    db.query(sql!(
        "SELECT coalesce(a.domain, '') AS domain, coalesce(s.language, '') AS language, COUNT(*) AS statuses,
                COUNT(s.reblog_of_id) AS reblogs
         FROM statuses s CROSS JOIN accounts a
         WHERE s.id >= $1 AND s.id < $2 AND a.id = s.account_id
         GROUP BY coalesce(a.domain, ''), coalesce(s.language, '')"
    ))
    .bind(from)
    .bind(until)
    .all()
    .await
}

/// The new accounts of each server, as (domain, accounts).
#[boxed]
pub async fn count_accounts(db: Conn<'_>, (from, until): IdRange) -> Result<Vec<(String, i64)>> {
    db.query(sql!(
        "SELECT coalesce(a.domain, '') AS domain, COUNT(*) AS accounts FROM accounts a
         WHERE a.id >= $1 AND a.id < $2 GROUP BY coalesce(a.domain, '')"
    ))
    .bind(from)
    .bind(until)
    .all()
    .await
}

/// The size of the stored files of each server and kind of media, as (domain, kind, bytes).
#[boxed]
pub async fn sum_media(db: Conn<'_>, (from, until): IdRange) -> Result<Vec<(String, String, i64)>> {
    db.query(sql!(
        "SELECT coalesce(a.domain, '') AS domain, m.kind, CAST(SUM(m.size_bytes) AS BIGINT) AS bytes
         FROM media_attachments m CROSS JOIN accounts a
         WHERE m.id >= $1 AND m.id < $2 AND m.file IS NOT NULL AND a.id = m.account_id
         GROUP BY coalesce(a.domain, ''), m.kind"
    ))
    .bind(from)
    .bind(until)
    .all()
    .await
}

/// The reports of accounts of each server, as (domain, reports).
#[boxed]
pub async fn count_reports(db: Conn<'_>, (from, until): IdRange) -> Result<Vec<(String, i64)>> {
    db.query(sql!(
        "SELECT coalesce(a.domain, '') AS domain, COUNT(*) AS reports
         FROM reports r CROSS JOIN accounts a
         WHERE r.id >= $1 AND r.id < $2 AND a.id = r.target_account_id
         GROUP BY coalesce(a.domain, '')"
    ))
    .bind(from)
    .bind(until)
    .all()
    .await
}

/// The follows between servers, as (domain of the follower, domain of the followed account, follows).
#[boxed]
pub async fn count_follows(db: Conn<'_>, (from, until): IdRange) -> Result<Vec<(String, String, i64)>> {
    db.query(sql!(
        "SELECT coalesce(a.domain, '') AS follower, coalesce(t.domain, '') AS target, COUNT(*) AS follows
         FROM follows f CROSS JOIN accounts a CROSS JOIN accounts t
         WHERE f.id >= $1 AND f.id < $2 AND a.id = f.account_id AND t.id = f.target_account_id
         GROUP BY coalesce(a.domain, ''), coalesce(t.domain, '')"
    ))
    .bind(from)
    .bind(until)
    .all()
    .await
}

/// The favourites, reblogs, and replies to others by local accounts. The condition on `listed` makes the statuses two
/// ranges of the index `statuses_local`.
#[boxed]
pub async fn count_interactions(db: Conn<'_>, (from, until): IdRange) -> Result<i64> {
    db.query(sql!(
        "SELECT (SELECT COUNT(*) FROM favourites f CROSS JOIN users u
                 WHERE f.id >= $1 AND f.id < $2 AND u.account_id = f.account_id)
              + (SELECT COUNT(*) FROM statuses s
                 WHERE s.local AND s.listed IN (TRUE, FALSE) AND s.id >= $1 AND s.id < $2
                   AND (s.reblog_of_id IS NOT NULL OR s.in_reply_to_account_id <> s.account_id)) AS interactions"
    ))
    .bind(from)
    .bind(until)
    .scalar()
    .await
}

/// The counts of a day.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DayCount {
    pub interactions: i64,
    pub statuses: Vec<StatusCount>,
    pub servers: Vec<ServerCount>,
    /// Size of stored files by kind of media.
    pub media: Vec<(String, i64)>,
}

/// Replaces the counts of `day` (days since the epoch).
#[boxed]
pub async fn replace(tx: &mut Tx, day: i64, count: &DayCount, now: Time) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO counted_days (day, interactions, counted_at) VALUES ($1, $2, $3)
         ON CONFLICT (day) DO UPDATE SET interactions = excluded.interactions, counted_at = excluded.counted_at"
    ))
    .bind(day)
    .bind(count.interactions)
    .bind(now)
    .execute()
    .await?;
    tx.query(sql!("DELETE FROM status_days WHERE day = $1")).bind(day).execute().await?;
    tx.query(sql!("DELETE FROM server_days WHERE day = $1")).bind(day).execute().await?;
    tx.query(sql!("DELETE FROM media_days WHERE day = $1")).bind(day).execute().await?;
    tx.query(sql!(
        "INSERT INTO status_days (domain, day, language, statuses, reblogs)
         SELECT value ->> 'domain', $2, value ->> 'language', CAST(value ->> 'statuses' AS BIGINT),
                CAST(value ->> 'reblogs' AS BIGINT)
         FROM" rows("$1")
    ))
    .bind(json(&count.statuses)?)
    .bind(day)
    .execute()
    .await?;
    tx.query(sql!(
        "INSERT INTO server_days (domain, day, accounts, media_bytes, reports, follows, followers)
         SELECT value ->> 'domain', $2, CAST(value ->> 'accounts' AS BIGINT), CAST(value ->> 'media_bytes' AS BIGINT),
                CAST(value ->> 'reports' AS BIGINT), CAST(value ->> 'follows' AS BIGINT),
                CAST(value ->> 'followers' AS BIGINT)
         FROM" rows("$1")
    ))
    .bind(json(&count.servers)?)
    .bind(day)
    .execute()
    .await?;
    tx.query(sql!(
        "INSERT INTO media_days (day, kind, bytes)
         SELECT $2, value ->> 0, CAST(value ->> 1 AS BIGINT) FROM" rows("$1")
    ))
    .bind(json(&count.media)?)
    .bind(day)
    .execute()
    .await?;
    Ok(())
}

fn json<T: Serialize>(rows: &[T]) -> Result<Json<serde_json::Value>> {
    Ok(Json(serde_json::to_value(rows).map_err(|error| Error::Sql(sqlx::Error::Encode(error.into())))?))
}

/// The counted days from `from` on and before `until`, the longest ago counted one first.
#[boxed]
pub async fn list_counted(db: Conn<'_>, from: i64, until: i64) -> Result<Vec<i64>> {
    db.query(sql!(
        "SELECT c.day FROM counted_days c WHERE c.day >= $1 AND c.day < $2 ORDER BY c.counted_at, c.day DESC"
    ))
    .bind(from)
    .bind(until)
    .scalars()
    .await
}

/// The lowest positive id of an account, and of a status: the first day that can have counts. `None` without rows.
#[boxed]
pub async fn first_id(db: Conn<'_>) -> Result<Option<i64>> {
    let row: (Option<i64>, Option<i64>) = db
        .query(sql!(
            "SELECT (SELECT MIN(a.id) FROM accounts a WHERE a.id > 0) AS account,
                    (SELECT MIN(s.id) FROM statuses s WHERE s.id > 0) AS status"
        ))
        .one()
        .await?;
    Ok([row.0, row.1].into_iter().flatten().min())
}

/// The interactions of each counted day from `from` on and before `until`, as (day, interactions).
#[boxed]
pub async fn list_interactions(db: Conn<'_>, from: i64, until: i64) -> Result<Vec<(i64, i64)>> {
    db.query(sql!("SELECT c.day, c.interactions FROM counted_days c WHERE c.day >= $1 AND c.day < $2"))
        .bind(from)
        .bind(until)
        .all()
        .await
}

/// A number that is counted for each server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerNumber {
    Accounts,
    MediaBytes,
    Reports,
    Statuses,
    Follows,
    Followers,
}

/// A number of the servers `domains` on each counted day that has any, as (day, number).
#[boxed]
pub async fn list_of_servers(db: Conn<'_>, number: ServerNumber, domains: &[String]) -> Result<Vec<(i64, i64)>> {
    macro_rules! by_day {
        ($column:literal, $table:literal) => {
            sql!(
                "SELECT d.day, CAST(SUM(d." $column ") AS BIGINT) AS number FROM " $table " d
                 WHERE d.domain" in("$1") "GROUP BY d.day"
            )
        };
    }
    let sql = match number {
        ServerNumber::Accounts => by_day!("accounts", "server_days"),
        ServerNumber::MediaBytes => by_day!("media_bytes", "server_days"),
        ServerNumber::Reports => by_day!("reports", "server_days"),
        ServerNumber::Statuses => by_day!("statuses", "status_days"),
        ServerNumber::Follows => by_day!("follows", "server_days"),
        ServerNumber::Followers => by_day!("followers", "server_days"),
    };
    db.query(sql).bind(Texts::of(domains.iter().cloned())).all().await
}

/// Most days whose servers are found by the day.
const FEW_DAYS: i64 = 60;

/// The servers with most statuses on counted days from `from` on and before `until`, at most `limit`, and the servers
/// `domains`, as (domain, statuses).
#[boxed]
pub async fn list_servers(
    db: &Db,
    from: i64,
    until: i64,
    limit: i64,
    domains: &[String],
) -> Result<Vec<(String, i64)>> {
    // Few days are a range of the index by day. Many are most rows: in the order of the primary key they need no sorting.
    let sql = if until - from <= FEW_DAYS {
        sql!(
            "SELECT d.domain, CAST(SUM(d.statuses) AS BIGINT) AS statuses FROM status_days d
             WHERE d.day >= $1 AND d.day < $2
             GROUP BY d.domain ORDER BY 2 DESC, d.domain LIMIT $3"
        )
    } else {
        sql!(
            "SELECT d.domain, CAST(SUM(d.statuses) AS BIGINT) AS statuses FROM status_days d
             WHERE d.domain >= '' AND +d.day >= $1 AND +d.day < $2
             GROUP BY d.domain ORDER BY 2 DESC, d.domain LIMIT $3"
        )
    };
    let mut servers: Vec<(String, i64)> = db.query(sql).bind(from).bind(until).bind(limit).all().await?;
    let named: Vec<(String, i64)> = db
        .query(sql!(
            "SELECT d.domain, CAST(SUM(d.statuses) AS BIGINT) AS statuses FROM status_days d
             WHERE d.domain" in("$3") "AND d.day >= $1 AND d.day < $2 GROUP BY d.domain"
        ))
        .bind(from)
        .bind(until)
        .bind(Texts::of(domains.iter().cloned()))
        .all()
        .await?;
    servers.extend(named);
    servers.sort_unstable();
    servers.dedup();
    Ok(servers)
}

/// The statuses of the servers `domains` without reblogs on counted days from `from` on and before `until`, by
/// language, as (language, statuses).
#[boxed]
pub async fn list_languages(db: Conn<'_>, domains: &[String], from: i64, until: i64) -> Result<Vec<(String, i64)>> {
    db.query(sql!(
        "SELECT d.language, CAST(SUM(d.statuses - d.reblogs) AS BIGINT) AS statuses FROM status_days d
         WHERE d.domain" in("$1") "AND d.day >= $2 AND d.day < $3 GROUP BY d.language"
    ))
    .bind(Texts::of(domains.iter().cloned()))
    .bind(from)
    .bind(until)
    .all()
    .await
}

/// The size of all files stored on counted days, as (kind of media, bytes).
#[boxed]
pub async fn sum_media_kinds(db: Conn<'_>) -> Result<Vec<(String, i64)>> {
    db.query(sql!(
        "SELECT d.kind, CAST(SUM(d.bytes) AS BIGINT) AS bytes FROM media_days d WHERE d.day >= 0 GROUP BY d.kind"
    ))
    .all()
    .await
}

/// Deletes the counts of the days before `day`.
#[boxed]
pub async fn delete_before(tx: &mut Tx, day: i64) -> Result<()> {
    for part in [
        sql!("DELETE FROM counted_days WHERE day < $1"),
        sql!("DELETE FROM status_days WHERE day < $1"),
        sql!("DELETE FROM server_days WHERE day < $1"),
        sql!("DELETE FROM media_days WHERE day < $1"),
    ] {
        tx.query(part).bind(day).execute().await?;
    }
    Ok(())
}
