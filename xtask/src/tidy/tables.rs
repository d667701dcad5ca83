//! What tidy holds the tree to: every list in one place.

/// A Rust file has fewer lines than this; `tests.rs` and files below `tests/` may have more.
pub(super) const MAX_LINES: usize = 500;

/// The rules of behaviour that are built: each is named in the doc comment of at least one test.
pub(super) const RULES: [&str; 68] = [
    "K1", "K2", "K3", "K4", "K5", "K6", "K7", "K8", "K9", "K10", "K11", "K12", "L1", "L2", "L3",
    "L4", "L5", "L6", "L7", "L8", "S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8", "S9", "S10",
    "S11", "S12", "S13", "O1", "O2", "O3", "O4", "O5", "T1", "T2", "T3", "T4", "T5", "T6", "F1",
    "F2", "F3", "F4", "F5", "H1", "H2", "H3", "H4", "H5", "H6", "H7", "H8", "H9", "R1", "R2", "R3",
    "N1", "N2", "N3", "G3", "G4", "G5", "J1",
];

/// Everything that the pure crate may be built from, however deep.
pub(super) const PURE_DEPENDENCIES: [&str; 16] = [
    "bytes",
    "itoa",
    "memchr",
    "proc-macro2",
    "quote",
    "seawall-proto",
    "serde",
    "serde_core",
    "serde_derive",
    "serde_json",
    "syn",
    "thiserror",
    "thiserror-impl",
    "unicode-general-category",
    "unicode-ident",
    "zmij",
];

/// The crate that does no I/O, reads no clock and starts nothing.
pub(super) const PURE_CRATE: &str = "seawall-proto";

/// What the pure crate's code may not name: the path's beginning, or any run of its segments.
pub(super) const IMPURE: [&[&str]; 10] = [
    &["Instant", "now"],
    &["SystemTime"],
    &["std", "fs"],
    &["std", "io", "stdin"],
    &["std", "net"],
    &["std", "os"],
    &["std", "process"],
    &["std", "thread"],
    &["std", "env"],
    &["tokio"],
];

/// The crate for tests, which no published crate may need outside its tests.
pub(super) const TEST_CRATE: &str = "seawall-testkit";

/// Inside these folders a module imports only the modules beside it that its row allows.
pub(super) const LAYERS: [Layers; 2] = [GATEWAY, LIBRARY];

const GATEWAY: Layers = Layers {
    folder: "crates/seawall-gateway/src",
    arrows: &[
        ("clients", &[]),
        (
            "gateway",
            &[
                "clients", "names", "observe", "offers", "relay", "search", "service", "tools",
            ],
        ),
        ("http", &["clients", "service"]),
        ("names", &[]),
        ("observe", &[]),
        ("offers", &["clients", "names", "relay", "service", "tools"]),
        ("page", &["gateway", "http", "observe"]),
        ("relay", &["clients", "service"]),
        ("search", &[]),
        ("service", &["clients"]),
        ("stdio", &["clients", "service"]),
        (
            "tools",
            &["clients", "names", "observe", "relay", "search", "service"],
        ),
    ],
};

const LIBRARY: Layers = Layers {
    folder: "crates/seawall/src",
    // `error` is the one public error, made of what the layers below it say; so none of them knows it.
    arrows: &[
        (
            "client",
            &[
                "config",
                "error",
                "events",
                "flows",
                "mcpl",
                "redact",
                "results",
                "transport",
                "oauth",
                "inputs",
                "web",
            ],
        ),
        ("config", &["policy", "terms"]),
        (
            "supervisor",
            &["client", "config", "error", "events", "flows", "inputs"],
        ),
        (
            "host",
            &[
                "client",
                "config",
                "error",
                "events",
                "flows",
                "inputs",
                "journal",
                "mcpl",
                "policy",
                "redact",
                "supervisor",
                "web",
            ],
        ),
        (
            "error",
            &[
                "config",
                "events",
                "flows",
                "policy",
                "results",
                "transport",
                "web",
            ],
        ),
        ("events", &["redact"]),
        ("flows", &["policy"]),
        (
            "mcpl",
            &[
                "config", "events", "flows", "inputs", "terms", "visible", "web",
            ],
        ),
        ("policy", &[]),
        ("readers", &["visible"]),
        ("redact", &["config"]),
        ("inputs", &[]),
        ("journal", &["config", "error", "flows", "redact"]),
        ("oauth", &["config", "redact", "web"]),
        ("results", &[]),
        ("transport", &["config", "events", "redact", "web"]),
        ("terms", &[]),
        ("visible", &[]),
        ("web", &["config"]),
    ],
};

/// One folder's modules and what each may import.
pub(super) struct Layers {
    /// The folder, from the root; its `lib.rs` may import everything.
    pub(super) folder: &'static str,
    /// A module, and the modules beside it that it may import.
    pub(super) arrows: &'static [(&'static str, &'static [&'static str])],
}
