//! SQL that decides which status enters which feed, shared by every statement that fills feeds.
//!
//! Macros that expand to a string, used by [`feed`](crate::feed), [`list_feed`](crate::list_feed),
//! [`tag_feed`](crate::tag_feed) and [`plugin_feed`](crate::plugin_feed). A statement produces its candidates as a
//! derived table `o (kind, place, owner, id, author, domain, answered, original, original_author, original_domain)`:
//! a feed by `kind` and `place`, the account whose relations apply (`owner`; NULL: none, and nothing is excluded),
//! the status or reblog, its author and their domain, the account that it replies to, and the original of a reblog
//! (otherwise the status itself) with its author and their domain. `admitted!` then decides for all of them alike.
//!
//! Spec: docs/contract/rules.md#12-timelines, "home" and "list". Decisions beyond it: a reblog shows its original, so
//! the mentions and the language of the original count; only mentions in the text count, not silent ones that only
//! extend the audience; a direct or limited status enters the feed of a follower whom it mentions; a followed hashtag
//! also adds replies, as its own timeline does, but no members of exclusive lists, which section 14 hides from home
//! in any case.

/// The columns of a candidate from `id` on, for status `s` joined by `with_original!`.
macro_rules! candidate {
    () => {
        "s.id, s.account_id AS author, sa.domain, s.in_reply_to_account_id AS answered,
         p.id AS original, p.account_id AS original_author, pa.domain AS original_domain"
    };
}
pub(crate) use candidate;

/// Joins the original `p` to status `s`, and the authors of both, `sa` and `pa`.
macro_rules! with_original {
    () => {
        " JOIN statuses p ON p.id = coalesce(s.reblog_of_id, s.id)
          JOIN accounts sa ON sa.id = s.account_id
          JOIN accounts pa ON pa.id = p.account_id "
    };
}
pub(crate) use with_original;

/// SQL condition: follow `f` admits status `s` with original `p`, by its options for reblogs and languages. A status
/// without a language matches every language. The engine is a parameter, because the engines test JSON lists in
/// different ways.
macro_rules! follow_admits {
    (sqlite) => {
        $crate::feed_sql::follow_admits!("EXISTS (SELECT 1 FROM json_each(f.languages) l WHERE l.value = p.language)")
    };
    (postgres) => {
        $crate::feed_sql::follow_admits!("jsonb_exists(f.languages, p.language)")
    };
    ($in_languages:literal) => {
        concat!(
            "(s.id = p.id OR f.show_reblogs) AND (f.languages IS NULL OR p.language IS NULL OR ",
            $in_languages,
            ")"
        )
    };
}
pub(crate) use follow_admits;

/// Candidates for home feeds: statuses of followed accounts, as their follow `f` admits them, restricted to the
/// condition `$which`. Direct and limited statuses are candidates for the accounts they mention. `u` is the following
/// user, which restricts the result to local accounts.
macro_rules! followed {
    ($engine:ident, $which:expr) => {
        concat!(
            "SELECT 0 AS kind, f.account_id AS place, f.account_id AS owner, ",
            $crate::feed_sql::candidate!(),
            "
             FROM follows f
             JOIN users u ON u.account_id = f.account_id
             JOIN statuses s ON s.account_id = f.target_account_id",
            $crate::feed_sql::with_original!(),
            "WHERE ",
            $which,
            " AND ",
            $crate::feed_sql::follow_admits!($engine),
            "
               AND (s.visibility NOT IN ('direct', 'limited')
                    OR EXISTS (SELECT 1 FROM mentions x WHERE x.status_id = s.id AND x.account_id = f.account_id))"
        )
    };
}
pub(crate) use followed;

/// Candidates for home feeds: statuses of others with followed hashtags, restricted to the condition `$which` and to
/// the statuses in the hashtag's timeline: of listed visibility, and not reblogs. `answered` is NULL, so that replies
/// are not excluded. Their `id` is a column of `st`, whose primary key orders the statuses of a hashtag.
macro_rules! tagged {
    ($which:expr) => {
        concat!(
            "SELECT 0 AS kind, tf.account_id AS place, tf.account_id AS owner,
                    st.status_id AS id, s.account_id AS author, sa.domain,
                    CAST(NULL AS BIGINT) AS answered, s.id AS original, s.account_id AS original_author,
                    sa.domain AS original_domain
             FROM tag_follows tf
             JOIN users u ON u.account_id = tf.account_id
             JOIN status_tags st ON st.tag_id = tf.tag_id
             JOIN statuses s ON s.id = st.status_id
             JOIN accounts sa ON sa.id = s.account_id
             WHERE ",
            $which,
            "
               AND s.visibility IN ('public', 'public_unlisted', 'login') AND s.reblog_of_id IS NULL
               AND s.account_id <> tf.account_id"
        )
    };
}
pub(crate) use tagged;

/// Candidates for feeds of lists: statuses of members, as the follow `f` of the list's owner admits them, and the
/// owner's own statuses if they are a member, restricted to the condition `$which`. A member whose follow is still
/// requested has no candidates. Direct and limited statuses are handled as in `followed!`. `l` is the list, `m` the
/// member, `u` the owner's user.
macro_rules! of_members {
    ($engine:ident, $which:expr) => {
        concat!(
            "SELECT 1 AS kind, l.id AS place, l.account_id AS owner, ",
            $crate::feed_sql::candidate!(),
            "
             FROM list_accounts m
             JOIN lists l ON l.id = m.list_id
             JOIN users u ON u.account_id = l.account_id
             JOIN statuses s ON s.account_id = m.account_id",
            $crate::feed_sql::with_original!(),
            "LEFT JOIN follows f ON f.account_id = l.account_id AND f.target_account_id = m.account_id
             WHERE ",
            $which,
            " AND (m.account_id = l.account_id OR (f.id IS NOT NULL AND ",
            $crate::feed_sql::follow_admits!($engine),
            "))
               AND (s.visibility NOT IN ('direct', 'limited')
                    OR EXISTS (SELECT 1 FROM mentions x WHERE x.status_id = s.id AND x.account_id = l.account_id))"
        )
    };
}
pub(crate) use of_members;

