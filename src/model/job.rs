//! Lanes of the job queue.

use super::text_enum;

text_enum! {
    /// A lane of the job queue. Jobs of one lane never wait for those of another.
    Lane {
        /// Writing to timelines, which users wait for: jobs whose work is rows alone, done several in a transaction.
        Feed = "feed",
        /// Asking plugins about notifications, which users wait for.
        Notice = "notice",
        Mail = "mail",
        /// Converting video and audio, which takes minutes.
        Media = "media",
        /// Jobs that plugins queued; the server's own jobs never wait for them.
        Plugin = "plugin",
        /// Fetching pages of other sites, which take their time.
        Fetch = "fetch",
        /// Sending notifications to push services.
        Push = "push",
        /// Everything that is not urgent.
        Background = "background",
    }
}
