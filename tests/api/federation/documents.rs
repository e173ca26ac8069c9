//! The documents that other servers are served.

use crate::harness::{Answer, TestApp};

const ACTIVITY: &str = "application/activity+json";

async fn document(app: &TestApp, path: &str) -> Answer {
    app.anonymous().get(path).header("accept", ACTIVITY).send().await
}

#[tokio::test]
async fn actor_is_a_document_or_a_page() {
    let app = TestApp::new().await;
    app.account("alice").await;
    let answer = document(&app, "/users/alice").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), "application/activity+json; charset=utf-8");
    assert_eq!(answer.header("cache-control"), "max-age=180, public");
    assert!(answer.header("vary").contains("Accept"));
    let actor = answer.json();
    assert_eq!(actor["id"], "https://example.test/users/alice");
    assert_eq!(actor["publicKey"]["owner"], actor["id"]);
    assert_eq!(actor["endpoints"]["sharedInbox"], "https://example.test/inbox");
    let page = app.anonymous().get("/users/alice").header("accept", "text/html").send().await;
    assert_eq!((page.status.as_u16(), page.header("location")), (301, "https://example.test/@alice"));
    assert!(page.header("vary").contains("Accept"));
    let page = app.anonymous().get("/@alice").send().await;
    let link = "<https://example.test/users/alice>; rel=\"alternate\"; type=\"application/activity+json\"";
    assert_eq!(page.header("link"), link);
}
