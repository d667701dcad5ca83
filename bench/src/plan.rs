//! What is measured: the cells, and how long each takes.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Who makes the calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kind {
    /// Writes the line, reads the line, matches nothing.
    Floor,
    /// This project's `Client`.
    Seawall,
    /// The official Rust SDK's client.
    Rmcp,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Floor, Self::Seawall, Self::Rmcp];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Floor => "floor",
            Self::Seawall => "Seawall",
            Self::Rmcp => "rmcp",
        }
    }
}

/// How the calls are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Load {
    /// One call at a time; client and server share one core.
    Alone,
    /// So many at a time; client and server each have a core, if there are two.
    InFlight(usize),
    /// One call, answered by a GiB without a newline.
    Flood,
}

/// One thing to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cell {
    pub(crate) load: Load,
    /// Bytes of the text in each result.
    pub(crate) result_bytes: usize,
}

pub(crate) const SIZES: [usize; 3] = [100, 10_000, 1_000_000];
pub(crate) const IN_FLIGHT: [usize; 2] = [64, 1_024];
/// Measured for its memory.
pub(crate) const THOUSAND: Cell = Cell {
    load: Load::InFlight(1_000),
    result_bytes: 100,
};
pub(crate) const FLOOD: Cell = Cell {
    load: Load::Flood,
    result_bytes: 1 << 30,
};

/// Every cell, in the order of one repetition.
pub(crate) fn cells() -> Vec<Cell> {
    let alone = SIZES.map(|size| Cell::new(Load::Alone, size));
    let in_flight = IN_FLIGHT
        .iter()
        .flat_map(|&calls| SIZES.map(|size| Cell::new(Load::InFlight(calls), size)));
    alone
        .into_iter()
        .chain(in_flight)
        .chain([THOUSAND, FLOOD])
        .collect()
}

impl Cell {
    pub(crate) fn new(load: Load, result_bytes: usize) -> Self {
        Self { load, result_bytes }
    }

    /// How this cell is called in progress lines.
    pub(crate) fn label(self) -> String {
        let size = size(self.result_bytes);
        match self.load {
            Load::Alone => format!("{size}, one at a time"),
            Load::InFlight(calls) => format!("{size}, {calls} in flight"),
            Load::Flood => format!("{size} without a newline"),
        }
    }
}

/// A size in the unit it was chosen in.
pub(crate) fn size(bytes: usize) -> String {
    match bytes {
        1_073_741_824 => "1 GiB".to_owned(),
        1_000_000.. => format!("{} MB", bytes / 1_000_000),
        1_000.. => format!("{} KB", bytes / 1_000),
        _ => format!("{bytes} B"),
    }
}

/// How much time the whole takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    pub(crate) repetitions: usize,
    /// Of each measurement.
    length: Duration,
    /// Calls before a measurement begins.
    warm_up: Duration,
}

impl Effort {
    pub(crate) fn full() -> Self {
        Self {
            repetitions: 7,
            length: Duration::from_millis(1_000),
            warm_up: Duration::from_millis(200),
        }
    }

    pub(crate) fn quick() -> Self {
        Self {
            repetitions: 1,
            length: Duration::from_millis(150),
            warm_up: Duration::from_millis(50),
        }
    }

    /// A megabyte many times over needs longer to be steady.
    pub(crate) fn job(&self, kind: Kind, cell: Cell) -> Job {
        let longer = match cell.load {
            Load::InFlight(_) if cell.result_bytes >= 1_000_000 => 3,
            _ => 1,
        };
        Job {
            kind,
            cell,
            warm_up: self.warm_up,
            length: self.length * longer,
        }
    }
}

/// What one measuring process is told.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) kind: Kind,
    pub(crate) cell: Cell,
    pub(crate) warm_up: Duration,
    pub(crate) length: Duration,
}

/// What one measuring process found.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Sample {
    /// Calls of the measured time.
    pub(crate) calls: u64,
    /// The measured time.
    pub(crate) seconds: f64,
    /// CPU time of the client's process in it, of the user and of the kernel.
    pub(crate) cpu_seconds: f64,
    /// Of a call's latency, where calls are made one at a time.
    pub(crate) median_seconds: Option<f64>,
    pub(crate) p99_seconds: Option<f64>,
    /// Resident bytes of the client's process when it was connected.
    pub(crate) idle_bytes: u64,
    /// The most resident bytes from then on.
    pub(crate) peak_bytes: u64,
    /// How the flooded call ended.
    pub(crate) flood: Option<Flooded>,
}

/// How a flooded call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Flooded {
    /// With the result that came after the flood.
    Answered,
    /// With an error.
    Refused,
}
