//! Rows of `feed_entries`. All functions here write them with [`insert`].

use database::Db;

use super::Seed;

impl Seed {
    /// An entry of `owner`'s home timeline. `original` is the reblogged status.
    pub fn home(&mut self, owner: i64, status: i64, original: Option<i64>) {
        self.homes.push(format!("{owner}, {status}, 0, {}", original.unwrap_or(status)));
    }

    /// A list without members, with a replies policy.
    pub fn list(&mut self, owner: i64, policy: &str) -> i64 {
        let id = self.next_id();
        let now = self.time(id);
        self.row(
            "lists (id, account_id, title, replies_policy, exclusive, notify, created_at)",
            format!("{id}, {owner}, 'a list', '{policy}', FALSE, FALSE, {now}"),
        );
        id
    }

    pub fn list_member(&mut self, list: i64, member: i64) {
        self.row("list_accounts (list_id, account_id)", format!("{list}, {member}"));
    }

    /// An entry of the timeline of `list`.
    pub fn listed(&mut self, list: i64, status: i64) {
        self.row("feed_entries (kind, owner_id, status_id)", format!("1, {list}, {status}"));
    }

    pub fn follow_tag(&mut self, account: i64, tag: i64) {
        self.tie("tag_follows (id, account_id, tag_id, created_at)", account, tag, "");
    }
}

/// Fills every home timeline as fan-out would have: the newest `keep` statuses of the owner and of followed accounts,
/// without direct statuses and without replies to accounts that the owner does not follow.
pub async fn fill_homes(db: &Db, keep: i64) {
    let followed = "SELECT f.account_id AS owner, s.id, s.account_id, COALESCE(s.reblog_of_id, s.id) AS original
        FROM follows f JOIN statuses s ON s.account_id = f.target_account_id
        WHERE s.visibility <> 'direct' AND (s.in_reply_to_id IS NULL
           OR s.in_reply_to_account_id IN (f.account_id, s.account_id)
           OR EXISTS (SELECT 1 FROM follows o
                      WHERE o.account_id = f.account_id AND o.target_account_id = s.in_reply_to_account_id))";
    let own = "SELECT u.account_id, s.id, s.account_id, COALESCE(s.reblog_of_id, s.id)
        FROM users u JOIN statuses s ON s.account_id = u.account_id WHERE s.visibility <> 'direct'";
    let newest = format!(
        "SELECT owner, id, account_id, original FROM (
            SELECT owner, id, account_id, original, ROW_NUMBER() OVER (PARTITION BY owner ORDER BY id DESC) AS number
            FROM ({followed} UNION ALL {own}) entries
         ) numbered WHERE number <= {keep} ORDER BY owner, id"
    );
    db.execute_raw(&insert(db, &newest).await).await.expect("home timelines");
}

/// Adds all followed accounts with statuses to every list, and fills its timeline from the owner's home timeline.
pub async fn fill_lists(db: &Db) {
    let members = "INSERT INTO list_accounts (list_id, account_id)
        SELECT l.id, f.target_account_id FROM lists l JOIN follows f ON f.account_id = l.account_id
        WHERE EXISTS (SELECT 1 FROM statuses s WHERE s.account_id = f.target_account_id)";
    let entries = "INSERT INTO feed_entries (kind, owner_id, status_id, original_id)
        SELECT 1, l.id, e.status_id, e.original_id FROM lists l
        JOIN feed_entries e ON e.kind = 0 AND e.owner_id = l.account_id
        JOIN statuses s ON s.id = e.status_id
        JOIN list_accounts m ON m.list_id = l.id AND m.account_id = s.account_id";
    db.execute_raw(&format!("{members}; {entries};")).await.expect("timelines of lists");
}

/// The statement that inserts entries of home timelines; `rows` selects owner, status, author and the displayed
/// status, which differs for a reblog.
///
/// For both schemas: entries used to have their author, and their status twice unless it was a reblog. This allows
/// comparing programs from before and after the change.
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
