//! Size of rows in the database, including their indexes.

use database::Db;
use database::db::Engine;

use crate::scratch::{self, Scratch, number};

/// Referencing tables come first: on SQLite the tables are emptied in this order.
const TABLES: [&str; 11] = [
    "feed_entries",
    "notifications",
    "favourites",
    "bookmarks",
    "mentions",
    "status_tags",
    "media_attachments",
    "statuses",
    "conversations",
    "follows",
    "accounts",
];

struct Size {
    rows: i64,
    bytes: i64,
}

/// Prints the size of each table of a database without connections, and the size of a status with all its records.
pub async fn print(scratch: &Scratch, when: &str) {
    let copy = scratch.copy().await;
    let db = scratch::open(&copy.url).await;
    let all = whole(&db).await;
    let mut sizes = Vec::new();
    for table in TABLES {
        sizes.push((table, of(&db, table).await));
    }
    db.close().await;
    copy.remove().await;
    println!("\nbytes in the database, {when}: {:.1} MiB", all as f64 / 1_048_576.0);
    println!("{:<26}{:>10}{:>10}{:>12}", "", "rows", "MiB", "bytes/row");
    for (table, size) in &sizes {
        println!("{}", line(table, size));
    }
    let statuses = sizes.iter().filter(|(table, _)| STATUS.contains(table));
    let rows = sizes.iter().find(|(table, _)| *table == "statuses").map_or(1, |(_, size)| size.rows);
    println!(
        "{}",
        line("a status and all its rows", &Size { rows, bytes: statuses.map(|(_, size)| size.bytes).sum() })
    );
}

/// Tables with records of a status.
const STATUS: [&str; 5] = ["statuses", "conversations", "mentions", "status_tags", "media_attachments"];

fn line(name: &str, size: &Size) -> String {
    let each = size.bytes as f64 / size.rows.max(1) as f64;
    format!("{name:<26}{:>10}{:>10.1}{each:>12.0}", size.rows, size.bytes as f64 / 1_048_576.0)
}

/// Bytes of all pages in use.
async fn whole(db: &Db) -> i64 {
    let statement = match db.engine() {
        Engine::Sqlite => {
            "SELECT (SELECT page_count FROM pragma_page_count) * (SELECT page_size FROM pragma_page_size)
                  - (SELECT freelist_count FROM pragma_freelist_count) * (SELECT page_size FROM pragma_page_size)"
        }
        Engine::Postgres => "SELECT pg_database_size(current_database())",
    };
    number(db, statement).await
}

/// On SQLite, the space that emptying the table frees: its actual pages, without a statement that counts them.
async fn of(db: &Db, table: &str) -> Size {
    let rows = number(db, &format!("SELECT COUNT(*) FROM {table}")).await;
    let bytes = match db.engine() {
        Engine::Sqlite => {
            let before = whole(db).await;
            db.execute_raw(&format!("DELETE FROM {table}")).await.expect("the table is emptied");
            before - whole(db).await
        }
        Engine::Postgres => number(db, &format!("SELECT pg_total_relation_size('{table}')")).await,
    };
    Size { rows, bytes }
}
