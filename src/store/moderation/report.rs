//! Reports of accounts to the staff: inserting, reading and resolving them.
//!
//! Reached from `service::report`, which decides what may be reported, and `service::moderation::report`.

use database::sql::{Ids, Texts};
use database::{Conn, Result, Tx, paged, sql};
use model::report::ReportCategory;
use model::{AccountId, Cursor, Json, RowId, RuleId, StatusId, Time, boxed};

#[derive(Clone, Debug, PartialEq, model::Row)]
#[row(table = "reports", alias = "r")]
pub struct Report {
    pub id: RowId,
    pub account_id: AccountId,
    pub target_account_id: AccountId,
    pub category: ReportCategory,
    pub comment: String,
    pub status_ids: Option<Json<Vec<StatusId>>>,
    pub rule_ids: Option<Json<Vec<RuleId>>>,
    pub forwarded: bool,
    pub forward_to_domains: Json<Vec<String>>,
    pub action_taken_at: Option<Time>,
    /// Who resolved it; `None` for an operator.
    pub action_taken_by_account_id: Option<AccountId>,
    /// The member of staff who takes care of it.
    pub assigned_account_id: Option<AccountId>,
    /// The activity, if it came from another server.
    pub uri: Option<String>,
    /// `None`: unchanged since `created_at`.
    pub updated_at: Option<Time>,
    pub created_at: Time,
}

/// The reports that a list has.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReportFilter {
    /// Resolved reports instead of unresolved ones.
    pub resolved: bool,
    /// By this account.
    pub account: Option<AccountId>,
    /// About this account.
    pub target: Option<AccountId>,
}

/// What a member of staff noted on a report, for the others.
#[derive(Clone, Debug, PartialEq, model::Row)]
#[row(table = "report_notes", alias = "n")]
pub struct ReportNote {
    pub id: RowId,
    pub report_id: RowId,
    /// The author; `None` for an operator, or when the account no longer exists.
    pub account_id: Option<AccountId>,
    pub text: String,
    pub created_at: Time,
}

#[boxed]
pub async fn insert(tx: &mut Tx, report: &Report) -> Result<()> {
    tx.query(sql!(report_insert!())).bind_row(report).execute().await?;
    Ok(())
}

/// A status that another server reports.
#[derive(Clone, Debug, model::Row)]
pub struct ReportedStatus {
    pub id: StatusId,
    pub account_id: AccountId,
    /// By an account of this server, or in response to one.
    pub concerns_us: bool,
}

/// The statuses of other servers with these URIs that exist, and those of this server among `own`, in no particular order.
#[boxed]
pub async fn list_reported(db: Conn<'_>, uris: &[String], own: &[StatusId]) -> Result<Vec<ReportedStatus>> {
    db.query(sql!(
        "SELECT s.id, s.account_id,
                EXISTS (SELECT 1 FROM accounts p WHERE p.id = s.in_reply_to_account_id AND p.domain IS NULL) AS concerns_us
         FROM statuses s WHERE NOT s.local AND s.uri" in("$1") "
         UNION ALL
         SELECT s.id, s.account_id, TRUE AS concerns_us FROM statuses s WHERE s.local AND s.id" in("$2")
    ))
    .bind(Texts::of(uris.iter().cloned()))
    .bind(Ids::of(own.iter().copied()))
    .all()
    .await
}

/// The number of reports by accounts of `domain` since `since`, counted up to `most`.
#[boxed]
pub async fn count_of_domain(db: Conn<'_>, domain: &str, since: Time, most: i64) -> Result<i64> {
    db.query(sql!(
        "SELECT COUNT(*) FROM (
             SELECT 1 FROM accounts a JOIN reports r ON r.account_id = a.id
             WHERE a.domain = $1 AND r.created_at > $2 LIMIT $3
         ) counted"
    ))
    .bind(domain.to_owned())
    .bind(since)
    .bind(most)
    .scalar()
    .await
}

/// Inserts a report of another server; false when it is known already.
#[boxed]
pub async fn insert_remote(tx: &mut Tx, report: &Report) -> Result<bool> {
    if let Some(uri) = &report.uri {
        let known: i64 = tx
            .query(sql!("SELECT COUNT(*) AS reports FROM reports r WHERE r.uri = $1 AND r.target_account_id = $2"))
            .bind(uri.clone())
            .bind(report.target_account_id)
            .scalar()
            .await?;
        if known > 0 {
            return Ok(false);
        }
    }
    insert(tx, report).await?;
    Ok(true)
}

