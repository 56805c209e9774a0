//! HTTP/2 frames by hand, for peers that break the rules which the h2 crate keeps.

use bytes::{BufMut, Bytes, BytesMut};

/// What a client says first, with an empty SETTINGS frame.
pub fn preface() -> Bytes {
    let mut out = BytesMut::from(&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..]);
    out.put(frame(4, 0, 0, &[]));
    out.freeze()
}

/// Any frame.
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Bytes {
    let mut out = BytesMut::with_capacity(9 + payload.len());
    out.put_uint(payload.len() as u64, 3);
    out.put_u8(kind);
    out.put_u8(flags);
    out.put_u32(stream);
    out.put_slice(payload);
    out.freeze()
}

/// HEADERS of a Decide call; `ends` closes our side at once.
pub fn headers(stream: u32, ends: bool) -> Bytes {
    frame(1, 0x4 | u8::from(ends), stream, &head())
}

/// The head in HPACK, literals only: no state to keep.
fn head() -> Vec<u8> {
    let mut block = vec![0x83, 0x86]; // :method POST, :scheme http
    let mut literal = |index: &[u8], value: &str| {
        block.extend_from_slice(index);
        block.push(value.len() as u8);
        block.extend_from_slice(value.as_bytes());
    };
    literal(&[0x04], "/understudy.v1.BotService/Decide"); // :path
    literal(&[0x01], "localhost"); // :authority
    literal(&[0x0f, 0x10], "application/grpc"); // content-type, entry 31
    literal(&[0x00, 2, b't', b'e'], "trailers");
    block
}

/// RST_STREAM, CANCEL.
pub fn reset(stream: u32) -> Bytes {
    frame(3, 0, stream, &8u32.to_be_bytes())
}
