//! Numbers for staff that are counted when they are asked for: users, reports and hashtags in a range of days.
//!
//! Ids contain times, so that a range of days is a range of a primary key. What would read too many rows is counted
//! once a day, see [`day_count`](crate::day_count).

use database::sql::Texts;
use database::{Conn, Result, Tx, sql};
use model::{AccountId, AppId, TagId, Time, boxed};

use crate::day_count::IdRange;
use crate::tag::is_public;

/// The distance between the first ids of two consecutive days.
const DAY: i64 = (24 * 60 * 60 * 1000) << 16;

/// Users active on each day from `from` on and before `until`, as (day, users).
#[boxed]
pub async fn count_active(db: Conn<'_>, from: i64, until: i64) -> Result<Vec<(i64, i64)>> {
    db.query(sql!("SELECT d.day, COUNT(*) AS users FROM active_days d WHERE d.day >= $1 AND d.day < $2 GROUP BY d.day"))
        .bind(from)
        .bind(until)
        .all()
        .await
}

/// Users active on at least one day from `from` on and before `until`.
#[boxed]
pub async fn count_active_once(db: Conn<'_>, from: i64, until: i64) -> Result<i64> {
    db.query(sql!("SELECT COUNT(DISTINCT d.account_id) FROM active_days d WHERE d.day >= $1 AND d.day < $2"))
        .bind(from)
        .bind(until)
        .scalar()
        .await
}

/// Deletes the activity before `day`.
#[boxed]
pub async fn delete_activity(tx: &mut Tx, day: i64) -> Result<u64> {
    tx.query(sql!("DELETE FROM active_days WHERE day < $1")).bind(day).execute().await
}

/// New users of each day, as (day, users).
#[boxed]
pub async fn count_users(db: Conn<'_>, (from, until): IdRange) -> Result<Vec<(i64, i64)>> {
    db.query(sql!(
        "SELECT u.account_id / $3 AS day, COUNT(*) AS users FROM users u
         WHERE u.account_id >= $1 AND u.account_id < $2 GROUP BY u.account_id / $3"
    ))
    .bind(from)
    .bind(until)
    .bind(DAY)
    .all()
    .await
}

/// New reports of each day, as (day, reports).
#[boxed]
pub async fn count_reports(db: Conn<'_>, (from, until): IdRange) -> Result<Vec<(i64, i64)>> {
    db.query(sql!(
        "SELECT r.id / $3 AS day, COUNT(*) AS reports FROM reports r
         WHERE r.id >= $1 AND r.id < $2 GROUP BY r.id / $3"
    ))
    .bind(from)
    .bind(until)
    .bind(DAY)
    .all()
    .await
}

/// Reports resolved on each day, as (day, reports).
#[boxed]
pub async fn count_resolved(db: Conn<'_>, from: Time, until: Time) -> Result<Vec<(i64, i64)>> {
    db.query(sql!(
        sqlite: "SELECT r.action_taken_at / 86400000000 AS day, COUNT(*) AS reports FROM reports r
                 WHERE r.action_taken_at >= $1 AND r.action_taken_at < $2 GROUP BY r.action_taken_at / 86400000000";
        postgres: "SELECT CAST(floor(extract(epoch FROM r.action_taken_at) / 86400) AS BIGINT) AS day, COUNT(*) AS reports
                   FROM reports r WHERE r.action_taken_at >= $1 AND r.action_taken_at < $2 GROUP BY 1"
    ))
    .bind(from)
    .bind(until)
    .all()
    .await
}

/// The public uses of a hashtag on each day, as (day, uses).
#[boxed]
pub async fn count_tag_uses(db: Conn<'_>, tag: TagId, (from, until): IdRange) -> Result<Vec<(i64, i64)>> {
    db.query(sql!(
        "SELECT st.status_id / $4 AS day, COUNT(*) AS uses
         FROM status_tags st CROSS JOIN statuses s
         WHERE st.tag_id = $1 AND st.status_id >= $2 AND st.status_id < $3 AND s.id = st.status_id AND " is_public!() "
         GROUP BY st.status_id / $4"
    ))
    .bind(tag)
    .bind(from)
    .bind(until)
    .bind(DAY)
    .all()
    .await
}

