//! Pages in Chromium, as people use them: what they do from signing up on, with scripts and without; two of them at the
//! same time; and every page by the rules of accessibility.
//!
//! Each test starts the real program, except for the pages, whose content is that of `platform::page_costs`. Tests that
//! speak to the router alone, and are faster, are in `web`.

mod driver;
mod pages;
mod people;
mod talk;
