//! Leaves the debug information out of a component: the custom sections `.debug_*` of its core modules, which are many
//! times its code. Names of functions stay, for backtraces.
//!
//! Sections are copied as they are; only the sizes of sections around a shortened one are rewritten.
//!
//! Spec: <https://webassembly.github.io/spec/core/binary/modules.html>, and the component model's `Binary.md`.

/// Sections of a component that hold a whole module or component of their own.
const NESTED: [u8; 2] = [1, 4];

/// The beginning of the names of sections with debug information (DWARF).
const DEBUG: &[u8] = b".debug_";

/// Depth of components in components; deeper ones are left as they are.
const DEPTH: u8 = 8;

/// `wasm` without debug information; unchanged where it has none, or cannot be read.
pub(crate) fn without_debug_information(wasm: &[u8]) -> Vec<u8> {
    let has_some = wasm.windows(DEBUG.len()).any(|bytes| bytes == DEBUG);
    has_some.then(|| stripped(wasm, DEPTH)).flatten().unwrap_or_else(|| wasm.to_vec())
}

fn stripped(wasm: &[u8], depth: u8) -> Option<Vec<u8>> {
    let (header, mut rest) = wasm.split_at_checked(8)?;
    // Layer 0 is a core module, layer 1 a component.
    let is_component = header.get(6..8) == Some(&[1, 0]);
    let mut kept = header.to_vec();
    while let Some((id, after)) = rest.split_first() {
        let (size, after) = number(after)?;
        let (body, after) = after.split_at_checked(size)?;
        rest = after;
        if *id == 0 && is_debug(body)? {
            continue;
        }
        let nested = is_component && NESTED.contains(id) && depth > 0;
        let shorter = if nested { stripped(body, depth - 1) } else { None };
        let body = shorter.as_deref().unwrap_or(body);
        kept.push(*id);
        push_number(&mut kept, body.len());
        kept.extend_from_slice(body);
    }
    Some(kept)
}

/// True for a custom section whose name begins with `.debug_`.
fn is_debug(body: &[u8]) -> Option<bool> {
    let (length, rest) = number(body)?;
    Some(rest.get(..length)?.starts_with(DEBUG))
}

/// An unsigned LEB128 number of 32 bits, and what follows it.
fn number(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut value = 0_usize;
    for (index, byte) in bytes.iter().enumerate().take(5) {
        value |= usize::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some((value, bytes.get(index + 1..)?));
        }
    }
    None
}

fn push_number(bytes: &mut Vec<u8>, mut value: usize) {
    loop {
        let low = u8::try_from(value & 0x7f).unwrap_or_default();
        value >>= 7;
        if value == 0 {
            return bytes.push(low);
        }
        bytes.push(low | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A custom section.
    fn custom(name: &str, length: usize) -> Vec<u8> {
        let mut body = vec![u8::try_from(name.len()).unwrap()];
        body.extend_from_slice(name.as_bytes());
        body.resize(body.len() + length, 7);
        section(0, &body)
    }

    fn section(id: u8, body: &[u8]) -> Vec<u8> {
        let mut made = vec![id];
        push_number(&mut made, body.len());
        made.extend_from_slice(body);
        made
    }

    #[test]
    fn debug_information_goes_and_everything_else_stays() {
        let module = |debug: bool| {
            let mut module = b"\0asm\x01\0\0\0".to_vec();
            module.extend(section(1, &[0]));
            if debug {
                module.extend(custom(".debug_info", 70_000));
                module.extend(custom(".debug_line", 3));
            }
            module.extend(custom("name", 40));
            module
        };
        let component = |module: &[u8]| {
            let mut component = b"\0asm\x0d\0\x01\0".to_vec();
            component.extend(custom("producers", 9));
            component.extend(section(1, module));
            component
        };
        assert_eq!(without_debug_information(&component(&module(true))), component(&module(false)));
        assert_eq!(without_debug_information(&component(&module(false))), component(&module(false)));
        assert_eq!(without_debug_information(b"\0asm"), b"\0asm", "what cannot be read is left as it is");
        let whole = component(&module(true));
        assert_eq!(without_debug_information(&whole[..200]), &whole[..200]);
    }
}
