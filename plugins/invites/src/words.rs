//! The texts of the pages, in English, German and Japanese.

use rookery_plugin::prelude::Context;

/// The texts of one language.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words {
    language: Language,
    pub(crate) title: &'static str,
    pub(crate) title_all: &'static str,
    pub(crate) lead: &'static str,
    pub(crate) new: &'static str,
    pub(crate) max_uses: &'static str,
    pub(crate) unlimited: &'static str,
    pub(crate) expires_in: &'static str,
    pub(crate) never: &'static str,
    pub(crate) autofollow: &'static str,
    pub(crate) comment: &'static str,
    pub(crate) comment_hint: &'static str,
    pub(crate) create: &'static str,
    pub(crate) created: &'static str,
    pub(crate) none: &'static str,
    pub(crate) follows: &'static str,
    pub(crate) expire: &'static str,
    pub(crate) expired: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Language {
    English,
    German,
    Japanese,
}

const ENGLISH: Words = Words {
    language: Language::English,
    title: "Invitations",
    title_all: "Everybody's invitations",
    lead: "People with the link of an invitation may sign up here, without waiting for approval.",
    new: "Invite somebody",
    max_uses: "How many people may use it",
    unlimited: "Any number",
    expires_in: "For how long",
    never: "For ever",
    autofollow: "They follow you from the beginning",
    comment: "Comment",
    comment_hint: "Only you and the staff read it.",
    create: "Create invitation",
    created: "The invitation is ready.",
    none: "There are no invitations yet.",
    follows: "People who use it follow the inviter.",
    expire: "Expire",
    expired: "The invitation can no longer be used.",
};

const GERMAN: Words = Words {
    language: Language::German,
    title: "Einladungen",
    title_all: "Einladungen von allen",
    lead: "Wer den Link einer Einladung öffnet, kann sich hier registrieren, ohne auf eine Freigabe zu warten.",
    new: "Jemanden einladen",
    max_uses: "Wie viele sie benutzen können",
    unlimited: "Beliebig viele",
    expires_in: "Wie lange",
    never: "Für immer",
    autofollow: "Sie folgen dir von Anfang an",
    comment: "Bemerkung",
    comment_hint: "Nur du und das Team lesen sie.",
    create: "Einladung anlegen",
    created: "Die Einladung ist bereit.",
    none: "Es gibt noch keine Einladungen.",
    follows: "Wer damit kommt, folgt der einladenden Person.",
    expire: "Beenden",
    expired: "Niemand kann die Einladung mehr benutzen.",
};

const JAPANESE: Words = Words {
    language: Language::Japanese,
    title: "招待",
    title_all: "全員の招待",
    lead: "招待リンクを開いた人は、承認を待たずにここに登録できます。",
    new: "誰かを招待する",
    max_uses: "使用できる人数",
    unlimited: "無制限",
    expires_in: "有効期間",
    never: "無期限",
    autofollow: "最初からあなたをフォローする",
    comment: "コメント",
    comment_hint: "あなたとスタッフだけが読めます。",
    create: "招待を作成",
    created: "招待を作成しました。",
    none: "招待はまだありません。",
    follows: "この招待で登録した人は招待者をフォローします。",
    expire: "無効にする",
    expired: "この招待は無効になりました。",
};

impl Words {
    /// The texts in the caller's language.
    pub(crate) fn of(ctx: &Context) -> Self {
        match ctx.caller().locale.split('-').next() {
            Some("de") => GERMAN,
            Some("ja") => JAPANESE,
            _ => ENGLISH,
        }
    }

    /// A choice of uses.
    pub(crate) fn times(&self, most: i64) -> String {
        match (self.language, most) {
            (Language::English, 1) => "1 person".to_owned(),
            (Language::English, _) => format!("{most} people"),
            (Language::German, 1) => "1 Person".to_owned(),
            (Language::German, _) => format!("{most} Personen"),
            (Language::Japanese, _) => format!("{most} 人"),
        }
    }

    /// A choice of lifetimes, in whole days, hours or minutes.
    pub(crate) fn lifetime(&self, seconds: i64) -> String {
        let (count, names) = match seconds {
            86_400.. => (seconds / 86_400, [["day", "days"], ["Tag", "Tage"], ["日間", "日間"]]),
            3_600.. => (seconds / 3_600, [["hour", "hours"], ["Stunde", "Stunden"], ["時間", "時間"]]),
            _ => (seconds / 60, [["minute", "minutes"], ["Minute", "Minuten"], ["分間", "分間"]]),
        };
        let name = names[self.language as usize][usize::from(count != 1)];
        format!("{count} {name}")
    }

    /// How often it was used.
    pub(crate) fn used(&self, uses: i64, most: Option<i64>) -> String {
        match (self.language, most) {
            (Language::English, Some(most)) => format!("Used {uses} of {most} times"),
            (Language::English, None) => format!("Used {uses} times"),
            (Language::German, Some(most)) => format!("{uses} von {most} Mal benutzt"),
            (Language::German, None) => format!("{uses} Mal benutzt"),
            (Language::Japanese, Some(most)) => format!("使用回数 {uses}/{most}"),
            (Language::Japanese, None) => format!("使用回数 {uses}"),
        }
    }

    /// Until when it lasts.
    pub(crate) fn until(&self, date: &str) -> String {
        match self.language {
            Language::English => format!("Until {date}"),
            Language::German => format!("Bis {date}"),
            Language::Japanese => format!("{date} まで"),
        }
    }

    /// Since when it does not.
    pub(crate) fn over(&self, date: &str) -> String {
        match self.language {
            Language::English => format!("Expired {date}"),
            Language::German => format!("Beendet {date}"),
            Language::Japanese => format!("{date} に終了"),
        }
    }

    /// The limit of invitations is reached.
    pub(crate) fn too_many(&self, most: i64) -> String {
        match self.language {
            Language::English => format!("You have {most} invitations, which is the limit: expire some first."),
            Language::German => format!("Du hast {most} Einladungen, mehr gehen nicht: Beende erst welche."),
            Language::Japanese => format!("招待は {most} 件までです。先に不要な招待を無効にしてください。"),
        }
    }

    /// Its creator.
    pub(crate) fn by(&self, username: &str) -> String {
        match self.language {
            Language::English => format!("By @{username}"),
            Language::German => format!("Von @{username}"),
            Language::Japanese => format!("作成者 @{username}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lifetimes_are_said_in_their_largest_unit() {
        assert_eq!(ENGLISH.lifetime(1_800), "30 minutes");
        assert_eq!(ENGLISH.lifetime(3_600), "1 hour");
        assert_eq!(GERMAN.lifetime(604_800), "7 Tage");
        assert_eq!(JAPANESE.lifetime(86_400), "1 日間");
        assert_eq!((GERMAN.times(1), ENGLISH.times(5)), ("1 Person".to_owned(), "5 people".to_owned()));
    }
}
