//! Polls, their options and votes.
//!
//! Reached from `service::poll` and from entities. Permission to vote is not checked here. A vote and its counters
//! are written under the lock of the poll ([`lock`]), so that each counts once. Votes of a removed account are
//! subtracted by [`removal`](crate::removal).

use database::sql::Ids;
use database::{Conn, Result, Tx, sql};
use model::{AccountId, Json, Poll, PollId, StatusId, Time, boxed, poll_columns, poll_insert};

/// An option of a poll, with the poll.
#[derive(Clone, Debug, model::Row)]
pub struct OptionRow {
    /// The poll, the same for all its options.
    #[row(flatten)]
    pub poll: Poll,
    /// Its position among the options, from 0.
    pub position: i64,
    pub title: String,
    pub votes_count: i64,
    /// The position of the viewer's vote for it among their votes in this poll; `None` when they did not vote for it.
    pub vote_place: Option<i64>,
}

/// The options of the polls of `statuses`, ordered by poll and position, and the viewer's votes for them: one
/// statement for a page. On SQLite, `CROSS JOIN` forces look-ups by status.
#[boxed]
pub async fn list(db: Conn<'_>, statuses: &[StatusId], viewer: Option<AccountId>) -> Result<Vec<OptionRow>> {
    macro_rules! list_sql {
        ($page:literal, $is:literal) => {
            concat!(
                "SELECT ",
                poll_columns!(),
                ", o.position, o.title, o.votes_count,
                   (SELECT v.place FROM poll_votes v
                    WHERE v.poll_id = o.poll_id AND v.account_id = $2 AND v.choice = o.position) AS vote_place
                 FROM ",
                $page,
                "polls p CROSS JOIN poll_options o
                 WHERE p.status_id ",
                $is,
                " AND o.poll_id = p.id
                 ORDER BY p.id, o.position"
            )
        };
    }
    db.query(sql!(
        sqlite: list_sql!("json_each($1) e CROSS JOIN ", "= e.value");
        postgres: list_sql!("", "= ANY($1)")
    ))
    .bind(Ids::of(statuses.iter().copied()))
    // No account has the id 0.
    .bind(viewer.map_or(0, i64::from))
    .all()
    .await
}

/// The votes of `voters` in the polls of `statuses`: the poll, the position of the option, the voter, and the
/// position of the vote among theirs, in no order.
#[boxed]
pub async fn votes_of(
    db: Conn<'_>,
    statuses: &[StatusId],
    voters: &[AccountId],
) -> Result<Vec<(PollId, i64, AccountId, i64)>> {
    macro_rules! votes_of_sql {
        ($of:literal, $page:literal, $is:literal) => {
            concat!(
                "SELECT v.poll_id, v.choice, v.account_id, v.place FROM ",
                $of,
                "poll_votes v WHERE ",
                $page,
                " AND v.account_id ",
                $is
            )
        };
    }
    db.query(sql!(
        sqlite: votes_of_sql!(
            "json_each($1) e CROSS JOIN polls p CROSS JOIN json_each($2) w CROSS JOIN ",
            "p.status_id = e.value AND v.poll_id = p.id", "= w.value"
        );
        postgres: votes_of_sql!("polls p CROSS JOIN ", "p.status_id = ANY($1) AND v.poll_id = p.id", "= ANY($2)")
    ))
    .bind(Ids::of(statuses.iter().copied()))
    .bind(Ids::of(voters.iter().copied()))
    .all()
    .await
}

#[boxed]
pub async fn find(db: Conn<'_>, id: PollId) -> Result<Option<Poll>> {
    db.query(sql!("SELECT " poll_columns!() " FROM polls p WHERE p.id = $1")).bind(id).optional().await
}

/// As [`find`], locked against votes and changes until the transaction ends.
#[boxed]
pub async fn lock(tx: &mut Tx, id: PollId) -> Result<Option<Poll>> {
    tx.query(sql!(
        sqlite: "SELECT " poll_columns!() " FROM polls p WHERE p.id = $1";
        postgres: "SELECT " poll_columns!() " FROM polls p WHERE p.id = $1 FOR NO KEY UPDATE"
    ))
    .bind(id)
    .optional()
    .await
}

/// As [`lock`], by its status.
#[boxed]
pub async fn lock_of_status(tx: &mut Tx, status: StatusId) -> Result<Option<Poll>> {
    tx.query(sql!(
        sqlite: "SELECT " poll_columns!() " FROM polls p WHERE p.status_id = $1";
        postgres: "SELECT " poll_columns!() " FROM polls p WHERE p.status_id = $1 FOR NO KEY UPDATE"
    ))
    .bind(status)
    .optional()
    .await
}

/// The texts of the options of the poll of `status`, in order; empty without a poll.
#[boxed]
pub async fn list_titles(db: Conn<'_>, status: StatusId) -> Result<Vec<String>> {
    db.query(sql!(
        "SELECT o.title FROM polls p JOIN poll_options o ON o.poll_id = p.id WHERE p.status_id = $1 ORDER BY o.position"
    ))
    .bind(status)
    .scalars()
    .await
}

/// The positions of the options that `account` voted for.
#[boxed]
pub async fn list_choices(db: Conn<'_>, poll: PollId, account: AccountId) -> Result<Vec<i64>> {
    db.query(sql!("SELECT v.choice FROM poll_votes v WHERE v.poll_id = $1 AND v.account_id = $2"))
        .bind(poll)
        .bind(account)
        .scalars()
        .await
}

