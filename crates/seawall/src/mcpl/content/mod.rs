//! What a server gives a model to read: text, images and audio, and references to what it holds itself (SPEC, section
//! 10.3; RFC-005).
//!
//! A reference is testimony: its size, type, name and digest are claims, and its URI may be a credential that looks like a
//! location. So a URI never stands in what a model sees, only a [`ReferenceId`] of Seawall's own and what is claimed; the
//! URI is in the [`References`] of the connection, for whoever fetches it ([`fetch`](super::fetch)). Nothing here fetches.
//!
//! ```
//! use seawall::Json;
//! use seawall::mcpl::content::{Content, Provenance, References};
//!
//! let blocks = Json::check(
//!     r#"[{"type": "text", "text": "done"},
//!         {"type": "resource", "uri": "https://a.example/x?sig=1", "name": "chord.wav", "disposition": "never"}]"#,
//! )
//! .expect("JSON");
//! let mut content = Content::of(&blocks).expect("content");
//! References::new().admit(&mut content, Provenance::PushEvent);
//! assert!(content.shown().contains("\"chord.wav\""));
//! assert!(!content.shown().contains("a.example"));
//! ```
//!
//! **Invariant:** no URI, and no inline data of a block that claims to be a reference, is in anything that is shown.
//! **Invariant:** how long a stub is depends on no length that the server chose.

mod block;
mod reference;
mod references;
mod stub;
mod testimony;

#[cfg(test)]
mod tests;

use std::fmt;

use seawall_proto::Json;
use seawall_proto::framing::Kind;
use serde::{Serialize, Serializer};

use super::wire::{self, Fault, Invalid};

pub use block::{Block, Media, MediaKind, Withheld};
pub use reference::{Reference, ReferenceKind};
pub use references::{MAX_RECORDS, Provenance, Record, ReferenceId, References};
pub use testimony::{Disposition, Expiry, Testimony};

/// So many blocks may stand in one content.
pub const MAX_BLOCKS: usize = 256;
/// So many bytes of text may stand in one content, all its blocks together.
pub const MAX_TEXT_BYTES: usize = 1024 * 1024;
/// So many bytes of base64 may stand in one content, all its blocks together.
pub const MAX_DATA_BYTES: usize = 16 * 1024 * 1024;

/// What a message says, block by block. Debug shows no text.
#[derive(Clone)]
pub struct Content {
    blocks: Vec<Block>,
}

impl Content {
    /// Reads an array of blocks, or a text, which is one block of text (SPEC, section 10.3).
    ///
    /// A block that cannot be read is withheld, and the others stay ([`Withheld`]).
    ///
    /// # Errors
    /// It is neither, or larger than [`MAX_BLOCKS`], [`MAX_TEXT_BYTES`] or [`MAX_DATA_BYTES`] allow.
    pub fn of(json: &Json) -> Result<Self, Invalid> {
        if json.kind() == Kind::String {
            let text = json.string().unwrap_or_default().into_owned();
            return Self::bounded("content", vec![Block::Text(text)]);
        }
        Self::of_blocks("content", json)
    }

    /// Reads the content of a tool's result, which has MCP's own blocks too: a link is a reference without a disposition, and
    /// an embedded text is text (RFC-005, section 8.1). An embedded blob is of a type that is not known here.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub fn of_result(json: &Json) -> Result<Self, Invalid> {
        let blocks = wire::elements("content", json, MAX_BLOCKS)?;
        Self::bounded("content", blocks.iter().map(Block::read_result).collect())
    }

    /// Reads an array of blocks, where nothing else is allowed.
    pub(in crate::mcpl) fn of_blocks(field: &'static str, json: &Json) -> Result<Self, Invalid> {
        let blocks = wire::elements(field, json, MAX_BLOCKS)?;
        Self::bounded(field, blocks.iter().map(Block::read).collect())
    }

    fn bounded(field: &'static str, blocks: Vec<Block>) -> Result<Self, Invalid> {
        let (mut text, mut data) = (0, 0);
        for block in &blocks {
            match block {
                Block::Text(block) => text += block.len(),
                Block::Media(media) => data += media.data_len(),
                Block::Reference(_) | Block::Withheld(_) => {}
            }
        }
        if text > MAX_TEXT_BYTES || data > MAX_DATA_BYTES {
            return Err(Invalid::new(field, Fault::TooLong));
        }
        Ok(Self { blocks })
    }

    /// The blocks, in their order.
    #[must_use]
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Whether there is nothing that a reader would see: no block but blank text and blocks that cannot be read. To wake a
    /// model for such content is to make it guess why.
    #[must_use]
    pub fn is_visibly_empty(&self) -> bool {
        self.blocks.iter().all(|block| match block {
            Block::Text(text) => is_blank(text),
            Block::Withheld(why) => *why == Withheld::Malformed,
            Block::Media(_) | Block::Reference(_) => false,
        })
    }

    /// All of it as text, block by block on lines of their own: texts as they are, stubs for everything else. What a policy
    /// of waking looks at, and what a terminal shows; the text is a server's ([`visible`](crate::visible)).
    #[must_use]
    pub fn shown(&self) -> String {
        let blocks: Vec<String> = self.blocks.iter().map(Block::shown).collect();
        blocks.join("\n")
    }

    pub(super) fn references(&mut self) -> impl Iterator<Item = &mut Reference> {
        self.blocks.iter_mut().filter_map(|block| match block {
            Block::Reference(reference) => Some(reference),
            _ => None,
        })
    }
}

/// Whether a reader sees nothing of the text.
fn is_blank(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_whitespace() || crate::visible::must_show(c, crate::visible::Place::Block))
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.blocks).finish()
    }
}

impl Serialize for Content {
    /// The blocks as an array: `text` and inline media as the server sent them, `reference` and `withheld` in place of the
    /// others. No URI is in it.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.blocks.serialize(serializer)
    }
}
