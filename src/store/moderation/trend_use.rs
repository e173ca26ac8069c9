//! The usage that trends are computed from: how many people use hashtags and statuses, read from rows that exist
//! anyway.
//!
//! Reached from the job that scores trends. Each statement reads one range of ids, which contain times: today, or
//! since the previous run. Nothing is counted at the time of use. Authors limited or suspended by moderators are
//! excluded.
//!
//! Spec: docs/contract/rules.md#23-discovery.

use database::sql::Ids;
use database::{Conn, Result, sql};
use model::{AccountId, StatusId, Time, boxed};

/// SQL condition: status `s` and its author `a` count for trends of hashtags and links.
macro_rules! counts {
    () => {
        "s.visibility IN ('public', 'public_unlisted') AND NOT s.local_only
           AND a.suspended_at IS NULL AND a.limited_at IS NULL"
    };
}

/// A hashtag or link used by many people.
#[derive(Clone, Debug, model::Row)]
pub struct Use {
    /// The hashtag, or the preview card of the link.
    pub id: i64,
    /// The language of the linked page.
    pub language: Option<String>,
    /// The address of the link; `None` for a hashtag.
    pub page_url: Option<String>,
    /// The result of a review.
    pub allowed: Option<bool>,
    /// Number of people who used it.
    pub accounts: i64,
}

/// The hashtags that at least `least` people used in statuses from `from` on and before `until`, most people first,
/// at most `limit`. Excludes hashtags that must not be used or listed.
///
/// `+st.tag_id`: grouping by the primary key of `status_tags` would read all of it.
#[boxed]
pub async fn list_tags(db: Conn<'_>, from: StatusId, until: StatusId, least: i64, limit: i64) -> Result<Vec<Use>> {
    db.query(sql!(
        "SELECT t.id, CAST(NULL AS TEXT) AS language, CAST(NULL AS TEXT) AS page_url, t.trendable AS allowed, used.accounts
         FROM (SELECT +st.tag_id AS tag_id, COUNT(DISTINCT s.account_id) AS accounts
               FROM status_tags st CROSS JOIN statuses s CROSS JOIN accounts a
               WHERE st.status_id >= $1 AND st.status_id < $2 AND s.id = st.status_id AND a.id = s.account_id
                 AND " counts!() "
               GROUP BY +st.tag_id
               HAVING COUNT(DISTINCT s.account_id) >= $3) used
         JOIN tags t ON t.id = used.tag_id
         WHERE t.usable AND coalesce(t.listable, TRUE)
         ORDER BY used.accounts DESC, t.id
         LIMIT $4"
    ))
    .bind(from)
    .bind(until)
    .bind(least)
    .bind(limit)
    .all()
    .await
}

/// How many people used each of `tags` in statuses from `from` on and before `until`; without unused ones.
#[boxed]
pub async fn count_tag_accounts(
    db: Conn<'_>,
    tags: &[i64],
    from: StatusId,
    until: StatusId,
) -> Result<Vec<(i64, i64)>> {
    db.query(sql!(
        "SELECT st.tag_id, COUNT(DISTINCT s.account_id) AS accounts
         FROM status_tags st CROSS JOIN statuses s CROSS JOIN accounts a
         WHERE st.tag_id" in("$1") "AND st.status_id >= $2 AND st.status_id < $3
           AND s.id = st.status_id AND a.id = s.account_id AND " counts!() "
         GROUP BY st.tag_id"
    ))
    .bind(Ids::of(tags.iter().copied()))
    .bind(from)
    .bind(until)
    .all()
    .await
}

/// The links that at least `least` people used in statuses from `from` on and before `until`, most people first, at
/// most `limit`. Excludes links without a card to show.
#[boxed]
pub async fn list_links(db: Conn<'_>, from: StatusId, until: StatusId, least: i64, limit: i64) -> Result<Vec<Use>> {
    db.query(sql!(
        "SELECT c.id, c.language, c.page_url, c.trendable AS allowed, used.accounts
         FROM (SELECT +x.card_id AS card_id, COUNT(DISTINCT s.account_id) AS accounts
               FROM status_cards x CROSS JOIN statuses s CROSS JOIN accounts a
               WHERE x.status_id >= $1 AND x.status_id < $2 AND s.id = x.status_id AND a.id = s.account_id
                 AND " counts!() "
               GROUP BY +x.card_id
               HAVING COUNT(DISTINCT s.account_id) >= $3) used
         JOIN preview_cards c ON c.id = used.card_id
         WHERE c.state = 'found'
         ORDER BY used.accounts DESC, c.id
         LIMIT $4"
    ))
    .bind(from)
    .bind(until)
    .bind(least)
    .bind(limit)
    .all()
    .await
}

