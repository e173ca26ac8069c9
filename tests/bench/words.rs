//! Realistic texts: 20 to 40 words in one of four languages. Deterministic.

const ENGLISH: &str = "the rooks are back in elms and wind has gone round to west again this morning while we were having breakfast by window nobody had expected them before spring but there they sit on every branch talking about weather as if winter never happened between old church river field";
const GERMAN: &str = "die Krähen sind wieder in den Ulmen und der Wind kommt heute aus Westen während wir am Fenster frühstücken hat niemand mit ihnen gerechnet aber da sitzen sie auf jedem Ast reden über das Wetter als wäre nie Winter gewesen zwischen alter Kirche Fluss Wiese";
const FRENCH: &str = "les corbeaux sont revenus dans les ormes et le vent tourne encore vers ouest ce matin pendant que nous prenions le café à la fenêtre personne ne les attendait avant le printemps mais ils parlent du temps sur chaque branche comme si rien ne était";
const SPANISH: &str = "los cuervos han vuelto a los olmos y el viento sopla otra vez del oeste esta mañana mientras desayunábamos junto a la ventana nadie los esperaba antes de primavera pero ahí están en cada rama hablando del tiempo como si nunca hubiera habido invierno";

/// Codes and words; each author writes in one language.
const LANGUAGES: [(&str, &str); 4] = [("en", ENGLISH), ("de", GERMAN), ("fr", FRENCH), ("es", SPANISH)];

/// In display form.
pub const HASHTAGS: [&str; 12] = [
    "Rooks",
    "Birds",
    "Weather",
    "Photography",
    "Caturday",
    "Fediverse",
    "Garden",
    "Books",
    "Cycling",
    "Music",
    "Rust",
    "Monday",
];

/// Deterministic generator of words and numbers.
#[derive(Debug)]
pub struct Words(u64);

impl Words {
    pub fn new() -> Self {
        Self(0x5EED)
    }

    /// A number below `bound`, by Knuth's linear congruential generator.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound.max(1)
    }

    /// One of `all`.
    pub fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// One of the newest 300 of `all`.
    pub fn recent<T: Copy>(&mut self, all: &[T]) -> T {
        self.pick(&all[all.len().saturating_sub(300)..])
    }

    /// 20 to 40 words of the author with this number, in sentences.
    pub fn text(&mut self, author: usize) -> String {
        let words: Vec<&str> = LANGUAGES[author % LANGUAGES.len()].1.split(' ').collect();
        let count = 20 + self.below(21);
        let mut text = String::new();
        for number in 0..count {
            let word = self.pick(&words);
            let mut letters = word.chars();
            if number % 11 == 0 {
                text.extend(letters.next().into_iter().flat_map(char::to_uppercase));
            }
            text.push_str(letters.as_str());
            text.push_str(if number % 11 == 10 || number + 1 == count { ". " } else { " " });
        }
        text.trim_end().to_owned()
    }

    /// URL that a status links.
    pub fn link(&mut self) -> String {
        format!("https://journal.example/2026/{:02}/notes-on-the-rooks-{}", 1 + self.below(12), self.below(9_000))
    }
}

/// Language code of the author with this number.
pub fn language(author: usize) -> &'static str {
    LANGUAGES[author % LANGUAGES.len()].0
}
