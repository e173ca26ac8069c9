//! Lanes of the queue.

use super::text_enum;

text_enum! {
    /// Jobs of one lane never wait for those of another.
    Lane {
        /// Writing to timelines: people wait for it.
        Feed = "feed",
        /// Mail.
        Mail = "mail",
        /// What plugins queued: nothing of the server's waits for it.
        Plugin = "plugin",
        /// Everything that may take its time.
        Background = "background",
    }
}
