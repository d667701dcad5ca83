//! Frames as RFC 6455, section 5.2, has them.

use std::io::{self, Read};

/// No client of a test sends a longer one.
const MAX_PAYLOAD: u64 = 64 * 1024 * 1024;

/// A frame of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WsMessage {
    /// Text, or what was sent as that.
    Text(String),
    /// Anything else with data, fragments among it.
    Binary(Vec<u8>),
    /// A ping.
    Ping(Vec<u8>),
    /// A pong.
    Pong(Vec<u8>),
    /// A close frame, and its code if it has one.
    Close(Option<u16>),
    /// A frame without a mask, which no client may send.
    Unmasked,
}

/// One unmasked frame with this first byte: `0x81` is a whole text, `0x01` the first fragment of one, `0x80` the last.
#[must_use]
pub fn ws_frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first];
    match payload.len() {
        length @ 0..=125 => frame.push(u8::try_from(length).unwrap_or_default()),
        length @ 126..=0xffff => {
            frame.push(126);
            frame.extend_from_slice(&u16::try_from(length).unwrap_or_default().to_be_bytes());
        }
        length => {
            frame.push(127);
            frame.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    frame.extend_from_slice(payload);
    frame
}

pub(super) fn read(wire: &mut dyn Read) -> io::Result<WsMessage> {
    let [first, second] = bytes(wire)?;
    let length = match second & 0x7f {
        126 => u64::from(u16::from_be_bytes(bytes(wire)?)),
        127 => u64::from_be_bytes(bytes(wire)?),
        short => u64::from(short),
    };
    if length > MAX_PAYLOAD {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let masked = second & 0x80 != 0;
    let mask: [u8; 4] = if masked { bytes(wire)? } else { [0; 4] };
    let mut payload = vec![0; usize::try_from(length).unwrap_or_default()];
    wire.read_exact(&mut payload)?;
    for (byte, mask) in payload.iter_mut().zip(mask.into_iter().cycle()) {
        *byte ^= mask;
    }
    Ok(match first {
        _ if !masked => WsMessage::Unmasked,
        0x81 => WsMessage::Text(String::from_utf8_lossy(&payload).into_owned()),
        0x88 => {
            let code = payload.first_chunk().map(|code| u16::from_be_bytes(*code));
            WsMessage::Close(code)
        }
        0x89 => WsMessage::Ping(payload),
        0x8a => WsMessage::Pong(payload),
        _ => WsMessage::Binary(payload),
    })
}

fn bytes<const N: usize>(wire: &mut dyn Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    wire.read_exact(&mut bytes)?;
    Ok(bytes)
}