/// Who used a hashtag in public statuses on each day, as (day, account), each once.
#[boxed]
pub async fn list_tag_accounts(db: Conn<'_>, tag: TagId, (from, until): IdRange) -> Result<Vec<(i64, AccountId)>> {
    db.query(sql!(
        "SELECT DISTINCT st.status_id / $4 AS day, s.account_id
         FROM status_tags st CROSS JOIN statuses s
         WHERE st.tag_id = $1 AND st.status_id >= $2 AND st.status_id < $3 AND s.id = st.status_id AND " is_public!()
    ))
    .bind(tag)
    .bind(from)
    .bind(until)
    .bind(DAY)
    .all()
    .await
}

/// The servers whose accounts used a hashtag in public statuses on each day, as (day, domain), each once; an empty
/// domain is this server.
#[boxed]
pub async fn list_tag_domains(db: Conn<'_>, tag: TagId, (from, until): IdRange) -> Result<Vec<(i64, String)>> {
    db.query(sql!(
        "SELECT DISTINCT st.status_id / $4 AS day, coalesce(a.domain, '') AS domain
         FROM status_tags st CROSS JOIN statuses s CROSS JOIN accounts a
         WHERE st.tag_id = $1 AND st.status_id >= $2 AND st.status_id < $3 AND s.id = st.status_id
           AND a.id = s.account_id AND " is_public!()
    ))
    .bind(tag)
    .bind(from)
    .bind(until)
    .bind(DAY)
    .all()
    .await
}

/// The servers with most public statuses with a hashtag, at most `limit`, as (domain, statuses); an empty domain is
/// this server.
#[boxed]
pub async fn list_tag_servers(db: Conn<'_>, tag: TagId, range: IdRange, limit: i64) -> Result<Vec<(String, i64)>> {
    db.query(sql!(
        "SELECT coalesce(a.domain, '') AS domain, COUNT(*) AS statuses
         FROM status_tags st CROSS JOIN statuses s CROSS JOIN accounts a
         WHERE st.tag_id = $1 AND st.status_id >= $2 AND st.status_id < $3 AND s.id = st.status_id
           AND a.id = s.account_id AND " is_public!() "
         GROUP BY coalesce(a.domain, '') ORDER BY 2 DESC, 1 LIMIT $4"
    ))
    .bind(tag)
    .bind(range.0)
    .bind(range.1)
    .bind(limit)
    .all()
    .await
}

/// The languages of public statuses with a hashtag, the most frequent first, at most `limit`, as (language, statuses);
/// an empty language is none.
#[boxed]
pub async fn list_tag_languages(db: Conn<'_>, tag: TagId, range: IdRange, limit: i64) -> Result<Vec<(String, i64)>> {
    db.query(sql!(
        "SELECT coalesce(s.language, '') AS language, COUNT(*) AS statuses
         FROM status_tags st CROSS JOIN statuses s
         WHERE st.tag_id = $1 AND st.status_id >= $2 AND st.status_id < $3 AND s.id = st.status_id AND " is_public!() "
         GROUP BY coalesce(s.language, '') ORDER BY 2 DESC, 1 LIMIT $4"
    ))
    .bind(tag)
    .bind(range.0)
    .bind(range.1)
    .bind(limit)
    .all()
    .await
}

/// The languages of the pages of users active on a day from `from` on and before `until`, the most frequent first, at
/// most `limit`, as (language, users).
#[boxed]
pub async fn list_locales(db: Conn<'_>, from: i64, until: i64, limit: i64) -> Result<Vec<(String, i64)>> {
    db.query(sql!(
        "SELECT u.locale, COUNT(*) AS users
         FROM (SELECT DISTINCT d.account_id AS id FROM active_days d WHERE d.day >= $1 AND d.day < $2) active
         CROSS JOIN users u
         WHERE u.account_id = active.id AND u.locale IS NOT NULL
         GROUP BY u.locale ORDER BY 2 DESC, 1 LIMIT $3"
    ))
    .bind(from)
    .bind(until)
    .bind(limit)
    .all()
    .await
}

