//! The templates of pages and feeds in the folder `templates`, embedded in the binary.

use std::sync::LazyLock;

use service::templates::Templates;

/// Pairs each template's name with its source.
macro_rules! embed {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("templates/", $name)))),+]
    };
}

const SOURCES: &[(&str, &str)] = embed![
    "_apps.html",
    "_contact.html",
    "_form.html",
    "_icons.html",
    "_logo.html",
    "_media.html",
    "_narrow.html",
    "_pages.html",
    "_paths.html",
    "_person.html",
    "_rules.html",
    "_script.html",
    "_status.html",
    "_status_body.html",
    "_poll.html",
    "_quote.html",
    "_reactions.html",
    "_rail.html",
    "_relation.html",
    "_status_acts.html",
    "_status_text.html",
    "client/_short_form.html",
    "client/additions.html",
    "client/catch_up.html",
    "client/conversations.html",
    "client/drafts.html",
    "client/folders.html",
    "client/history.html",
    "client/list.html",
    "client/lists.html",
    "client/notification_requests.html",
    "client/notifications.html",
    "client/offline.html",
    "client/part.html",
    "client/people.html",
    "client/picker.html",
    "client/publish.html",
    "client/report.html",
    "client/scheduled.html",
    "client/timeline.html",
    "client/translation.html",
    "_strike.html",
    "about.html",
    "api.html",
    "api_entity.html",
    "atom.xml",
    "base.html",
    "code.html",
    "confirmed.html",
    "directory.html",
    "elsewhere.html",
    "consent.html",
    "embed.html",
    "error.html",
    "explore.html",
    "form_post.html",
    "front.html",
    "interaction.html",
    "opensearch.xml",
    "owner_setup.html",
    "password_forgot.html",
    "password_forgot_done.html",
    "password_reset.html",
    "privacy.html",
    "profile.html",
    "rss.xml",
    "search.html",
    "settings/_layout.html",
    "settings/cleanup.html",
    "settings/leaving.html",
    "settings/moving.html",
    "settings/transfer.html",
    "settings/applications.html",
    "settings/filter.html",
    "settings/filters.html",
    "settings/followed_tags.html",
    "settings/home.html",
    "settings/preferences.html",
    "settings/profile.html",
    "settings/requests.html",
    "settings/sessions.html",
    "settings/strike.html",
    "settings/audit_log.html",
    "settings/strikes.html",
    "sign_in.html",
    "sign_up.html",
    "sign_up_done.html",
    "status.html",
    "strike.html",
    "tag.html",
    "terms.html",
    "unsubscribe.html",
    "visitor_interaction.html",
];

/// All templates, parsed once.
pub static TEMPLATES: LazyLock<Templates> = LazyLock::new(|| Templates::new(SOURCES));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_file_is_embedded_and_parses() {
        let _parsed = Templates::new(SOURCES);
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("web/templates");
        let mut files = 0;
        for part in ["", "client", "settings"] {
            let entries = std::fs::read_dir(folder.join(part)).expect("a folder");
            files += entries.filter(|entry| entry.as_ref().is_ok_and(|entry| entry.path().is_file())).count();
        }
        assert_eq!(files, SOURCES.len());
    }
}
