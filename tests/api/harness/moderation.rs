//! What staff do with people, through the services where there are any.
//!
//! The server does not yet limit, disable or hold back accounts by itself, so these write the columns.

use model::{Account, AccountId};
use service::{removal, staff};

use super::{Client, TestApp};

impl TestApp {
    /// Hides the account and everything of it from everybody.
    pub async fn suspend(&self, person: &Client) {
        assert!(removal::suspend(&self.app, &self.stored(person.id()).await).await.unwrap(), "suspended already");
    }

    pub async fn unsuspend(&self, person: &Client) {
        assert!(removal::unsuspend(&self.app, &self.stored(person.id()).await).await.unwrap(), "not suspended");
    }

    /// Hides the account from all who do not follow it.
    pub async fn limit(&self, person: &Client) {
        self.set_account(person.id(), "limited_at = created_at").await;
    }

    /// As if its sign-up waited for approval.
    pub async fn unapprove(&self, person: &Client) {
        self.set_user(person.id(), "approved = FALSE").await;
    }

    pub async fn approve(&self, person: &Client) {
        assert!(staff::approve(&self.app, &self.stored(person.id()).await).await.unwrap(), "nothing was pending");
    }

    /// As if it had not confirmed its address.
    pub async fn unconfirm(&self, person: &Client) {
        self.set_user(person.id(), "confirmed_at = NULL").await;
    }

    /// Keeps the person from signing in.
    pub async fn disable(&self, person: &Client) {
        self.set_user(person.id(), "disabled = TRUE").await;
    }

    /// Gives the person the role of this name: `Owner`, `Admin` or `Moderator`.
    pub async fn make(&self, person: &Client, role: &str) {
        let role = staff::role(&self.app, role).await.unwrap();
        staff::set_role(&self.app, &self.stored(person.id()).await, role).await.unwrap();
    }

    /// Writes columns of an account that no service writes: `app.set_account(bob.id(), "memorial = TRUE")`.
    pub async fn set_account(&self, account: AccountId, assignments: &str) {
        self.execute(&format!("UPDATE accounts SET {assignments}, version = version + 1 WHERE id = {account}")).await;
    }

    /// Writes columns of a user that no service writes: `app.set_user(bob.id(), "locale = 'de'")`.
    pub async fn set_user(&self, account: AccountId, assignments: &str) {
        self.execute(&format!("UPDATE users SET {assignments} WHERE account_id = {account}")).await;
    }

    /// The account as it is in the database.
    pub async fn stored(&self, account: AccountId) -> Account {
        store::account::find(self.db(), account).await.unwrap().expect("an account")
    }
}
