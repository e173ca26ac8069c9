//! Accessibility of every page by axe-core, light and wide, and dark and narrow. `make screenshots` saves pictures of the
//! pages in both colour schemes and both sizes.

use std::path::Path;

use super::driver::{Chromium, Look, Window};
use super::people::sign_in;
use crate::harness::{Browser, TestApp};
use crate::platform::page_costs::{ENTRIES, WEB_PAGES, World};

const WIDE: (u32, u32) = (1280, 1000);
const NARROW: (u32, u32) = (390, 844);

/// The looks of the pictures. The first [`CHECKED`] are checked by every run.
const LOOKS: [Look; 4] = [
    Look { name: "light-wide", dark: false, size: WIDE },
    Look { name: "dark-narrow", dark: true, size: NARROW },
    Look { name: "light-narrow", dark: false, size: NARROW },
    Look { name: "dark-wide", dark: true, size: WIDE },
];
const CHECKED: usize = 2;

/// Signed-in pages that are not in [`WEB_PAGES`].
const MORE: &[&str] = &[
    "/publish",
    "/drafts",
    "/search?q=findable",
    "/explore",
    "/directory",
    "/settings",
    "/settings/preferences",
    "/settings/filters/new",
    "/settings/requests",
    "/settings/strikes",
    "/settings/cleanup",
    "/settings/moving",
    "/settings/delete",
    "/offline",
    "/nowhere",
];

/// Pages without a session, except /about/api: axe-core needs minutes for its thousands of elements.
const VISITED: &[&str] = &[
    "/",
    "/about",
    "/auth/sign_in",
    "/auth/sign_up",
    "/auth/password/new",
    "/@author",
    "/tags/birds",
    "/explore",
    "/directory",
    "/privacy-policy",
    "/remote_interaction?uri=https%3A%2F%2Fexample.test%2F%40author",
    "/nowhere",
];

/// Opens each page in each look; returns the violations.
async fn look_at(window: &Window, pages: &[String], looks: &[Look], folder: Option<&Path>) -> Vec<String> {
    let mut findings = Vec::new();
    for look in looks {
        window.look(*look).await;
        for page in pages {
            window.open(page).await;
            let found = window.findings().await;
            findings.extend(found.iter().map(|finding| format!("{page} ({}): {finding}", look.name)));
            if let Some(folder) = folder {
                let name: String = page.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
                window.keep_picture(&folder.join(format!("{}{name}.png", look.name))).await;
            }
        }
    }
    findings
}

#[expect(clippy::disallowed_methods, reason = "a test's environment says where to keep pictures")]
fn folder_of_pictures() -> Option<std::path::PathBuf> {
    let folder = std::path::PathBuf::from(std::env::var_os("SCREENSHOTS")?);
    std::fs::create_dir_all(&folder).unwrap();
    Some(folder)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_have_no_finding_of_accessibility_rules() {
    let Some(chromium) = Chromium::start("pages_have_no_finding_of_accessibility_rules") else { return };
    let app = TestApp::with(&[("ROOKERY_SERVER_SCHEME", "http")]).await;
    let world = World::on(app, ENTRIES[1]).await;
    let signed_in = Browser::signed_in(&world.app, "viewer").await;
    let world = world.imported(&signed_in).await;
    let listening = world.app.listen().await;
    let folder = folder_of_pictures();
    let looks = if folder.is_some() { &LOOKS[..] } else { &LOOKS[..CHECKED] };
    let window = chromium.window(listening.address(), true).await;

    let mut visited: Vec<String> = VISITED.iter().map(|page| (*page).to_owned()).collect();
    visited.push(format!("/@author/{}", world.thread));
    let mut findings = look_at(&window, &visited, looks, folder.as_deref()).await;

    window.open("/auth/sign_in").await;
    sign_in(&window, "viewer").await;
    let documents = [".rss", ".atom", "/export/"];
    let mut pages: Vec<String> = WEB_PAGES.iter().map(|(_, path)| path(&world)).collect();
    pages.retain(|page| !documents.iter().any(|part| page.contains(part)));
    pages.extend(MORE.iter().map(|page| (*page).to_owned()));
    let (status, author) = (world.statuses[0], world.author);
    pages.extend([
        format!("/publish?in_reply_to_id={status}"),
        format!("/publish?quoted_status_id={status}"),
        format!("/publish?edit={}", world.own),
        format!("/report?account_id={author}&status_id={status}"),
        format!("/@author/{status}"),
    ]);
    findings.extend(look_at(&window, &pages, looks, folder.as_deref()).await);
    assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), findings.join("\n"));
}
