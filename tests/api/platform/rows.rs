//! Row structs: `#[derive(Row)]` decodes by column names, and inserted structs are read back unchanged.
//!
//! The values of a sample differ, as far as their types allow, so that swapped columns are noticed.

mod moderation;
mod transfers;

use std::fmt::Debug;
use std::sync::Arc;

use database::{Db, Tx};
use model::account::{ActorType, Field, OtherSettings, Searchability};
use model::actor::User;
use model::card::{CardKind, CardState};
use model::filter::{FilterAction, FilterContext};
use model::link::{Link, LinkKind};
use model::media::{MediaKind, MediaState};
use model::notification::NotificationKind;
use model::report::ReportCategory;
use model::severance::SeveranceKind;
use model::status::{LimitedScope, QuotePolicy, Visibility};
use model::{
    Account, AccountId, AppId, Application, ConversationId, Emoji, InteractionKind, InteractionPolicy, Json,
    MediaAttachment, MediaId, NotificationId, NotificationType, PollId, Preferences, PreviewCard, QuoteState, RowId,
    RuleId, SavedDraft, ScheduledStatus, ScheduledStatusId, Status, StatusId, Time, TokenId,
};
use serde_json::{Map, json};
use store::account::{AccountCounts, ActorObject};
use store::announcement::Announcement;
use store::filter::{FilterKeywordRow, FilterRow, FilterStatusRow};
use store::notification::make::NewNotification;
use store::oauth::TokenRow;
use store::oauth_code::CodeRow;
use store::plugin::Plugin;
use store::report::Report;
use store::session::SessionRow;
use store::severance::Severance;
use store::status_edit::Edit;

use crate::harness::TestApp;

const ANN: i64 = 1_000;
const ORIGINAL: i64 = 2_000;
const APP: i64 = 3_000;

#[derive(Debug, PartialEq, model::Row)]
struct NestRow {
    tree: String,
    height: Option<i64>,
}

#[derive(Debug, PartialEq, model::Row)]
struct BirdRow {
    id: i64,
    #[row(rename = "type")]
    kind: String,
    #[row(from = "String")]
    name: Arc<str>,
    #[row(flatten)]
    nest: NestRow,
}

#[tokio::test]
async fn row_decodes_by_the_names_of_columns() {
    let app = TestApp::new().await;
    let text = "SELECT 'oak' AS tree, CAST(NULL AS BIGINT) AS height, 'Ann' AS name, 7 AS more, 'rook' AS type,
                       CAST(5 AS BIGINT) AS id";
    let birds: Vec<BirdRow> = app.db().fetch_raw(text).await.unwrap();
    let nest = NestRow { tree: "oak".to_owned(), height: None };
    assert_eq!(birds, [BirdRow { id: 5, kind: "rook".to_owned(), name: "Ann".into(), nest }]);
    let missing = app.db().fetch_raw::<NestRow>("SELECT 'oak' AS tree").await.unwrap_err();
    assert!(missing.to_string().contains("height"), "{missing}");
}