/// The applications that new users signed up with, the most frequent first, at most `limit`, as (id, name, users);
/// without an id the pages of the server.
#[boxed]
pub async fn list_sources(
    db: Conn<'_>,
    range: IdRange,
    limit: i64,
) -> Result<Vec<(Option<AppId>, Option<String>, i64)>> {
    db.query(sql!(
        "SELECT source.id, o.name, source.users
         FROM (SELECT u.sign_up_app_id AS id, COUNT(*) AS users FROM users u
               WHERE u.account_id >= $1 AND u.account_id < $2
               GROUP BY u.sign_up_app_id ORDER BY 2 DESC, 1 LIMIT $3) source
         LEFT JOIN oauth_apps o ON o.id = source.id
         ORDER BY source.users DESC, source.id"
    ))
    .bind(range.0)
    .bind(range.1)
    .bind(limit)
    .all()
    .await
}

/// The accounts of the remote servers `domains` with most followers here, at most `limit`, as (user name, followers).
#[boxed]
pub async fn list_followed(db: Conn<'_>, domains: &[String], limit: i64) -> Result<Vec<(String, i64)>> {
    db.query(sql!(
        "SELECT a.username, COUNT(*) AS followers
         FROM accounts a CROSS JOIN follows f
         WHERE a.domain" in("$1") "AND f.target_account_id = a.id
         GROUP BY a.id, a.username ORDER BY 2 DESC, a.id LIMIT $2"
    ))
    .bind(Texts::of(domains.iter().cloned()))
    .bind(limit)
    .all()
    .await
}

/// The domains of remote accounts that end with `suffix`, such as `.example.com`. Each domain is one look-up in the
/// index of domains, however many accounts it has.
#[boxed]
pub async fn list_subdomains(db: Conn<'_>, suffix: &str) -> Result<Vec<String>> {
    db.query(sql!(
        "WITH RECURSIVE hosts (domain) AS (
             SELECT (SELECT MIN(a.domain) FROM accounts a WHERE a.domain > '')
             UNION ALL
             SELECT (SELECT MIN(a.domain) FROM accounts a WHERE a.domain > h.domain)
             FROM hosts h WHERE h.domain IS NOT NULL)
         SELECT h.domain FROM hosts h
         WHERE h.domain IS NOT NULL AND substr(h.domain, length(h.domain) - length($1) + 1) = $1"
    ))
    .bind(suffix.to_owned())
    .scalars()
    .await
}

/// Users by the day of their sign-up and the day of their last activity, as (day, day, users); users without any
/// activity were last active on the day of their sign-up.
#[boxed]
pub async fn count_cohorts(db: Conn<'_>, (from, until): IdRange) -> Result<Vec<(i64, i64, i64)>> {
    db.query(sql!(
        sqlite: "SELECT u.account_id / $3 AS cohort, coalesce(u.last_active_at / 86400000000, u.account_id / $3) AS last,
                        COUNT(*) AS users
                 FROM users u WHERE u.account_id >= $1 AND u.account_id < $2 GROUP BY 1, 2";
        postgres: "SELECT u.account_id / $3 AS cohort,
                          coalesce(CAST(floor(extract(epoch FROM u.last_active_at) / 86400) AS BIGINT),
                                   u.account_id / $3) AS last,
                          COUNT(*) AS users
                   FROM users u WHERE u.account_id >= $1 AND u.account_id < $2 GROUP BY 1, 2"
    ))
    .bind(from)
    .bind(until)
    .bind(DAY)
    .all()
    .await
}

/// The size of the database, in bytes, and the version of its engine.
#[boxed]
pub async fn database(db: Conn<'_>) -> Result<(i64, String)> {
    db.query(sql!(
        sqlite: "SELECT p.page_count * s.page_size AS size, sqlite_version() AS version
                 FROM pragma_page_count p JOIN pragma_page_size s";
        postgres: "SELECT pg_database_size(current_database()) AS size, current_setting('server_version') AS version"
    ))
    .one()
    .await
}
