//! The protocol between the server and its media worker, over the worker's standard input and output.
//!
//! A request is [`REQUEST`], one byte for the purpose, the length of the file (u32), and the file. A reply is the
//! length of a description (u32), the description in JSON, and the files whose lengths it lists. Numbers are
//! big-endian. Both sides limit the bytes that they read: a hostile file may have compromised the worker.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};

use super::error::{Error, Result};
use super::types::{Processed, Purpose};

/// The magic bytes of a request; they change with every change of the protocol.
const REQUEST: &[u8; 4] = b"RKM1";

/// The length of a request's header in bytes.
const REQUEST_HEAD: usize = 9;

/// The longest reply accepted, in bytes: the largest lossless original, with a margin.
pub(super) const MAX_REPLY: u64 = 64 * 1024 * 1024;

/// The description in a reply.
#[derive(Serialize, Deserialize)]
struct Reply {
    outcome: Result<Processed>,
    /// The length of each file in bytes, in the order of [`Processed::files_mut`].
    lengths: Vec<u32>,
}

/// The header of a request, which precedes the file.
pub(super) fn request_head(file: &[u8], purpose: Purpose) -> Result<[u8; REQUEST_HEAD]> {
    let length = u32::try_from(file.len()).map_err(Error::internal)?.to_be_bytes();
    let number = (0_u8..).zip(Purpose::ALL).find(|&(_, each)| each == purpose).map_or(0, |(number, _)| number);
    let mut head = [0; REQUEST_HEAD];
    head[..4].copy_from_slice(REQUEST);
    head[4] = number;
    head[5..].copy_from_slice(&length);
    Ok(head)
}

/// Reads one request.
///
/// # Errors
/// Of kind `InvalidData` when it is malformed, or the file is larger than its purpose allows.
pub(super) fn read_request(mut input: impl Read) -> io::Result<(Purpose, Vec<u8>)> {
    let mut head = [0; REQUEST_HEAD];
    input.read_exact(&mut head)?;
    let [magic @ .., number, a, b, c, d] = head;
    let length = u32::from_be_bytes([a, b, c, d]);
    let purpose = Purpose::ALL.get(usize::from(number)).copied();
    let (Some(purpose), true) = (purpose, magic == *REQUEST) else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    if u64::from(length) > purpose.max_bytes() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut file = vec![0; length as usize];
    input.read_exact(&mut file)?;
    Ok((purpose, file))
}

/// Writes one reply.
pub(super) fn write_reply(mut output: impl Write, mut outcome: Result<Processed>) -> io::Result<()> {
    let files: Vec<Vec<u8>> = match &mut outcome {
        Ok(processed) => processed.files_mut().map(|file| std::mem::take(&mut file.bytes)).collect(),
        Err(_) => Vec::new(),
    };
    let lengths =
        files.iter().map(|file| u32::try_from(file.len()).map_err(io::Error::other)).collect::<io::Result<_>>()?;
    let description = serde_json::to_vec(&Reply { outcome, lengths })?;
    output.write_all(&u32::try_from(description.len()).map_err(io::Error::other)?.to_be_bytes())?;
    output.write_all(&description)?;
    files.iter().try_for_each(|file| output.write_all(file))?;
    output.flush()
}

/// Parses a complete reply; `None` when it is malformed.
pub(super) fn parse_reply(reply: &[u8]) -> Option<Result<Processed>> {
    let (length, rest) = reply.split_first_chunk::<4>()?;
    let (description, mut rest) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    let Reply { mut outcome, lengths } = serde_json::from_slice(description).ok()?;
    let mut lengths = lengths.into_iter();
    if let Ok(processed) = &mut outcome {
        for file in processed.files_mut() {
            let (bytes, after) = rest.split_at_checked(lengths.next()? as usize)?;
            (file.bytes, rest) = (bytes.to_vec(), after);
        }
    }
    (rest.is_empty() && lengths.next().is_none()).then_some(outcome)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{fixture, process};
    use super::*;

    #[test]
    fn request_arrives_as_sent() {
        for purpose in Purpose::ALL {
            let sent = [&request_head(b"file", purpose).unwrap()[..], b"file"].concat();
            assert_eq!(read_request(&sent[..]).unwrap(), (purpose, b"file".to_vec()));
        }
        assert!(read_request(&b"GET / HTTP/1.1\r\n"[..]).is_err());
        assert!(read_request(&b"RKM1\0\xFF\xFF\xFF\xFF"[..]).is_err());
    }

    #[test]
    fn reply_arrives_with_its_files() {
        let processed = process(&fixture::gif(20, 20, 3, 50), Purpose::Avatar).unwrap();
        let mut sent = Vec::new();
        write_reply(&mut sent, Ok(processed.clone())).unwrap();
        assert_eq!(parse_reply(&sent), Some(Ok(processed)));
        assert_eq!(parse_reply(&sent[..sent.len() - 1]), None);
        let mut sent = Vec::new();
        write_reply(&mut sent, Err(Error::Broken)).unwrap();
        assert_eq!(parse_reply(&sent), Some(Err(Error::Broken)));
    }

    proptest! {
        #[test]
        fn any_reply_is_answered(reply in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse_reply(&reply);
        }
    }
}
