//! Rows of severances, reports and announcements.

use super::*;

#[tokio::test]
async fn severance_is_read_back_as_inserted() {
    let app = TestApp::new().await;
    let mut tx = app.db().begin().await.unwrap();
    insert_account(&mut tx, &account()).await;
    let severance = Severance {
        id: RowId::from(9_200),
        account_id: ANN.into(),
        kind: SeveranceKind::AccountSuspension,
        target_name: "remote.test".to_owned(),
        purged: true,
        followers_count: 61,
        following_count: 62,
        created_at: time(1),
    };
    store::severance::insert(&mut tx, &severance).await.unwrap();
    same(&severance, store::severance::list(&mut tx, &[9_200]).await.unwrap().pop());
}

#[tokio::test]
async fn report_is_read_back_as_inserted() {
    let app = TestApp::new().await;
    let mut tx = app.db().begin().await.unwrap();
    insert_statuses(&mut tx).await;
    let report = Report {
        id: RowId::from(9_100),
        account_id: ANN.into(),
        target_account_id: ANN.into(),
        category: ReportCategory::Legal,
        comment: "comment".to_owned(),
        status_ids: Some(Json(vec![ORIGINAL.into()])),
        rule_ids: Some(Json(vec![RuleId::from(5)])),
        forwarded: true,
        forward_to_domains: Json(vec!["remote.test".to_owned()]),
        action_taken_at: Some(time(1)),
        created_at: time(2),
    };
    store::report::insert(&mut tx, &report).await.unwrap();
    same(&report, store::report::list(&mut tx, &[report.id]).await.unwrap().pop());
}

#[tokio::test]
async fn announcement_is_read_back_as_written() {
    let app = TestApp::new().await;
    let mut tx = app.db().begin().await.unwrap();
    let mut announcement = Announcement {
        id: RowId::from(9_200),
        text: "text".to_owned(),
        content: "content".to_owned(),
        mentions: Json(vec![ANN.into()]),
        tags: Json(vec!["birds".to_owned()]),
        statuses: Json(vec![ORIGINAL.into()]),
        starts_at: Some(time(1)),
        ends_at: Some(time(2)),
        all_day: true,
        scheduled_at: Some(time(3)),
        published_at: Some(time(4)),
        created_at: time(5),
        updated_at: time(6),
    };
    store::announcement::upsert(&mut tx, &announcement).await.unwrap();
    same(&announcement, store::announcement::lock(&mut tx, announcement.id).await.unwrap());
    announcement.text = "other".to_owned();
    announcement.starts_at = None;
    store::announcement::upsert(&mut tx, &announcement).await.unwrap();
    same(&announcement, store::announcement::lock(&mut tx, announcement.id).await.unwrap());
}
