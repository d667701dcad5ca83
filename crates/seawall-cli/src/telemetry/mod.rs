//! Spans of calls, exported as OpenTelemetry wants them, where its standard variables say so (feature `otel`).
//!
//! **Invariant:** without an endpoint in the environment nothing is collected, and no thread is started.

#[cfg(feature = "otel")]
mod client;
#[cfg(feature = "otel")]
mod export;
#[cfg(all(test, feature = "otel"))]
mod tests;

#[cfg(feature = "otel")]
pub(crate) use export::{Export, ExportError};

/// This build exports nothing.
#[cfg(not(feature = "otel"))]
#[derive(Debug)]
pub(crate) struct Export;

/// Why spans cannot be exported: nothing.
#[cfg(not(feature = "otel"))]
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExportError {}

#[cfg(not(feature = "otel"))]
impl Export {
    /// Never begins.
    pub(crate) fn begin() -> Result<Option<Self>, ExportError> {
        Ok(None)
    }

    pub(crate) fn telemetry(&self) -> Option<std::sync::Arc<dyn seawall_gateway::Telemetry>> {
        None
    }

    pub(crate) fn end(self) {}
}
