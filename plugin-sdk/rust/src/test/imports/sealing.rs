//! The interface `sealing`. A token is the text in hexadecimal: only the server encrypts it.

use super::{Failure, current, failure};

pub(crate) fn seal(purpose: &str, text: &str) -> Result<String, Failure> {
    current("sealing.seal", |_| ());
    if text.len() > 64 << 10 || purpose.len() > 256 {
        return Err(failure(413, "limit.items", "the text or its purpose is too long"));
    }
    Ok(hex(&format!("{purpose}\n{text}")))
}

pub(crate) fn open(purpose: &str, token: &str) -> Option<String> {
    current("sealing.open", |_| ());
    let digits = token.as_bytes().chunks(2);
    let bytes = digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    let text = String::from_utf8(bytes.collect::<Option<Vec<u8>>>()?).ok()?;
    let (sealed_for, text) = text.split_once('\n')?;
    (sealed_for == purpose).then(|| text.to_owned())
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}
