//! Many servers at once: a hundred of them up, a thousand calls in flight, two that misbehave, their catalogs read again.
//!
//! Seawall's `Host` and `rmcp` in a loop go through the same steps, each repetition in a process of its own.

mod fleet;
mod measure;
mod rmcp;
mod seawall;
mod server;

use std::collections::BTreeMap;

use anyhow::Result;
use serde::{Deserialize, Serialize};

pub(crate) use server::serve;

use crate::measure::{pin, two_cores};
use crate::plan::{Effort, Kind};
use crate::{run, say};

/// So many servers.
pub(crate) const SERVERS: usize = 100;
/// So many calls at a time.
pub(crate) const CALLS: usize = 1_000;
/// Tools of each server where catalogs are read.
pub(crate) const TOOLS: usize = 256;
/// Who is measured.
pub(crate) const KINDS: [Kind; 2] = [Kind::Seawall, Kind::Rmcp];

/// What is measured in one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Scene {
    /// Servers of one tool each, and calls.
    Calls,
    /// Servers of many tools, and their lists read again.
    Catalogs,
}

/// One process's figures, by their names.
pub(crate) type Figures = BTreeMap<String, f64>;

/// What one process is told.
#[derive(Debug, Serialize, Deserialize)]
struct Job {
    kind: Kind,
    scene: Scene,
    effort: Effort,
}

/// What all repetitions gave, in their order; a repetition that failed says why.
#[derive(Default)]
pub(crate) struct Scaled {
    samples: Vec<(Scene, Kind, Result<Figures, String>)>,
}

impl Scaled {
    /// A figure of each repetition.
    pub(crate) fn figures(&self, scene: Scene, kind: Kind, name: &str) -> Vec<Option<f64>> {
        let of = |sample: &Result<Figures, String>| sample.as_ref().ok()?.get(name).copied();
        let mine = self
            .samples
            .iter()
            .filter(|(of, by, _)| (*of, *by) == (scene, kind));
        mine.map(|(_, _, sample)| of(sample)).collect()
    }

    /// Every failure, in words.
    pub(crate) fn failures(&self) -> Vec<String> {
        let failed = self.samples.iter().filter_map(|(scene, kind, sample)| {
            let reason = sample.as_ref().err()?;
            Some(format!("{}, {scene:?}: {reason}", kind.name()))
        });
        failed.collect()
    }
}

/// Measures, one process after the other.
pub(crate) fn run(effort: &Effort) -> Result<Scaled> {
    let mut scaled = Scaled::default();
    for repetition in 0..effort.repetitions {
        for scene in [Scene::Calls, Scene::Catalogs] {
            let (count, of) = (repetition + 1, effort.repetitions);
            say(&format!("{count} of {of}: {SERVERS} servers, {scene:?}\n"));
            // Nobody is always first.
            let mut kinds = KINDS;
            kinds.rotate_left(repetition % KINDS.len());
            for kind in kinds {
                let effort = *effort;
                let job = serde_json::to_string(&Job {
                    kind,
                    scene,
                    effort,
                })?;
                let sample = run::process(&["scale", &job], effort.length * 2)
                    .and_then(|output| Ok(serde_json::from_slice(&output)?))
                    .map_err(|error| format!("{error:#}"));
                if let Err(reason) = &sample {
                    say(&format!("  {}: {reason}\n", kind.name()));
                }
                scaled.samples.push((scene, kind, sample));
            }
        }
    }
    Ok(scaled)
}

/// One process's measurement.
pub(crate) fn measure(job: &str) -> Result<Figures> {
    let job: Job = serde_json::from_str(job)?;
    let (own, other) = two_cores()?;
    pin(own)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    match job.kind {
        Kind::Rmcp => runtime.block_on(measure::all(&job, other, rmcp::Rmcp::default())),
        _ => runtime.block_on(measure::all(&job, other, seawall::Seawall::new())),
    }
}
