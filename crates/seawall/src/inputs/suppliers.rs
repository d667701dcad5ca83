//! Who answers what: the host's suppliers, and the checks on both sides of them.

use std::fmt;
use std::future::{self, Future};
use std::pin::Pin;
use std::sync::Arc;

use seawall_proto::Json;
use seawall_proto::framing::Kind;
use seawall_proto::mcp::{ClientCapabilities, InputMethod};

use super::{Form, Page, Root};

#[cfg(test)]
mod tests;

/// A future on the heap that owns what it needs.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send + 'static>>;

/// What the host supplies when a server asks. The default is nothing; clones share the suppliers.
///
/// ```
/// use std::sync::Arc;
/// use seawall::inputs::{BoxFuture, Root, RootsSupplier, Suppliers};
///
/// struct Workspace(Vec<Root>);
///
/// impl RootsSupplier for Workspace {
///     fn roots(&self, _server: &str) -> BoxFuture<Vec<Root>> {
///         let roots = self.0.clone();
///         Box::pin(async move { roots })
///     }
/// }
///
/// # fn main() -> Result<(), seawall::inputs::RootError> {
/// let roots = vec![Root::new("file:///srv/project")?];
/// let suppliers = Suppliers::default().with_roots(Arc::new(Workspace(roots)));
/// assert!(suppliers.capabilities().roots);
/// assert!(!suppliers.capabilities().sampling);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Suppliers {
    form: Option<Arc<dyn FormSupplier>>,
    url: Option<Arc<dyn UrlSupplier>>,
    sampling: Option<Arc<dyn Sampler>>,
    roots: Option<Arc<dyn RootsSupplier>>,
}

/// Has a person fill in forms: elicitation in form mode.
///
/// It must show which server asks, let the person review the answers, and let them decline or cancel.
///
/// Source: 2026-07-28, `client/elicitation`; 2025-06-18 and 2025-11-25 the same.
pub trait FormSupplier: Send + Sync {
    /// Asks. Every text of the form is the server's.
    ///
    /// # Cancel safety
    /// The future is dropped when the server withdraws the question or nobody waits for it any longer.
    fn fill(&self, server: &str, form: Form) -> BoxFuture<Answer>;
}

/// Has a person visit pages: elicitation in URL mode.
///
/// It must show the whole address, open it only with the person's consent, and never fetch it by itself.
///
/// Source: 2026-07-28 and 2025-11-25, `client/elicitation`, "Safe URL Handling".
pub trait UrlSupplier: Send + Sync {
    /// Asks for consent, and on consent has the page opened where neither the client nor a model can look into it.
    ///
    /// # Cancel safety
    /// The future is dropped when the server withdraws the question or nobody waits for it any longer.
    fn visit(&self, server: &str, page: Page) -> BoxFuture<Consent>;
}

/// Asks a model: sampling.
///
/// Source: 2026-07-28 (deprecated there), 2025-11-25 and earlier, `client/sampling`.
pub trait Sampler: Send + Sync {
    /// Samples. `request` is the params of `sampling/createMessage` as the server sent them; the answer is its result,
    /// an object, sent as it is. `None` refuses.
    ///
    /// # Cancel safety
    /// The future is dropped when the server withdraws the question or nobody waits for it any longer.
    fn sample(&self, server: &str, request: Json) -> BoxFuture<Option<Json>>;

    /// Whether requests with tools may come: `sampling.tools`. By default they are not declared, and refused.
    fn takes_tools(&self) -> bool {
        false
    }
}

/// Names folders to work in: roots. They tell a server what matters; they keep it from nothing.
///
/// Source: 2026-07-28 (deprecated there), 2025-11-25 and earlier, `client/roots`.
pub trait RootsSupplier: Send + Sync {
    /// The roots for this server, as they are now.
    fn roots(&self, server: &str) -> BoxFuture<Vec<Root>>;
}

/// What became of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The person sent it: an object with a member for each field that was filled in.
    ///
    /// One that does not satisfy the form ([`Form::check`]) is not sent; the server is told [`Answer::Cancel`] then.
    Accept(Json),
    /// The person said no.
    Decline,
    /// The person chose nothing: the form was closed, the terminal went away.
    Cancel,
}

/// What became of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// The person consented and the page was opened; what came of it there is not known.
    Accept,
    /// The person said no.
    Decline,
    /// The person chose nothing, or the page could not be opened.
    Cancel,
}

impl Suppliers {
    /// With forms.
    #[must_use]
    pub fn with_form(mut self, supplier: Arc<dyn FormSupplier>) -> Self {
        self.form = Some(supplier);
        self
    }

    /// With pages.
    #[must_use]
    pub fn with_url(mut self, supplier: Arc<dyn UrlSupplier>) -> Self {
        self.url = Some(supplier);
        self
    }

