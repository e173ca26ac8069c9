//! A database for one test: a file, or a PostgreSQL database that is dropped afterwards.

use std::path::Path;

use store::db::{Db, Options};

pub struct Database {
    pub url: String,
    drop: Option<(String, String)>,
}

impl Database {
    #[expect(clippy::disallowed_methods, reason = "a test's environment says which database to use")]
    pub async fn create(folder: &Path) -> Self {
        match std::env::var("TEST_DATABASE_URL") {
            Err(_) => Self { url: format!("sqlite://{}/test.db", folder.display()), drop: None },
            Ok(server) => {
                let name = format!("rookery_{}", crypto::random_text(12).to_lowercase().replace(['-', '_'], "x"));
                admin(&server, &format!("CREATE DATABASE {name}")).await;
                let mut url = url::Url::parse(&server).unwrap();
                url.set_path(&name);
                Self { url: url.to_string(), drop: Some((server, name)) }
            }
        }
    }
}

async fn admin(server: &str, statement: &str) {
    let options = Options {
        url: server.to_owned(),
        max_connections: 1,
        acquire_timeout: std::time::Duration::from_secs(60),
        plugin_connections: 2,
    };
    let db = Db::open(&options).await.unwrap();
    db.execute_raw(statement).await.unwrap();
    db.close().await;
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Some((server, name)) = self.drop.take() {
            // The runtime of the test may be ending: a thread with one of its own does this last thing.
            let dropped = std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(admin(&server, &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")));
            });
            let _ = dropped.join();
        }
    }
}
