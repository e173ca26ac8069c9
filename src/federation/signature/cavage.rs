//! Reading signatures of draft-cavage-http-signatures-12, which most servers send.
//!
//! Stricter than the draft, as the reference is: the components in [`check_coverage`] must be signed, and only
//! RSASSA-PKCS1-v1_5 with SHA-256 is known.

use crypto::rsa::Algorithm;
use model::Time;

use super::claim::Claim;
use super::incoming::{COMPONENTS_MAX, Incoming};
use super::refusal::Refusal;
use super::{digest, fields, times};

/// The most parameters of a `Signature` header.
const PARAMETERS_MAX: usize = 16;

/// The scheme of an `Authorization` header, which some servers repeat in the `Signature` header.
const SCHEME: &str = "signature ";

/// Reads the `Signature` header of `request` and checks everything that needs no key.
pub(super) fn claim(request: &Incoming<'_>, now: Time) -> Result<Claim, Refusal> {
    let field = request.required("signature")?;
    let parameters = Parameters::parse(&field)?;
    let key_id = parameters.required("keyId")?;
    let signature = parameters.required("signature")?;
    let signature = fields::base64(signature).ok_or_else(|| Refusal::malformed_parameter("signature"))?;
    let hidden = parameters.hides_algorithm()?;
    let components = components(&parameters, hidden)?;

    check_coverage(request, &components)?;
    if components.iter().any(|name| name == "digest") {
        digest::check_digest(request)?;
    }
    check_time(request, &parameters, &components, now)?;

    let mut messages = vec![message(request, &parameters, &components, request.path_and_query)?];
    if request.query().is_some() {
        messages.push(message(request, &parameters, &components, request.path())?);
    }
    let algorithm = Some(Algorithm::RsaV15Sha256);
    Ok(Claim { key_id: key_id.to_owned(), algorithm, messages, signature, components })
}

/// The text that is signed: a line for each component.
pub(super) fn signing_string<'a>(lines: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let lines: Vec<_> = lines.into_iter().map(|(name, value)| format!("{name}: {value}")).collect();
    lines.join("\n")
}

/// The parameters of a `Signature` header, each once.
pub(super) struct Parameters<'a>(Vec<(&'a str, String)>);

impl<'a> Parameters<'a> {
    pub(super) fn parse(field: &'a str) -> Result<Self, Refusal> {
        let malformed = || Refusal::malformed_header("signature");
        let mut rest = field;
        if let Some((scheme, after)) = rest.split_at_checked(SCHEME.len())
            && scheme.eq_ignore_ascii_case(SCHEME)
        {
            rest = after.trim_start();
        }
        let mut found: Vec<(&str, String)> = Vec::new();
        loop {
            let (name, after) = rest.split_once('=').ok_or_else(malformed)?;
            let name = name.trim_end();
            if name.is_empty() || !name.bytes().all(|c| c.is_ascii_alphanumeric()) || found.len() == PARAMETERS_MAX {
                return Err(malformed());
            }
            if found.iter().any(|(earlier, _)| *earlier == name) {
                return Err(Refusal::duplicate(name));
            }
            let (value, after) = value(after.trim_start()).ok_or_else(malformed)?;
            found.push((name, value));
            let after = after.trim_start();
            if after.is_empty() {
                return Ok(Self(found));
            }
            rest = after.strip_prefix(',').ok_or_else(malformed)?.trim_start();
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| *key == name).map(|(_, value)| value.as_str())
    }

    /// A parameter that must be present and not empty.
    fn required(&self, name: &str) -> Result<&str, Refusal> {
        self.get(name).filter(|value| !value.is_empty()).ok_or_else(|| Refusal::missing_parameter(name))
    }

    /// True for `hs2019`, also by default, which leaves the algorithm to the key; false for `rsa-sha256`.
    fn hides_algorithm(&self) -> Result<bool, Refusal> {
        match self.get("algorithm") {
            None | Some("hs2019") => Ok(true),
            Some("rsa-sha256") => Ok(false),
            Some(_) => Err(Refusal::UnsupportedAlgorithm),
        }
    }

