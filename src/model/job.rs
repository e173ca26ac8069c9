//! Lanes of the job queue.

use super::text_enum;

text_enum! {
    /// A lane of the job queue. Jobs of one lane never wait for jobs of another.
    Lane {
        /// Writing to timelines, which users wait for: jobs that only write rows, run in batches in one transaction.
        Feed = "feed",
        /// Calling plugins about notifications, which users wait for.
        Notice = "notice",
        Mail = "mail",
        /// Converting video and audio, which takes minutes.
        Media = "media",
        /// Jobs that plugins queued; the server's own jobs never wait for them.
        Plugin = "plugin",
        /// Fetching pages of other sites, which may be slow.
        Fetch = "fetch",
        /// Sending notifications to push services.
        Push = "push",
        /// Processing what other servers sent, without asking any server.
        Inbox = "inbox",
        /// Asking other servers for objects of activities, and for threads that a person looks at.
        Remote = "remote",
        /// Sending to other servers.
        Delivery = "delivery",
        /// Everything that is not urgent.
        Background = "background",
    }
}
