//! Lanes of the job queue.

use super::text_enum;

text_enum! {
    /// A lane of the job queue. Jobs of one lane never wait for those of another.
    Lane {
        /// Writing to timelines, which users wait for.
        Feed = "feed",
        /// Mail.
        Mail = "mail",
        /// Jobs that plugins queued; the server's own jobs never wait for them.
        Plugin = "plugin",
        /// Everything that is not urgent.
        Background = "background",
    }
}