    /// A time in seconds, of which a fraction is ignored.
    fn time(&self, name: &str) -> Result<Option<Time>, Refusal> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let (seconds, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
        let seconds = if are_digits(seconds) && are_digits(fraction) { seconds.parse().ok() } else { None };
        let time = seconds.and_then(times::from_seconds);
        time.map(Some).ok_or_else(|| Refusal::malformed_parameter(name))
    }
}

/// A quoted or bare value, and the text after it.
fn value(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, rest) = text.split_at(text.find([',', ' ', '\t']).unwrap_or(text.len()));
        let is_bare = !value.is_empty() && !value.contains(['"', '=']);
        return is_bare.then(|| (value.to_owned(), rest));
    };
    let mut value = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, &quoted[at + 1..])),
            '\\' => value.push(chars.next()?.1),
            c => value.push(c),
        }
    }
    None
}

/// The names of the signed components, in lower case and in order.
fn components(parameters: &Parameters<'_>, hides_algorithm: bool) -> Result<Vec<String>, Refusal> {
    let default = if hides_algorithm { "(created)" } else { "date" };
    let list = parameters.get("headers").unwrap_or(default).to_ascii_lowercase();
    let mut components: Vec<String> = Vec::new();
    for name in list.split_ascii_whitespace() {
        if components.len() == COMPONENTS_MAX {
            return Err(Refusal::TooManyComponents);
        }
        if components.iter().any(|earlier| earlier == name) {
            return Err(Refusal::duplicate(name));
        }
        if matches!(name, "(created)" | "(expires)") && !hides_algorithm {
            return Err(Refusal::UnsupportedAlgorithm);
        }
        components.push(name.to_owned());
    }
    Ok(components)
}

/// Checks that the signature covers enough to prove who sent this request, and recently.
fn check_coverage(request: &Incoming<'_>, components: &[String]) -> Result<(), Refusal> {
    let covers = |name: &str| components.iter().any(|component| component == name);
    if !covers("date") && !covers("(created)") {
        return Err(Refusal::NotSigned("`date` or `(created)`"));
    }
    if !covers("(request-target)") && !covers("digest") {
        return Err(Refusal::NotSigned("`(request-target)` or `digest`"));
    }
    if request.is_read() && !covers("host") {
        return Err(Refusal::NotSigned("`host`"));
    }
    if !request.is_read() && !covers("digest") {
        return Err(Refusal::NotSigned("`digest`"));
    }
    Ok(())
}

/// Checks the time window. A time that is not signed proves nothing: such an `expires` can only shorten the window.
fn check_time(
    request: &Incoming<'_>,
    parameters: &Parameters<'_>,
    components: &[String],
    now: Time,
) -> Result<(), Refusal> {
    let covers = |name: &str| components.iter().any(|component| component == name);
    let created = match parameters.time("created")? {
        Some(created) if covers("(created)") => created,
        _ if covers("(created)") => return Err(Refusal::missing_parameter("created")),
        _ => {
            let date = request.required("date")?;
            times::from_http_date(&date).ok_or_else(|| Refusal::malformed_header("date"))?
        }
    };
    let expires = parameters.time("expires")?;
    let expires = if covers("(expires)") { expires } else { times::at_most_usual(created, expires) };
    times::check(created, expires, now)
}

/// The text that is signed, with `target` as the request target.
fn message(
    request: &Incoming<'_>,
    parameters: &Parameters<'_>,
    components: &[String],
    target: &str,
) -> Result<String, Refusal> {
    let mut lines = Vec::new();
    for name in components {
        let value = match name.as_str() {
            "(request-target)" => format!("{} {target}", request.method.as_str().to_ascii_lowercase()),
            "(created)" => parameters.required("created")?.to_owned(),
            "(expires)" => parameters.required("expires")?.to_owned(),
            name if name.starts_with('(') => return Err(Refusal::unsupported_component(name)),
            name => request.required(name)?,
        };
        lines.push((name.as_str(), value));
    }
    Ok(signing_string(lines.iter().map(|(name, value)| (*name, value.as_str()))))
}

#[cfg(test)]
pub(super) fn message_of(request: &Incoming<'_>, field: &str) -> Result<String, Refusal> {
    let parameters = Parameters::parse(field)?;
    let components = components(&parameters, parameters.hides_algorithm()?)?;
    message(request, &parameters, &components, request.path_and_query)
}
