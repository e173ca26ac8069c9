//! Reading signatures of RFC 9421 (HTTP Message Signatures).
//!
//! Supports the components of a request except trailers and parts of structured fields; a component with parameters is
//! refused, except `@query-param` with its name.

use crypto::rsa::Algorithm;
use model::Time;
use url::form_urlencoded;

use super::claim::Claim;
use super::fields::{self, InnerList, Item, Member, Parameters, Value};
use super::incoming::{COMPONENTS_MAX, Incoming};
use super::refusal::Refusal;
use super::{digest, times};

/// The most signatures of a request that are considered.
const SIGNATURES_MAX: usize = 3;

/// Reads the signatures of `request`, and returns the first that passes every check without a key.
///
/// # Errors
/// The refusal of the first signature.
pub(super) fn claim(request: &Incoming<'_>, now: Time) -> Result<Claim, Refusal> {
    let inputs = dictionary(request, "signature-input")?;
    let signatures = dictionary(request, "signature")?;
    let mut refusal = None;
    for (label, input) in inputs.iter().take(SIGNATURES_MAX) {
        let signature = signatures.iter().find(|(other, _)| other == label).map(|(_, signature)| signature);
        match read(request, now, label, input, signature) {
            Ok(claim) => return Ok(claim),
            Err(error) => refusal = refusal.or(Some(error)),
        }
    }
    Err(refusal.unwrap_or_else(|| Refusal::malformed_header("signature-input")))
}

fn dictionary(request: &Incoming<'_>, name: &str) -> Result<Vec<(String, Member)>, Refusal> {
    fields::dictionary(&request.required(name)?).ok_or_else(|| Refusal::malformed_header(name))
}

/// Reads one signature and checks everything that needs no key.
fn read(
    request: &Incoming<'_>,
    now: Time,
    label: &str,
    input: &Member,
    signature: Option<&Member>,
) -> Result<Claim, Refusal> {
    let Member::List(input) = input else { return Err(Refusal::malformed_header("signature-input")) };
    let signature = match signature {
        Some(Member::Item(Item { value: Value::Bytes(signature), .. })) => signature.clone(),
        Some(_) => return Err(Refusal::malformed_header("signature")),
        None => return Err(Refusal::missing_parameter(label)),
    };
    let key_id = text(&input.parameters, "keyid")?.filter(|id| !id.is_empty());
    let key_id = key_id.ok_or_else(|| Refusal::missing_parameter("keyid"))?.to_owned();
    let algorithm = text(&input.parameters, "alg")?.map(algorithm).transpose()?;

    check_coverage(request, input)?;
    if covers(input, "content-digest") {
        digest::check_content_digest(request)?;
    }
    let created = time(&input.parameters, "created")?.ok_or_else(|| Refusal::missing_parameter("created"))?;
    times::check(created, time(&input.parameters, "expires")?, now)?;
    let components = input.items.iter().filter_map(|item| match &item.value {
        Value::String(name) => Some(name.clone()),
        _ => None,
    });
    let components = components.collect();
    Ok(Claim { key_id, algorithm, messages: vec![base(request, input)?], signature, components })
}

fn algorithm(name: &str) -> Result<Algorithm, Refusal> {
    match name {
        "rsa-v1_5-sha256" => Ok(Algorithm::RsaV15Sha256),
        "rsa-pss-sha512" => Ok(Algorithm::RsaPssSha512),
        "ed25519" => Ok(Algorithm::Ed25519),
        _ => Err(Refusal::UnsupportedAlgorithm),
    }
}

/// A parameter that is a string.
fn text<'a>(parameters: &'a Parameters, name: &str) -> Result<Option<&'a str>, Refusal> {
    match parameters.get(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Refusal::malformed_parameter(name)),
    }
}

/// A parameter that is a time in seconds.
fn time(parameters: &Parameters, name: &str) -> Result<Option<Time>, Refusal> {
    let Some(value) = parameters.get(name) else { return Ok(None) };
    let time = if let Value::Integer(seconds) = value { times::from_seconds(*seconds) } else { None };
    time.map(Some).ok_or_else(|| Refusal::malformed_parameter(name))
}

