//! The kinds of jobs that read, write or delete stored files.

use serde::{Deserialize, Serialize};

use super::super::declare::jobs;
use super::super::job::Job;
use model::job::Lane;
use model::remote_file::RemoteFileKind;
use model::{AccountId, MediaId, RowId};

jobs! {
    /// Removes the picture of a card, unless the card shows it.
    PurgeCardImage as "purge_card_image" in Background => {
        /// The card; it may be gone.
        card: RowId,
        /// Storage key.
        image: String,
    }

    /// Converts an uploaded video or audio file.
    ProcessMedia as "process_media" in Media => {
        /// The attachment; it may be gone.
        media: MediaId,
        /// The storage key of the upload.
        incoming: String,
        /// The storage key of the converted file.
        original: String,
        /// The storage key of the preview, unless the client uploaded one.
        preview: String,
    }

    /// Creates an archive that an account requested.
    MakeArchive as "make_archive" in Background => {
        /// The archive; it may be gone.
        archive: RowId,
    }

    /// Deletes an archive whose time is over.
    ExpireArchive as "expire_archive" in Background => {
        /// The archive; it may be gone.
        archive: RowId,
        /// The storage key of the file.
        file: String,
    }

    /// Removes an attachment that no status uses, and its files; also when it has no row. If a status uses it,
    /// removes only files that the attachment does not have (any longer).
    PurgeMedia as "purge_media" in Background => {
        media: MediaId,
        /// Its storage keys.
        files: Vec<String>,
    }

    /// Removes those files that are no longer pictures of the account.
    PurgeProfileImages as "purge_profile_images" in Background => {
        account: AccountId,
        /// Storage keys.
        files: Vec<String>,
    }

    /// Removes those files that are not pictures of the server.
    PurgeServerPictures as "purge_server_pictures" in Background => {
        /// Storage keys.
        files: Vec<String>,
    }

    /// Removes pictures from the media cache while it exceeds its size limit. Recurring.
    TrimMediaCache as "trim_media_cache" in Background, key |_job| String::new() => {}

    /// Copies a video or a sound of another server.
    CopyRemoteFile as "copy_remote_file" in Remote, key |job| format!("{} {}", job.kind.as_str(), job.subject),
        share |job| Some(&job.host) => {
        kind: RemoteFileKind,
        /// The row that names it; it may be gone.
        subject: i64,
        /// The host of the file, with its port unless it is the usual one.
        host: String,
    }

    /// Removes copies of files of other servers while they exceed their budget. Recurring.
    TrimRemoteFiles as "trim_remote_files" in Background, key |_job| String::new() => {}

    /// Removes the next copies of files of other servers whose rows are gone. Recurring.
    PruneRemoteFiles as "prune_remote_files" in Background, key |_job| String::new() => {
        kind: RemoteFileKind,
        /// The last row of the previous batch; 0 for the first batch of a kind.
        after: i64,
    }

    /// Removes those files that are no longer of the copy of this row.
    PurgeRemoteFiles as "purge_remote_files" in Background => {
        kind: RemoteFileKind,
        /// The row that names the file; it may be gone.
        subject: i64,
        /// Storage keys.
        files: Vec<String>,
    }

    /// Moves the next files of a local account to where its standing has them: out of reach while it is suspended.
    PlaceFiles as "place_files" in Background => {
        account: AccountId,
        /// The last attachment of the previous batch; 0 for the first batch, and for the pictures of the profile.
        after: MediaId,
    }
}
