//! Where needles stand in a text, in one pass whatever their number (R3).

use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, BuildError, MatchKind};

use super::grams::Grams;

/// A state that the last so many bytes alone lead to knows of no needle that starts before them.
const LOOK_BACK: usize = 3;
/// The automaton takes at least so many bytes before the next look at whether a stretch can be passed over.
const MIN_STEPS: usize = 8;

/// Looks for needles, all at once.
pub(super) struct Finder {
    automaton: NFA,
    /// `None` if a needle is too short for it.
    grams: Option<Grams>,
}

impl Finder {
    /// What finds these needles, none of them empty.
    ///
    /// # Errors
    /// They are too large to look for.
    pub(super) fn of(needles: &[&[u8]]) -> Result<Self, BuildError> {
        let automaton = NFA::builder()
            .match_kind(MatchKind::Standard)
            .build(needles)?;
        Ok(Self {
            automaton,
            grams: Grams::of(needles),
        })
    }

    /// Adds to `found` where needles that `counts` stand, in the order of their ends, those that overlap or touch merged.
    /// `None` if the search cannot be done.
    ///
    /// The automaton takes the text byte by byte, but for those stretches in which no needle can start while none is
    /// under way. It takes no byte twice, but for [`LOOK_BACK`] in at least [`MIN_STEPS`].
    pub(super) fn find(
        &self,
        text: &[u8],
        found: &mut Vec<(usize, usize)>,
        counts: impl Fn(usize, usize) -> bool,
    ) -> Option<()> {
        let fresh = self.automaton.start_state(Anchored::No).ok()?;
        let (mut state, mut at) = (fresh, 0);
        while at < text.len() {
            let mut steps = text.len();
            if let Some(grams) = &self.grams {
                let back = at.saturating_sub(LOOK_BACK);
                if self.run(fresh, text.get(back..at)?) == state {
                    // What is under way began at `back` or later.
                    match grams.next(text, back) {
                        None => break,
                        Some(next) if next >= at => (state, at) = (fresh, next),
                        Some(_) => {}
                    }
                }
                steps = grams.window().max(MIN_STEPS);
            }
            for &byte in text.get(at..)?.iter().take(steps) {
                state = self.automaton.next_state(Anchored::No, state, byte);
                at += 1;
                if self.automaton.is_match(state) {
                    self.note(state, at, found, &counts);
                }
            }
        }
        Some(())
    }

    fn run(&self, from: StateID, text: &[u8]) -> StateID {
        text.iter().fold(from, |state, &byte| {
            self.automaton.next_state(Anchored::No, state, byte)
        })
    }

    /// Merges the longest needle that ends at `end` and counts into what was found.
    ///
    /// It is the first of those that a state lists, and the shorter ones lie inside it. So the work is one step per byte
    /// however many needles nest, which the library's own iterator over overlapping matches does not give.
    fn note(
        &self,
        state: StateID,
        end: usize,
        found: &mut Vec<(usize, usize)>,
        counts: impl Fn(usize, usize) -> bool,
    ) {
        let longest = (0..self.automaton.match_len(state)).find_map(|index| {
            let pattern = self.automaton.match_pattern(state, index);
            let start = end.saturating_sub(self.automaton.pattern_len(pattern));
            counts(start, end).then_some(start)
        });
        if let Some(start) = longest {
            merge(found, start, end);
        }
    }
}

/// Adds a place that ends no earlier than those before; with those that it overlaps or touches it becomes one.
pub(super) fn merge(found: &mut Vec<(usize, usize)>, mut start: usize, end: usize) {
    while let Some((earlier, _)) = found.pop_if(|(_, end)| *end >= start) {
        start = start.min(earlier);
    }
    found.push((start, end));
}
