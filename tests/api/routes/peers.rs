//! Search for known servers.

use serde_json::json;

use crate::harness::TestApp;

#[tokio::test]
async fn peers_are_found_by_prefix_of_their_name() {
    let app = TestApp::new().await;
    let names: Vec<String> = (0..12).map(|number| format!("rook{number:02}.test")).collect();
    let rows: Vec<&str> =
        names.iter().map(String::as_str).chain(["crow.test", "xn--rk-fka.test", "50percent.test"]).collect();
    for name in rows {
        let sql = match app.db().engine() {
            database::Engine::Sqlite => {
                format!("INSERT INTO instances (domain, features, created_at) VALUES ('{name}', '{{}}', 0)")
            }
            database::Engine::Postgres => {
                format!("INSERT INTO instances (domain, features, created_at) VALUES ('{name}', '{{}}', now())")
            }
        };
        app.execute(&sql).await;
    }
    let blocked = match app.db().engine() {
        database::Engine::Sqlite => "0",
        database::Engine::Postgres => "now()",
    };
    let block = format!(
        "INSERT INTO domain_blocks (id, domain, severity, reject_media, reject_reports, obfuscate, hidden, created_at)
         VALUES (1, 'rook00.test', 'noop', FALSE, FALSE, FALSE, FALSE, {blocked})"
    );
    app.execute(&block).await;
    let find = async |q: &str| {
        let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("q", q).finish();
        app.anonymous().get(&format!("/api/v1/peers/search?{query}")).ok().await
    };
    assert_eq!(find("ROOK").await, json!(names[1..11]));
    assert_eq!(find("crow.test").await, json!(["crow.test"]));
    assert_eq!(find("rök.test").await, json!(["xn--rk-fka.test"]));
    assert_eq!(find("50").await, json!(["50percent.test"]));
    for none in ["", " ", "%", "_", "a b", "row"] {
        assert_eq!(find(none).await, json!([]), "{none:?}");
    }
    assert_eq!(app.anonymous().get("/api/v1/peers/search").ok().await, json!([]));
    app.set("peers_api_enabled", false).await;
    let off = app.anonymous().get("/api/v1/peers/search?q=rook").send().await;
    assert_eq!((off.status.as_u16(), off.text().as_str()), (404, ""));
}
