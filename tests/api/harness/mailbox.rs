//! The mail that a server under test sent, as files in its folder.

use super::TestApp;

impl TestApp {
    /// Runs all queued jobs and returns the mails sent so far, oldest first.
    pub async fn letters(&self) -> Vec<String> {
        self.run_jobs().await;
        let Ok(entries) = std::fs::read_dir(&self.app.config.mail.directory) else { return Vec::new() };
        let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect()
    }

    /// Path and query of the link in the latest mail. Advances the clock, so that the next mail is later.
    pub async fn mailed_link(&self) -> String {
        let letters = self.letters().await;
        self.tick();
        let letter = letters.last().expect("a letter");
        let start = letter.find("https://example.test/auth/").expect("a link") + "https://example.test".len();
        letter[start..].split_whitespace().next().unwrap().to_owned()
    }

    /// Changes a setting as an admin does, and makes the server notice.
    pub async fn set(&self, key: &str, value: impl Into<serde_json::Value>) {
        let mut tx = self.app.db.begin().await.unwrap();
        let now = self.app.clock.now();
        store::settings::set(&mut tx, key, &value.into(), now).await.unwrap();
        store::settings::bump_generation(&mut tx, now).await.unwrap();
        tx.commit().await.unwrap();
        self.app.reload().await.unwrap();
    }
}
