//! Why an accepted activity had no effect: the one list that the metrics, the log and the tests share.

use model::text_enum;

text_enum! {
    /// Why an accepted activity had no effect, as it is counted.
    Reason {
        /// The activity has no object, or several.
        NoObject = "no_object",
        /// The id of the activity is not on the host of its sender.
        ForeignId = "foreign_id",
        /// The object is not on the host of the actor.
        ForeignObject = "foreign_object",
        /// It concerns no account of this server.
        Unrelated = "unrelated",
        /// The sender may not see the status.
        NotVisible = "not_visible",
        /// The account is not known here, or not of this server.
        UnknownTarget = "unknown_target",
        /// The status is not known here.
        UnknownStatus = "unknown_status",
        /// The follow is not one of an account of this server.
        UnknownFollow = "unknown_follow",
        /// The account did not request the follow.
        NotRequested = "not_requested",
        /// There is nothing to undo.
        NothingToUndo = "nothing_to_undo",
        /// Activities of this type cannot be undone.
        NotUndoable = "not_undoable",
        /// Another actor did what is undone or passed on.
        NotTheActor = "not_the_actor",
        /// The sender did not write the status.
        NotTheAuthor = "not_the_author",
        /// The object is not a status.
        NotANote = "not_a_note",
        /// The object was deleted, or the activity undone, before it came.
        DeletedBefore = "deleted_before",
        /// The author is suspended here.
        SuspendedAccount = "suspended_account",
        /// The words of the text are not allowed here.
        TextNotAllowed = "text_not_allowed",
        /// The poll has no such option.
        NoSuchOption = "no_such_option",
        /// The poll has ended, or takes no such vote.
        NotVotable = "not_votable",
        /// The status is known already.
        KnownStatus = "known_status",
        /// The status is not for everyone.
        NotPublic = "not_public",
        /// The server of the status still has it.
        OriginalExists = "original_exists",
        /// The status cannot be pinned to this profile.
        NotPinnable = "not_pinnable",
        /// The status is not pinned.
        NotPinned = "not_pinned",
        /// The collection is not the one of pinned statuses.
        NotFeatured = "not_featured",
        /// Featured hashtags of other servers are not kept.
        Hashtag = "hashtag",
        /// Too many statuses that are not known here were deleted in a short time.
        TooManyDeletions = "too_many_deletions",
        /// Favourites by this domain are ignored.
        FavouritesRejected = "favourites_rejected",
        /// Statuses of this domain that concern accounts who do not follow the author are ignored.
        RepliesRejected = "replies_rejected",
        /// Reports by this domain are ignored.
        ReportsRejected = "reports_rejected",
        /// The report is known already.
        KnownReport = "known_report",
        /// Too many reports came from this domain in a day.
        TooManyReports = "too_many_reports",
        /// The relay passed on too many statuses in a short time.
        TooManyRelayed = "too_many_relayed",
        /// The author of the status does not allow it.
        NotAllowed = "not_allowed",
        /// Too many requests to interact came from this domain in a short time.
        TooManyRequests = "too_many_requests",
        /// The activity has no target.
        NoTarget = "no_target",
        /// The target of a move is the sender, moved too, or is suspended.
        NotMovable = "not_movable",
        /// The target of a move does not name the sender as an alias.
        NotAnAlias = "not_an_alias",
        /// The sender moved less than seven days ago.
        MovedRecently = "moved_recently",
        /// The status is not known here, or not older than the edit.
        UnknownOrNotNewer = "unknown_or_not_newer",
    }
}
