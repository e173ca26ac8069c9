//! Tests of pages in Chromium: sign-up and the acts of the client, with scripts and without; two people at the same time;
//! and the accessibility of every page.
//!
//! `talk` starts the real program; `pages` uses the data of `platform::page_costs`. Faster tests of pages, without a
//! browser, are in `web`.

mod driver;
mod pages;
mod people;
mod talk;
