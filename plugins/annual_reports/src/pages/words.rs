//! The texts of the pages and the picture, by language.

use rookery_plugin::pages::Text;

use crate::data::Archetype;

pub(super) const REPORTS: Text = Text(&[("en", "Annual reports"), ("de", "Jahresrückblicke"), ("ja", "年間レポート")]);
pub(super) const LEAD: Text = Text(&[
    ("en", "What you did here, year by year. Only you see these pages; you may share their pictures and links."),
    (
        "de",
        "Was du hier gemacht hast, Jahr für Jahr. Diese Seiten siehst nur du; ihre Bilder und Links kannst du teilen.",
    ),
    ("ja", "年ごとの活動のまとめです。このページはあなただけに表示されます。画像とリンクは自由に共有できます。"),
]);
pub(super) const NONE: Text = Text(&[
    ("en", "There is no report yet. They are made when a year is over."),
    ("de", "Es gibt noch keinen Rückblick. Er entsteht, wenn ein Jahr vorbei ist."),
    ("ja", "レポートはまだありません。一年が終わると作成されます。"),
]);
pub(super) const YOURS: Text = Text(&[("en", "Your {}"), ("de", "Dein {}"), ("ja", "あなたの {} 年")]);
pub(super) const MINE: Text = Text(&[("en", "My {}"), ("de", "Mein {}"), ("ja", "わたしの {} 年")]);

pub(super) const POSTS: Text = Text(&[("en", "posts"), ("de", "Beiträge"), ("ja", "投稿")]);
pub(super) const FOLLOWERS: Text =
    Text(&[("en", "new followers"), ("de", "neue Follower"), ("ja", "新しいフォロワー")]);
pub(super) const FOLLOWING: Text = Text(&[("en", "newly followed"), ("de", "neu gefolgt"), ("ja", "新しいフォロー")]);
pub(super) const POSTED_LESS: Text =
    Text(&[("en", "posted less here"), ("de", "schrieben hier weniger"), ("ja", "の人より多く投稿")]);

pub(super) const KINDS: Text =
    Text(&[("en", "What you posted"), ("de", "Was du geschrieben hast"), ("ja", "投稿の内訳")]);
pub(super) const STANDALONE: Text = Text(&[("en", "Own posts"), ("de", "Eigene Beiträge"), ("ja", "自分の投稿")]);
pub(super) const REPLIES: Text = Text(&[("en", "Replies"), ("de", "Antworten"), ("ja", "返信")]);
pub(super) const REBLOGS: Text = Text(&[("en", "Boosts"), ("de", "Geteiltes"), ("ja", "ブースト")]);
pub(super) const MONTHS: Text =
    Text(&[("en", "Posts by month"), ("de", "Beiträge nach Monaten"), ("ja", "月ごとの投稿")]);
pub(super) const NEW_BY_MONTH: Text =
    Text(&[("en", "New followers by month"), ("de", "Neue Follower nach Monaten"), ("ja", "月ごとの新しいフォロワー")]);

pub(super) const TOP: Text =
    Text(&[("en", "What others liked best"), ("de", "Was anderen am besten gefiel"), ("ja", "反響の大きかった投稿")]);
pub(super) const MOST_REBLOGGED: Text =
    Text(&[("en", "Boosted most"), ("de", "Am häufigsten geteilt"), ("ja", "最もブーストされた投稿")]);
pub(super) const MOST_FAVOURITED: Text =
    Text(&[("en", "Favourited most"), ("de", "Am häufigsten favorisiert"), ("ja", "最もお気に入りされた投稿")]);
pub(super) const MOST_REPLIED: Text =
    Text(&[("en", "Answered most"), ("de", "Am häufigsten beantwortet"), ("ja", "最も返信された投稿")]);
pub(super) const HASHTAGS: Text =
    Text(&[("en", "Your hashtags"), ("de", "Deine Hashtags"), ("ja", "よく使ったハッシュタグ")]);
pub(super) const TALKED_TO: Text =
    Text(&[("en", "Most replies to"), ("de", "Wem du am meisten geantwortet hast"), ("ja", "よく返信した人")]);
pub(super) const ANSWERS: Text = Text(&[("en", "{} replies"), ("de", "{} Antworten"), ("ja", "返信 {} 件")]);
pub(super) const REBLOGGED: Text =
    Text(&[("en", "Most boosts of"), ("de", "Wen du am meisten geteilt hast"), ("ja", "よくブーストした人")]);
pub(super) const TIMES: Text = Text(&[("en", "{} boosts"), ("de", "{}-mal geteilt"), ("ja", "ブースト {} 件")]);
pub(super) const APPS: Text = Text(&[("en", "Your apps"), ("de", "Deine Apps"), ("ja", "使ったアプリ")]);

