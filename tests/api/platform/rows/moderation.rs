//! Rows of severances, reports, announcements, the domain policy and other blocks.

use model::domain_policy::Flags;
use model::instance::Severity;
use model::ip_block::IpSeverity;
use model::username_block::UsernameComparison;
use store::domain_policy::{Allow, Block};
use store::email_block::{CanonicalEmailBlock, EmailDomainBlock};
use store::ip_block::IpBlock;
use store::username_block::UsernameBlock;

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

    let more = Severance { id: RowId::from(9_201), followers_count: 3, following_count: 4, ..severance.clone() };
    assert!(store::severance::add(&mut tx, &more).await.unwrap());
    let sum = Severance { followers_count: 64, following_count: 66, ..severance };
    same(&sum, store::severance::list(&mut tx, &[9_200]).await.unwrap().pop());
    for other in [
        Severance { created_at: time(2), ..sum.clone() },
        Severance { kind: SeveranceKind::DomainBlock, ..sum.clone() },
        Severance { target_name: "other.test".to_owned(), ..sum.clone() },
    ] {
        assert!(!store::severance::add(&mut tx, &other).await.unwrap(), "{other:?}");
    }
    same(&sum, store::severance::list(&mut tx, &[9_200]).await.unwrap().pop());
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
        uri: Some("https://remote.test/flags/1".to_owned()),
        action_taken_at: Some(time(1)),
        action_taken_by_account_id: Some(ANN.into()),
        assigned_account_id: Some(ANN.into()),
        updated_at: Some(time(3)),
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

/// A block with every second flag, from the `first` one on.
fn block(first: bool) -> Block {
    Block {
        id: RowId::from(9_300),
        domain: "remote.test".to_owned(),
        severity: Severity::Silence,
        flags: Flags {
            reject_media: first,
            reject_reports: !first,
            reject_favourite: first,
            reject_reply_exclude_followers: !first,
            reject_hashtag: first,
            reject_straight_follow: !first,
            reject_new_follow: first,
            reject_friend: !first,
            reject_send_sensitive: first,
            block_trends: !first,
            detect_invalid_subscription: first,
        },
        obfuscate: !first,
        hidden: first,
        private_comment: some("private"),
        public_comment: some("public"),
        created_at: time(1),
    }
}

#[tokio::test]
async fn domain_block_is_read_back_as_written() {
    let app = TestApp::new().await;
    let mut tx = app.db().begin().await.unwrap();
    let first = block(true);
    let kept = store::domain_policy::upsert_block(&mut tx, &first).await.unwrap();
    assert_eq!(kept, (first.id, first.created_at));
    same(&first, store::domain_policy::list_blocks(&mut tx).await.unwrap().pop());

    let second = Block {
        id: RowId::from(9_301),
        severity: Severity::Suspend,
        private_comment: None,
        public_comment: some("other"),
        created_at: time(2),
        ..block(false)
    };
    assert_eq!(store::domain_policy::upsert_block(&mut tx, &second).await.unwrap(), kept, "id and time are kept");
    let expected = Block { id: kept.0, created_at: kept.1, ..second };
    same(&expected, store::domain_policy::list_blocks(&mut tx).await.unwrap().pop());
    assert_eq!(store::domain_policy::delete_block(&mut tx, "remote.test").await.unwrap(), Some(time(1)));
    assert_eq!(store::domain_policy::delete_block(&mut tx, "remote.test").await.unwrap(), None);
}

#[tokio::test]
async fn domain_allow_is_read_back_as_inserted() {
    let app = TestApp::new().await;
    let mut tx = app.db().begin().await.unwrap();
    let allow = Allow { id: RowId::from(9_400), domain: "remote.test".to_owned(), created_at: time(1) };
    assert!(store::domain_policy::insert_allow(&mut tx, &allow).await.unwrap());
    let again = Allow { id: RowId::from(9_401), created_at: time(2), ..allow.clone() };
    assert!(!store::domain_policy::insert_allow(&mut tx, &again).await.unwrap());
    same(&allow, store::domain_policy::list_allows(&mut tx).await.unwrap().pop());
    assert!(store::domain_policy::delete_allow(&mut tx, "remote.test").await.unwrap());
    assert!(!store::domain_policy::delete_allow(&mut tx, "remote.test").await.unwrap());
}

#[tokio::test]
async fn ip_block_is_read_back_as_inserted_and_as_updated() {
    let app = TestApp::new().await;
    let mut tx = app.db().begin().await.unwrap();
    let block = IpBlock {
        id: RowId::from(9_400),
        ip: "203.0.113.0/24".to_owned(),
        severity: IpSeverity::SignUpBlock,
        comment: "comment".to_owned(),
        expires_at: Some(time(1)),
        created_at: time(2),
        updated_at: time(3),
    };
    store::ip_block::insert(&mut tx, &block).await.unwrap();
    same(&block, store::ip_block::find(&mut tx, block.id).await.unwrap());
    let changed = IpBlock {
        ip: "2001:db8::/32".to_owned(),
        severity: IpSeverity::NoAccess,
        comment: "other".to_owned(),
        expires_at: None,
        updated_at: time(4),
        ..block
    };
    assert!(store::ip_block::update(&mut tx, &changed).await.unwrap());
    same(&changed, store::ip_block::find_by_ip(&mut tx, "2001:db8::/32").await.unwrap());
    same(&changed, store::ip_block::delete(&mut tx, changed.id).await.unwrap());
    assert!(!store::ip_block::update(&mut tx, &changed).await.unwrap());
}

#[tokio::test]
async fn email_blocks_are_read_back_as_inserted() {
    let app = TestApp::new().await;
    let mut tx = app.db().begin().await.unwrap();
    let domain = EmailDomainBlock {
        id: RowId::from(9_500),
        domain: "mail.test".to_owned(),
        allow_with_approval: true,
        created_at: time(1),
    };
    store::email_block::insert_domain(&mut tx, &domain).await.unwrap();
    same(&domain, store::email_block::find_domain(&mut tx, domain.id).await.unwrap());
    let address =
        CanonicalEmailBlock { id: RowId::from(9_600), canonical_email_hash: "hash".to_owned(), created_at: time(2) };
    store::email_block::insert_address(&mut tx, &address).await.unwrap();
    same(&address, store::email_block::find_address(&mut tx, address.id).await.unwrap());
}

#[tokio::test]
async fn username_blocks_are_read_back_as_inserted() {
    let app = TestApp::new().await;
    let mut tx = app.db().begin().await.unwrap();
    let block = UsernameBlock {
        id: RowId::from(9_700),
        username: "Adm1n".to_owned(),
        skeleton: "admin".to_owned(),
        comparison: UsernameComparison::Contains,
        allow_with_approval: true,
        created_at: time(1),
    };
    store::username_block::insert(&mut tx, &block).await.unwrap();
    same(&block, store::username_block::find(&mut tx, block.id).await.unwrap());
}
