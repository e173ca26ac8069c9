//! Figures, charts, statuses, people and pictures of pages.

use super::{Bar, Bars, Block, Figure, Figures, People, Person, Picture, Statuses, TitledStatus, View};
use crate::Id;

impl View {
    /// Adds figures.
    #[must_use]
    pub fn figures(mut self, figures: Figures) -> Self {
        self.blocks.push(Block::Figures(figures));
        self
    }

    /// Adds a chart.
    #[must_use]
    pub fn bars(mut self, bars: Bars) -> Self {
        self.blocks.push(Block::Bars(bars));
        self
    }

    /// Adds statuses.
    #[must_use]
    pub fn statuses(mut self, statuses: Statuses) -> Self {
        self.blocks.push(Block::Statuses(statuses));
        self
    }

    /// Adds accounts.
    #[must_use]
    pub fn people(mut self, people: People) -> Self {
        self.blocks.push(Block::People(people));
        self
    }

    /// Adds a picture to share.
    #[must_use]
    pub fn picture(mut self, picture: Picture) -> Self {
        self.blocks.push(Block::Picture(picture));
        self
    }
}

impl Figure {
    /// A highlighted value with its label.
    #[must_use]
    pub fn new(value: impl Into<String>, label: impl Into<String>) -> Self {
        Self { value: value.into(), label: label.into() }
    }
}

impl Figures {
    /// Figures without a heading.
    #[must_use]
    pub fn new(figures: impl IntoIterator<Item = Figure>) -> Self {
        Self { title: None, figures: figures.into_iter().collect() }
    }
}

impl Bars {
    /// Bars of these labels and lengths, one below the other.
    #[must_use]
    pub fn new<L: Into<String>>(bars: impl IntoIterator<Item = (L, u64)>) -> Self {
        let bars = bars.into_iter().map(|(label, length)| Bar { label: label.into(), length }).collect();
        Self { title: None, upright: false, bars }
    }

    /// Side by side, as the months of a year.
    #[must_use]
    pub fn upright(mut self) -> Self {
        self.upright = true;
        self
    }
}

impl Statuses {
    /// Statuses by their ids, each with a heading.
    #[must_use]
    pub fn new<L: Into<String>>(statuses: impl IntoIterator<Item = (L, Id)>) -> Self {
        let statuses = statuses.into_iter();
        let statuses = statuses.map(|(title, id)| TitledStatus { title: Some(title.into()), id: id.0 }).collect();
        Self { title: None, statuses }
    }
}

impl People {
    /// Accounts by their ids, each with a line about it.
    #[must_use]
    pub fn new<L: Into<String>>(people: impl IntoIterator<Item = (Id, L)>) -> Self {
        let people = people.into_iter().map(|(id, line)| Person { id: id.0, line: line.into() }).collect();
        Self { title: None, people }
    }
}

macro_rules! titled {
    ($($block:ident),*) => {
        $(impl $block {
            /// With a heading.
            #[must_use]
            pub fn titled(mut self, title: impl Into<String>) -> Self {
                self.title = Some(title.into());
                self
            }
        })*
    };
}
titled!(Figures, Bars, Statuses, People);

impl Picture {
    /// A picture with a title only; `alt` describes it.
    #[must_use]
    pub fn new(id: impl Into<String>, title: impl Into<String>, alt: impl Into<String>) -> Self {
        let (figures, words) = (Vec::new(), Vec::new());
        Self { id: id.into(), title: title.into(), lead: None, figures, bars: None, words, alt: alt.into() }
    }

    /// With a line below the title.
    #[must_use]
    pub fn lead(mut self, lead: impl Into<String>) -> Self {
        self.lead = Some(lead.into());
        self
    }

    /// With figures, 4 at most.
    #[must_use]
    pub fn figures(mut self, figures: impl IntoIterator<Item = Figure>) -> Self {
        self.figures = figures.into_iter().collect();
        self
    }

    /// With a chart of 31 bars at most.
    #[must_use]
    pub fn bars(mut self, bars: Bars) -> Self {
        self.bars = Some(bars);
        self
    }

    /// With short words, such as hashtags.
    #[must_use]
    pub fn words(mut self, words: impl IntoIterator<Item = String>) -> Self {
        self.words = words.into_iter().collect();
        self
    }
}
