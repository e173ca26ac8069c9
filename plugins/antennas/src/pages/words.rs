//! The texts of the pages, by language.

use rookery_plugin::pages::Text;
use rookery_plugin::pages::words::number;
use rookery_plugin::prelude::*;

use crate::antenna::{MOST, MOST_ACCOUNTS, TITLE_MAX};
use crate::conditions::Side;
use crate::fault::Fault;
use crate::terms::{ENTRY_MAX, KEPT_MAX, Kind};

pub(super) const ANTENNAS: Text = Text(&[("en", "Antennas"), ("de", "Antennen"), ("ja", "アンテナ")]);
pub(super) const LEAD: Text = Text(&[
    (
        "en",
        "An antenna is a timeline of your own: it collects new posts by their author, server, hashtags and words. Older posts are not collected.",
    ),
    (
        "de",
        "Eine Antenne ist eine eigene Timeline: Sie sammelt neue Beiträge nach Konto, Server, Hashtags und Wörtern. Ältere holt sie nicht nach.",
    ),
    (
        "ja",
        "アンテナは自分だけのタイムラインです。アカウント、サーバー、ハッシュタグ、キーワードで新しい投稿を集めます。過去の投稿は集めません。",
    ),
]);
pub(super) const NEW: Text = Text(&[("en", "New antenna"), ("de", "Neue Antenne"), ("ja", "新しいアンテナ")]);
pub(super) const NONE: Text = Text(&[
    ("en", "You have no antenna yet."),
    ("de", "Du hast noch keine Antenne."),
    ("ja", "アンテナはまだありません。"),
]);
pub(super) const CREATED: Text = Text(&[
    ("en", "The antenna is created. Now add its conditions."),
    ("de", "Die Antenne ist angelegt. Sag ihr, worauf sie achtet."),
    ("ja", "アンテナを作成しました。集めるものを設定してください。"),
]);
pub(super) const SAVED: Text = Text(&[
    ("en", "The antenna is saved."),
    ("de", "Die Antenne ist gespeichert."),
    ("ja", "アンテナを保存しました。"),
]);
pub(super) const DELETED: Text =
    Text(&[("en", "The antenna is gone."), ("de", "Die Antenne ist gelöscht."), ("ja", "アンテナを削除しました。")]);

pub(super) const SETTINGS: Text = Text(&[("en", "Settings"), ("de", "Einstellungen"), ("ja", "設定")]);
pub(super) const PLACE: Text = Text(&[("en", "Writes to"), ("de", "Schreibt in"), ("ja", "投稿の追加先")]);
pub(super) const PLACE_HINT: Text = Text(&[
    ("en", "Collected posts are always in the antenna's own timeline, and here as well."),
    ("de", "Was sie sammelt, steht immer in der Timeline der Antenne, und außerdem hier."),
    ("ja", "集めた投稿はアンテナのタイムラインに加えて、ここにも表示されます。"),
]);
pub(super) const NOWHERE: Text =
    Text(&[("en", "Its own timeline only"), ("de", "Nur in die eigene Timeline"), ("ja", "アンテナのみ")]);
pub(super) const HOME: Text = Text(&[("en", "The home feed"), ("de", "Startseite"), ("ja", "ホーム")]);
pub(super) const LIST: Text = Text(&[("en", "List: {}"), ("de", "Liste: {}"), ("ja", "リスト: {}")]);
pub(super) const SOCIAL: Text =
    Text(&[("en", "Social timeline"), ("de", "Soziale Timeline"), ("ja", "ソーシャルタイムライン")]);
pub(super) const SOCIAL_HINT: Text = Text(&[
    ("en", "Collects the home feed and the posts of this server. The lists below are then ignored."),
    (
        "de",
        "Sammelt, was auf der Startseite steht und was hier geschrieben wird. Worauf sie achtet und was sie auslässt, zählt dann nicht.",
    ),
    ("ja", "ホームの投稿とこのサーバーの投稿を集めます。この場合、下の条件と除外は使われません。"),
]);
pub(super) const LOCAL: Text =
    Text(&[("en", "Local timeline"), ("de", "Lokale Timeline"), ("ja", "ローカルタイムライン")]);
pub(super) const LOCAL_HINT: Text = Text(&[
    ("en", "Collects the posts of this server, unless it is a social timeline. The lists below are then ignored."),
    (
        "de",
        "Sammelt, was hier geschrieben wird, wenn sie keine soziale Timeline ist. Auch dann zählen die Listen unten nicht.",
    ),
    ("ja", "このサーバーの投稿を集めます（ソーシャルタイムラインでない場合）。この場合も下の条件は使われません。"),
]);
pub(super) const MEDIA: Text =
    Text(&[("en", "Only posts with media"), ("de", "Nur Beiträge mit Medien"), ("ja", "メディアのある投稿のみ")]);
