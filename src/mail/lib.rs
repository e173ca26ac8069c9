//! Outgoing mail: over SMTP, into files in a folder (for development), or discarded.
//!
//! Used only by the job `send_mail`, so no request waits for a mail server. The texts are in `service::email`.
//! Apart from the outgoing HTTP client, only this opens connections to the outside.

use std::io::Write as _;
use std::path::PathBuf;

use lettre::message::header::{ContentTransferEncoding, ContentType, HeaderName, HeaderValue};
use lettre::message::{Body, Mailbox, MultiPart, SinglePart};
use lettre::transport::smtp::authentication::Credentials;
use lettre::{AsyncSmtpTransport, AsyncTransport as _, Message, Tokio1Executor};

use config::{Config, MailTransport, SmtpTls};
use model::Time;

/// A mail to send.
#[derive(Clone, PartialEq, Eq)]
pub struct Email {
    pub to: String,
    pub subject: String,
    pub text: String,
    /// The same content as HTML.
    pub html: Option<String>,
    /// Where a POST stops letters of this kind (RFC 8058).
    pub unsubscribe_url: Option<String>,
    pub date: Time,
}

/// Omits the content, which holds addresses and links.
impl std::fmt::Debug for Email {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Email(***)")
    }
}

/// Why mail was not sent.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A permanent failure, not worth a retry: the address is invalid, or the mail server rejects the mail for good.
    #[error("{0}")]
    Permanent(String),
    /// A temporary failure: a retry may succeed.
    #[error("{0}")]
    Temporary(String),
}

/// Sends mail over the configured transport.
#[derive(Debug)]
pub struct Mailer {
    from: Mailbox,
    transport: Transport,
    /// The links of mails that are written into files are printed too: in development.
    prints_links: bool,
}

#[derive(Debug)]
enum Transport {
    Smtp(AsyncSmtpTransport<Tokio1Executor>),
    Directory(PathBuf),
    None,
}

impl Mailer {
    /// Sets up the configured transport; opens no connection yet.
    ///
    /// # Errors
    /// When the sender is not a valid address or TLS cannot be set up.
    pub fn new(config: &Config) -> Result<Self, Error> {
        let mail = &config.mail;
        let from = mail.from.as_str().parse().map_err(|error| Error::Permanent(format!("mail.from: {error}")))?;
        let transport = match mail.transport {
            MailTransport::Smtp => Transport::Smtp(smtp(config)?),
            MailTransport::Directory => Transport::Directory(mail.directory.clone()),
            MailTransport::None => Transport::None,
        };
        Ok(Self { from, transport, prints_links: config.server.development })
    }

    /// Sends one mail.
    ///
    /// # Errors
    /// [`Error::Permanent`] when a retry is pointless, [`Error::Temporary`] when it may succeed.
    pub async fn send(&self, email: Email) -> Result<(), Error> {
        match &self.transport {
            Transport::Smtp(smtp) => {
                let message = self.message(email, false)?;
                let sent = smtp.send(message).await;
                sent.map(drop).map_err(|error| match error.is_permanent() {
                    true => Error::Permanent(error.to_string()),
                    false => Error::Temporary(error.to_string()),
                })
            }
            Transport::Directory(folder) => {
                // A name that sorts by time, and a body without transfer encoding, which can be read and copied.
                if self.prints_links {
                    print_links(&email);
                }
                let name = format!("{}-{}.eml", email.date.format("%Y%m%dT%H%M%S%6f"), crypto::random_text(6));
                let message = self.message(email, true)?;
                let failed = |error: std::io::Error| Error::Temporary(format!("mail.directory: {error}"));
                tokio::fs::create_dir_all(folder).await.map_err(failed)?;
                tokio::fs::write(folder.join(name), message.formatted()).await.map_err(failed)
            }
            Transport::None => Ok(()),
        }
    }

    /// With `readable` the body has no transfer encoding: for files, since a mail server need not accept that.
    fn message(&self, email: Email, readable: bool) -> Result<Message, Error> {
        let refused = |error: &dyn std::fmt::Display| Error::Permanent(error.to_string());
        let to = email.to.parse().map_err(|error: lettre::address::AddressError| refused(&error))?;
        let mut head = Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .subject(email.subject)
            .date((*email.date).into())
            .message_id(Some(format!("<{}@{}>", crypto::random_text(18), self.from.email.domain())));
        // No answer of an absent person's program to a program (RFC 3834, section 5).
        head = head.raw_header(header("Auto-Submitted", "auto-generated".to_owned()));
        if let Some(url) = email.unsubscribe_url {
            head = head
                .raw_header(header("List-Unsubscribe", format!("<{url}>")))
                .raw_header(header("List-Unsubscribe-Post", "List-Unsubscribe=One-Click".to_owned()));
        }
        let part = |kind: ContentType, text: String| {
            let body = match readable {
                true => {
                    Body::dangerous_pre_encoded(text.replace('\n', "\r\n").into(), ContentTransferEncoding::EightBit)
                }
                false => Body::new(text),
            };
            SinglePart::builder().header(kind).body(body)
        };
        let text = part(ContentType::TEXT_PLAIN, email.text);
        let message = match email.html {
            None => head.singlepart(text),
            Some(html) => {
                head.multipart(MultiPart::alternative().singlepart(text).singlepart(part(ContentType::TEXT_HTML, html)))
            }
        };
        message.map_err(|error| refused(&error))
    }
}

/// Prints the links of a mail to standard output, beside the file: the set-up link of the server is there too.
fn print_links(email: &Email) {
    for link in links(&email.text) {
        let _ = writeln!(std::io::stdout(), "Mail to {}: {}\n\n  {link}\n", email.to, email.subject);
    }
}

/// The links in a text that have lines of their own.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| line.starts_with("http://") || line.starts_with("https://"))
}

/// A header of ASCII.
fn header(name: &'static str, value: String) -> HeaderValue {
    HeaderValue::new(HeaderName::new_from_ascii_str(name), value)
}

fn smtp(config: &Config) -> Result<AsyncSmtpTransport<Tokio1Executor>, Error> {
    let mail = &config.mail;
    let host = mail.smtp_host.as_deref().unwrap_or_default();
    let builder = match mail.smtp_tls {
        SmtpTls::Implicit => AsyncSmtpTransport::<Tokio1Executor>::relay(host),
        SmtpTls::Starttls => AsyncSmtpTransport::<Tokio1Executor>::starttls_relay(host),
        SmtpTls::None => Ok(AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(host)),
    };
    let mut builder = builder.map_err(|error| Error::Permanent(error.to_string()))?.port(mail.smtp_port);
    if let (Some(name), Some(password)) = (&mail.smtp_username, &mail.smtp_password) {
        builder = builder.credentials(Credentials::new(name.clone(), password.expose().to_owned()));
    }
    Ok(builder.build())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_have_lines_of_their_own() {
        let text =
            "Hello,\nopen this link (not https://elsewhere.test):\n\n  https://nest.test/auth/confirmation?token=x\n";
        assert_eq!(links(text).collect::<Vec<_>>(), ["https://nest.test/auth/confirmation?token=x"]);
    }
}