#[track_caller]
fn same<T: Debug>(inserted: &T, found: Option<T>) {
    assert_eq!(format!("{:#?}", found.expect("the row")), format!("{inserted:#?}"));
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn time(seconds: i64) -> Time {
    Time::from_micros(1_700_000_000_000_123 + seconds * 1_000_000)
}

fn account() -> Account {
    let field = Field { name: "n".into(), value: "v".into(), html: "<b>v</b>".into(), verified_at: Some(3) };
    Account {
        domain: some("remote.test"),
        url: some("https://remote.test/@ann"),
        actor_type: ActorType::Service,
        display_name: "Änn".to_owned(),
        note: "note".to_owned(),
        note_html: "<p>note</p>".to_owned(),
        fields: Json(vec![field]),
        avatar: some("avatar"),
        avatar_static: some("avatar_static"),
        avatar_remote_url: some("avatar_remote_url"),
        header: some("header"),
        header_static: some("header_static"),
        header_remote_url: some("header_remote_url"),
        locked: true,
        discoverable: Some(true),
        hide_collections: Some(false),
        searchability: Searchability::Private,
        suspended_at: Some(time(1)),
        limited_at: Some(time(2)),
        moved_to_account_id: Some(AccountId::from(ANN)),
        other_settings: Json(OtherSettings { allow_quote: true, ..OtherSettings::default() }),
        attribution_domains: Json(vec!["site.test".to_owned()]),
        followers_count: 11,
        following_count: 12,
        statuses_count: 13,
        last_status_at: Some(time(3)),
        updated_at: time(4),
        version: 14,
        ..Account::new(ANN.into(), "ann".to_owned(), "https://remote.test/users/ann".to_owned(), time(0))
    }
}

async fn insert_account(tx: &mut Tx, account: &Account) {
    let actor = ActorObject {
        also_known_as: Json(vec!["other".to_owned()]),
        inbox_url: some("inbox"),
        outbox_url: some("outbox"),
        shared_inbox_url: some("shared_inbox"),
        followers_url: some("followers"),
        following_url: some("following"),
        featured_url: some("featured"),
        public_key: some("key"),
        fetched_at: Some(time(5)),
    };
    store::account::insert(tx, account, actor).await.unwrap();
}

#[tokio::test]
async fn remote_account_is_read_back_as_inserted() {
    let app = TestApp::new().await;
    let account = account();
    let mut tx = app.db().begin().await.unwrap();
    insert_account(&mut tx, &account).await;
    tx.commit().await.unwrap();
    same(&account, store::account::find(app.db(), account.id).await.unwrap());
    let text = "SELECT inbox_url, outbox_url, shared_inbox_url, followers_url, following_url, featured_url,
                       public_key FROM accounts WHERE domain IS NOT NULL";
    type Texts = (String, String, String, String, String, String, String);
    let texts: Vec<Texts> = app.db().fetch_raw(text).await.unwrap();
    let expected = ["inbox", "outbox", "shared_inbox", "followers", "following", "featured", "key"];
    let [a, b, c, d, e, f, g] = expected.map(str::to_owned);
    assert_eq!(texts, [(a, b, c, d, e, f, g)]);
    let names = "SELECT rank, name FROM account_names ORDER BY name";
    let names: Vec<(i64, String)> = app.db().fetch_raw(names).await.unwrap();
    assert!(names.contains(&(2, "änn".to_owned())), "{names:?}");
}

#[tokio::test]
async fn account_counts_add_up_and_stop_at_zero() {
    let app = TestApp::new().await;
    let account = account();
    let mut tx = app.db().begin().await.unwrap();
    insert_account(&mut tx, &account).await;
    let more = AccountCounts { statuses: 1, following: -2, followers: -20, last_status_at: None };
    store::account::add_counts(&mut tx, account.id, more).await.unwrap();
    let found = store::account::find(&mut tx, account.id).await.unwrap();
    let counted = Account { statuses_count: 14, following_count: 10, followers_count: 0, version: 15, ..account };
    same(&counted, found);
    let posted = AccountCounts { statuses: 1, last_status_at: Some(time(9)), ..AccountCounts::default() };
    store::account::add_counts(&mut tx, counted.id, posted).await.unwrap();
    let found = store::account::find(&mut tx, counted.id).await.unwrap();
    same(&Account { statuses_count: 15, last_status_at: Some(time(9)), version: 16, ..counted }, found);
}

#[tokio::test]
async fn user_is_read_back_as_inserted() {
    let app = TestApp::new().await;
    let user = User {
        unconfirmed_email: some("new@example.test"),
        password_hash: some("hash"),
        confirmed_at: Some(time(1)),
        approved: true,
        role_id: Some(2),
        locale: some("de"),
        time_zone: some("Europe/Berlin"),
        sign_up_app_id: Some(AppId::from(APP)),
        sign_up_reason: some("reason"),
        invited_by_account_id: Some(ANN.into()),
        preferences: Json(Preferences { expand_spoilers: true, ..Preferences::default() }),
        last_active_at: Some(time(2)),
        ..User::new(ANN.into(), "ann@example.test".to_owned(), time(0))
    };
    let mut tx = app.db().begin().await.unwrap();
    insert_account(&mut tx, &Account { domain: None, ..account() }).await;
    store::user::insert(&mut tx, &user).await.unwrap();
    tx.commit().await.unwrap();
    same(&user, store::user::find(app.db(), user.account_id).await.unwrap());
}

fn status() -> Status {
    Status {
        url: some("https://remote.test/@ann/1"),
        local: false,
        text: "text".to_owned(),
        content: "<p>text</p>".to_owned(),
        spoiler_text: "spoiler".to_owned(),
        visibility: Visibility::Limited,
        limited_scope: Some(LimitedScope::Circle),
        searchability: Searchability::PublicUnlisted,
        language: some("de"),
        conversation_id: Some(ConversationId::from(4_000)),
        in_reply_to_id: Some(ORIGINAL.into()),
        in_reply_to_account_id: Some(ANN.into()),
        app_id: Some(APP.into()),
        listed: true,
        has_media: true,
        has_poll: true,
        has_references: true,
        quote_id: Some(ORIGINAL.into()),
        quote_state: Some(QuoteState::Revoked),
        markdown: true,
        expires_at: Some(time(8)),
        replies_count: 21,
        reblogs_count: 22,
        favourites_count: 23,
        referred_by_count: 25,
        interaction_policy: InteractionPolicy::default().with(InteractionKind::Quote, QuotePolicy::Followers.into()),
        quotes_count: 26,
        edited_at: Some(time(6)),
        version: 24,
        ..Status::new((ORIGINAL + 1).into(), ANN.into(), "https://remote.test/1".to_owned(), time(5))
    }
}

/// A status that is replied to, and [`status`].
async fn insert_statuses(tx: &mut Tx) {
    insert_account(tx, &account()).await;
    store::status::insert_conversation(tx, ConversationId::from(4_000), time(0)).await.unwrap();
    let original = Status::new(ORIGINAL.into(), ANN.into(), "https://remote.test/0".to_owned(), time(4));
    assert!(store::status::insert(tx, &original).await.unwrap());
    assert!(store::status::insert(tx, &status()).await.unwrap());
}

#[tokio::test]
async fn status_is_read_back_as_inserted() {
    let app = TestApp::new().await;
    let mut tx = app.db().begin().await.unwrap();
    insert_statuses(&mut tx).await;
    same(&status(), store::status::find(&mut tx, status().id).await.unwrap());
    let reblog = |id: i64| Status {
        reblog_of_id: Some(ORIGINAL.into()),
        ..Status::new(id.into(), ANN.into(), format!("https://remote.test/{id}"), time(7))
    };
    assert!(store::status::insert(&mut tx, &reblog(5_001)).await.unwrap());
    assert!(!store::status::insert(&mut tx, &reblog(5_002)).await.unwrap(), "one reblog of a status");
    same(&reblog(5_001), store::reblog::list(&mut tx, ORIGINAL.into()).await.unwrap().pop());
}

#[tokio::test]
async fn status_rows_are_read_back_as_inserted() {
    let app = TestApp::new().await;
    let mut tx = app.db().begin().await.unwrap();
    insert_statuses(&mut tx).await;
    let edit = Edit {
        quote_id: Some(ORIGINAL.into()),
        id: RowId::from(6_000),
        status_id: status().id,
        text: "text".to_owned(),
        content: "content".to_owned(),
        spoiler_text: "spoiler".to_owned(),
        sensitive: true,
        markdown: true,
        media: Json(json!([{"id": "1"}])),
        poll_options: Some(Json(vec!["a".to_owned(), "b".to_owned()])),
        created_at: time(1),
    };
    store::status_edit::insert(&mut tx, &edit).await.unwrap();
    same(&edit, store::status_edit::list(&mut tx, status().id).await.unwrap().pop());
    let poll = model::Poll {
        id: PollId::from(6_001),
        status_id: status().id,
        multiple: true,
        hide_totals: false,
        expires_at: Some(time(2)),
        voters_count: Some(51),
        created_at: time(3),
    };
    store::poll::insert(&mut tx, &poll, &["a".to_owned(), "b".to_owned()]).await.unwrap();
    same(&poll, store::poll::find(&mut tx, poll.id).await.unwrap());
    assert_eq!(store::poll::list_titles(&mut tx, status().id).await.unwrap(), ["a", "b"]);
    let scheduled = ScheduledStatus {
        id: 6_002.into(),
        account_id: ANN.into(),
        scheduled_at: time(4),
        params: Json(json!({"text": "later"})),
        failure: some("failure"),
        created_at: time(5),
    };
    store::scheduled_status::insert(&mut tx, &scheduled).await.unwrap();
    same(&scheduled, store::scheduled_status::find(&mut tx, scheduled.id).await.unwrap());
    let draft = SavedDraft {
        id: 6_004.into(),
        account_id: ANN.into(),
        parameters: Json(json!({"text": "unfinished"})),
        updated_at: time(6),
    };
    store::saved_draft::insert(&mut tx, &draft).await.unwrap();
    same(&draft, store::saved_draft::find(&mut tx, draft.id).await.unwrap());
    let card = card();
    store::card::save(&mut tx, &card).await.unwrap();
    same(&card, store::card::find(&mut tx, card.id).await.unwrap());
    let media = media(status().id, scheduled.id);
    store::media::insert(&mut tx, &media).await.unwrap();
    same(&media, store::media::find(&mut tx, media.id).await.unwrap());
    notification_is_read_back(&mut tx).await;
}

fn card() -> PreviewCard {
    PreviewCard {
        id: 6_003.into(),
        url: "url".to_owned(),
        state: CardState::Found,
        kind: CardKind::Video,
        page_url: "page_url".to_owned(),
        title: "title".to_owned(),
        description: "description".to_owned(),
        language: some("en"),
        author_name: "author_name".to_owned(),
        author_url: "author_url".to_owned(),
        image_bytes: 1234,
        creator_account_id: Some(ANN.into()),
        provider_name: "provider_name".to_owned(),
        provider_url: "provider_url".to_owned(),
        html: "html".to_owned(),
        width: 41,
        height: 42,
        image: some("image"),
        image_description: "image_description".to_owned(),
        embed_url: "embed_url".to_owned(),
        blurhash: some("blurhash"),
        published_at: Some(time(6)),
        failures: 43,
        due_at: time(7),
        used_at: time(8),
        created_at: time(9),
    }
}

fn media(status: StatusId, scheduled: ScheduledStatusId) -> MediaAttachment {
    MediaAttachment {
        id: MediaId::from(7_000),
        account_id: ANN.into(),
        status_id: Some(status),
        scheduled_status_id: Some(scheduled),
        position: 2,
        kind: MediaKind::Video,
        state: MediaState::Failed,
        mime: "video/mp4".to_owned(),
        file: some("file"),
        size_bytes: 31,
        preview: some("preview"),
        remote_url: some("remote"),
        preview_remote_url: some("preview_remote"),
        meta: Json(json!({"a": 1})),
        description: some("description"),
        blurhash: some("blurhash"),
        failure: some("failure"),
        created_at: time(1),
        updated_at: time(2),
    }
}

async fn notification_is_read_back(tx: &mut Tx) {
    let sender = Account { suspended_at: None, ..account() };
    let receiver = Account { id: 1_001.into(), username: "bea".to_owned(), uri: "bea".to_owned(), ..sender.clone() };
    insert_account(tx, &receiver).await;
    store::removal::unsuspend(tx, sender.id).await.unwrap();
    let kind = NotificationKind::from(NotificationType::Mention);
    let new = NewNotification {
        id: NotificationId::from(8_000),
        receiver: receiver.id,
        sender: sender.id,
        kind: kind.clone(),
        activity: 41,
        status: Some(status().id),
        group_key: some("group"),
        filtered: true,
        silent: false,
        mailed: false,
    };
    store::notification::make::insert(tx, vec![new], time(8)).await.unwrap();
    let found =
        store::notification::find(tx, receiver.id, 8_000.into(), std::slice::from_ref(&kind)).await.unwrap().unwrap();
    assert_eq!(found.from_version, sender.version + 1);
    let expected = model::Notification {
        id: 8_000.into(),
        account_id: receiver.id,
        from_account_id: sender.id,
        kind,
        activity_id: 41,
        status_id: Some(status().id),
        group_key: some("group"),
        filtered: true,
        created_at: time(8),
    };
    same(&expected, Some(found.notification));
}

#[tokio::test]
async fn filter_is_read_back_as_inserted() {
    let app = TestApp::new().await;
    let mut tx = app.db().begin().await.unwrap();
    insert_statuses(&mut tx).await;
    let filter = FilterRow {
        id: 9_100.into(),
        account_id: ANN.into(),
        title: "title".to_owned(),
        context: Json(vec![FilterContext::Thread, FilterContext::Home]),
        action: FilterAction::HalfWarn,
        expires_at: Some(time(1)),
        exclude_follows: true,
        exclude_local_users: false,
        with_quote: true,
        with_profile: false,
    };
    store::filter::insert(&mut tx, &FilterRow { title: "before".to_owned(), ..filter.clone() }).await.unwrap();
    store::filter::update(&mut tx, &filter).await.unwrap();
    let keyword =
        FilterKeywordRow { id: 9_101.into(), filter_id: filter.id, keyword: "word".to_owned(), whole_word: true };
    let before = FilterKeywordRow { keyword: "before".to_owned(), whole_word: false, ..keyword.clone() };
    store::filter::insert_keyword(&mut tx, &before).await.unwrap();
    store::filter::update_keyword(&mut tx, &keyword).await.unwrap();
    let entry = FilterStatusRow { id: 9_102.into(), filter_id: filter.id, status_id: status().id };
    assert!(store::filter::insert_status(&mut tx, &entry).await.unwrap());
    same(&filter, store::filter::find(&mut tx, ANN.into(), filter.id).await.unwrap());
    same(&keyword, store::filter::find_keyword(&mut tx, ANN.into(), keyword.id).await.unwrap());
    same(&entry, store::filter::find_status(&mut tx, ANN.into(), entry.id).await.unwrap());
    let usage = store::filter::usage(&mut tx, ANN.into()).await.unwrap();
    assert_eq!((usage.filters, usage.keywords, usage.characters, usage.statuses), (1, 1, 4, 1));
}

fn application() -> Application {
    Application {
        id: APP.into(),
        name: "name".to_owned(),
        website: some("website"),
        redirect_uris: "uris".to_owned(),
        scopes: "read".to_owned(),
        client_id: "client".to_owned(),
        client_secret_hash: "secret".to_owned(),
        superapp: true,
        created_at: time(1),
    }
}

#[tokio::test]
async fn authentication_rows_are_read_back_as_inserted() {
    let app = TestApp::new().await;
    let mut tx = app.db().begin().await.unwrap();
    insert_account(&mut tx, &account()).await;
    let hash = |name: &str| format!("hash of {name}");
    store::application::insert(&mut tx, &application()).await.unwrap();
    same(&application(), store::application::find(&mut tx, APP.into()).await.unwrap());

    let token = TokenRow {
        id: TokenId::from(9_000),
        nonce: "nonce".to_owned(),
        app_id: Some(APP.into()),
        account_id: Some(ANN.into()),
        scopes: "write".to_owned(),
        created_at: time(1),
        revoked_at: Some(time(2)),
    };
    store::oauth::insert_token(&mut tx, &token, hash("token")).await.unwrap();
    same(&token, store::oauth::find_token(&mut tx, &hash("token")).await.unwrap());

    let code = CodeRow {
        id: RowId::from(9_001),
        app_id: APP.into(),
        account_id: ANN.into(),
        redirect_uri: "uri".to_owned(),
        scopes: "read".to_owned(),
        code_challenge: some("challenge"),
        expires_at: time(1),
        redeemed_at: Some(time(2)),
        token_id: Some(token.id),
    };
    store::oauth_code::insert(&mut tx, &code, hash("code"), time(3)).await.unwrap();
    same(&code, store::oauth_code::find(&mut tx, &hash("code")).await.unwrap());

    let session = SessionRow {
        id: RowId::from(9_002),
        account_id: ANN.into(),
        expires_at: time(2),
        browser: "b".to_owned(),
        token_id: None,
    };
    store::session::insert(&mut tx, &session, hash("session"), time(1)).await.unwrap();
    same(&session, store::session::find(&mut tx, &hash("session"), time(1)).await.unwrap());

    let link = Link {
        id: RowId::from(9_003),
        kind: LinkKind::ResetPassword,
        account_id: Some(ANN.into()),
        email: some("ann@example.test"),
        expires_at: time(2),
    };
    store::one_time_link::insert(&mut tx, &link, hash("link"), time(1)).await.unwrap();
    same(&link, store::one_time_link::find_by_hash(&mut tx, link.kind, &hash("link"), time(1)).await.unwrap());
    same(&link, store::one_time_link::find(&mut tx, link.id, time(1)).await.unwrap());
}

#[tokio::test]
async fn emoji_is_read_back_as_inserted() {
    let app = TestApp::new().await;
    let emoji = Emoji {
        id: RowId::from(9_004),
        shortcode: "rook".to_owned(),
        domain: None,
        category: some("birds"),
        file: some("file"),
        static_file: some("static"),
        remote_url: some("remote"),
        visible_in_picker: true,
        disabled: false,
        sensitive: true,
        aliases: Json(vec!["crow".to_owned()]),
        license: some("license"),
        width: Some(51),
        height: Some(52),
        updated_at: time(1),
    };
    let mut tx = app.db().begin().await.unwrap();
    store::emoji::upsert_local(&mut tx, &emoji, time(1)).await.unwrap();
    same(&emoji, store::emoji::find_local(&mut tx, "rook").await.unwrap());
    let again =
        Emoji { id: RowId::from(9_005), category: None, file: some("other"), updated_at: time(2), ..emoji.clone() };
    store::emoji::upsert_local(&mut tx, &again, time(2)).await.unwrap();
    let replaced = Emoji { file: some("other"), updated_at: time(2), ..emoji };
    same(&replaced, store::emoji::find_local(&mut tx, "rook").await.unwrap());
}

#[tokio::test]
async fn plugin_is_read_back_as_inserted() {
    let app = TestApp::new().await;
    let object = |key: &str| Map::from_iter([(key.to_owned(), json!(1))]);
    let text = str::to_owned;
    let install = store::plugin::Install {
        version: text("1.2.3"),
        digest: text("digest"),
        sha256: text("sha256"),
        file: text("file"),
        key: some("key"),
        source: text("source"),
        at: text("at"),
    };
    let plugin = Plugin {
        id: 9_006,
        name: "rook".to_owned(),
        enabled: true,
        version: some("1.2.3"),
        sha256: some("sha256"),
        approved: Json(vec!["approved".to_owned()]),
        granted: Json(vec!["granted".to_owned()]),
        limits: Json(json!({"limits": 1})),
        config: Json(object("config")),
        config_version: 61,
        secrets: Json(object("secrets")),
        refused: some("refused"),
        quarantined_at: Some(time(1)),
        public_key: some("public_key"),
        source: some("source"),
        installs: Json(vec![install]),
        created_at: time(2),
        updated_at: time(3),
    };
    let db: &Db = app.db();
    let mut tx = db.begin().await.unwrap();
    assert!(store::plugin::insert(&mut tx, &plugin).await.unwrap());
    assert!(!store::plugin::insert(&mut tx, &Plugin { id: 9_007, ..plugin.clone() }).await.unwrap(), "one of a name");
    tx.commit().await.unwrap();
    same(&plugin, store::plugin::find(db, "rook").await.unwrap());
}