pub(super) const NO_REBLOGS: Text =
    Text(&[("en", "No boosts"), ("de", "Keine geteilten Beiträge"), ("ja", "ブーストを除く")]);

pub(super) const LISTENS: Text = Text(&[("en", "Listens for"), ("de", "Achtet auf"), ("ja", "集める条件")]);
pub(super) const LEAVES_OUT: Text = Text(&[("en", "Leaves out"), ("de", "Lässt aus"), ("ja", "除外する条件")]);
pub(super) const ACCOUNTS: Text = Text(&[("en", "Accounts"), ("de", "Konten"), ("ja", "アカウント")]);
pub(super) const SUSPENDED: Text = Text(&[("en", "suspended"), ("de", "gesperrt"), ("ja", "停止中")]);
pub(super) const DOMAINS: Text = Text(&[("en", "Servers"), ("de", "Server"), ("ja", "サーバー")]);
pub(super) const TAGS: Text = Text(&[("en", "Hashtags"), ("de", "Hashtags"), ("ja", "ハッシュタグ")]);
pub(super) const KEYWORDS: Text = Text(&[("en", "Words"), ("de", "Wörter"), ("ja", "キーワード")]);
pub(super) const ALL_OF: Text = Text(&[
    (
        "en",
        "A post is collected if it fits every kind that is filled in below: one of the accounts, one of the servers, and so on.",
    ),
    (
        "de",
        "Ein Beitrag wird gesammelt, wenn er zu jeder Art passt, die unten ausgefüllt ist: zu einem der Konten, einem der Server und so weiter.",
    ),
    (
        "ja",
        "下の条件のうち、入力したすべての種類に当てはまる投稿を集めます。同じ種類の中ではどれか一つに当てはまれば十分です。",
    ),
]);

/// How a list of accounts is written.
pub(super) fn accounts_hint(ctx: &Context) -> String {
    let words = Text(&[
        ("en", "One per line: name or name@server. At most {}."),
        ("de", "Eines je Zeile: Name oder Name@Server. Höchstens {}."),
        ("ja", "1 行に 1 つ: ユーザー名 または ユーザー名@サーバー。{} 件まで。"),
    ]);
    words.of(ctx).replace("{}", &MOST_ACCOUNTS.to_string())
}

/// How a list is written.
pub(super) fn hint(ctx: &Context, kind: Kind) -> String {
    let words = match kind {
        Kind::Keywords => Text(&[
            ("en", "One per line, 2 characters or more each; capital and small letters differ. At most {}."),
            ("de", "Eines je Zeile, mit mindestens 2 Zeichen; Groß- und Kleinschreibung zählt. Höchstens {}."),
            ("ja", "1 行に 1 つ、2 文字以上。大文字と小文字は区別されます。{} 件まで。"),
        ]),
        Kind::ExcludeKeywords => Text(&[
            ("en", "One per line; capital and small letters differ. At most {}."),
            ("de", "Eines je Zeile; Groß- und Kleinschreibung zählt. Höchstens {}."),
            ("ja", "1 行に 1 つ。大文字と小文字は区別されます。{} 件まで。"),
        ]),
        Kind::Domains | Kind::ExcludeDomains => Text(&[
            ("en", "One per line, such as rooks.example. At most {}."),
            ("de", "Einer je Zeile, etwa rooks.example. Höchstens {}."),
            ("ja", "1 行に 1 つ（例: rooks.example）。{} 件まで。"),
        ]),
        Kind::Tags | Kind::ExcludeTags => Text(&[
            ("en", "One per line, with # or without. At most {}."),
            ("de", "Einer je Zeile, mit # oder ohne. Höchstens {}."),
            ("ja", "1 行に 1 つ。# はあってもなくてもかまいません。{} 件まで。"),
        ]),
    };
    words.of(ctx).replace("{}", &kind.most().to_string())
}

/// The name of a list.
pub(super) const fn label(kind: Kind) -> Text {
    match kind {
        Kind::Keywords | Kind::ExcludeKeywords => KEYWORDS,
        Kind::Domains | Kind::ExcludeDomains => DOMAINS,
        Kind::Tags | Kind::ExcludeTags => TAGS,
    }
}

/// A name with a number: `Hashtags: 3`.
pub(super) fn counted(ctx: &Context, what: Text, count: u64) -> String {
    format!("{}: {}", what.of(ctx), number(ctx, count))
}

