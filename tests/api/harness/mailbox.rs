//! The mail that a server under test sent, as files in its folder.

use super::TestApp;

impl TestApp {
    /// Does all queued work, and gives the letters sent so far, oldest first.
    pub async fn letters(&self) -> Vec<String> {
        self.run_jobs().await;
        let Ok(entries) = std::fs::read_dir(&self.app.config.mail.directory) else { return Vec::new() };
        let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect()
    }

    /// The path and query of the link in the latest letter. The clock moves, so that the next one is later.
    pub async fn mailed_link(&self) -> String {
        let letters = self.letters().await;
        self.tick();
        let letter = letters.last().expect("a letter");
        let start = letter.find("https://example.test/auth/").expect("a link") + "https://example.test".len();
        letter[start..].split_whitespace().next().unwrap().to_owned()
    }

    /// Sets what an admin can set, and has the server notice.
    pub async fn set(&self, key: &str, value: impl Into<serde_json::Value>) {
        let mut tx = self.app.db.begin().await.unwrap();
        let now = self.app.clock.now();
        store::settings::set(&mut tx, key, &value.into(), now).await.unwrap();
        store::settings::bump_generation(&mut tx, now).await.unwrap();
        tx.commit().await.unwrap();
        self.app.reload().await.unwrap();
    }
}
