//! What matching costs with 10,000 antennas of 10 keywords each: `cargo bench -p antennas`.
//!
//! Prints the time to arrange them, the time for a status, and how many antennas a status is caught by. The same seed
//! gives the same antennas and statuses everywhere, so that the component and a native build can be compared.

#![allow(clippy::print_stdout, reason = "a benchmark speaks to a terminal")]

use std::time::Instant;

use antennas::index::{Antenna, Here, Index, Scratch};
use antennas::room;
use antennas::status::{Status, Visibility};
use antennas::terms::Terms;

const ANTENNAS: i64 = 10_000;
const KEYWORDS: usize = 10;
const STATUSES: usize = 2_000;
/// As long as a status may usually be, in characters.
const LENGTH: usize = 490;

/// A small generator of numbers (xorshift64*), so that nothing depends on a crate's version.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) % sides
    }

    /// A made-up word of two to five syllables: about 200,000 of them are in use.
    fn word(&mut self) -> String {
        const SYLLABLES: [&str; 16] =
            ["ka", "ro", "mi", "ten", "shu", "lo", "va", "rin", "que", "zo", "pel", "dar", "ny", "ost", "ib", "fu"];
        (0..2 + self.roll(4)).map(|_| SYLLABLES[usize::try_from(self.roll(16)).unwrap_or_default()]).collect()
    }
}

fn antenna(id: i64, dice: &mut Dice) -> Antenna {
    let keywords = (0..KEYWORDS).map(|_| format!("{}{}", dice.word(), dice.roll(100))).collect();
    Antenna { id, owner: id, terms: Terms { keywords, ..Terms::default() }, ..Antenna::default() }
}

fn text(dice: &mut Dice) -> String {
    let mut text = String::new();
    while text.chars().count() < LENGTH {
        text.push_str(&dice.word());
        text.push_str(&dice.roll(100).to_string());
        text.push(' ');
    }
    text
}

fn main() {
    let mut dice = Dice(0x0A17_E77A);
    let antennas: Vec<Antenna> = (1..=ANTENNAS).map(|id| antenna(id, &mut dice)).collect();
    let begun = Instant::now();
    let index = Index::build(antennas, room::BASE).expect("an automaton takes them");
    println!("arranged {} antennas in {:?}, left {} out", index.len(), begun.elapsed(), index.left_out().len());

    let texts: Vec<String> = (0..STATUSES).map(|_| text(&mut dice)).collect();
    let here = Here { domain: "here.test".to_owned(), local_timeline: true };
    let mut scratch = Scratch::default();
    let begun = Instant::now();
    let caught: usize = texts.iter().map(|text| index.catches(&status(text), &here, &mut scratch).len()).sum();
    let each = begun.elapsed() / u32::try_from(STATUSES).unwrap_or(1);
    println!("{each:?} for a status of {LENGTH} characters, caught by {} antennas", caught / STATUSES);
}

fn status(text: &str) -> Status<'_> {
    Status {
        id: 1,
        account: 1,
        domain: Some("far.test"),
        local: false,
        reblog: false,
        visibility: Visibility::Public,
        searchability: "public",
        text,
        tags: &[],
        mentions: &[],
        media: false,
    }
}
