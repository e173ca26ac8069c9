//! Every kind of job on a page: its payload, its name in the database, its lane and its deduplication key.
//!
//! The implementation of each is in the file of its use case, a function with the attribute
//! [`job`](macro@crate::job); jobs of the feed lane run in the crate `worker`. Those that read or write files are in
//! [`files`], and some about other servers in [`peers`].

pub mod files;
pub mod peers;

use serde::{Deserialize, Serialize};

use super::declare::jobs;
use super::job::Job;
use super::payload::{CarriedPart, Distribution, Subject};
use crate::budget::Allowance;
use crate::change::Change;
pub use files::{
    CopyRemoteFile, ExpireArchive, MakeArchive, PlaceFiles, ProcessMedia, PruneRemoteFiles, PurgeCardImage, PurgeMedia,
    PurgeProfileImages, PurgeRemoteFiles, PurgeServerPictures, TrimMediaCache, TrimRemoteFiles,
};
use model::job::Lane;
use model::{AccountId, NotificationId, PollId, RowId, ScheduledStatusId, StatusId, TagId};
pub use peers::{
    PruneRemoteAccounts, PruneRemoteStatuses, PruneUnused, PurgeDomain, SynchronizeFollowers, VerifyQuote,
};

/// The names of all kinds of jobs, with their lanes.
pub fn all() -> impl Iterator<Item = &'static (&'static str, Lane)> {
    KINDS.iter().chain(files::KINDS).chain(peers::KINDS)
}

