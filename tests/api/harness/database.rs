//! One database per test: a file, or a PostgreSQL database that is dropped afterwards.
//!
//! Each is a copy of a template with the schema: running all migrations takes longer than most tests.

use std::fs;
use std::path::Path;

use database::Options;
use database::db::Db;
use tokio::sync::OnceCell;

/// A temporary folder, in memory where there is enough of it: commits would wait for a disk.
pub fn folder() -> tempfile::TempDir {
    const MEMORY: &str = "/dev/shm";
    /// Free memory below which the folder is on the disk, in bytes.
    const ROOM: u64 = 2 << 30;
    match rustix::fs::statvfs(MEMORY) {
        Ok(disk) if disk.f_bavail.saturating_mul(disk.f_frsize) >= ROOM => tempfile::tempdir_in(MEMORY).unwrap(),
        Ok(_) | Err(_) => tempfile::tempdir().unwrap(),
    }
}

/// A file with the schema and no rows.
static FILE: OnceCell<Vec<u8>> = OnceCell::const_new();
/// Name of a database with the schema and no rows.
static TEMPLATE: OnceCell<String> = OnceCell::const_new();

pub struct Database {
    pub url: String,
    drop: Option<(String, String)>,
}

impl Database {
    #[expect(clippy::disallowed_methods, reason = "a test's environment says which database to use")]
    pub async fn create(folder: &Path) -> Self {
        match std::env::var("TEST_DATABASE_URL") {
            Err(_) => Self::in_file(folder).await,
            Ok(server) => {
                let template = TEMPLATE.get_or_init(|| template(&server)).await;
                let name = random_name();
                admin(&server, &format!("CREATE DATABASE {name} TEMPLATE {template}")).await.unwrap();
                Self { url: url_of(&server, &name), drop: Some((server, name)) }
            }
        }
    }
}

impl Database {
    /// A file, also when the other tests use PostgreSQL.
    pub async fn in_file(folder: &Path) -> Self {
        let url = format!("sqlite://{}/test.db", folder.display());
        fs::write(folder.join("test.db"), FILE.get_or_init(file).await).unwrap();
        Self { url, drop: None }
    }
}

async fn file() -> Vec<u8> {
    let folder = folder();
    migrate(&format!("sqlite://{}/test.db", folder.path().display())).await;
    fs::read(folder.path().join("test.db")).unwrap()
}

/// Creates the template, unless an earlier run on this server did. Its name depends on the content of the migrations.
async fn template(server: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations/postgres");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let texts: Vec<u8> = files.into_iter().flat_map(|file| fs::read(file).unwrap()).collect();
    let template = format!("rookery_template_{}", &crypto::sha256_hex(&texts)[..16]);
    let name = random_name();
    admin(server, &format!("CREATE DATABASE {name}")).await.unwrap();
    migrate(&url_of(server, &name)).await;
    if admin(server, &format!("ALTER DATABASE {name} RENAME TO {template}")).await.is_err() {
        admin(server, &format!("DROP DATABASE {name}")).await.unwrap();
    }
    template
}

async fn migrate(url: &str) {
    let db = open(url).await;
    database::migrate::run(&db).await.unwrap();
    db.close().await;
}

fn random_name() -> String {
    format!("rookery_{}", crypto::random_text(12).to_lowercase().replace(['-', '_'], "x"))
}

fn url_of(server: &str, name: &str) -> String {
    let mut url = url::Url::parse(server).unwrap();
    url.set_path(name);
    url.to_string()
}

async fn open(url: &str) -> Db {
    let options = Options {
        url: url.to_owned(),
        max_connections: 1,
        acquire_timeout: std::time::Duration::from_secs(60),
        plugin_connections: 2,
    };
    Db::open(&options).await.unwrap()
}

async fn admin(server: &str, statement: &str) -> database::Result<()> {
    let db = open(server).await;
    let done = db.execute_raw(statement).await;
    db.close().await;
    done.map(drop)
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Some((server, name)) = self.drop.take() {
            // The runtime of the test may be shutting down, so the database is dropped on a thread with a separate
            // runtime.
            let dropped = std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                let dropping = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
                runtime.block_on(admin(&server, &dropping)).unwrap();
            });
            let _ = dropped.join();
        }
    }
}