/// How many people used each of `cards` in statuses from `from` on and before `until`; without unused ones.
#[boxed]
pub async fn count_link_accounts(
    db: Conn<'_>,
    cards: &[i64],
    from: StatusId,
    until: StatusId,
) -> Result<Vec<(i64, i64)>> {
    db.query(sql!(
        "SELECT x.card_id, COUNT(DISTINCT s.account_id) AS accounts
         FROM status_cards x CROSS JOIN statuses s CROSS JOIN accounts a
         WHERE x.card_id" in("$1") "AND x.status_id >= $2 AND x.status_id < $3
           AND s.id = x.status_id AND a.id = s.account_id AND " counts!() "
         GROUP BY x.card_id"
    ))
    .bind(Ids::of(cards.iter().copied()))
    .bind(from)
    .bind(until)
    .all()
    .await
}

/// A status liked by many people.
#[derive(Clone, Debug, model::Row)]
pub struct StatusUse {
    pub id: StatusId,
    pub account_id: AccountId,
    /// The domain of its author; `None` for this server.
    pub domain: Option<String>,
    pub language: Option<String>,
    /// The result of a review of the status, or otherwise of its author.
    pub allowed: Option<bool>,
    /// Its reblogs and favourites.
    pub uses: i64,
    /// When it was published.
    pub created_at: Time,
}

/// Statuses that may trend, among the ids `used.id`: by discoverable authors, not replies, without a content warning,
/// and without sensitive media.
macro_rules! eligible {
    ($used:literal, $more:literal) => {
        concat!(
            "SELECT s.id, s.account_id, a.domain, s.language, coalesce(s.trendable, a.trendable) AS allowed,
                    s.reblogs_count + s.favourites_count AS uses, s.created_at
             FROM ",
            $used,
            " CROSS JOIN statuses s CROSS JOIN accounts a
             WHERE s.id = used.id AND a.id = s.account_id
               AND s.visibility IN ('public', 'public_unlisted') AND s.reblog_of_id IS NULL AND s.in_reply_to_id IS NULL
               AND s.spoiler_text = '' AND (NOT s.sensitive OR NOT s.has_media)
               AND a.discoverable AND a.suspended_at IS NULL AND a.limited_at IS NULL",
            $more
        )
    };
}

/// The statuses from `oldest` on with a reblog or favourite whose row is from `since` on, with at least `least`
/// reblogs and favourites together; the highest totals first, at most `limit`.
#[boxed]
pub async fn list_statuses(
    db: Conn<'_>,
    since: StatusId,
    oldest: StatusId,
    least: i64,
    limit: i64,
) -> Result<Vec<StatusUse>> {
    db.query(sql!(eligible!(
        "(SELECT f.status_id AS id FROM favourites f WHERE f.id >= $1
          UNION SELECT b.reblog_of_id FROM statuses b WHERE b.id >= $1 AND +b.reblog_of_id IS NOT NULL) used",
        " AND s.id >= $2 AND s.reblogs_count + s.favourites_count >= $3
          ORDER BY uses DESC, s.id DESC LIMIT $4"
    )))
    .bind(since)
    .bind(oldest)
    .bind(least)
    .bind(limit)
    .all()
    .await
}

/// The statuses of `ids` that may (still) trend, in no particular order.
#[boxed]
pub async fn find_statuses(db: Conn<'_>, ids: &[StatusId]) -> Result<Vec<StatusUse>> {
    db.query(sql!(
        sqlite: eligible!("(SELECT value AS id FROM json_each($1)) used", "");
        postgres: eligible!("unnest($1::bigint[]) AS used(id)", "")
    ))
    .bind(Ids::of(ids.iter().copied()))
    .all()
    .await
}
