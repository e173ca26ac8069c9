//! The APIs of translation services: LibreTranslate, and DeepL.
//!
//! Reached from the use cases of translations, through the server's only HTTP client.
//!
//! Spec: <https://docs.libretranslate.com/api/operations/translate/>,
//! <https://developers.deepl.com/docs/api-reference/translate>

use std::collections::BTreeMap;
use std::time::Duration;

use config::TranslationBackend;
use outbound::{ApiAnswer, ApiCall, Target};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use context::Cx;
use context::error::{Error, Result};
use model::translation::{Languages, UNDETERMINED};

/// Time limit of a request to a service.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Largest response, in bytes.
const LIMIT: usize = 1024 * 1024;
/// The public URL of LibreTranslate.
const LIBRE_TRANSLATE: &str = "https://libretranslate.com";
/// The URLs of DeepL, for paying customers and for others, whose keys have a particular suffix.
const DEEPL: &str = "https://api.deepl.com";
const DEEPL_FREE: &str = "https://api-free.deepl.com";
const DEEPL_FREE_KEY: &str = ":fx";

/// A configured service.
#[derive(Clone, Copy, Debug)]
pub(super) struct Backend<'a> {
    form: Form,
    base: &'a str,
    key: Option<&'a str>,
}

#[derive(Clone, Copy, Debug)]
enum Form {
    LibreTranslate,
    DeepL,
}

/// The response of a service.
#[derive(Clone, Debug)]
pub(super) struct Translated {
    /// In the order of the sent texts, and as many.
    pub texts: Vec<String>,
    /// The language that the service detected.
    pub detected: Option<String>,
}

impl<'a> Backend<'a> {
    /// The configured service, if any.
    pub(super) fn of(cx: &'a Cx) -> Option<Self> {
        let config = &cx.config.translation;
        let key = config.api_key.as_ref().map(config::Secret::expose);
        let url = config.url.as_ref().map(|url| url.as_str().trim_end_matches('/'));
        let (form, default) = match config.backend {
            TranslationBackend::None => return None,
            TranslationBackend::LibreTranslate => (Form::LibreTranslate, LIBRE_TRANSLATE),
            TranslationBackend::DeepL if key.is_some_and(|key| key.ends_with(DEEPL_FREE_KEY)) => {
                (Form::DeepL, DEEPL_FREE)
            }
            TranslationBackend::DeepL => (Form::DeepL, DEEPL),
        };
        Some(Self { form, base: url.unwrap_or(default), key })
    }

    /// The name of the service, for clients.
    pub(super) fn provider(self) -> &'static str {
        match self.form {
            Form::LibreTranslate => "LibreTranslate",
            Form::DeepL => "DeepL.com",
        }
    }

    /// The source and target languages of the service.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub(super) async fn languages(self, cx: &Cx) -> Result<Languages> {
        match self.form {
            Form::LibreTranslate => {
                let known: Vec<LibreLanguage> = self.request(cx, "/languages", None).await?;
                Ok(libre_languages(known))
            }
            Form::DeepL => {
                let sources: Vec<DeepLLanguage> = self.request(cx, "/v2/languages?type=source", None).await?;
                let targets: Vec<DeepLLanguage> = self.request(cx, "/v2/languages?type=target", None).await?;
                Ok(deepl_languages(&sources, &targets))
            }
        }
    }

    /// Translates `texts`, which are HTML. `source`: `None` lets the service detect it.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub(super) async fn translate(
        self,
        cx: &Cx,
        texts: Vec<String>,
        source: Option<&str>,
        target: &str,
    ) -> Result<Translated> {
        let count = texts.len();
        let answer = match self.form {
            Form::LibreTranslate => {
                let source = source.unwrap_or("auto");
                let body = LibreRequest { q: &texts, source, target, format: "html", api_key: self.key };
                let answer: LibreAnswer = self.request(cx, "/translate", Some(json(&body)?)).await?;
                let detected = answer.detected.into_iter().flatten().map(|found| found.language).next();
                Translated { texts: answer.texts, detected }
            }
            Form::DeepL => {
                let source_lang = source.map(str::to_uppercase);
                let target_lang = target.to_uppercase();
                let body = DeepLRequest { text: &texts, source_lang, target_lang, tag_handling: "html" };
                let answer: DeepLAnswer = self.request(cx, "/v2/translate", Some(json(&body)?)).await?;
                let detected = answer.translations.iter().find_map(|text| text.detected_source_language.as_deref());
                let detected = detected.map(code);
                Translated { texts: answer.translations.into_iter().map(|text| text.text).collect(), detected }
            }
        };
        if answer.texts.len() == count {
            Ok(answer)
        } else {
            Err(unavailable("it answered with another number of texts"))
        }
    }

    async fn request<T: DeserializeOwned>(self, cx: &Cx, path: &str, body: Option<Vec<u8>>) -> Result<T> {
        let target = Target::parse(&format!("{}{path}", self.base)).map_err(unavailable)?;
        let authorization = match self.form {
            Form::LibreTranslate => None,
            Form::DeepL => self.key.map(|key| format!("DeepL-Auth-Key {key}")),
        };
        let user_agent = format!("Rookery/{} (+{}/)", env!("CARGO_PKG_VERSION"), cx.urls.origin);
        let call = ApiCall { target, user_agent, authorization, json: body, timeout: TIMEOUT, limit: LIMIT };
        let ApiAnswer { status, body } = cx.outbound.call(call).await.map_err(unavailable)?;
        match status {
            200..=299 => {
                text::json_shape::check(&body).map_err(unavailable)?;
                serde_json::from_slice(&body).map_err(unavailable)
            }
            // DeepL returns 456 when its quota is used up, LibreTranslate 403 when a key is missing or used up.
            403 | 429 | 456 => {
                tracing::warn!(status, "the translation service refuses further translations for now");
                Err(Error::Unavailable("The translation service has reached its quota: try again later".into()))
            }
            _ => Err(unavailable(format!("status {status}"))),
        }
    }
}