/// No account with this address is known here.
pub(super) fn unknown(ctx: &Context, address: &str) -> String {
    let words = Text(&[
        ("en", "This server knows no account @{}."),
        ("de", "Dieser Server kennt kein Konto @{}."),
        ("ja", "@{} というアカウントはこのサーバーで知られていません。"),
    ]);
    words.of(ctx).replace("{}", address)
}

/// A fault as a sentence.
pub(super) fn sentence(ctx: &Context, fault: &Fault) -> String {
    let (words, what) = match fault {
        Fault::TitleBlank => (
            Text(&[("en", "A title is needed."), ("de", "Ein Titel fehlt."), ("ja", "タイトルを入力してください。")]),
            String::new(),
        ),
        Fault::TitleLong => (
            Text(&[
                ("en", "A title has at most {} characters."),
                ("de", "Ein Titel hat höchstens {} Zeichen."),
                ("ja", "タイトルは {} 文字までです。"),
            ]),
            TITLE_MAX.to_string(),
        ),
        Fault::SocialTaken => (
            Text(&[
                ("en", "Another antenna is the social timeline there already."),
                ("de", "Dort ist schon eine andere Antenne die soziale Timeline."),
                ("ja", "その追加先のソーシャルタイムラインのアンテナがすでにあります。"),
            ]),
            String::new(),
        ),
        Fault::LocalTaken => (
            Text(&[
                ("en", "Another antenna is the local timeline there already."),
                ("de", "Dort ist schon eine andere Antenne die lokale Timeline."),
                ("ja", "その追加先のローカルタイムラインのアンテナがすでにあります。"),
            ]),
            String::new(),
        ),
        Fault::ManyAntennas => (
            Text(&[
                ("en", "You have {} antennas, which is the limit."),
                ("de", "Du hast {} Antennen, mehr gehen nicht."),
                ("ja", "アンテナは {} 件までです。"),
            ]),
            MOST.to_string(),
        ),
        Fault::NoList => (
            Text(&[
                ("en", "This is none of your lists."),
                ("de", "Das ist keine deiner Listen."),
                ("ja", "自分のリストを選んでください。"),
            ]),
            String::new(),
        ),
        Fault::Short(kind) => (
            Text(&[
                ("en", "Each needs at least {} characters."),
                ("de", "Jedes braucht mindestens {} Zeichen."),
                ("ja", "それぞれ {} 文字以上にしてください。"),
            ]),
            kind.shortest().to_string(),
        ),
        Fault::Long(_) => (
            Text(&[
                ("en", "One of them is too long: {} bytes are the limit."),
                ("de", "Ein Eintrag ist zu lang: {} Bytes sind die Grenze."),
                ("ja", "長すぎるものがあります。{} バイトまでです。"),
            ]),
            ENTRY_MAX.to_string(),
        ),
        Fault::Twice(_, entry) => (
            Text(&[
                ("en", "“{}” is there twice."),
                ("de", "„{}“ steht zweimal da."),
                ("ja", "「{}」が重複しています。"),
            ]),
            entry.clone(),
        ),
        Fault::Many(kind) => (TOO_MANY, kind.most().to_string()),
        Fault::ManyAccounts => (TOO_MANY, MOST_ACCOUNTS.to_string()),
        Fault::Unwritable(_) => (
            Text(&[
                ("en", "One of them is not written like this."),
                ("de", "Ein Eintrag wird so nicht geschrieben."),
                ("ja", "書き方が正しくないものがあります。"),
            ]),
            String::new(),
        ),
        Fault::Full => (
            Text(&[
                ("en", "All lists of an antenna together may have {} KiB."),
                ("de", "Alle Listen einer Antenne dürfen zusammen {} KiB haben."),
                ("ja", "アンテナのリストは合計 {} KiB までです。"),
            ]),
            (KEPT_MAX >> 10).to_string(),
        ),
        Fault::AccountTwice => (
            Text(&[
                ("en", "An account is there twice."),
                ("de", "Ein Konto steht zweimal da."),
                ("ja", "アカウントが重複しています。"),
            ]),
            String::new(),
        ),
    };
    words.of(ctx).replace("{}", &what)
}

const TOO_MANY: Text =
    Text(&[("en", "At most {} fit."), ("de", "Höchstens {} haben Platz."), ("ja", "{} 件までです。")]);

/// The heading of a side.
pub(super) const fn heading(side: Side) -> Text {
    match side {
        Side::Listed => LISTENS,
        Side::Excluded => LEAVES_OUT,
    }
}
