//! What is measured: the cells, and how long each takes.

use std::net::SocketAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What the calls go over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Over {
    /// The pipes of a server that each client starts itself.
    Stdio,
    /// HTTP on loopback, to one server that all clients of a cell share.
    Http,
}

/// Who makes the calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kind {
    /// Over stdio: writes the line, reads the line. Over HTTP: posts the body, reads the body. Matches nothing.
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
    pub(crate) over: Over,
    pub(crate) load: Load,
    /// Bytes of the text in each result.
    pub(crate) result_bytes: usize,
}

pub(crate) const SIZES: [usize; 3] = [100, 10_000, 1_000_000];
pub(crate) const IN_FLIGHT: [usize; 2] = [64, 1_024];
pub(crate) const HTTP_SIZES: [usize; 2] = [100, 100_000];
pub(crate) const HTTP_IN_FLIGHT: usize = 64;
/// Measured for its memory.
pub(crate) const THOUSAND: Cell = Cell {
    over: Over::Stdio,
    load: Load::InFlight(1_000),
    result_bytes: 100,
};
pub(crate) const FLOOD: Cell = Cell {
    over: Over::Stdio,
    load: Load::Flood,
    result_bytes: 1 << 30,
};

/// The cells of these halves, in the order of one repetition.
pub(crate) fn cells(halves: &[Over]) -> Vec<Cell> {
    halves.iter().flat_map(|&over| half(over)).collect()
}

fn half(over: Over) -> Vec<Cell> {
    let sizes = over.sizes();
    let alone = sizes.iter().map(|&size| Cell::new(over, Load::Alone, size));
    let in_flight = over.in_flight().iter().flat_map(|&calls| {
        sizes
            .iter()
            .map(move |&size| Cell::new(over, Load::InFlight(calls), size))
    });
    let last = match over {
        Over::Stdio => &[THOUSAND, FLOOD][..],
        Over::Http => &[],
    };
    alone.chain(in_flight).chain(last.iter().copied()).collect()
}

impl Over {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
        }
    }

    /// Sizes of results, in bytes of text.
    pub(crate) fn sizes(self) -> &'static [usize] {
        match self {
            Self::Stdio => &SIZES,
            Self::Http => &HTTP_SIZES,
        }
    }

    /// How many calls overlap.
    pub(crate) fn in_flight(self) -> &'static [usize] {
        match self {
            Self::Stdio => &IN_FLIGHT,
            Self::Http => &[HTTP_IN_FLIGHT],
        }
    }
}

impl Cell {
    pub(crate) fn new(over: Over, load: Load, result_bytes: usize) -> Self {
        Self {
            over,
            load,
            result_bytes,
        }
    }

    /// How this cell is called in progress lines.
    pub(crate) fn label(self) -> String {
        let over = self.over.name();
        let size = size(self.result_bytes);
        match self.load {
            Load::Alone => format!("{over}, {size}, one at a time"),
            Load::InFlight(calls) => format!("{over}, {size}, {calls} in flight"),
            Load::Flood => format!("{over}, {size} without a newline"),
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
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Effort {
    pub(crate) repetitions: usize,
    /// Of each measurement.
    pub(crate) length: Duration,
    /// Calls before a measurement begins.
    pub(crate) warm_up: Duration,
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
    pub(crate) fn job(&self, kind: Kind, cell: Cell, address: Option<SocketAddr>) -> Job {
        let longer = match cell.load {
            Load::InFlight(_) if cell.result_bytes >= 1_000_000 => 3,
            _ => 1,
        };
        Job {
            kind,
            cell,
            address,
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
    /// Where the server of this cell listens; over stdio each client starts its own.
    pub(crate) address: Option<SocketAddr>,
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
