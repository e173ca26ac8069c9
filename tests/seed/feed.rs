//! Rows of `feed_entries`. Everything that writes them here goes through [`insert`].

use store::Db;

use super::Seed;

impl Seed {
    /// An entry of `owner`'s home timeline. `original`: of a boost.
    pub fn home(&mut self, owner: i64, status: i64, original: Option<i64>) {
        self.homes.push(format!("{owner}, {status}, 0, {}", original.unwrap_or(status)));
    }
}

/// Fills every home timeline as fan-out would have: the newest `keep` statuses of whom its owner follows and of the owner,
/// without answers to people whom the owner does not follow.
pub async fn fill_homes(db: &Db, keep: i64) {
    let followed = "SELECT f.account_id AS owner, s.id, s.account_id, COALESCE(s.reblog_of_id, s.id) AS original
        FROM follows f JOIN statuses s ON s.account_id = f.target_account_id
        WHERE s.in_reply_to_id IS NULL OR s.in_reply_to_account_id IN (f.account_id, s.account_id)
           OR EXISTS (SELECT 1 FROM follows o
                      WHERE o.account_id = f.account_id AND o.target_account_id = s.in_reply_to_account_id)";
    let own = "SELECT u.account_id, s.id, s.account_id, COALESCE(s.reblog_of_id, s.id)
        FROM users u JOIN statuses s ON s.account_id = u.account_id";
    let newest = format!(
        "SELECT owner, id, account_id, original FROM (
            SELECT owner, id, account_id, original, ROW_NUMBER() OVER (PARTITION BY owner ORDER BY id DESC) AS number
            FROM ({followed} UNION ALL {own}) entries
         ) numbered WHERE number <= {keep} ORDER BY owner, id"
    );
    db.execute_raw(&insert(db, &newest).await).await.expect("home timelines");
}

/// The statement that inserts entries of home timelines; `rows` selects owner, status, author and the status that is shown,
/// which is another one for a boost.
///
/// For both schemas: entries once named their author, and their status twice unless it was a boost. So programs from before
/// and after can be compared.
pub(super) async fn insert(db: &Db, rows: &str) -> String {
    let named: Result<Vec<(i64,)>, _> = db.fetch_raw("SELECT author_id FROM feed_entries LIMIT 1").await;
    let rows = format!("WITH entry (owner, status, author, original) AS ({rows})");
    if named.is_ok() {
        return format!(
            "{rows} INSERT INTO feed_entries (kind, owner_id, status_id, author_id, original_id)
             SELECT 0, owner, status, author, original FROM entry;\n"
        );
    }
    format!(
        "{rows} INSERT INTO feed_entries (kind, owner_id, status_id, original_id)
         SELECT 0, owner, status, NULLIF(original, status) FROM entry;\n"
    )
}
