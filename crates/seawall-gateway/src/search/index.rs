//! What is searched: texts, by their places in a list.

use std::fmt;

use bm25::{Embedder, EmbedderBuilder, Scorer};

use super::words::Words;

/// The ranking of one list. Never changes.
pub(crate) struct Index {
    embedder: Embedder<u64, Words>,
    scorer: Scorer<usize, u64>,
}

impl Index {
    /// Of texts, whose places are their numbers.
    pub(crate) fn of(texts: &[String]) -> Self {
        let corpus: Vec<&str> = texts.iter().map(String::as_str).collect();
        let embedder = EmbedderBuilder::with_tokenizer_and_fit_to_corpus(Words, &corpus).build();
        let mut scorer = Scorer::new();
        for (place, text) in corpus.iter().enumerate() {
            scorer.upsert(&place, embedder.embed(text));
        }
        Self { embedder, scorer }
    }

    /// The places of texts that have words of the query, the best first; equally good ones in their own order.
    pub(crate) fn find(&self, query: &str) -> Vec<usize> {
        let mut found = self.scorer.matches(&self.embedder.embed(query));
        found.sort_by(|one, other| {
            let better = other.score.total_cmp(&one.score);
            better.then(one.id.cmp(&other.id))
        });
        found.into_iter().map(|one| one.id).collect()
    }
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index").finish_non_exhaustive()
    }
}