/// The accounts of the domains to which a report is forwarded: the reported one, and those that its statuses respond to.
#[boxed]
pub async fn recipients(db: Conn<'_>, report: &Report) -> Result<Vec<AccountId>> {
    let statuses = report.status_ids.as_ref().map_or(&[][..], |ids| &ids.0);
    db.query(sql!(
        "SELECT a.id FROM accounts a
         WHERE a.domain" in("$1") "AND (a.id = $2
             OR a.id IN (SELECT s.in_reply_to_account_id FROM statuses s WHERE s.id" in("$3") "))"
    ))
    .bind(Texts::of(report.forward_to_domains.iter().cloned()))
    .bind(report.target_account_id)
    .bind(Ids::of(statuses.iter().copied()))
    .scalars()
    .await
}

/// The reports that exist among `ids`, in no particular order.
#[boxed]
pub async fn list(db: Conn<'_>, ids: &[RowId]) -> Result<Vec<Report>> {
    db.query(sql!("SELECT " report_columns!() " FROM reports r WHERE r.id" in("$1")))
        .bind(Ids::of(ids.iter().copied()))
        .all()
        .await
}

/// The report `id`, locked until the transaction ends: by `FOR UPDATE` on PostgreSQL, by the single writer on SQLite.
#[boxed]
pub async fn lock(tx: &mut Tx, id: RowId) -> Result<Option<Report>> {
    tx.query(sql!(
        sqlite: "SELECT " report_columns!() " FROM reports r WHERE r.id = $1";
        postgres: "SELECT " report_columns!() " FROM reports r WHERE r.id = $1 FOR UPDATE"
    ))
    .bind(id)
    .optional()
    .await
}

/// A page of reports, newest first.
#[boxed]
pub async fn list_page(db: Conn<'_>, filter: &ReportFilter, cursor: &Cursor) -> Result<Vec<Report>> {
    macro_rules! matching {
        ($($conditions:literal),+) => {
            paged!(
                cursor,
                "SELECT " report_columns!() " FROM reports r
                 WHERE r.id < $1 AND r.id > $2 AND " $($conditions)+,
                by "r.id", limit "$5"
            )
        };
    }
    // No account has the id 0.
    let sql = match (filter.resolved, filter.account, filter.target) {
        (false, None, None) => matching!("r.action_taken_at IS NULL AND $3 = 0 AND $4 = 0"),
        (true, None, None) => matching!("r.action_taken_at IS NOT NULL AND $3 = 0 AND $4 = 0"),
        (false, None, Some(_)) => matching!("r.action_taken_at IS NULL AND r.target_account_id = $4 AND $3 = 0"),
        (true, None, Some(_)) => matching!("r.action_taken_at IS NOT NULL AND r.target_account_id = $4 AND $3 = 0"),
        (false, Some(_), _) => {
            matching!("r.action_taken_at IS NULL AND r.account_id = $3 AND ($4 = 0 OR r.target_account_id = $4)")
        }
        (true, Some(_), _) => {
            matching!("r.action_taken_at IS NOT NULL AND r.account_id = $3 AND ($4 = 0 OR r.target_account_id = $4)")
        }
    };
    let id = |account: Option<AccountId>| account.map_or(0, i64::from);
    let query = db.query(sql).bind(cursor.before()).bind(cursor.after());
    let rows = query.bind(id(filter.account)).bind(id(filter.target)).bind(cursor.limit).all().await?;
    Ok(cursor.newest_first(rows))
}

/// The newest `limit` unresolved reports.
#[boxed]
pub async fn list_unresolved(db: Conn<'_>, limit: i64) -> Result<Vec<Report>> {
    db.query(sql!(
        "SELECT " report_columns!() " FROM reports r WHERE r.action_taken_at IS NULL AND r.id > 0 ORDER BY r.id DESC LIMIT $1"
    ))
    .bind(limit)
    .all()
    .await
}

/// The newest `limit` reports.
#[boxed]
pub async fn list_all(db: Conn<'_>, limit: i64) -> Result<Vec<Report>> {
    db.query(sql!("SELECT " report_columns!() " FROM reports r WHERE r.id > 0 ORDER BY r.id DESC LIMIT $1"))
        .bind(limit)
        .all()
        .await
}

