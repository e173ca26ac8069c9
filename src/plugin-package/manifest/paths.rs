//! Methods and paths in a manifest. Conflicts with existing routes are found by
//! `plugins::routes`; here resources of the client API are reserved whether the server implements them yet or
//! not.

use super::Route;

/// Methods of routes.
const METHODS: &[&str] = &["GET", "POST", "PUT", "PATCH", "DELETE"];

/// Resources of the client API, including future ones: paths below them need `nested-under`.
const CORE: &[&str] = &[
    "accounts",
    "admin",
    "announcements",
    "apps",
    "blocks",
    "bookmarks",
    "conversations",
    "custom_emojis",
    "directory",
    "domain_blocks",
    "emails",
    "endorsements",
    "favourites",
    "featured_tags",
    "filters",
    "follow_requests",
    "followed_tags",
    "instance",
    "lists",
    "markers",
    "media",
    "mutes",
    "notifications",
    "peers",
    "polls",
    "preferences",
    "profile",
    "push",
    "reports",
    "scheduled_statuses",
    "search",
    "statuses",
    "streaming",
    "suggestions",
    "tags",
    "timelines",
    "trends",
];

/// The names of the parameters in a path template.
pub(super) fn parameters(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
}

/// Checks method and path of a route; the error continues a sentence that begins with the route's name.
pub(super) fn check(route: &Route) -> Result<(), String> {
    for method in route.method.all() {
        if !METHODS.contains(&method.as_str()) {
            return Err(format!("{method:?} is not one of {}", METHODS.join(", ")));
        }
    }
    if route.method.all().is_empty() {
        return Err("it has no method".to_owned());
    }
    template(&route.path)?;
    nested(route)
}

/// Checks a template; the error continues like the error of [`check`].
pub(super) fn template(path: &str) -> Result<(), String> {
    let fault = |problem: &str| Err(format!("the path {path:?} {problem}"));
    let Some(rest) = path.strip_prefix('/') else { return fault("does not begin with a slash") };
    let mut names = Vec::new();
    for segment in rest.split('/') {
        if let Some(name) = segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            if !is_word(name) {
                return fault("has a parameter whose name is not of small letters, digits and _");
            }
            if names.contains(&name) {
                return fault("has two parameters of one name");
            }
            names.push(name);
        } else if !is_plain(segment) {
            return fault("has a segment that is neither plain text nor a parameter such as {id}");
        }
    }
    Ok(())
}

/// True for a segment that has one form only: no dots that lead elsewhere, nothing that is encoded in a request.
fn is_plain(segment: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()+,;=:@".contains(&byte);
    !matches!(segment, "" | "." | "..") && segment.bytes().all(fits)
}

/// Checks `nested-under`. The resource is the segment after `/api/v1/`.
fn nested(route: &Route) -> Result<(), String> {
    let path = &route.path;
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    let resource = match segments.as_slice() {
        ["api", _version, resource, ..] => *resource,
        _ => "",
    };
    if resource.starts_with('{') {
        return Err(format!(
            "the path {path:?} would take every resource of the server: begin it with a word of your own"
        ));
    }
    let core = CORE.contains(&resource);
    match &route.nested_under {
        Some(named) if named == resource && core && segments.len() > 3 => Ok(()),
        Some(named) => {
            Err(format!("nested-under is {named:?}, and the path {path:?} does not go on from that resource"))
        }
        None if core && segments.len() > 3 => {
            Err(format!("the path {path:?} goes on from a resource of the server: say nested-under = {resource:?}"))
        }
        None if core => Err(format!("the path {path:?} is a resource of the server: choose another")),
        None => Ok(()),
    }
}

/// Lower-case letters, digits and `_`, beginning with a letter.
pub(super) fn is_word(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}