fn json<T: Serialize>(body: &T) -> Result<Vec<u8>> {
    serde_json::to_vec(body).map_err(Error::internal)
}

/// Logs the reason, which clients do not see.
fn unavailable(why: impl std::fmt::Display) -> Error {
    tracing::warn!(%why, "the translation service cannot be used");
    Error::Unavailable("The translation service cannot be reached: try again later".into())
}

#[derive(Debug, Deserialize)]
struct LibreLanguage {
    code: String,
    #[serde(default)]
    targets: Vec<String>,
}

#[derive(Debug, Serialize)]
struct LibreRequest<'a> {
    q: &'a [String],
    source: &'a str,
    target: &'a str,
    format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    api_key: Option<&'a str>,
}

#[derive(Debug, Deserialize)]
struct LibreAnswer {
    #[serde(rename = "translatedText")]
    texts: Vec<String>,
    #[serde(rename = "detectedLanguage")]
    detected: Option<Vec<LibreDetected>>,
}

#[derive(Debug, Deserialize)]
struct LibreDetected {
    language: String,
}

#[derive(Debug, Deserialize)]
struct DeepLLanguage {
    language: String,
}

#[derive(Debug, Serialize)]
struct DeepLRequest<'a> {
    text: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    source_lang: Option<String>,
    target_lang: String,
    tag_handling: &'static str,
}

#[derive(Debug, Deserialize)]
struct DeepLAnswer {
    translations: Vec<DeepLText>,
}

#[derive(Debug, Deserialize)]
struct DeepLText {
    text: String,
    detected_source_language: Option<String>,
}

/// The language to detect may be any of them.
fn libre_languages(known: Vec<LibreLanguage>) -> Languages {
    let mut all: Vec<String> = known.iter().flat_map(|language| language.targets.iter().cloned()).collect();
    all.sort_unstable();
    all.dedup();
    let without = |LibreLanguage { code, mut targets }: LibreLanguage| {
        targets.retain(|target| *target != code);
        (code, targets)
    };
    let mut languages: BTreeMap<String, Vec<String>> = known.into_iter().map(without).collect();
    if !all.is_empty() {
        languages.insert(UNDETERMINED.to_owned(), all);
    }
    Languages(languages)
}

/// Every source is translated into every target. English and Portuguese are also accepted without a region, which
/// DeepL does not list.
fn deepl_languages(sources: &[DeepLLanguage], targets: &[DeepLLanguage]) -> Languages {
    let mut all: Vec<String> = targets.iter().map(|target| code(&target.language)).collect();
    all.extend(["en".to_owned(), "pt".to_owned()]);
    all.sort_unstable();
    all.dedup();
    let sources = sources.iter().map(|source| code(&source.language)).chain([UNDETERMINED.to_owned()]);
    let without = |source: String| {
        let targets = all.iter().filter(|target| **target != source).cloned().collect();
        (source, targets)
    };
    Languages(sources.map(without).collect())
}

/// Converts `EN-GB` to the form of this server: `en-GB`.
fn code(shouted: &str) -> String {
    match shouted.split_once(['-', '_']) {
        Some((language, region)) => format!("{}-{}", language.to_lowercase(), region.to_uppercase()),
        None => shouted.to_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_match_the_services() {
        let known = serde_json::json!([{ "code": "de", "targets": ["de", "en"] }, { "code": "en", "targets": ["de"] }]);
        let Languages(libre) = libre_languages(serde_json::from_value(known).expect("languages"));
        assert_eq!(libre["de"], ["en"]);
        assert_eq!(libre[UNDETERMINED], ["de", "en"]);

        let language = |language: &str| DeepLLanguage { language: language.to_owned() };
        let Languages(deepl) = deepl_languages(&[language("DE")], &[language("DE"), language("EN-GB")]);
        assert_eq!(deepl["de"], ["en", "en-GB", "pt"]);
        assert_eq!(deepl[UNDETERMINED], ["de", "en", "en-GB", "pt"]);
    }
}
