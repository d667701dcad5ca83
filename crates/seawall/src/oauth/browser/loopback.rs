//! A login in the system's browser, answered on this machine (RFC 8252, section 7.3).

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::net::Ipv4Addr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::error::Elapsed;
use tokio::time::timeout;
use url::Url;

use super::{Browser, Visit};
use crate::web::{AuthError, Boxed, LoginFault};

/// How long a user may take.
const PATIENCE: Duration = Duration::from_secs(300);

/// How long one connection may take to send its request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// A longer request is not a browser's.
const MAX_REQUEST_BYTES: usize = 32 * 1024;

/// So many connections are read at once.
const MAX_CONNECTIONS: usize = 16;

/// What the browser shows at the end. Nothing in it is remote.
const PAGE: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Seawall</title>\
<style>body{font:1.1rem system-ui,sans-serif;max-width:32rem;margin:20vh auto;padding:0 1rem}</style>\
<h1>Back to Seawall</h1><p>The answer arrived. You can close this window.</p></html>";

/// What anything but the answer is shown.
const NOTHING: &str = "<!doctype html><title>Seawall</title><p>Nothing here.</p>";

/// Opens the system's browser and listens on `127.0.0.1` for the answer.
///
/// A request that is not the answer of this very login (its path, its `state`) is turned away and the wait goes on.
#[derive(Clone)]
pub struct LoopbackBrowser {
    open: Open,
    port: u16,
    path: String,
    patience: Duration,
}

#[derive(Clone)]
enum Open {
    System,
    Tell(Arc<dyn Fn(&Url) + Send + Sync>),
}

struct Listening {
    browser: LoopbackBrowser,
    listener: TcpListener,
    redirect: Url,
}

impl LoopbackBrowser {
    /// Any free port, `/callback`, five minutes.
    #[must_use]
    pub fn new() -> Self {
        Self {
            open: Open::System,
            port: 0,
            path: "/callback".to_owned(),
            patience: PATIENCE,
        }
    }

    /// Opens nothing; `tell` gets the address for the user to open.
    #[must_use]
    pub fn telling(mut self, tell: impl Fn(&Url) + Send + Sync + 'static) -> Self {
        self.open = Open::Tell(Arc::new(tell));
        self
    }

    /// The port to listen on, for clients that are registered with one. Default: any.
    #[must_use]
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// The path of the redirect address. Default: `/callback`.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// How long the answer is waited for. Default: 5 minutes.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    async fn listen(&self, wanted: Option<&Url>) -> std::io::Result<(TcpListener, u16)> {
        let before = wanted.and_then(Url::port).filter(|_| self.port == 0);
        if let Some(port) = before
            && let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await
        {
            return Ok((listener, port));
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, self.port)).await?;
        let port = listener.local_addr()?.port();
        Ok((listener, port))
    }

    async fn show(&self, address: &Url) -> Result<(), AuthError> {
        match &self.open {
            Open::Tell(tell) => {
                tell(address);
                Ok(())
            }
            Open::System => {
                let address = address.clone();
                tokio::task::spawn_blocking(move || webbrowser::open(address.as_str()))
                    .await
                    .ok()
                    .and_then(Result::ok)
                    .ok_or(AuthError::Login(LoginFault::NoBrowser))
            }
        }
    }
}

impl Default for LoopbackBrowser {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for LoopbackBrowser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoopbackBrowser")
            .field("port", &self.port)
            .finish_non_exhaustive()
    }
}

impl Browser for LoopbackBrowser {
    fn prepare<'a>(
        &'a self,
        wanted: Option<&'a Url>,
    ) -> Boxed<'a, Result<Box<dyn Visit>, AuthError>> {
        Box::pin(async move {
            let failed = || AuthError::Login(LoginFault::NoListener);
            let (listener, port) = self.listen(wanted).await.map_err(|_| failed())?;
            let mut redirect =
                Url::parse(&format!("http://127.0.0.1:{port}/")).map_err(|_| failed())?;
            redirect.set_path(&self.path);
            Ok(Box::new(Listening {
                browser: self.clone(),
                listener,
                redirect,
            }) as Box<dyn Visit>)
        })
    }
}

