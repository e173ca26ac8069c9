//! Profiles and statuses as the server would have rendered them.

use text::{Links, MentionTarget};

use crate::data::DOMAIN;
use crate::seed::{Profile, Seed, Status};
use crate::words::{HASHTAGS, Words, language};

/// A status to be written. People and hashtags are numbers.
pub struct Draft {
    text: String,
    content: String,
    language: &'static str,
    warned: bool,
    pub mentioned: Option<usize>,
    pub tags: Vec<usize>,
    /// The description of the image.
    pub image: Option<String>,
}

impl Draft {
    /// A status of `author`, to the author of its parent or, sometimes, to one of the first `people`. Some have
    /// hashtags, a link, an image, a content warning.
    pub fn new(words: &mut Words, author: usize, answered: Option<usize>, people: usize) -> Self {
        let mentioned = answered.or_else(|| (words.below(5) == 0).then(|| words.below(people)));
        let mentioned = mentioned.filter(|person| *person != author);
        let (count, first) = (words.pick(&[0, 0, 0, 0, 1, 1, 2]), words.below(HASHTAGS.len()));
        let tags: Vec<usize> = (0..count).map(|tag| (first + tag * 5) % HASHTAGS.len()).collect();
        let mut text = mentioned.map_or(String::new(), |person| format!("@person{person} "));
        text.push_str(&words.text(author));
        if words.below(4) == 0 {
            text.push(' ');
            text.push_str(&words.link());
        }
        tags.iter().for_each(|tag| text.extend([" #", HASHTAGS[*tag]]));
        let content = html(&text, mentioned);
        let image = (words.below(10) == 0).then(|| words.text(author));
        Self { content, language: language(author), warned: words.below(15) == 0, mentioned, tags, image, text }
    }

    /// The part stored in the status itself.
    pub fn status(&self) -> Status<'_> {
        Status {
            text: &self.text,
            content: Some(&self.content),
            spoiler_text: if self.warned { "The weather, and what became of it" } else { "" },
            language: self.language,
            has_media: self.image.is_some(),
            ..Status::default()
        }
    }
}

fn html(text: &str, mentioned: Option<usize>) -> String {
    let target = |person| MentionTarget {
        username: format!("person{person}"),
        domain: None,
        url: format!("https://{DOMAIN}/@person{person}"),
    };
    let mentions: Vec<MentionTarget> = mentioned.into_iter().map(target).collect();
    text::to_html(text, &Links { web_origin: &format!("https://{DOMAIN}"), mentions: &mentions })
}

/// Seeds an account with a complete profile.
pub fn person(seed: &mut Seed, words: &mut Words, number: usize) -> i64 {
    let note = format!("{} {}", words.text(number), words.link());
    let fields = [("Journal", words.link()), ("Where", "Between the church and the river".to_owned())];
    let fields = fields.map(|(name, value)| {
        let html = text::field_to_html(&value, &Links { web_origin: "", mentions: &[] });
        serde_json::json!({ "name": name, "value": value, "html": html })
    });
    seed.profile(&Profile {
        username: &format!("person{number}"),
        display_name: Some(&format!("Person {number} of the Rookery")),
        note: &note,
        note_html: &html(&note, None),
        fields: &serde_json::Value::from(fields.to_vec()).to_string(),
        pictures: true,
        ..Profile::default()
    })
}
