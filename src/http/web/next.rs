//! Where a browser goes next when a request or a plugin names it: the one function for such redirects.
//!
//! Checks the text itself, before anything resolves it: anything but a plain path of this server is refused instead of
//! corrected, since browsers apply their own corrections (backslashes, tabs, dots; WHATWG URL, section 4.4).

use crate::path_normalisation;

/// True when `next` is a path on this server in normal form, with or without a query and a fragment, that no browser
/// takes for another server's address.
#[must_use]
pub fn is_own_path(next: &str) -> bool {
    let end = next.find(['?', '#']).unwrap_or(next.len());
    let (path, rest) = next.split_at(end);
    let is_plain = |letter: char| !letter.is_control() && !letter.is_whitespace() && letter != '\\';
    path_normalisation::is_normal(path) && path.chars().all(is_plain) && rest.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_paths_are_followed() {
        for own in [
            "/",
            "/settings",
            "/settings?tab=1",
            "/settings#password",
            "/?next=//other.example",
            "/@alice",
            "/@alice/116?lang=de",
            "/tags/caf%C3%A9",
            "/tags/café",
            "/oauth/authorize?redirect_uri=https%3A%2F%2Fapp.example%2Fcb&scope=read+write",
            "/oauth/authorize?redirect_uri=https://app.example/cb",
            "/.well-known/webfinger",
            "/a%2Fb",
            "/a:b@c",
            "/other.example",
        ] {
            assert!(is_own_path(own), "{own}");
        }
    }

    #[test]
    fn other_addresses_are_not_own_paths() {
        let refused = [
            // No path at all.
            "",
            " ",
            "settings",
            "other.example",
            "other.example/settings",
            ".",
            "..",
            "./settings",
            "../settings",
            "?",
            "?next=/",
            "#",
            "#/settings",
            // Addresses, by every scheme.
            "https://other.example",
            "http://other.example/",
            "HTTPS://other.example",
            "https:other.example",
            "https:/other.example",
            "https:///other.example",
            "ftp://other.example",
            "javascript:alert(1)",
            "JavaScript:alert(1)",
            "java\tscript:alert(1)",
            "data:text/html,x",
            "vbscript:x",
            "blob:x",
            "file:///etc/passwd",
            "mailto:a@other.example",
            "about:blank",
            ":other.example",
            "@other.example",
            "https:\\\\other.example",
            // Network paths, and what browsers make into them.
            "//other.example",
            "///other.example",
            "////other.example",
            "//other.example/settings",
            "//",
            "///",
            "//user@other.example",
            "//other.example:80",
            "//[::1]",
            "//127.0.0.1",
            "//2130706433",
            "/\\other.example",
            "\\/other.example",
            "\\\\other.example",
            "\\other.example",
            "/\\/other.example",
            "//\\other.example",
            "/\\\\other.example",
            "/./\\other.example",
            // Dots that resolve to a network path.
            "/.//other.example",
            "/..//other.example",
            "/././/other.example",
            "/a/..//other.example",
            "/a/../../other.example",
            "/./other.example",
            "/../other.example",
            "/%2e//other.example",
            "/%2E%2e//other.example",
            "/.%2e//other.example",
            "/a/%2e%2e//other.example",
            "/a//other.example",
            "/settings/.",
            "/settings/..",
            "/settings//",
            "/settings/",
            // Characters that browsers drop or servers split at.
            "/\t/other.example",
            "/\n/other.example",
            "/\r/other.example",
            "\t//other.example",
            " //other.example",
            "\n//other.example",
            "/ /other.example",
            "/\u{0}/other.example",
            "/\u{b}/other.example",
            "/\u{c}/other.example",
            "/\u{1f}/other.example",
            "/\u{7f}/other.example",
            "/\u{85}/other.example",
            "/\u{a0}/other.example",
            "/\u{2028}/other.example",
            "/\u{3000}/other.example",
            "\u{feff}//other.example",
            "/a\r\nLocation: //other.example",
            "/a?\r\nSet-Cookie: a=b",
            "/a?b\\c",
            "/a#\\\\other.example",
            "/a?b c",
            // Encoded twice, badly, or without need.
            "/%00",
            "/%0d%0aSet-Cookie:a=b",
            "/%09/other.example",
            "/%",
            "/%2",
            "/%zz",
            "/%ff",
            "%2F%2Fother.example",
            "/%61bout",
            "/%7Ealice",
        ];
        assert!(refused.len() >= 60);
        for other in refused {
            assert!(!is_own_path(other), "{other:?}");
        }
    }

    #[test]
    fn browsers_agree_that_own_paths_stay_here() {
        let here = url::Url::parse("https://example.test/auth/sign_in").expect("an address");
        let parts =
            ["/", "//", ".", "..", "%2e", "%2F", "\\", "\t", "other.example", "@", ":", "?", "#", "a", "https:"];
        let twice = parts.iter().flat_map(|one| parts.iter().map(move |two| format!("{one}{two}")));
        let all: Vec<String> = twice.flat_map(|start| parts.iter().map(move |end| format!("/{start}{end}"))).collect();
        for next in all.iter().filter(|next| is_own_path(next)) {
            let there = here.join(next).expect("an address");
            assert_eq!(there.origin(), here.origin(), "{next:?}");
            assert!(!there.path().starts_with("//"), "{next:?}");
        }
    }
}
