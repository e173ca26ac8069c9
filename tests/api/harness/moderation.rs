//! Moderation of accounts, through services where they exist.
//!
//! The server does not yet limit, disable or hold back accounts itself, so these write the columns.

use model::{Account, AccountId, Preferences};
use service::{removal, staff};

use super::verbs::Identified;
use super::{ALL_SCOPES, Client, TestApp};

impl TestApp {
    /// Hides the account and its content from everyone.
    pub async fn suspend(&self, person: &(impl Identified + ?Sized)) {
        assert!(removal::suspend(&self.app, &self.stored(person).await).await.unwrap(), "suspended already");
    }

    pub async fn unsuspend(&self, person: &(impl Identified + ?Sized)) {
        assert!(removal::unsuspend(&self.app, &self.stored(person).await).await.unwrap(), "not suspended");
    }

    /// Hides the account from everyone who does not follow it.
    pub async fn limit(&self, person: &(impl Identified + ?Sized)) {
        self.set_account(person, "limited_at = created_at").await;
    }

    /// As if the sign-up were waiting for approval.
    pub async fn unapprove(&self, person: &(impl Identified + ?Sized)) {
        self.set_user(person, "approved = FALSE").await;
    }

    pub async fn approve(&self, person: &(impl Identified + ?Sized)) {
        assert!(staff::approve(&self.app, &self.stored(person).await).await.unwrap(), "nothing was pending");
    }

    /// As if it had not confirmed its address.
    pub async fn unconfirm(&self, person: &(impl Identified + ?Sized)) {
        self.set_user(person, "confirmed_at = NULL").await;
    }

    /// Prevents the account from signing in.
    pub async fn disable(&self, person: &(impl Identified + ?Sized)) {
        self.set_user(person, "disabled = TRUE").await;
    }

    /// Gives the person the role of this name: `app.make(&bob, "Moderator")`.
    pub async fn make(&self, person: &(impl Identified + ?Sized), role: &str) {
        let role = staff::role(&self.app, role).await.unwrap();
        staff::set_role(&self.app, &self.stored(person).await, role).await.unwrap();
    }

    /// A new account with the role of this name, whose token has the scopes of the admin API as well.
    pub async fn staff(&self, name: &str, role: &str) -> Client {
        let person = self.account(name).await;
        self.make(&person, role).await;
        let token = self.token(Some(person.id()), &format!("{ALL_SCOPES} admin:read admin:write")).await;
        Client::new(self.clone(), Some(person.id()), name, Some(token))
    }

    /// Writes columns of an account that no service writes: `app.set_account(&bob, "memorial = TRUE")`.
    pub async fn set_account(&self, person: &(impl Identified + ?Sized), assignments: &str) {
        let id = person.id_text();
        self.execute(&format!("UPDATE accounts SET {assignments}, version = version + 1 WHERE id = {id}")).await;
    }

    /// Writes columns of a user that no service writes: `app.set_user(&bob, "disabled = FALSE")`.
    pub async fn set_user(&self, person: &(impl Identified + ?Sized), assignments: &str) {
        self.execute(&format!("UPDATE users SET {assignments} WHERE account_id = {}", person.id_text())).await;
    }

    /// The account as it is in the database.
    async fn stored(&self, person: &(impl Identified + ?Sized)) -> Account {
        let id: i64 = person.id_text().parse().unwrap();
        store::account::find(self.db(), AccountId::from(id)).await.unwrap().expect("an account")
    }

    /// Allows all accounts, including seeded ones, in the directory, suggestions and trends.
    pub async fn make_everybody_discoverable(&self) {
        self.execute("UPDATE accounts SET discoverable = TRUE, version = version + 1").await;
    }

    /// Changes preferences: `app.prefer(&bob, |preferences| preferences.default_sensitive = true)`.
    pub async fn prefer(&self, person: &(impl Identified + ?Sized), change: impl FnOnce(&mut Preferences)) {
        let id = self.stored(person).await.id;
        let user = store::user::find(self.db(), id).await.unwrap().expect("a user");
        let mut preferences = user.preferences.0;
        change(&mut preferences);
        service::preference::update(&self.app, id, preferences, user.locale.as_deref()).await.unwrap();
    }

    /// Marks all existing links as trendable, as staff do after a review.
    pub async fn make_links_trendable(&self) {
        self.execute("UPDATE preview_cards SET trendable = TRUE").await;
    }

    /// Marks home feeds as filled.
    pub async fn make_feeds_live(&self) {
        self.execute("UPDATE users SET feed_state = 'live'").await;
    }

    /// Sets the language of pages and mails for all users.
    pub async fn set_locale(&self, locale: &str) {
        self.execute(&format!("UPDATE users SET locale = '{locale}'")).await;
    }
}
