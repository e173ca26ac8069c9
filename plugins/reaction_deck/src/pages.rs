//! The page on which people choose their deck in a browser.

use rookery_plugin::pages::{Field, Form, Outcome, Request, Submission, Text, View};
use rookery_plugin::prelude::*;

use crate::deck::{self, DeckEmoji};
use crate::{load, replace_with};

/// Longest list, in characters: 256 shortcodes.
const MOST: u32 = 10_000;
/// Lines of the field.
const LINES: u8 = 6;

const TITLE: Text = Text(&[("en", "Reaction deck"), ("de", "Reaktionen zur Hand"), ("ja", "リアクションデッキ")]);
const LEAD: Text = Text(&[
    ("en", "Apps offer these emoji first when you react to a post, in this order."),
    ("de", "Apps bieten diese Emojis zuerst an, wenn du auf einen Beitrag reagierst, in dieser Reihenfolge."),
    ("ja", "投稿にリアクションするとき、アプリはこの順番で絵文字を表示します。"),
]);
const EMOJIS: Text = Text(&[("en", "Emoji"), ("de", "Emojis"), ("ja", "絵文字")]);
const HINT: Text = Text(&[
    ("en", "With spaces between them; custom emoji by their names, such as :rook:. At most 256."),
    ("de", "Mit Leerzeichen dazwischen; eigene Emojis des Servers mit ihrem Namen, etwa :rook:. Höchstens 256."),
    ("ja", "空白で区切ってください。カスタム絵文字は :rook: のように名前で指定します。256 個まで。"),
]);
const UNKNOWN: Text = Text(&[
    ("en", "There is no such emoji here: {names}"),
    ("de", "Diese Emojis gibt es hier nicht: {names}"),
    ("ja", "このサーバーにない絵文字です: {names}"),
]);
const SAVE: Text = Text(&[("en", "Save"), ("de", "Speichern"), ("ja", "保存")]);
const SAVED: Text =
    Text(&[("en", "The deck is saved."), ("de", "Die Auswahl ist gespeichert."), ("ja", "デッキを保存しました。")]);

/// `/reaction_deck`
#[page("deck")]
fn deck(ctx: &Context, _: &Request) -> Result<View> {
    let words: Vec<String> = load(ctx)?.iter().map(word).collect();
    let emojis = Field::lines("emojis", EMOJIS.of(ctx), MOST, LINES).hint(HINT.of(ctx)).value(words.join(" "));
    Ok(View::new(TITLE.of(ctx)).text(LEAD.of(ctx)).form(Form::new("save", SAVE.of(ctx)).field(emojis)))
}

/// What `/reaction_deck` sends.
#[submit("deck")]
fn save(ctx: &Context, _: &Request, sent: &Submission) -> Result<Outcome> {
    let words: Vec<String> = sent.text("emojis").split_whitespace().map(str::to_owned).collect();
    let names = deck::names(&words);
    let found = core::emojis(&names)?;
    let unknown: Vec<String> =
        names.into_iter().zip(found).filter_map(|(name, emoji)| emoji.is_none().then_some(name)).collect();
    if !unknown.is_empty() {
        return Ok(Outcome::wrong("emojis", UNKNOWN.of(ctx).replace("{names}", &unknown.join(", "))));
    }
    replace_with(ctx, &words)?;
    Ok(Outcome::notice(SAVED.of(ctx)))
}

/// An emoji as it is typed.
fn word(shown: &DeckEmoji) -> String {
    match shown {
        DeckEmoji::Custom { name, .. } => format!(":{name}:"),
        DeckEmoji::Plain { name } => name.clone(),
    }
}
