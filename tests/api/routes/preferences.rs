//! <https://docs.joinmastodon.org/methods/preferences/>

use serde_json::json;

use crate::harness::TestApp;
use crate::platform::contract::check;

#[tokio::test]
async fn preferences_reflect_the_settings() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;

    let defaults = alice.get("/api/v1/preferences").ok().await;
    check("Preferences", &defaults);
    assert_eq!(defaults["posting:default:visibility"], "public");
    assert_eq!(defaults["posting:default:language"], json!(null));
    assert_eq!(defaults["reading:autoplay:gifs"], true);

    app.set_locale("de").await;
    alice.update_profile(json!({"locked": true, "source": {"sensitive": true}})).ok().await;
    let set = alice.get("/api/v1/preferences").ok().await;
    assert_eq!(set["posting:default:visibility"], "private");
    assert_eq!(set["posting:default:language"], "de");
    assert_eq!(set["posting:default:sensitive"], true);
}

#[tokio::test]
async fn preferences_are_private_to_their_owner() {
    let app = TestApp::new().await;
    app.anonymous().get("/api/v1/preferences").fails(401).await;
    app.application("read").await.get("/api/v1/preferences").fails(422).await;
    let alice = app.account("alice").await;
    alice.with_scopes("read:statuses").await.get("/api/v1/preferences").fails(403).await;
}