    /// With a model.
    #[must_use]
    pub fn with_sampling(mut self, sampler: Arc<dyn Sampler>) -> Self {
        self.sampling = Some(sampler);
        self
    }

    /// With folders.
    #[must_use]
    pub fn with_roots(mut self, supplier: Arc<dyn RootsSupplier>) -> Self {
        self.roots = Some(supplier);
        self
    }

    /// What a client with these declares: exactly what is supplied (S2).
    #[must_use]
    pub fn capabilities(&self) -> ClientCapabilities {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation_form = self.form.is_some();
        capabilities.elicitation_url = self.url.is_some();
        capabilities.sampling = self.sampling.is_some();
        capabilities.sampling_tools = self
            .sampling
            .as_ref()
            .is_some_and(|sampler| sampler.takes_tools());
        capabilities.roots = self.roots.is_some();
        capabilities
    }

    /// The result that answers what `server` asks, a JSON object; `None` where it cannot be supplied: there is no
    /// supplier for it, the request is malformed or out of bounds, or the supplier refused.
    ///
    /// # Cancel safety
    /// Dropping the future withdraws the question.
    #[must_use]
    pub fn supply(
        &self,
        server: &str,
        method: InputMethod,
        params: Option<Json>,
    ) -> BoxFuture<Option<Json>> {
        let supplied = match method {
            InputMethod::ElicitForm => self.fill(server, params),
            InputMethod::ElicitUrl => self.visit(server, params),
            InputMethod::Sample => self.sample(server, params),
            InputMethod::ListRoots => self.list_roots(server),
            _ => None,
        };
        supplied.unwrap_or_else(|| Box::pin(future::ready(None)))
    }

    fn fill(&self, server: &str, params: Option<Json>) -> Option<BoxFuture<Option<Json>>> {
        let supplier = self.form.as_ref()?;
        let form = match Form::parse(&params?) {
            Ok(form) => form,
            Err(error) => {
                tracing::debug!(server, %error, "a form cannot be shown");
                return None;
            }
        };
        let answering = supplier.fill(server, form.clone());
        Some(Box::pin(async move { answer(answering.await, &form) }))
    }

    fn visit(&self, server: &str, params: Option<Json>) -> Option<BoxFuture<Option<Json>>> {
        let supplier = self.url.as_ref()?;
        let page = match Page::parse(&params?) {
            Ok(page) => page,
            Err(error) => {
                tracing::debug!(server, %error, "a page cannot be shown");
                return None;
            }
        };
        let visiting = supplier.visit(server, page);
        Some(Box::pin(async move {
            match visiting.await {
                Consent::Accept => action("accept"),
                Consent::Decline => action("decline"),
                Consent::Cancel => action("cancel"),
            }
        }))
    }

    fn sample(&self, server: &str, params: Option<Json>) -> Option<BoxFuture<Option<Json>>> {
        let sampler = self.sampling.as_ref()?;
        let request = params.filter(|params| params.kind() == Kind::Object)?;
        let with_tools = ["tools", "toolChoice"]
            .into_iter()
            .any(|member| request.member(member).is_some());
        if with_tools && !sampler.takes_tools() {
            tracing::debug!(server, "sampling with tools is not supplied");
            return None;
        }
        let sampling = sampler.sample(server, request);
        Some(Box::pin(async move {
            sampling
                .await
                .filter(|sample| sample.kind() == Kind::Object)
        }))
    }

    fn list_roots(&self, server: &str) -> Option<BoxFuture<Option<Json>>> {
        let listing = self.roots.as_ref()?.roots(server);
        Some(Box::pin(async move {
            let roots: Vec<serde_json::Value> = listing.await.iter().map(root).collect();
            Json::of(&serde_json::json!({ "roots": roots })).ok()
        }))
    }
}

impl fmt::Debug for Suppliers {
    /// What is supplied, not by whom.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Suppliers")
            .field(&self.capabilities())
            .finish()
    }
}

/// The result of a form: what was accepted only if it satisfies the form.
fn answer(answer: Answer, form: &Form) -> Option<Json> {
    match answer {
        Answer::Accept(content) if form.check(&content).is_empty() => {
            let content = content.as_str();
            Json::check(format!("{{\"action\":\"accept\",\"content\":{content}}}")).ok()
        }
        Answer::Decline => action("decline"),
        Answer::Accept(_) | Answer::Cancel => action("cancel"),
    }
}

fn root(root: &Root) -> serde_json::Value {
    let uri = root.uri().as_str();
    match root.name() {
        Some(name) => serde_json::json!({ "uri": uri, "name": name }),
        None => serde_json::json!({ "uri": uri }),
    }
}

fn action(action: &str) -> Option<Json> {
    Json::of(&serde_json::json!({ "action": action })).ok()
}