/// Records that `by` took action on a report, or reopened it (`resolved` false); false when nothing changes, or it is
/// missing.
#[boxed]
pub async fn set_resolved(tx: &mut Tx, id: RowId, resolved: bool, by: Option<AccountId>, now: Time) -> Result<bool> {
    let changed = tx
        .query(sql!(
            "UPDATE reports SET action_taken_at = $2, action_taken_by_account_id = $3, updated_at = $4
             WHERE id = $1 AND (action_taken_at IS NULL) = (CAST($5 AS BOOLEAN))"
        ))
        .bind(id)
        .bind(resolved.then_some(now))
        .bind(by.filter(|_| resolved))
        .bind(now)
        .bind(resolved)
        .execute()
        .await?;
    Ok(changed > 0)
}

/// Assigns a report to a member of staff, or to nobody; false when nothing changes, or it is missing.
#[boxed]
pub async fn set_assigned(tx: &mut Tx, id: RowId, to: Option<AccountId>, now: Time) -> Result<bool> {
    let changed = tx
        .query(sql!(
            "UPDATE reports SET assigned_account_id = $2, updated_at = $3
             WHERE id = $1 AND assigned_account_id IS DISTINCT FROM $2"
        ))
        .bind(id)
        .bind(to)
        .bind(now)
        .execute()
        .await?;
    Ok(changed > 0)
}

/// Writes the category and the rules of a report.
#[boxed]
pub async fn set_category(
    tx: &mut Tx,
    id: RowId,
    category: ReportCategory,
    rules: Option<&[RuleId]>,
    now: Time,
) -> Result<()> {
    tx.query(sql!("UPDATE reports SET category = $2, rule_ids = $3, updated_at = $4 WHERE id = $1"))
        .bind(id)
        .bind(category)
        .bind(rules.map(|rules| Json(rules.to_vec())))
        .bind(now)
        .execute()
        .await?;
    Ok(())
}

/// A page of the notes on a report, newest first.
#[boxed]
pub async fn list_notes(db: Conn<'_>, report: RowId, cursor: &Cursor) -> Result<Vec<ReportNote>> {
    let sql = paged!(
        cursor,
        "SELECT " report_note_columns!() " FROM report_notes n WHERE n.report_id = $3 AND n.id < $1 AND n.id > $2",
        by "n.id", limit "$4"
    );
    let query = db.query(sql).bind(cursor.before()).bind(cursor.after()).bind(report).bind(cursor.limit);
    Ok(cursor.newest_first(query.all().await?))
}

#[boxed]
pub async fn find_note(db: Conn<'_>, id: RowId) -> Result<Option<ReportNote>> {
    db.query(sql!("SELECT " report_note_columns!() " FROM report_notes n WHERE n.id = $1")).bind(id).optional().await
}

#[boxed]
pub async fn insert_note(tx: &mut Tx, note: &ReportNote) -> Result<()> {
    tx.query(sql!(report_note_insert!())).bind_row(note).execute().await?;
    Ok(())
}

/// Deletes a note; false when it is missing.
#[boxed]
pub async fn delete_note(tx: &mut Tx, id: RowId) -> Result<bool> {
    Ok(tx.query(sql!("DELETE FROM report_notes WHERE id = $1")).bind(id).execute().await? > 0)
}

/// The unresolved reports about `account`, oldest first.
#[boxed]
pub async fn list_unresolved_about(db: Conn<'_>, account: AccountId) -> Result<Vec<RowId>> {
    db.query(sql!(
        "SELECT r.id FROM reports r WHERE r.target_account_id = $1 AND r.action_taken_at IS NULL ORDER BY r.id"
    ))
    .bind(account)
    .scalars()
    .await
}

/// Deletes up to `limit` each of the reports by an account and about it; returns how many.
#[boxed]
pub async fn delete_some(tx: &mut Tx, account: AccountId, limit: i64) -> Result<u64> {
    let mut count = 0;
    for part in [
        sql!("DELETE FROM reports WHERE id IN (SELECT r.id FROM reports r WHERE r.account_id = $1 LIMIT $2)"),
        sql!("DELETE FROM reports WHERE id IN (SELECT r.id FROM reports r WHERE r.target_account_id = $1 LIMIT $2)"),
    ] {
        count += tx.query(part).bind(account).bind(limit).execute().await?;
    }
    Ok(count)
}