/// The local voters, in the order of their ids: the first `limit` after `after`.
#[boxed]
pub async fn list_local_voters(db: Conn<'_>, poll: PollId, after: AccountId, limit: i64) -> Result<Vec<AccountId>> {
    db.query(sql!(
        "SELECT DISTINCT v.account_id FROM poll_votes v
         WHERE v.poll_id = $1 AND v.account_id > $2
           AND EXISTS (SELECT 1 FROM users u WHERE u.account_id = v.account_id)
         ORDER BY v.account_id
         LIMIT $3"
    ))
    .bind(poll)
    .bind(after)
    .bind(limit)
    .scalars()
    .await
}

/// Inserts a poll with its options, without votes.
#[boxed]
pub async fn insert(tx: &mut Tx, new: &Poll, options: &[String]) -> Result<()> {
    tx.query(sql!(poll_insert!())).bind_row(new).execute().await?;
    insert_options(tx, new.id, options).await
}

async fn insert_options(tx: &mut Tx, poll: PollId, options: &[String]) -> Result<()> {
    let rows: Vec<(usize, &String)> = options.iter().enumerate().collect();
    tx.query(sql!(
        "INSERT INTO poll_options (poll_id, position, title, votes_count)
         SELECT CAST($2 AS BIGINT), CAST(value ->> 0 AS BIGINT), value ->> 1, 0 FROM" rows("$1")
    ))
    .bind(Json(rows))
    .bind(poll)
    .execute()
    .await?;
    Ok(())
}

/// Replaces the counts of a poll: the votes of each option, in order, and the number of voters.
#[boxed]
pub async fn set_counts(tx: &mut Tx, id: PollId, votes: &[i64], voters: Option<i64>) -> Result<()> {
    let rows: Vec<(usize, i64)> = votes.iter().copied().enumerate().collect();
    tx.query(sql!(
        "UPDATE poll_options SET votes_count = coalesce(
             (SELECT CAST(value ->> 1 AS BIGINT) FROM" rows("$2") "WHERE CAST(value ->> 0 AS BIGINT) = position),
             votes_count)
         WHERE poll_id = $1"
    ))
    .bind(id)
    .bind(Json(rows))
    .execute()
    .await?;
    tx.query(sql!("UPDATE polls SET voters_count = $2 WHERE id = $1")).bind(id).bind(voters).execute().await?;
    Ok(())
}

/// Changes the end of a poll and whether its totals are hidden.
#[boxed]
pub async fn update(tx: &mut Tx, id: PollId, hide_totals: bool, expires_at: Option<Time>) -> Result<()> {
    tx.query(sql!("UPDATE polls SET hide_totals = $2, expires_at = $3 WHERE id = $1"))
        .bind(id)
        .bind(hide_totals)
        .bind(expires_at)
        .execute()
        .await?;
    Ok(())
}

/// Replaces the options of a poll, and deletes its votes.
#[boxed]
pub async fn reset(tx: &mut Tx, id: PollId, multiple: bool, options: &[String]) -> Result<()> {
    for text in [sql!("DELETE FROM poll_votes WHERE poll_id = $1"), sql!("DELETE FROM poll_options WHERE poll_id = $1")]
    {
        tx.query(text).bind(id).execute().await?;
    }
    tx.query(sql!("UPDATE polls SET multiple = $2, voters_count = 0 WHERE id = $1"))
        .bind(id)
        .bind(multiple)
        .execute()
        .await?;
    insert_options(tx, id, options).await
}

/// Deletes a poll; foreign keys delete its options and votes.
#[boxed]
pub async fn delete(tx: &mut Tx, id: PollId) -> Result<()> {
    tx.query(sql!("DELETE FROM polls WHERE id = $1")).bind(id).execute().await?;
    Ok(())
}

/// Inserts votes of `account` for the options at `choices`, in this order, and counts them; `before`: its number of
/// earlier votes here. Returns how many of `choices` are options: fewer means that the transaction must not be
/// committed.
#[boxed]
pub async fn vote(tx: &mut Tx, poll: PollId, account: AccountId, choices: &[i64], before: usize) -> Result<u64> {
    let counted = tx
        .query(sql!("UPDATE poll_options SET votes_count = votes_count + 1 WHERE poll_id = $1 AND position" in("$2")))
        .bind(poll)
        .bind(Ids::of(choices.iter().copied()))
        .execute()
        .await?;
    tx.query(sql!(
        "INSERT INTO poll_votes (poll_id, account_id, choice, place)
         SELECT CAST($1 AS BIGINT), CAST($2 AS BIGINT), CAST(value ->> 0 AS BIGINT), CAST(value ->> 1 AS BIGINT)
         FROM" rows("$3")
    ))
    .bind(poll)
    .bind(account)
    .bind(Json(choices.iter().zip(before..).map(|(choice, place)| (*choice, place)).collect::<Vec<_>>()))
    .execute()
    .await?;
    if before == 0 {
        tx.query(sql!("UPDATE polls SET voters_count = voters_count + 1 WHERE id = $1")).bind(poll).execute().await?;
    }
    Ok(counted)
}