/// SQL condition: candidate `o` may enter its feed at the time `$now`.
///
/// Excluded are replies to accounts other than its author and `o.owner`, unless the owner follows them or, in a list,
/// its policy includes them; except in lists, members of the owner's exclusive lists; candidates that fail
/// `not_blocked!`; and reblogs of statuses that are `recently_shown!`.
macro_rules! admitted {
    ($now:literal) => {
        concat!(
            "(o.answered IS NULL OR o.answered IN (o.author, o.owner)
              OR (EXISTS (SELECT 1 FROM follows t WHERE t.account_id = o.owner AND t.target_account_id = o.answered)
                  AND (o.kind <> 1 OR EXISTS (SELECT 1 FROM lists l WHERE l.id = o.place AND l.replies_policy = 'followed')))
              OR (o.kind = 1 AND EXISTS (SELECT 1 FROM lists l JOIN list_accounts la ON la.list_id = l.id
                                         WHERE l.id = o.place AND l.replies_policy = 'list' AND la.account_id = o.answered)))
             AND (o.kind = 1 OR ", $crate::feed_sql::not_exclusive!(), ")
             AND ", $crate::feed_sql::not_blocked!($now), "
             AND NOT ", $crate::feed_sql::recently_shown!()
        )
    };
}
pub(crate) use admitted;

/// SQL condition: the author is not on any exclusive list of the owner.
macro_rules! not_exclusive {
    () => {
        "NOT EXISTS (SELECT 1 FROM list_accounts la JOIN lists l ON l.id = la.list_id
                     WHERE la.account_id = o.author AND l.account_id = o.owner AND l.exclusive)"
    };
}
pub(crate) use not_exclusive;

/// SQL condition: no block or mute excludes the candidate: none between the owner and either author, none of the
/// domain of either, and none by the owner of an account that the original mentions.
macro_rules! not_blocked {
    ($now:literal) => {
        concat!(
            $crate::feed_sql::not_blocked!(@ "o.author", "o.domain", $now), "
             AND (o.id = o.original OR (",
                 $crate::feed_sql::not_blocked!(@ "o.original_author", "o.original_domain", $now), "))
             AND NOT EXISTS (SELECT 1 FROM mentions x WHERE x.status_id = o.original AND NOT x.silent
                             AND (", $crate::relation_sql::blocks!("o.owner", "x.account_id"), "
                                  OR ", $crate::relation_sql::mutes!("o.owner", "x.account_id", $now), "))"
        )
    };
    (@ $author:literal, $domain:literal, $now:literal) => {
        concat!(
            "NOT ", $crate::relation_sql::mutes!("o.owner", $author, $now), "
             AND NOT ", $crate::relation_sql::blocks!("o.owner", $author), "
             AND NOT ", $crate::relation_sql::blocks!($author, "o.owner"), "
             AND NOT ", $crate::relation_sql::blocks_domain!("o.owner", $domain)
        )
    };
}
pub(crate) use not_blocked;

/// SQL condition: the candidate is a reblog, and its original or another reblog of it is among the newest 40 entries
/// of the feed, which are read from the end of the primary key.
macro_rules! recently_shown {
    () => {
        "(o.id <> o.original AND EXISTS (
              SELECT 1 FROM (SELECT coalesce(e.original_id, e.status_id) AS original_id FROM feed_entries e
                             WHERE e.kind = o.kind AND e.owner_id = o.place
                             ORDER BY e.status_id DESC LIMIT 40) recent
              WHERE recent.original_id = o.original))"
    };
}
pub(crate) use recently_shown;

/// The beginning of a statement that inserts the rows of `o` that follow.
macro_rules! insert_entries {
    () => {
        "INSERT INTO feed_entries (kind, owner_id, status_id, original_id)
         SELECT o.kind, o.place, o.id, NULLIF(o.original, o.id) FROM "
    };
}
pub(crate) use insert_entries;

/// As `insert_entries!`, for several admitted rows together, but without reblogs of statuses among the 40 rows before
/// them in the same feed: `recently_shown!` sees a feed as it was before the statement. If `owner` is NULL nothing is
/// excluded.
///
/// An excluded row itself counts among the 40. The window functions read all of `$rows`, so a limit must be part of
/// these.
macro_rules! insert_unrepeated {
    ($($rows:tt)+) => {
        concat!(
            $crate::feed_sql::insert_entries!(),
            "(SELECT n.*, n.nth - LAG(n.nth) OVER (PARTITION BY n.kind, n.place, n.original ORDER BY n.nth) AS distance
              FROM (SELECT c.*, ROW_NUMBER() OVER (PARTITION BY c.kind, c.place ORDER BY c.id) AS nth
                    FROM (", $($rows)+, ") c) n) o
             WHERE (o.owner IS NULL OR o.id = o.original OR o.distance IS NULL OR o.distance > 40)"
        )
    };
}
pub(crate) use insert_unrepeated;
