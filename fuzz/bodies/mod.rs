//! The bodies of the fuzz targets of the protocol core, for the tests that replay their seeds.

pub(crate) mod catalog;
pub(crate) mod envelope;
pub(crate) mod line;
pub(crate) mod operations;
pub(crate) mod scan;
pub(crate) mod serving;
pub(crate) mod sse;
