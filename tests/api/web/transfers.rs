//! Signed-in pages for imports and exports, automatic deletion, and deletion of the account.

use crate::harness::{Browser, PASSWORD, TestApp};

#[tokio::test]
async fn files_are_uploaded_and_downloaded() {
    let app = TestApp::new().await;
    let [alice, _] = app.accounts(["alice", "bob"]).await;
    let browser = Browser::signed_in(&app, "alice").await;
    let path = "/settings/transfer";
    let page = browser.get(path).await;
    let file = b"bob@example.test\nnobody\n";
    let fields = [("kind", "blocking")];

    let begun = browser.upload(&page, path, &fields, &[("file", "blocked_accounts.csv", file)]).await;
    assert_eq!((begun.status.as_u16(), begun.header("location")), (302, path));
    let page = browser.get(path).await;
    assert!(page.text().contains("has begun") && page.text().contains("0 of 2 done"), "{}", page.text());
    let refused = browser.upload(&page, path, &fields, &[("file", "x.csv", file)]).await;
    assert_eq!(refused.status, 422);
    assert!(refused.text().contains("still running"), "{}", refused.text());
    app.run_jobs().await;

    let page = browser.get(path).await;
    assert!(page.text().contains("1 of 2 done") && page.text().contains("1 failed"), "{}", page.text());
    let blocks = alice.get("/api/v1/blocks").ok().await;
    assert_eq!(blocks[0]["acct"], "bob");
    assert!(page.text().contains("This server does not know the account nobody. (1 row)"), "{}", page.text());
    let german = Browser::preferring(&app, "de");
    german.sign_in("alice@example.test", PASSWORD).await;
    let page_in_german = german.get(path).await.text();
    assert!(page_in_german.contains("Dieser Server kennt kein Konto nobody. (1 Zeile)"), "{page_in_german}");
    let empty = german.upload(&german.get(path).await, path, &fields, &[("file", "x.csv", b"\n")]).await;
    assert!(empty.text().contains("Die Datei ist leer."), "{}", empty.text());
    let listed = app.run(&["user", "imports", "alice", "--json"]).await.ok();
    assert!(
        listed.contains(r#""errors":[{"error":"This server does not know the account nobody","rows":1}]"#),
        "{listed}"
    );
    let text = page.text();
    let failures = text.split('"').find(|part| part.ends_with("/failures")).unwrap();
    let failed = browser.get(failures).await;
    assert!(failed.text().starts_with("nobody,This server does not know the account"), "{}", failed.text());
    let other = Browser::signed_in(&app, "bob").await;
    assert_eq!(other.get(failures).await.status, 404);

    let export = browser.get(&format!("{path}/export/blocking")).await;
    assert_eq!(export.header("content-type"), "text/csv; charset=utf-8");
    assert_eq!(export.header("content-disposition"), "attachment; filename=\"blocked_accounts.csv\"");
    assert_eq!(export.text(), "bob@example.test\n");
    assert_eq!(browser.get(&format!("{path}/export/nonsense")).await.status, 404);
    for (fields, files) in [
        (vec![("kind", "nonsense")], vec![("file", "x", &b"a"[..])]),
        (vec![("kind", "blocking")], vec![]),
        (vec![("kind", "blocking")], vec![("file", "x", &b"\xff\xfe\x00"[..])]),
    ] {
        let refused = browser.upload(&page, path, &fields, &files).await;
        assert_eq!(refused.status, 422);
        assert!(refused.text().contains("role=\"alert\""));
    }
}

#[tokio::test]
async fn cleanup_policy_is_chosen_by_form() {
    let app = TestApp::new().await;
    app.account("alice").await;
    let browser = Browser::signed_in(&app, "alice").await;
    let path = "/settings/cleanup";
    let page = browser.get(path).await;
    assert!(page.text().contains("value=\"1209600\" selected"), "two weeks at first: {}", page.text());
    let week = ("min_status_age", "604800");
    let saved = browser.submit(&page, path, &[("enabled", "1"), week, ("min_favs", " 3 "), ("min_reblogs", "")]).await;
    assert_eq!(saved.status, 302, "{}", saved.text());
    let page = browser.get(path).await;
    assert!(page.text().contains("value=\"604800\" selected") && page.text().contains("value=\"3\""));
    for wrong in [("min_favs", "many"), ("min_favs", "0"), ("min_reblogs", "-1"), ("min_status_age", "1")] {
        let refused = browser.submit(&page, path, &[("enabled", "1"), wrong]).await;
        assert_eq!(refused.status, 422, "{wrong:?}");
        assert!(refused.text().contains(&format!("id=\"{}-error\"", wrong.0)), "{wrong:?}: {}", refused.text());
    }
}

#[tokio::test]
async fn account_deletion_needs_password() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let browser = Browser::signed_in(&app, "alice").await;
    let path = "/settings/delete";
    let page = browser.get(path).await;
    let wrong = browser.submit(&page, path, &[("current_password", "wrong")]).await;
    assert_eq!(wrong.status, 422);
    assert!(wrong.text().contains("id=\"current_password-error\""));
    alice.get("/api/v1/accounts/verify_credentials").ok().await;

    let gone = browser.submit(&page, path, &[("current_password", PASSWORD)]).await;
    assert_eq!((gone.status.as_u16(), gone.header("location")), (302, "/auth/sign_in"));
    alice.get("/api/v1/accounts/verify_credentials").fails(401).await;
    assert_eq!(browser.get("/settings").await.status, 302);
    let profile = app.anonymous().get(&format!("/api/v1/accounts/{}", alice.id())).ok().await;
    assert_eq!(profile["suspended"], true);
}

#[tokio::test]
async fn forms_without_their_token_change_nothing() {
    let app = TestApp::new().await;
    app.account("alice").await;
    let browser = Browser::signed_in(&app, "alice").await;
    for path in ["/settings/transfer", "/settings/cleanup", "/settings/delete"] {
        for fields in [vec![("enabled", "1")], vec![("current_password", PASSWORD), ("csrf", "guessed")]] {
            assert_eq!(browser.post(path, &fields).await.status, 403, "{path}");
        }
        assert_eq!(Browser::new(&app).get(path).await.status, 302, "{path}");
        for language in ["en", "de", "ja"] {
            let page = Browser::preferring(&app, language);
            assert_eq!(page.get(path).await.status, 302, "{path}");
        }
    }
}