jobs! {
    /// Accepts the pending follow requests of an account, as long as it is unlocked.
    AcceptRequests as "accept_requests" in Background, key |job| job.account.to_string() => {
        /// The receiver of the requests.
        account: AccountId,
    }

    /// Brings the next accounts of a domain and its subdomains in line with the domain policy. The key contains the
    /// position of the pass, because a pass in progress does not replace the new pass that a later change needs.
    ApplyDomainPolicy as "apply_domain_policy" in Background,
        key |job| {
            let alone = if job.alone { " alone" } else { "" };
            format!("{} {} {} {}{alone}", job.domain, job.blocked_at, job.host, job.after)
        } => {
        domain: String,
        /// When the block whose change started the pass was made, in microseconds since the epoch: its suspensions and
        /// limits are recognised after its removal.
        blocked_at: i64,
        /// The start of the pass, in microseconds since the epoch.
        begun_at: i64,
        /// The host whose accounts are next; empty at the start.
        host: String,
        /// The last account of the previous batch; 0 for the first batch of a host.
        after: AccountId,
        /// The pass ends with this host: a change of many domains has a job for each of their known hosts.
        #[serde(default)] alone: bool,
    }

    /// Removes the next accounts of a domain that limited federation no longer admits.
    RemoveDisallowed as "remove_disallowed" in Background, key |job| format!("{} {}", job.domain, job.after) => {
        domain: String,
        /// The last account of the previous batch; 0 for the first batch.
        after: AccountId,
    }

    /// Attaches the card of the link in a status's text, or removes it.
    AttachCard as "attach_card" in Background, key |job| job.status.to_string() => {
        /// The status; it may be gone.
        status: StatusId,
    }

    /// Invalidates the renderings of the next batch of statuses with a changed card.
    BumpCard as "bump_card" in Background => {
        card: RowId,
        /// The last status of the previous batch.
        before: StatusId,
    }

    /// Carries the next relationships of people here from an account that moved over to the account it moved to.
    CarryOver as "carry_over" in Background, key |job| format!("{} {:?} {}", job.moved, job.part, job.after) => {
        /// The row of the move; it may be gone.
        moved: RowId,
        part: CarriedPart,
        /// The last account of the previous batch; 0 for the first batch of a part.
        after: AccountId,
    }

    /// Sends the documents owed to a host, in order.
    DeliverToHost as "deliver_to_host" in Delivery, key |job| job.host.clone() => {
        /// The host, with its port unless it is the usual one.
        host: String,
    }

    /// Renders what other servers are sent, finds its recipients and queues the deliveries.
    Distribute as "distribute" in Delivery, key |job| job.what.key() => {
        what: Distribution,
    }

    /// Fetches the statuses of a remote account that was followed: recent and pinned ones, and how many it has.
    FillAccount as "fill_account" in Remote, key |job| format!("{}-{}", job.account, job.follower) => {
        account: AccountId,
        /// The new follower, whose home timeline receives the statuses.
        follower: AccountId,
    }

    /// Fetches the status that a remote status answers, and the actors that it mentions.
    FillParent as "fill_parent" in Remote, key |job| job.status.to_string(),
        share |job| job.allowance.as_ref().map(|allowance| allowance.cause.as_str()) => {
        status: StatusId,
        /// The number of its descendants that led here.
        depth: u32,
        attempts: u32,
        /// The reply is yet to be published here; only in rows of earlier versions (see [`PublishReply`]).
        #[serde(default)] publishes: bool,
        #[serde(default)] mentions: Vec<String>,
        /// Actors that it addresses without a mention.
        #[serde(default)] audience: Vec<String>,
        #[serde(default)] allowance: Option<Allowance>,
    }

    /// Publishes a reply whose parent was missing: when its parent was looked for, or a few seconds after it came.
    PublishReply as "publish_reply" in Inbox, key |job| job.status.to_string() => { status: StatusId }

    /// Fetches replies to a remote status.
    FillReplies as "fill_replies" in Remote, key |job| job.status.to_string(),
        share |job| job.allowance.as_ref().map(|allowance| allowance.cause.as_str()) => {
        status: StatusId,
        most: u32,
        /// Its budget; `None` in rows of earlier versions.
        #[serde(default)] allowance: Option<Allowance>,
    }

    /// Fetches the page of a card, if that is due.
    FetchCard as "fetch_card" in Fetch, key |job| job.card.to_string() => { card: RowId }

    /// Fetches a subscribed list of domains, and applies or drafts its changes.
    RefreshDomainList as "refresh_domain_list" in Fetch, key |job| job.list.to_string() => {
        /// The list; it may be gone.
        list: RowId,
    }

    /// Queues the refresh of subscribed lists that are due. Recurring.
    RefreshDomainLists as "refresh_domain_lists" in Background, key |_job| String::new() => {}

    /// Fetches the NodeInfo of another server.
    FetchNodeInfo as "fetch_node_info" in Fetch, key |job| job.domain.clone() => { domain: String }

    /// Deletes the next cards that no status has. Recurring.
    PruneCards as "prune_cards" in Background, key |_job| String::new() => {
        /// The last card of the previous batch; 0 starts a new pass.
        after: RowId,
    }

    /// Removes expired sessions, links, authorization codes, idempotency keys and key-value entries of plugins, and
    /// undelivered plugin events. Recurring.
    Clean as "clean" in Background, key |_job| String::new() => {}

    /// Counts the next past days for metrics. Recurring.
    CountDays as "count_days" in Background, key |_job| String::new() => {}

    /// Deletes the next notifications of a dismissed request.
    DeleteFiltered as "delete_filtered" in Background => {
        /// The account that dismissed the request.
        account: AccountId,
        /// The sender of the notifications.
        from: AccountId,
        /// The last notification to delete: later ones belong to another request.
        last: NotificationId,
    }

    /// Deletes the next notifications beyond the retention period. Recurring.
    DeleteOldNotifications as "delete_old_notifications" in Background, key |_job| String::new() => {}

    /// Deletes the next old statuses that an automatic deletion policy does not keep. Recurring.
    DeleteOldStatuses as "delete_old_statuses" in Background, key |_job| String::new() => {
        /// The account whose policy is next, or the first account after it that has one; 0 starts a new pass.
        account: AccountId,
        /// The last status of the previous batch, if it was by that account.
        after: StatusId,
    }

    /// Removes the mute of `target` by `account`, unless its end was changed meanwhile.
    ExpireMute as "expire_mute" in Background => {
        /// The muting account.
        account: AccountId,
        /// The muted account.
        target: AccountId,
    }

    /// Notifies the author and the voters of a poll that has ended.
    ExpirePoll as "expire_poll" in Background, key |job| format!("{}-{}", job.poll, job.after) => {
        poll: PollId,
        /// The last voter of the previous batch; 0 for the first batch.
        after: AccountId,
    }

    /// Deletes a status whose text sets an expiry, unless the expiry was changed meanwhile.
    ExpireStatus as "expire_status" in Background => { status: StatusId }

    /// Adds a new status to the feeds of its author's followers, and notifies the followers who enabled notifications
    /// for the author.
    FanOut as "fan_out" in Feed => {
        /// The status or reblog.
        status: StatusId,
    }

    /// Removes data that plugins write about an account after its removal, until they have handled every event from
    /// before the removal.
    ForgetAccount as "forget_account" in Background, key |job| job.account.to_string() => {
        /// The removed account.
        account: AccountId,
        /// The last event before the removal.
        last: i64,
        /// How many times the job has run.
        looks: u32,
    }

    /// Creates the signing key of an account that has none.
    GenerateKey as "generate_key" in Background => { account: AccountId }

    /// Publishes an announcement that is due, withdraws one that ended, and sends the change to live listeners.
    MaintainAnnouncement as "tend_announcement" in Background => {
        /// The announcement; it may be gone.
        announcement: RowId,
    }

    /// Submits all pending notices to extensions for judgement.
    JudgeNotices as "judge_notices" in Notice, key |_job| "all".to_owned() => {}

    /// Adds the newest statuses of a newly followed account to a home feed, and to the lists that contain the
    /// account.
    Merge as "merge_feed" in Feed => {
        /// The owner of the feed.
        account: AccountId,
        /// The author of the statuses.
        target: AccountId,
    }

    /// Adds the newest statuses with a newly followed hashtag to a home feed.
    MergeTag as "merge_tag" in Feed => {
        /// The owner of the feed.
        account: AccountId,
        tag: TagId,
    }

    /// Processes the activities that a remote account sent, in order.
    ProcessInbox as "process_inbox" in Inbox, key |job| job.account.to_string(), share |job| Some(&job.domain),
        lane |job| if job.asks { Lane::Remote } else { Lane::Inbox } => {
        /// The sender.
        account: AccountId,
        /// The sender's registrable domain; empty in rows of earlier versions.
        #[serde(default)] domain: String,
        /// Other servers may be asked for objects of the activities; otherwise an activity that needs it, and the later
        /// ones, are left to a job that may.
        #[serde(default)] asks: bool,
    }

    /// Processes an activity again that failed.
    RetryActivity as "retry_activity" in Remote, key |job| job.activity.to_string(), share |job| Some(&job.domain) => {
        /// The activity; it may be gone.
        activity: RowId,
        /// The sender's registrable domain; empty in rows of earlier versions.
        #[serde(default)] domain: String,
    }

    /// Publishes a scheduled status that is due.
    PublishScheduled as "publish_scheduled" in Background => { scheduled: ScheduledStatusId }

    /// Processes the next rows of an import, or removes the next entries that are missing from its file.
    RunImport as "run_import" in Background => {
        /// The import; it may be gone.
        import: RowId,
        /// True during the first phase, which removes entries that are missing from the file.
        removing: bool,
        /// The last row, or the last existing entry, of the previous batch; 0 for the first batch.
        after: i64,
    }

    /// Shows the next filtered notifications from `from` to `account`, after `account` permitted the sender.
    MergeNotifications as "merge_notifications" in Background, key |job| format!("{}-{}", job.account, job.from) => {
        /// The receiver.
        account: AccountId,
        /// The permitted sender.
        from: AccountId,
    }

    /// Removes the next part of a purged plugin's data from tables of the server.
    PurgePlugin as "purge_plugin" in Background, key |job| job.plugin.to_string() => {
        /// The former id of the plugin.
        plugin: i64,
        /// The kinds of its feeds.
        feeds: Vec<i64>,
        /// The types of notifications that it declared.
        notifications: Vec<String>,
        /// The last notification to delete: another plugin may declare a type again.
        last: i64,
    }

    /// Rebuilds the home feed of an account whose feed was dropped during a long absence, and the feeds of its lists.
    Rebuild as "rebuild_feed" in Feed, key |job| job.account.to_string() => {
        /// The owner of the feed.
        account: AccountId,
    }

    /// Rebuilds the feed of a list after a change of the replies that it shows.
    RebuildList as "rebuild_list" in Feed, key |job| job.list.to_string() => {
        list: RowId,
    }

    /// Removes authors from a home feed who are on an exclusive list when the job runs, and adds the others back if
    /// the owner of the feed follows them.
    ReconcileHome as "reconcile_home" in Feed => {
        /// The owner of the feed.
        account: AccountId,
        /// The authors of the statuses.
        authors: Vec<AccountId>,
    }

    /// Adds the statuses of current members to the feed of a list, and removes the statuses of other accounts.
    ReconcileList as "reconcile_list" in Feed => {
        list: RowId,
        /// The accounts that were added to the list, or removed from it.
        members: Vec<AccountId>,
    }

    /// Passes changes of a command outside the server to the extensions of a process that serves them.
    RecordChanges as "record_changes" in Background => {
        /// In chronological order.
        changes: Vec<Change>,
    }

    /// Scores trends again. Recurring.
    RefreshTrends as "refresh_trends" in Background, key |_job| String::new() => {
        /// Lower bound of the row ids not covered by the previous run; 0 starts a new pass.
        since: i64,
    }

    /// Deletes the data of an account that has been suspended long enough, unless that was lifted.
    DeleteSuspended as "delete_suspended" in Background => {
        account: AccountId,
        /// When it was suspended, in microseconds since 1970: a later suspension has a job of its own.
        suspended_at: i64,
    }

    /// Removes the next part of an account.
    RemoveAccount as "remove_account" in Background, key |job| job.account.to_string() => {
        account: AccountId,
    }

    /// Queues the mail requested for an e-mail address, if it belongs to an account. The address is looked up here,
    /// so that the response to the request takes the same time for every address.
    RequestMail as "request_mail" in Mail => {
        /// The address, sealed: it may belong to anyone.
        sealed_email: String,
        subject: Subject,
    }

    /// Ends the next follows between `account` and a domain that it blocks, and then deletes its notifications from and
    /// conversations with the domain.
    SeverDomain as "sever_domain" in Background => {
        /// The blocking account.
        account: AccountId,
        domain: String,
        /// The last account of the previous batch; 0 for the first batch.
        after: AccountId,
        /// Followers removed so far.
        followers: i64,
        /// Follows ended so far.
        following: i64,
    }

    /// Sends a notification to one subscription.
    SendPush as "send_push" in Push, key |job| format!("{}-{}", job.subscription, job.notification) => {
        /// The id of the subscription; it may be gone.
        subscription: i64,
        /// The notification; it may be gone.
        notification: NotificationId,
    }

    /// Sends one e-mail to `account`.
    SendMail as "send_mail" in Mail => {
        /// The recipient.
        account: AccountId,
        subject: Subject,
        /// The link that the e-mail contains.
        link: Option<RowId>,
    }

    /// Mails the next people about a version of the terms of service.
    MailTerms as "mail_terms" in Background, key |job| format!("{}-{}", job.terms, job.after) => {
        /// The version; it may be gone.
        terms: RowId,
        /// The last account of the previous batch; 0 for the first batch.
        after: AccountId,
    }

    /// Mails a summary of unread notifications.
    MailNotifications as "mail_notifications" in Mail, key |job| job.account.to_string() => {
        /// The recipient.
        account: AccountId,
        /// The first notification that the recipient may have missed.
        first: NotificationId,
    }

    /// Trims the home feeds of the next batch of accounts, and drops the feeds of inactive accounts. Recurring.
    MaintainFeeds as "tend_feeds" in Background, key |_job| String::new() => {
        /// The last account of the previous batch; 0 starts a new pass.
        after: AccountId,
    }

    /// Trims the next batch of a plugin's feeds of one kind to [`PLUGIN_FEED_LENGTH`](super::PLUGIN_FEED_LENGTH) statuses.
    TrimFeeds as "trim_feeds" in Background, key |job| format!("{}-{}", job.kind, job.after) => {
        /// The kind of feed.
        kind: i64,
        /// The last owner of the previous batch; 0 for the first batch.
        after: i64,
    }

    /// Checks whether the pages in the fields of a profile link back to it.
    VerifyLinks as "verify_links" in Fetch, key |job| job.account.to_string() => {
        account: AccountId,
    }

    /// Removes the statuses of an account from a home feed and the feeds of lists after an unfollow, block or mute.
    /// The follows at the time of the run decide, so that a later follow is not undone.
    Unmerge as "unmerge_feed" in Feed => {
        /// The owner of the feed.
        account: AccountId,
        /// The author of the statuses.
        target: AccountId,
    }

    /// Removes the statuses of a domain that `account` blocks, and reblogs of them, from its home feed and the feeds
    /// of its lists.
    UnmergeDomain as "unmerge_domain" in Feed => {
        /// The owner of the feeds.
        account: AccountId,
        domain: String,
    }

    /// Removes the statuses from a home feed that are there only because of a hashtag that is no longer followed.
    UnmergeTag as "unmerge_tag" in Feed => {
        /// The owner of the feed.
        account: AccountId,
        tag: TagId,
    }
}
