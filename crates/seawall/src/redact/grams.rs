//! Where in a text no secret can start, told in strides of many bytes.
//!
//! The needles' first bytes are cut into grams, all of them overlapping, and noted in a set. A gram of the text that is
//! not in it rules out every start at which it would lie within those first bytes: many places at one look.
//!
//! **Invariant:** a place is passed over only if no needle starts there; a place that is not may still be none.

/// Bytes of a gram. No needle is shorter: the shortest is a name, `=` and a value.
const GRAM: usize = 3;
/// So many of a needle's first bytes count: longer strides are no faster, and fill the set.
const MAX_WINDOW: usize = 16;
/// So many bits for each gram: other grams that have its bit are few then.
const BITS_PER_GRAM: usize = 32;
/// So many grams right before one that is noted are looked at too: innocent text shares single ones.
const MAX_LOOKS: usize = 3;
const MIN_BITS: usize = 1 << 9;
/// 32 KiB.
const MAX_BITS: usize = 1 << 18;

/// The grams of what is looked for.
pub(super) struct Grams {
    /// A bit for each hash; their number is a power of two.
    bits: Vec<u64>,
    /// What leaves of a product a number of a bit.
    shift: u32,
    /// So many of each needle's first bytes are noted; every needle has as many.
    window: usize,
}

impl Grams {
    /// Notes the needles; `None` if one is too short.
    pub(super) fn of(needles: &[&[u8]]) -> Option<Self> {
        let shortest = needles.iter().map(|needle| needle.len()).min()?;
        if shortest < GRAM {
            return None;
        }
        let window = shortest.min(MAX_WINDOW);
        let noted = needles.len() * (window - GRAM + 1);
        let bits = noted.saturating_mul(BITS_PER_GRAM);
        let bits = bits.clamp(MIN_BITS, MAX_BITS).next_power_of_two();
        let mut grams = Self {
            bits: vec![0; bits / 64],
            shift: u32::BITS - bits.trailing_zeros(),
            window,
        };
        for needle in needles {
            let first = needle.get(..window).unwrap_or_default();
            for gram in first.windows(GRAM).filter_map(<[u8]>::first_chunk) {
                let (word, bit) = grams.place(gram);
                if let Some(word) = grams.bits.get_mut(word) {
                    *word |= bit;
                }
            }
        }
        Some(grams)
    }

    /// The first place from `from` on that cannot be passed over; `None` if no needle starts in the rest.
    pub(super) fn next(&self, text: &[u8], mut from: usize) -> Option<usize> {
        let last = self.window - GRAM;
        loop {
            let first = text.get(from..from.checked_add(self.window)?)?;
            // A needle that starts here, or at one of the next `ahead` places, has the gram at `ahead` in its window.
            let mut looks = (last.saturating_sub(MAX_LOOKS)..=last).rev();
            match looks.find(|&ahead| !self.may_hold(first, ahead)) {
                Some(ahead) => from += ahead + 1,
                None => return Some(from),
            }
        }
    }

    /// Every needle has at least so many bytes.
    pub(super) fn window(&self) -> usize {
        self.window
    }

    fn may_hold(&self, first: &[u8], at: usize) -> bool {
        let Some(gram) = first.get(at..).and_then(<[u8]>::first_chunk) else {
            return true;
        };
        let (word, bit) = self.place(gram);
        self.bits.get(word).is_none_or(|word| word & bit != 0)
    }

    fn place(&self, gram: &[u8; GRAM]) -> (usize, u64) {
        let &[a, b, c] = gram;
        // Multiplied by 2³² ÷ φ, the upper bits depend on all others.
        let hash = u32::from_le_bytes([a, b, c, 0]).wrapping_mul(0x9e37_79b1) >> self.shift;
        ((hash >> 6) as usize, 1 << (hash & 63))
    }
}