pub(super) const SHARE: Text = Text(&[("en", "Share"), ("de", "Teilen"), ("ja", "共有")]);
pub(super) const FOR_OTHERS: Text =
    Text(&[("en", "Link for others"), ("de", "Link für andere"), ("ja", "ほかの人向けのリンク")]);
pub(super) const FOR_OTHERS_HINT: Text = Text(&[
    ("en", "Anyone with the link sees your name, these figures, and hashtags and links of public posts."),
    ("de", "Wer den Link hat, sieht deinen Namen, diese Zahlen sowie Hashtags und Links öffentlicher Beiträge."),
    ("ja", "リンクを知っている人には、あなたの名前と数字、公開投稿のハッシュタグとリンクが表示されます。"),
]);
pub(super) const YEAR_OF: Text =
    Text(&[("en", "@{name} in {year}"), ("de", "@{name} im Jahr {year}"), ("ja", "@{name} の {year} 年")]);
pub(super) const PUBLIC_HASHTAGS: Text = Text(&[("en", "Hashtags"), ("de", "Hashtags"), ("ja", "ハッシュタグ")]);

/// The months, by their numbers from 0 on.
pub(super) const MONTH_NAMES: [Text; 12] = [
    Text(&[("en", "Jan"), ("de", "Jan"), ("ja", "1月")]),
    Text(&[("en", "Feb"), ("de", "Feb"), ("ja", "2月")]),
    Text(&[("en", "Mar"), ("de", "Mär"), ("ja", "3月")]),
    Text(&[("en", "Apr"), ("de", "Apr"), ("ja", "4月")]),
    Text(&[("en", "May"), ("de", "Mai"), ("ja", "5月")]),
    Text(&[("en", "Jun"), ("de", "Jun"), ("ja", "6月")]),
    Text(&[("en", "Jul"), ("de", "Jul"), ("ja", "7月")]),
    Text(&[("en", "Aug"), ("de", "Aug"), ("ja", "8月")]),
    Text(&[("en", "Sep"), ("de", "Sep"), ("ja", "9月")]),
    Text(&[("en", "Oct"), ("de", "Okt"), ("ja", "10月")]),
    Text(&[("en", "Nov"), ("de", "Nov"), ("ja", "11月")]),
    Text(&[("en", "Dec"), ("de", "Dez"), ("ja", "12月")]),
];

/// The title for a main activity, and its explanation.
pub(super) const fn archetype(archetype: Archetype) -> (Text, Text) {
    match archetype {
        Archetype::Lurker => (
            Text(&[("en", "The lurker"), ("de", "Leise dabei"), ("ja", "見守る人")]),
            Text(&[
                ("en", "You read more than you wrote. Somebody has to listen."),
                ("de", "Du hast mehr gelesen als geschrieben. Jemand muss ja zuhören."),
                ("ja", "書くより読むほうが多い一年でした。聞き手がいてこその会話です。"),
            ]),
        ),
        Archetype::Booster => (
            Text(&[("en", "The booster"), ("de", "Weitergesagt"), ("ja", "広める人")]),
            Text(&[
                ("en", "You passed on what others wrote, more than twice as often as you wrote yourself."),
                ("de", "Was andere schrieben, hast du mehr als doppelt so oft weitergegeben, wie du selbst schriebst."),
                ("ja", "自分で書くより 2 倍以上多く、ほかの人の投稿を広めました。"),
            ]),
        ),
        Archetype::Pollster => (
            Text(&[("en", "The pollster"), ("de", "Viele Fragen"), ("ja", "問いかける人")]),
            Text(&[
                ("en", "You asked the others: more than one in ten of your own posts was a poll."),
                ("de", "Du hast die anderen gefragt: Mehr als jeder zehnte deiner Beiträge war eine Umfrage."),
                ("ja", "自分の投稿の 1 割以上がアンケートでした。"),
            ]),
        ),
        Archetype::Replier => (
            Text(&[("en", "The replier"), ("de", "Mitten im Gespräch"), ("ja", "語り合う人")]),
            Text(&[
                ("en", "You answered others more than twice as often as you began something yourself."),
                ("de", "Anderen hast du mehr als doppelt so oft geantwortet, wie du selbst etwas begonnen hast."),
                ("ja", "自分から始めるより 2 倍以上多く、ほかの人に返信しました。"),
            ]),
        ),
        Archetype::Oracle => (
            Text(&[("en", "The oracle"), ("de", "Eigene Worte"), ("ja", "語り部")]),
            Text(&[
                ("en", "You wrote in words of your own, all year long."),
                ("de", "Du hast vor allem selbst geschrieben, das ganze Jahr."),
                ("ja", "一年を通して、自分の言葉で書き続けました。"),
            ]),
        ),
    }
}
