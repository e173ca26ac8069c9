//! Every kind of job on one page: its payload, its name in the database, its lane and its deduplication key.
//!
//! How each runs is in the file of its use case, a function with the attribute [`job`](macro@crate::job); those of the feed lane
//! run in the crate `worker`.

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use super::job::Job;
use crate::change::Change;
use model::job::Lane;
use model::{AccountId, MediaId, NotificationId, PollId, RowId, ScheduledStatusId, StatusId, TagId};

/// Declares jobs: `Name in Lane as "kind" [keyed by expression] { fields }`.
macro_rules! jobs {
    ($(
        $(#[$doc:meta])*
        $name:ident as $kind:literal in $lane:ident $(, key |$job:ident| $key:expr)? => {
            $($(#[$field_doc:meta])* $field:ident: $type:ty),* $(,)?
        }
    )+) => {
        $(
        $(#[$doc])*
        #[derive(Debug, Serialize, Deserialize)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type),*
        }

        impl Job for $name {
            const KIND: &'static str = $kind;
            const LANE: Lane = Lane::$lane;
            $(fn key(&self) -> Option<String> {
                let $job = self;
                Some($key)
            })?
        }
    )+

        /// The names of all kinds, with their lanes.
        pub const KINDS: &[(&str, Lane)] = &[$(($kind, Lane::$lane)),+];
    };
}

jobs! {
    /// Accepts the follow requests that wait for an account, as long as it is unlocked.
    AcceptRequests as "accept_requests" in Background, key |job| job.account.to_string() => {
        /// Whose requests.
        account: AccountId,
    }

    /// Gives a status the card of the link in its text, or takes it away.
    AttachCard as "attach_card" in Background, key |job| job.status.to_string() => {
        /// Which status; it may be gone.
        status: StatusId,
    }

    /// Invalidates the renderings of the next batch of statuses that have a card which changed.
    BumpCard as "bump_card" in Background => {
        card: RowId,
        /// The last status of the batch before.
        before: StatusId,
    }

    /// Fetches the page of a card, if that is due.
    FetchCard as "fetch_card" in Fetch, key |job| job.card.to_string() => {
        /// Which card; it may be gone.
        card: RowId,
    }

    /// Deletes the next cards that no status has. Recurring.
    PruneCards as "prune_cards" in Background, key |_job| String::new() => {
        /// The last card of the batch before; 0 begins a walk.
        after: RowId,
    }

    /// Removes the picture of a card, unless the card shows it by now.
    PurgeCardImage as "purge_card_image" in Background => {
        /// The card, which may be gone.
        card: RowId,
        /// Storage key.
        image: String,
    }

    /// Removes expired sessions, links, authorization codes, idempotency keys and small values of plugins, and events
    /// that plugins did not get to. Recurring.
    Clean as "clean" in Background, key |_job| String::new() => {}

    /// Deletes the next notifications of a dismissed request.
    DeleteFiltered as "delete_filtered" in Background => {
        /// Who dismissed it.
        account: AccountId,
        /// Of whom.
        from: AccountId,
        /// The last notification of before: what comes later is another request.
        last: NotificationId,
    }

    /// Deletes the next notifications that are older than they are kept. Recurring.
    DeleteOldNotifications as "delete_old_notifications" in Background, key |_job| String::new() => {}

    /// Deletes the next old statuses that a policy does not keep. Recurring.
    DeleteOldStatuses as "delete_old_statuses" in Background, key |_job| String::new() => {
        /// Whose policy is next, or the first account after it that has one; 0 begins a walk.
        account: AccountId,
        /// The last status of the batch before, if it was of that account.
        after: StatusId,
    }

    /// Removes the mute of `target` by `account`, unless its end was moved meanwhile.
    ExpireMute as "expire_mute" in Background => {
        /// Who mutes.
        account: AccountId,
        /// Who is muted.
        target: AccountId,
    }

    /// Tells the author of a poll that has ended, and whoever voted.
    ExpirePoll as "expire_poll" in Background => {
        poll: PollId,
        /// The last voter of the batch before; 0 begins.
        after: AccountId,
    }

    /// Deletes a status whose text says when, unless that was moved meanwhile.
    ExpireStatus as "expire_status" in Background => {
        status: StatusId,
    }

    /// Brings a new status to the feeds of its author's followers, and notifies those who asked for that.
    FanOut as "fan_out" in Feed => {
        /// The status, or the reblog.
        status: StatusId,
    }

    /// Removes what plugins write of an account after it was removed, until they have handled every event of before.
    ForgetAccount as "forget_account" in Background, key |job| job.account.to_string() => {
        /// The removed account.
        account: AccountId,
        /// The last event of before its removal.
        last: i64,
        /// How many times the job looked so far.
        looks: u32,
    }

    /// Makes the signing key of an account that has none.
    GenerateKey as "generate_key" in Background => {
        /// Whose.
        account: AccountId,
    }

    /// Publishes an announcement that is due, takes one back that ended, and tells whoever listens what became of it.
    TendAnnouncement as "tend_announcement" in Background => {
        /// Which one; it may be gone.
        announcement: RowId,
    }

    /// Asks extensions about all notices that wait for their judgement.
    JudgeNotices as "judge_notices" in Notice, key |_job| "all".to_owned() => {}

    /// Fills the newest statuses of someone newly followed into a home feed, and into the lists that have them.
    Merge as "merge_feed" in Feed => {
        /// Whose feed.
        account: AccountId,
        /// Whose statuses.
        target: AccountId,
    }

    /// Fills the newest statuses with a newly followed hashtag into a home feed.
    MergeTag as "merge_tag" in Feed => {
        /// Whose feed.
        account: AccountId,
        tag: TagId,
    }

    /// Converts an uploaded video or sound.
    ProcessMedia as "process_media" in Media => {
        /// The attachment; it may be gone.
        media: MediaId,
        /// The storage key of what was sent.
        incoming: String,
        /// The storage key of what becomes of it.
        original: String,
        /// The storage key of its picture, unless it came with one.
        preview: String,
    }

    /// Publishes a scheduled status when its time has come.
    PublishScheduled as "publish_scheduled" in Background => {
        scheduled: ScheduledStatusId,
    }

    /// Makes an archive that somebody asked for.
    MakeArchive as "make_archive" in Background => {
        /// Which one; it may be gone.
        archive: RowId,
    }

    /// Deletes an archive, row and file.
    ExpireArchive as "expire_archive" in Background => {
        /// Which one; it may be gone.
        archive: RowId,
        /// The storage key of its file.
        file: String,
    }

    /// Does the next rows of an import, or takes away the next of what is not in its file.
    RunImport as "run_import" in Background => {
        /// Which import; it may be gone.
        import: RowId,
        /// True while what is not in the file is being taken away, which comes first.
        removing: bool,
        /// The last row, or the last of what there was, of the batch before; 0 begins.
        after: i64,
    }

    /// Shows the next notifications to `account` from `from` that were filtered before it permitted them.
    MergeNotifications as "merge_notifications" in Background, key |job| format!("{}-{}", job.account, job.from) => {
        /// Who permitted.
        account: AccountId,
        /// Whom.
        from: AccountId,
    }

    /// Removes an attachment that is on no status by now, and its files; also when it has no row at all. Of one that is on a
    /// status, those files that it does not have (any more).
    PurgeMedia as "purge_media" in Background => {
        media: MediaId,
        /// Its storage keys.
        files: Vec<String>,
    }

    /// Removes the next part of what a purged plugin left in tables of the server.
    PurgePlugin as "purge_plugin" in Background, key |job| job.plugin.to_string() => {
        /// The id that it had.
        plugin: i64,
        /// The kinds of its feeds.
        feeds: Vec<i64>,
        /// The types of notifications that it declared.
        notifications: Vec<String>,
        /// The last notification of before: another plugin may declare a type again.
        last: i64,
    }

    /// Removes those among `files` that are not the account's pictures by now.
    PurgeProfileImages as "purge_profile_images" in Background => {
        /// Whose.
        account: AccountId,
        /// Storage keys.
        files: Vec<String>,
    }

    /// Builds the home feed of someone who was away so long that it was dropped, and those of their lists.
    Rebuild as "rebuild_feed" in Feed, key |job| job.account.to_string() => {
        /// Whose feed.
        account: AccountId,
    }

    /// Builds the feed of a list again that shows other replies than before.
    RebuildList as "rebuild_list" in Feed, key |job| job.list.to_string() => {
        list: RowId,
    }

    /// Takes authors out of a home feed who are on an exclusive list when it runs, and brings the others back whom its owner
    /// follows.
    ReconcileHome as "reconcile_home" in Feed => {
        /// Whose feed.
        account: AccountId,
        /// Whose statuses.
        authors: Vec<AccountId>,
    }

    /// Fills the statuses of those who are on a list when it runs into its feed, and takes those of the others out.
    ReconcileList as "reconcile_list" in Feed => {
        list: RowId,
        /// Who was put on it, or taken off.
        members: Vec<AccountId>,
    }

    /// Gives changes of a command beside the server to the extensions of a process that serves them.
    RecordChanges as "record_changes" in Background => {
        /// In the order in which they happened.
        changes: Vec<Change>,
    }

    /// Scores trends anew. Recurring.
    RefreshTrends as "refresh_trends" in Background, key |_job| String::new() => {
        /// The first id that a row may have which the run before has not read; 0 begins.
        since: i64,
    }

    /// Removes the next part of an account.
    RemoveAccount as "remove_account" in Background, key |job| job.account.to_string() => {
        account: AccountId,
    }

    /// Queues the mail that somebody asked for by typing an e-mail address, if it is an account's. Looked up here, so that
    /// the answer to the request takes as long for every address.
    RequestMail as "request_mail" in Mail => {
        /// The address, sealed: it may be anybody's.
        sealed_email: String,
        /// What about.
        subject: Subject,
    }

    /// Ends the next follows between `account` and a domain that it blocks, and then deletes what came of that domain.
    SeverDomain as "sever_domain" in Background => {
        /// Who blocks.
        account: AccountId,
        domain: String,
        /// The last account of the batch before; 0 begins.
        after: AccountId,
        /// Followers lost so far.
        followers: i64,
        /// Follows that ended so far.
        following: i64,
    }

    /// Sends a notification to one subscription.
    SendPush as "send_push" in Push, key |job| format!("{}-{}", job.subscription, job.notification) => {
        /// The number of the subscription; it may be gone.
        subscription: i64,
        /// Which notification; it may be gone.
        notification: NotificationId,
    }

    /// Sends one e-mail to `account`.
    SendMail as "send_mail" in Mail => {
        /// To whom.
        account: AccountId,
        /// What about.
        subject: Subject,
        /// The link that the e-mail holds.
        link: Option<RowId>,
    }

    /// Tells somebody by mail of the notifications that they have not read.
    MailNotifications as "mail_notifications" in Mail, key |job| job.account.to_string() => {
        /// To whom.
        account: AccountId,
        /// The first that they may have missed.
        first: NotificationId,
    }

    /// Trims the home feeds of the next batch of people, and drops those of people who stay away. Recurring.
    TendFeeds as "tend_feeds" in Background, key |_job| String::new() => {
        /// The last account of the batch before; 0 begins a walk.
        after: AccountId,
    }

    /// Takes pictures out of the media cache while it is larger than it may be. Recurring.
    TrimMediaCache as "trim_media_cache" in Background, key |_job| String::new() => {}

    /// Trims the next batch of a plugin's feeds of one kind to [`PLUGIN_FEED_LENGTH`] statuses.
    TrimFeeds as "trim_feeds" in Background, key |job| format!("{}-{}", job.kind, job.after) => {
        /// Which kind of feed.
        kind: i64,
        /// The last owner of the batch before; 0 begins.
        after: i64,
    }

    /// Looks whether the pages in the fields of a profile link back to it.
    VerifyLinks as "verify_links" in Fetch, key |job| job.account.to_string() => {
        /// Whose profile.
        account: AccountId,
    }

    /// Takes someone's statuses out of a home feed and the feeds of lists: unfollowed, blocked or muted. The follows of when
    /// it runs decide, so that a follow which came after it is not undone.
    Unmerge as "unmerge_feed" in Feed => {
        /// Whose feed.
        account: AccountId,
        /// Whose statuses.
        target: AccountId,
    }

    /// Takes the statuses of a domain that `account` blocks, and reblogs of these, out of its home feed and the feeds of its
    /// lists.
    UnmergeDomain as "unmerge_domain" in Feed => {
        /// Whose feeds.
        account: AccountId,
        domain: String,
    }

    /// Takes the statuses out of a home feed that only a hashtag brought, which is followed no more.
    UnmergeTag as "unmerge_tag" in Feed => {
        /// Whose feed.
        account: AccountId,
        tag: TagId,
    }
}

/// The kinds of e-mail that jobs send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// Confirm an e-mail address.
    Confirm,
    /// Reset a password.
    Reset,
    /// A sign-up was approved.
    Approved,
    /// A scheduled status was not published.
    ScheduleFailed(ScheduledStatusId),
}

/// How many statuses a plugin's feed keeps.
pub const PLUGIN_FEED_LENGTH: i64 = 1_000;

impl ReconcileHome {
    /// Most authors of one job, so that its transaction is short.
    const MOST: usize = 40;

    /// The jobs for `authors`.
    #[must_use]
    pub fn in_parts(account: AccountId, authors: &[AccountId]) -> Vec<Self> {
        authors.chunks(Self::MOST).map(|authors| Self { account, authors: authors.to_vec() }).collect()
    }
}

impl ReconcileList {
    /// Most members of one job, so that its transaction is short.
    const MOST: usize = 40;

    /// The jobs for `members`.
    #[must_use]
    pub fn in_parts(list: RowId, members: &[AccountId]) -> Vec<Self> {
        members.chunks(Self::MOST).map(|members| Self { list, members: members.to_vec() }).collect()
    }
}

impl SeverDomain {
    /// The beginning of the work.
    #[must_use]
    pub fn begin(account: AccountId, domain: String) -> Self {
        Self { account, domain, after: AccountId::from(0), followers: 0, following: 0 }
    }
}

impl TrimFeeds {
    /// How long after something entered a feed it is trimmed: not in the transaction that fills ten thousand feeds at once.
    pub const DELAY: TimeDelta = TimeDelta::minutes(10);
}

impl DeleteOldStatuses {
    /// The beginning of a walk.
    #[must_use]
    pub fn begin() -> Self {
        Self { account: AccountId::from(0), after: StatusId::from(0) }
    }
}

impl PruneCards {
    /// The beginning of a walk.
    #[must_use]
    pub fn begin() -> Self {
        Self { after: RowId::from(0) }
    }
}

impl TendFeeds {
    /// The beginning of a walk.
    #[must_use]
    pub fn begin() -> Self {
        Self { after: AccountId::from(0) }
    }
}
