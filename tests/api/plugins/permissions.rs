//! Permissions of plugins across versions: upgrades, roll-backs and revocation.

use plugins::admin;
use plugins::life::{self, Outcome, State};
use rookery_plugin_host::Stage;

use super::shelf::Shelf;

const READ: &str = "[permissions]\ncore = [\"read\"]\n";

impl Shelf {
    async fn granted(&self, name: &str) -> Vec<String> {
        admin::find(&self.app.plugins(), name).await.unwrap().plugin.granted.0
    }

    async fn missing(&self, name: &str) -> Vec<String> {
        admin::find(&self.app.plugins(), name).await.unwrap().missing.into_iter().collect()
    }

    /// Puts a version that requests `more`, and grants it as an admin.
    async fn upgrade(&self, version: &str, more: &str) {
        self.put("notes", version, more);
        admin::grant(&self.app.plugins(), &model::Staff::operator(), "notes").await.unwrap();
        self.reload("notes").await.unwrap();
        assert_eq!(self.serving("notes").unwrap().1, version);
    }
}

#[tokio::test]
async fn rollback_revokes_grants_of_the_newer_version() {
    let shelf = Shelf::new().await;
    shelf.serve("notes").await;
    shelf.upgrade("2.0.0", READ).await;
    assert_eq!(shelf.granted("notes").await, ["core:read"]);

    admin::rollback(&shelf.app.plugins(), &model::Staff::operator(), "notes").await.unwrap();
    shelf.reload("notes").await.unwrap();
    assert_eq!(shelf.serving("notes").unwrap().1, "1.0.0");
    assert!(shelf.granted("notes").await.is_empty());
    let list = shelf.app.run(&["plugin", "list"]).await.ok();
    assert!(list.contains("2.0.0 failed or was rolled back: `rookery plugin reload notes`"), "{list}");

    shelf.put("notes", "3.0.0", READ);
    assert_eq!(shelf.missing("notes").await, ["core:read"], "an admin is asked again");
}

#[tokio::test]
async fn permission_dropped_by_a_version_is_requested_again() {
    let shelf = Shelf::new().await;
    shelf.put("notes", "1.0.0", READ);
    shelf.enable("notes").await.unwrap();
    shelf.put("notes", "2.0.0", "");
    admin::accept(&shelf.app.plugins(), &model::Staff::operator(), "notes").await.unwrap();
    shelf.reload("notes").await.unwrap();
    assert_eq!((shelf.serving("notes").unwrap().1.as_str(), shelf.granted("notes").await.len()), ("2.0.0", 0));

    shelf.put("notes", "3.0.0", READ);
    assert_eq!(shelf.missing("notes").await, ["core:read"]);
    assert!(
        admin::accept(&shelf.app.plugins(), &model::Staff::operator(), "notes")
            .await
            .unwrap_err()
            .to_string()
            .contains("core:read")
    );

    admin::rollback(&shelf.app.plugins(), &model::Staff::operator(), "notes").await.unwrap();
    shelf.reload("notes").await.unwrap();
    assert_eq!(shelf.serving("notes").unwrap().1, "1.0.0", "the previous version has its former permissions");
    assert_eq!(shelf.granted("notes").await, ["core:read"]);
}

#[tokio::test]
async fn plugin_whose_permission_is_revoked_stops_serving_until_it_is_granted() {
    let shelf = Shelf::new().await;
    shelf.put("notes", "1.0.0", "[permissions]\ncore = [\"read\"]\nqueue = true\n");
    shelf.enable("notes").await.unwrap();
    let app = &shelf.app.plugins();
    let wrong = admin::revoke(app, &model::Staff::operator(), "notes", &["core:raed".to_owned()])
        .await
        .unwrap_err()
        .to_string();
    assert_eq!(wrong, "notes was not granted the permission \"core:raed\"; did you mean core:read?");
    assert!(shelf.serving("notes").is_some());

    admin::revoke(app, &model::Staff::operator(), "notes", &["core:read".to_owned()]).await.unwrap();
    life::follow_changes(app).await.unwrap();
    assert_eq!((shelf.serving("notes"), shelf.granted("notes").await), (None, vec!["queue".to_owned()]));
    assert!(matches!(shelf.state("notes"), State::Failed(fault) if fault.stage == Stage::Grants));
    life::follow(app).await;
    assert_eq!(shelf.serving("notes"), None);

    admin::grant(app, &model::Staff::operator(), "notes").await.unwrap();
    assert!(matches!(shelf.reload("notes").await, Ok(Outcome::Loaded(_))));
}

#[tokio::test]
async fn rollback_does_not_restore_revoked_permissions() {
    let shelf = Shelf::new().await;
    shelf.put("notes", "1.0.0", READ);
    shelf.enable("notes").await.unwrap();
    shelf.upgrade("2.0.0", "[permissions]\ncore = [\"read\"]\nqueue = true\n").await;
    let app = &shelf.app.plugins();
    shelf.app.run(&["plugin", "revoke", "notes", "core:read"]).await.ok();
    life::follow_changes(app).await.unwrap();
    assert_eq!(shelf.serving("notes"), None);
    let refused = admin::rollback(app, &model::Staff::operator(), "notes").await.unwrap_err().to_string();
    assert!(refused.contains("core:read"), "{refused}");
}