impl Visit for Listening {
    fn redirect(&self) -> &Url {
        &self.redirect
    }

    fn authorize(self: Box<Self>, address: Url) -> Boxed<'static, Result<Url, AuthError>> {
        Box::pin(async move {
            let state = parameter(&address, "state");
            let mut answer = pin!(timeout(
                self.browser.patience,
                self.answer(state.as_deref())
            ));
            // What opens a browser may not return before that browser ends.
            let answered = tokio::select! {
                shown = self.browser.show(&address) => {
                    shown?;
                    answer.await
                }
                answered = &mut answer => answered,
            };
            answered.map_err(|_| AuthError::Login(LoginFault::TimedOut))?
        })
    }
}

impl Listening {
    /// Waits for the answer. A browser opens connections that it sends nothing on, so several are read at once; when there
    /// are too many, the oldest goes, so that nobody keeps the browser out by saying nothing.
    async fn answer(&self, state: Option<&str>) -> Result<Url, AuthError> {
        let mut connections = VecDeque::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept() => {
                    let (stream, _) =
                        accepted.map_err(|_| AuthError::Login(LoginFault::NoListener))?;
                    if connections.len() == MAX_CONNECTIONS {
                        connections.pop_front();
                    }
                    connections.push_back(Box::pin(timeout(REQUEST_TIMEOUT, self.serve(stream, state))));
                }
                answer = poll_fn(|context| first(&mut connections, context)) => return Ok(answer),
            }
        }
    }

    /// Reads one request; the answer if it is one.
    async fn serve(&self, mut stream: TcpStream, state: Option<&str>) -> Option<Url> {
        let head = head(&mut stream).await?;
        let answer = self.read(&head, state);
        let (status, page) = match &answer {
            Some(_) => ("200 OK", PAGE),
            None => ("404 Not Found", NOTHING),
        };
        let response = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
             Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r\n\
             Referrer-Policy: no-referrer\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n{page}",
            page.len()
        );
        // The answer counts even if the browser does not wait for its page.
        let _ = stream.write_all(response.as_bytes()).await;
        let _ = stream.shutdown().await;
        answer
    }

    /// The answer in a request's first line: our path, our state.
    fn read(&self, head: &[u8], state: Option<&str>) -> Option<Url> {
        let line = head.split(|byte| *byte == b'\r').next()?;
        let mut words = std::str::from_utf8(line).ok()?.split(' ');
        let (Some("GET"), Some(target)) = (words.next(), words.next()) else {
            return None;
        };
        if !target.starts_with('/') {
            return None;
        }
        let answer = self.redirect.join(target).ok()?;
        let ours = answer.origin() == self.redirect.origin()
            && answer.path() == self.redirect.path()
            && parameter(&answer, "state").as_deref() == state;
        ours.then_some(answer)
    }
}

/// The answer, once a connection brought it. Those that are over go.
fn first<F: Future<Output = Result<Option<Url>, Elapsed>> + Unpin>(
    connections: &mut VecDeque<F>,
    context: &mut Context<'_>,
) -> Poll<Url> {
    let mut answer = Poll::Pending;
    connections.retain_mut(|served| match Pin::new(served).poll(context) {
        Poll::Ready(Ok(Some(found))) => {
            answer = Poll::Ready(found);
            false
        }
        Poll::Ready(_) => false,
        Poll::Pending => true,
    });
    answer
}

/// The head of a request, if it comes whole and short.
async fn head(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let count = stream.read(&mut buffer).await.ok()?;
        if count == 0 {
            return None;
        }
        // The end may be there in part already.
        let from = head.len().saturating_sub(3);
        head.extend_from_slice(buffer.get(..count)?);
        if head
            .get(from..)?
            .windows(4)
            .any(|window| window == b"\r\n\r\n")
        {
            return Some(head);
        }
        if head.len() > MAX_REQUEST_BYTES {
            return None;
        }
    }
}

fn parameter(url: &Url, name: &str) -> Option<String> {
    url.query_pairs()
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.into_owned())
}
