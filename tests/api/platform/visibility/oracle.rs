//! Visibility according to the contract (docs/contract/rules.md#9-accounts, docs/contract/rules.md#10-statuses and
//! docs/contract/rules.md#12-timelines), independent of the server's implementation.

/// Relation of a viewer to the authors. Every viewer has the same relation to every author.
#[derive(Clone, Copy, Debug, Default)]
pub struct Viewer {
    pub name: &'static str,
    pub token: Token,
    pub follows: bool,
    pub mentioned: bool,
    /// Member of the circle of limited statuses: silently mentioned in limited statuses only.
    pub circled: bool,
    /// The authors block them.
    pub blocked: bool,
    pub blocks: bool,
    pub mutes: bool,
    /// An expired mute.
    pub muted_once: bool,
    pub blocks_domain: bool,
    /// The authors block their domain.
    pub domain_blocked: bool,
    /// An account of another server.
    pub remote: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Token {
    None,
    Application,
    Unconfirmed,
    Pending,
    Moderator,
    /// Each author, with their own statuses.
    Author,
    #[default]
    Person,
}

pub const NOBODY: Viewer = Viewer {
    name: "",
    token: Token::Person,
    follows: false,
    mentioned: false,
    circled: false,
    blocked: false,
    blocks: false,
    mutes: false,
    muted_once: false,
    blocks_domain: false,
    domain_blocked: false,
    remote: false,
};

const ELSEWHERE: Viewer = Viewer { remote: true, ..NOBODY };

pub const VIEWERS: &[Viewer] = &[
    Viewer { name: "anonymous", token: Token::None, ..NOBODY },
    Viewer { name: "application", token: Token::Application, ..NOBODY },
    Viewer { name: "unconfirmed", token: Token::Unconfirmed, ..NOBODY },
    Viewer { name: "pending", token: Token::Pending, ..NOBODY },
    Viewer { name: "stranger", ..NOBODY },
    Viewer { name: "moderator", token: Token::Moderator, ..NOBODY },
    Viewer { name: "author", token: Token::Author, ..NOBODY },
    Viewer { name: "follower", follows: true, ..NOBODY },
    Viewer { name: "mentioned", mentioned: true, ..NOBODY },
    Viewer { name: "mentioned_follower", follows: true, mentioned: true, ..NOBODY },
    Viewer { name: "circled", circled: true, ..NOBODY },
    Viewer { name: "circled_follower", follows: true, circled: true, ..NOBODY },
    Viewer { name: "muting_circled", mutes: true, follows: true, circled: true, ..NOBODY },
    Viewer { name: "blocked", blocked: true, ..NOBODY },
    Viewer { name: "blocked_mentioned", blocked: true, mentioned: true, ..NOBODY },
    Viewer { name: "blocking", blocks: true, ..NOBODY },
    Viewer { name: "blocking_mentioned", blocks: true, mentioned: true, ..NOBODY },
    Viewer { name: "muting", mutes: true, ..NOBODY },
    Viewer { name: "muting_follower", mutes: true, follows: true, ..NOBODY },
    Viewer { name: "muting_mentioned", mutes: true, mentioned: true, ..NOBODY },
    Viewer { name: "muted_once", muted_once: true, follows: true, ..NOBODY },
    Viewer { name: "domain_blocking", blocks_domain: true, ..NOBODY },
    Viewer { name: "domain_blocking_follower", blocks_domain: true, follows: true, ..NOBODY },
    Viewer { name: "domain_blocking_mentioned", blocks_domain: true, mentioned: true, ..NOBODY },
];

/// Accounts of another server, which sign their requests for documents.
pub const SIGNERS: &[Viewer] = &[
    Viewer { name: "signing_follower", follows: true, ..ELSEWHERE },
    Viewer { name: "signing_stranger", ..ELSEWHERE },
    Viewer { name: "signing_mentioned", mentioned: true, ..ELSEWHERE },
    Viewer { name: "signing_mentioned_follower", follows: true, mentioned: true, ..ELSEWHERE },
    Viewer { name: "signing_circled", circled: true, ..ELSEWHERE },
    Viewer { name: "signing_circled_follower", follows: true, circled: true, ..ELSEWHERE },
    Viewer { name: "signing_blocked", blocked: true, ..ELSEWHERE },
    Viewer { name: "signing_blocked_mentioned", blocked: true, mentioned: true, ..ELSEWHERE },
    Viewer { name: "signing_domain_blocked", domain_blocked: true, ..ELSEWHERE },
    Viewer { name: "signing_domain_blocked_mentioned", domain_blocked: true, mentioned: true, ..ELSEWHERE },
];

impl Viewer {
    /// True if a signer is served nothing but the actor (docs/contract/federation.md#5-http-signatures, "Authorized
    /// fetch").
    pub fn is_shut_out(self) -> bool {
        self.blocked || self.domain_blocked
    }

    /// Signed in with an account that can be used.
    pub fn is_person(self) -> bool {
        matches!(self.token, Token::Person | Token::Moderator | Token::Author)
    }
}

/// Kind of author.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    Plain,
    Limited,
    Suspended,
    Remote,
    /// Of another server, limited by the moderators of this one.
    RemoteLimited,
    /// Of another server, suspended by the moderators of this one.
    RemoteSuspended,
}

/// The local authors first.
pub const AUTHORS: [Author; 6] =
    [Author::Plain, Author::Limited, Author::Suspended, Author::Remote, Author::RemoteLimited, Author::RemoteSuspended];

