//! Moderation of accounts, through services where they exist.
//!
//! Acts as an operator, who outranks everyone.

use model::moderation::WarningAction;
use model::{Account, AccountId, Preferences, Staff};
use service::moderation::account;
use service::moderation::action::{self, ActionParams};
use service::staff;

use super::verbs::Identified;
use super::{ALL_SCOPES, Client, TestApp};

impl TestApp {
    /// Hides the account and its content from everyone.
    pub async fn suspend(&self, person: &(impl Identified + ?Sized)) {
        self.act(person, WarningAction::Suspend).await;
    }

    pub async fn unsuspend(&self, person: &(impl Identified + ?Sized)) {
        account::unsuspend(&self.app, &Staff::operator(), self.stored(person).await.id).await.unwrap();
    }

    /// Hides the account from everyone who does not follow it.
    pub async fn limit(&self, person: &(impl Identified + ?Sized)) {
        self.act(person, WarningAction::Silence).await;
    }

    /// Marks all media of the account as sensitive.
    pub async fn sensitize(&self, person: &(impl Identified + ?Sized)) {
        self.act(person, WarningAction::Sensitive).await;
    }

    /// Takes an action on the account, without a report, a text or a mail.
    pub async fn act(&self, person: &(impl Identified + ?Sized), action: WarningAction) {
        let id = self.stored(person).await.id;
        let params = ActionParams { action, report: None, preset: None, text: String::new(), notify: false };
        action::act(&self.app, &Staff::operator(), id, params).await.unwrap();
    }

    /// As if the sign-up were waiting for approval.
    pub async fn unapprove(&self, person: &(impl Identified + ?Sized)) {
        self.set_user(person, "approved = FALSE").await;
    }

    pub async fn approve(&self, person: &(impl Identified + ?Sized)) {
        account::approve(&self.app, &Staff::operator(), self.stored(person).await.id, true).await.unwrap();
    }

    /// As if it had not confirmed its address.
    pub async fn unconfirm(&self, person: &(impl Identified + ?Sized)) {
        self.set_user(person, "confirmed_at = NULL").await;
    }

    /// Prevents the account from signing in.
    pub async fn disable(&self, person: &(impl Identified + ?Sized)) {
        self.act(person, WarningAction::Disable).await;
    }

    /// Gives the person the role of this name: `app.make(&bob, "Moderator")`. Adds no entry to the audit log.
    pub async fn make(&self, person: &(impl Identified + ?Sized), role: &str) {
        let role = staff::role(&self.app, role).await.unwrap();
        let mut tx = self.db().begin().await.unwrap();
        let id = self.stored(person).await.id;
        store::user::set_role(&mut tx, id, role.map(i64::from)).await.unwrap();
        store::account::bump(&mut tx, id).await.unwrap();
        tx.commit().await.unwrap();
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