fn covers(input: &InnerList, name: &str) -> bool {
    input.items.iter().any(|item| matches!(&item.value, Value::String(component) if component == name))
}

/// Checks that the signature covers enough to prove who sent this request.
fn check_coverage(request: &Incoming<'_>, input: &InnerList) -> Result<(), Refusal> {
    if input.items.len() > COMPONENTS_MAX {
        return Err(Refusal::TooManyComponents);
    }
    let covers = |name| covers(input, name);
    if !covers("@method") {
        return Err(Refusal::NotSigned("`@method`"));
    }
    if !covers("@target-uri") && !(covers("@authority") && (covers("@path") || covers("@request-target"))) {
        return Err(Refusal::NotSigned("`@target-uri`, or `@authority` and `@path`"));
    }
    if !request.is_read() && !covers("content-digest") {
        return Err(Refusal::NotSigned("`content-digest`"));
    }
    Ok(())
}

/// The signature base (section 2.5): a line for each component, and the parameters of the signature.
pub(super) fn base(request: &Incoming<'_>, input: &InnerList) -> Result<String, Refusal> {
    let mut lines: Vec<(String, String)> = Vec::new();
    for item in &input.items {
        let id = item.to_string();
        if lines.iter().any(|(earlier, _)| *earlier == id) {
            return Err(Refusal::duplicate(&id));
        }
        let value = component(request, item)?;
        lines.push((id, value));
    }
    lines.push(("\"@signature-params\"".to_owned(), input.to_string()));
    let lines: Vec<_> = lines.iter().map(|(id, value)| format!("{id}: {value}")).collect();
    Ok(lines.join("\n"))
}

/// The value of a component (section 2).
fn component(request: &Incoming<'_>, item: &Item) -> Result<String, Refusal> {
    let unsupported = || Refusal::unsupported_component(&item.to_string());
    let Value::String(name) = &item.value else { return Err(Refusal::malformed_header("signature-input")) };
    if name == "@query-param" {
        let name = text(&item.parameters, "name")?.filter(|_| item.parameters.len() == 1).ok_or_else(unsupported)?;
        return query_parameter(request, name);
    }
    if item.parameters.len() > 0 {
        return Err(unsupported());
    }
    match name.as_str() {
        "@method" => Ok(request.method.as_str().to_owned()),
        "@target-uri" => Ok(format!("{}://{}{}", request.scheme, authority(request)?, request.path_and_query)),
        "@authority" => authority(request),
        "@scheme" => Ok(request.scheme.to_ascii_lowercase()),
        "@request-target" => Ok(request.path_and_query.to_owned()),
        "@path" => Ok(request.path().to_owned()),
        "@query" => Ok(format!("?{}", request.query().unwrap_or_default())),
        name if name.starts_with('@') || name.bytes().any(|c| c.is_ascii_uppercase()) => Err(unsupported()),
        name => request.required(name),
    }
}

/// The host, in lower case and without the default port.
fn authority(request: &Incoming<'_>) -> Result<String, Refusal> {
    let host = request.required("host")?.to_ascii_lowercase();
    let port = if request.scheme == "https" { ":443" } else { ":80" };
    Ok(host.strip_suffix(port).map(ToOwned::to_owned).unwrap_or(host))
}

/// The value of a parameter of the query that occurs once (section 2.2.8); `name` and value are percent-encoded.
fn query_parameter(request: &Incoming<'_>, name: &str) -> Result<String, Refusal> {
    let pairs = form_urlencoded::parse(request.query().unwrap_or_default().as_bytes());
    let mut values = pairs.filter(|(key, _)| encoded(key) == name).map(|(_, value)| encoded(&value));
    let value = values.next().ok_or_else(|| Refusal::missing_parameter(name))?;
    if values.next().is_some() { Err(Refusal::duplicate(name)) } else { Ok(value) }
}

/// `text` as in a form, with spaces as `%20`.
fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}