impl Author {
    pub fn is_remote(self) -> bool {
        matches!(self, Self::Remote | Self::RemoteLimited | Self::RemoteSuspended)
    }

    /// Whether the matrix has a status of this visibility by the author: as many as a page of every route holds, and
    /// replies in pairs, with each author and with each visibility.
    pub fn writes(self, visibility: &str, reply: bool) -> bool {
        if reply && self.is_marked() {
            return visibility == "public";
        }
        let few = matches!(self, Self::RemoteLimited | Self::RemoteSuspended);
        !few || matches!(visibility, "public" | "unlisted" | "private" | "direct")
    }

    /// Whether the matrix has such a status that stays on this server.
    pub fn keeps_here(self, visibility: &str, reply: bool) -> bool {
        let some = if reply { &["public"][..] } else { &["public", "unlisted", "private"] };
        self == Self::Plain && some.contains(&visibility)
    }

    pub fn is_limited(self) -> bool {
        matches!(self, Self::Limited | Self::RemoteLimited)
    }

    fn is_marked(self) -> bool {
        self.is_limited() || self.is_suspended()
    }

    pub fn is_suspended(self) -> bool {
        matches!(self, Self::Suspended | Self::RemoteSuspended)
    }
}

/// A status of the matrix.
#[derive(Clone, Debug)]
pub struct Subject {
    pub id: i64,
    pub author: Author,
    pub visibility: &'static str,
    /// It stays on this server.
    pub local_only: bool,
    /// Replies to another account.
    pub reply: bool,
    pub mark: String,
}

/// Kind of page that shows a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Single,
    Thread,
    /// Full-text search.
    Search,
    Profile,
    Home,
    /// A public or hashtag timeline.
    Timeline,
    /// The viewer's own favourites or bookmarks.
    Collection,
    Notification,
    /// The history of a circle: statuses of its owner, readable by the owner only.
    Circle,
    /// A web page, where viewers are never signed in.
    Page,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Shown,
    Hidden,
    /// Not specified by the contract.
    Either,
}

/// True if the author permits the viewer to see it (docs/contract/rules.md#10-statuses, "Visibility"); `None` if the
/// contract does not specify it.
pub fn may_see(viewer: Viewer, subject: &Subject) -> Option<bool> {
    if subject.author.is_suspended() {
        return Some(false);
    }
    if viewer.token == Token::Author {
        return Some(true);
    }
    if subject.local_only {
        match viewer.token {
            Token::None | Token::Application => return Some(false),
            _ if viewer.remote => return Some(false),
            // As for `login`.
            Token::Unconfirmed | Token::Pending => return None,
            _ => {}
        }
    }
    match subject.visibility {
        "public" | "public_unlisted" | "unlisted" => Some(!viewer.blocked),
        "login" => match viewer.token {
            // The contract does not specify whether an unusable account counts as signed in.
            Token::Unconfirmed | Token::Pending => None,
            _ => Some(viewer.is_person() && !viewer.blocked),
        },
        // The contract does not specify whether a block revokes the access of a mention.
        _ if viewer.blocked && viewer.mentioned => None,
        "private" => Some((viewer.follows || viewer.mentioned) && !viewer.blocked),
        "limited" => Some(viewer.mentioned || viewer.circled),
        "direct" => Some(viewer.mentioned),
        other => panic!("{other}"),
    }
}

pub fn verdict(viewer: Viewer, subject: &Subject, place: Place) -> Verdict {
    let own = viewer.token == Token::Author;
    let remote = subject.author.is_remote();
    let limited = subject.author.is_limited();
    let domain = viewer.blocks_domain && remote;
    let decide = |shown: bool| if shown { Verdict::Shown } else { Verdict::Hidden };
    let viewer = if place == Place::Page { VIEWERS[0] } else { viewer };
    match may_see(viewer, subject) {
        Some(false) => return Verdict::Hidden,
        None if !matches!(place, Place::Timeline | Place::Home | Place::Circle) => return Verdict::Either,
        _ => {}
    }
    match place {
        Place::Single => Verdict::Shown,
        Place::Circle => decide(own),
        Place::Search if !viewer.is_person() => Verdict::Hidden,
        Place::Thread | Place::Search if own => Verdict::Shown,
        Place::Thread | Place::Search => {
            decide(!viewer.blocks && !viewer.mutes && !domain && (!limited || viewer.follows))
        }
        Place::Timeline => {
            let listed = matches!(subject.visibility, "public" | "public_unlisted" | "login");
            if !listed || limited || viewer.blocks || viewer.mutes || viewer.blocked || domain {
                Verdict::Hidden
            } else {
                may_see(viewer, subject).map_or(Verdict::Either, decide)
            }
        }
        Place::Home if viewer.blocks || viewer.mutes || domain => Verdict::Hidden,
        // The feed is seeded with everything for everyone; entries from accounts without a follow may be shown or
        // hidden.
        Place::Home if !viewer.follows => Verdict::Either,
        Place::Home => Verdict::Shown,
        Place::Profile | Place::Collection if viewer.blocks => Verdict::Either,
        Place::Collection | Place::Notification if viewer.blocks || viewer.mutes || domain => Verdict::Either,
        Place::Notification if limited && !own && !viewer.follows => Verdict::Either,
        Place::Profile if domain => Verdict::Either,
        Place::Profile | Place::Collection | Place::Notification => Verdict::Shown,
        // Profile pages may omit visible statuses. Hidden statuses were decided above.
        Place::Page => Verdict::Either,
    }
}
