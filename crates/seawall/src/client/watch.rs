//! What a server says beside the protocol: counted always, shown only to an installed observer (S6, S12).

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use bytes::BytesMut;
use seawall_proto::Json;
use seawall_proto::connection::Event;

use super::secrets::Secrets;
use crate::events::{Diagnostic, Observer, StderrTail};

/// Room for one read of stderr.
const STDERR_CHUNK_BYTES: usize = 8 * 1024;

/// The diagnostics of one connection.
pub(super) struct Watch {
    server: Arc<str>,
    observer: Option<Arc<dyn Observer>>,
    secrets: Secrets,
    chunk: BytesMut,
    tail: StderrTail,
    counted: Arc<StderrCount>,
}

/// What was counted on stderr.
#[derive(Debug, Default)]
pub(super) struct StderrCount {
    lines: AtomicU64,
    withheld: AtomicU64,
}

impl StderrCount {
    /// Lines, and lines withheld for their length.
    pub(super) fn get(&self) -> (u64, u64) {
        (self.lines.load(Relaxed), self.withheld.load(Relaxed))
    }
}

impl Watch {
    pub(super) fn new(
        server: Arc<str>,
        observer: Option<Arc<dyn Observer>>,
        secrets: Secrets,
        max_stderr_bytes: usize,
    ) -> Self {
        Self {
            server,
            observer,
            chunk: BytesMut::with_capacity(STDERR_CHUNK_BYTES),
            tail: StderrTail::new(max_stderr_bytes),
            secrets,
            counted: Arc::default(),
        }
    }

    /// The counters, shared.
    pub(super) fn counted(&self) -> Arc<StderrCount> {
        Arc::clone(&self.counted)
    }

    /// Room for the next bytes of stderr; [`stderr`](Self::stderr) takes them.
    pub(super) fn stderr_buffer(&mut self) -> &mut BytesMut {
        self.chunk.reserve(STDERR_CHUNK_BYTES);
        &mut self.chunk
    }

    /// Takes what was read into [`stderr_buffer`](Self::stderr_buffer).
    pub(super) fn stderr(&mut self) {
        self.tail.feed(&self.chunk, self.secrets.redactor());
        self.chunk.clear();
        self.count();
    }

    /// Shows what the connection told.
    pub(super) fn event(&mut self, event: Event) {
        let Some(observer) = &self.observer else {
            return;
        };
        let redactor = self.secrets.redactor();
        let diagnostic = match event {
            Event::Noise { kind, line } => Diagnostic::noise(kind, &line, redactor),
            Event::UncorrelatedError(error) => Diagnostic::uncorrelated_error(&error, redactor),
            Event::RemoteError(error) => Diagnostic::remote_error(&error, redactor),
            Event::Violation => Diagnostic::ServerRequest,
            _ => return,
        };
        observer.observe(&self.server, &diagnostic);
    }

    /// Shows a line of the server's log.
    pub(super) fn log(&mut self, params: &Json) {
        if let Some(observer) = &self.observer {
            let line = Diagnostic::log(params, self.secrets.redactor());
            observer.observe(&self.server, &line);
        }
    }

    /// The text without secrets; `None` if it is no JSON without them.
    pub(super) fn redacted(&mut self, text: &Json) -> Option<Json> {
        match self.secrets.redactor().redact(text.as_str()) {
            Cow::Borrowed(_) => Some(text.clone()),
            Cow::Owned(redacted) => Json::check(redacted).ok(),
        }
    }

    /// The server is gone: shows what it left on stderr.
    pub(super) fn finish(&mut self) {
        self.tail.finish(self.secrets.redactor());
        self.count();
        if let Some(observer) = &self.observer {
            observer.observe(&self.server, &Diagnostic::stderr(&self.tail));
        }
    }

    fn count(&self) {
        self.counted.lines.store(self.tail.lines(), Relaxed);
        self.counted.withheld.store(self.tail.withheld(), Relaxed);
    }
}
