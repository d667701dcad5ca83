//! One request to its answer: authorised, redirected within its origin, sent again only after a refusal.

use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method};
use reqwest::{Body, Request, Response};
use seawall_proto::connection::Handover;
use tokio::time::timeout;
use url::Url;

use super::control::{Control, GatedBody};
use super::limits::{HANDOVER_PATIENCE, MAX_REFUSALS};
use super::link::{Link, Standing};
use super::{End, Handed, HttpFault};
use crate::web::{Credentials, MAX_REDIRECTS, Refusal, Verdict, Waits, is_redirect, redirected};

/// A request before it is authorised.
pub(super) struct Outgoing {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    /// The post's text; `None` for a request without a body.
    pub(super) body: Option<Bytes>,
    /// Whether a person may be asked to log in for it.
    pub(super) waits: Waits,
}

impl Outgoing {
    pub(super) fn get(link: &Link, session: &Standing, last_event_id: Option<&[u8]>) -> Self {
        Self {
            method: Method::GET,
            url: link.config.url.clone(),
            headers: link.stream_headers(session, last_event_id),
            body: None,
            waits: Waits::Somebody,
        }
    }

    /// The same, with nobody who waits for it.
    pub(super) fn in_background(self) -> Self {
        Self {
            waits: Waits::Nobody,
            ..self
        }
    }
}

impl Link {
    /// The answer to `outgoing`, whatever its status, that is not a redirect.
    ///
    /// # Errors
    /// How the exchange ended without one.
    pub(super) async fn send(
        &self,
        outgoing: Outgoing,
        control: &Arc<Control>,
    ) -> Result<Response, End> {
        let mut sending = Sending { outgoing, control };
        let mut redirects = 0;
        let (mut refusals, mut again) = (0, 0);
        loop {
            let credentials = match &self.config.authorizer {
                Some(authorizer) => {
                    let _waiting = control.authorising();
                    authorizer
                        .credentials(&sending.outgoing.method, &sending.outgoing.url)
                        .await
                        .map_err(End::Auth)?
                }
                None => None,
            };
            let response = sending.attempt(self, credentials.as_ref()).await?;
            let status = response.status();
            let outgoing = &mut sending.outgoing;
            if is_redirect(status) {
                outgoing.url = redirected(&outgoing.url, response.headers())?;
                redirects += 1;
                if redirects > MAX_REDIRECTS {
                    return Err(End::Redirect { origin: None });
                }
                continue;
            }
            if matches!(status.as_u16(), 401 | 403)
                && again < MAX_REFUSALS
                && let Some(authorizer) = &self.config.authorizer
            {
                let refusal = Refusal {
                    method: &outgoing.method,
                    url: &outgoing.url,
                    status,
                    headers: response.headers(),
                    used: credentials.map(|credentials| credentials.generation),
                    refusals,
                    waits: outgoing.waits,
                };
                again += 1;
                let _refused = control.refused();
                match authorizer.refused(refusal).await.map_err(End::Auth)? {
                    Verdict::Retry => {
                        refusals += 1;
                        continue;
                    }
                    Verdict::Amend => continue,
                    Verdict::GiveUp => {}
                }
            }
            return Ok(response);
        }
    }
}

struct Sending<'a> {
    outgoing: Outgoing,
    control: &'a Arc<Control>,
}

impl Sending<'_> {
    /// The answer of one connection.
    ///
    /// A request may be handed to a connection that is just closing, which then neither reads it nor refuses it
    /// (hyperium/hyper#4122): a post whose body nobody began to read for [`HANDOVER_PATIENCE`] is taken back and handed to
    /// another connection. A request without a body cannot be taken back so, and waits for its owner.
    async fn attempt(
        &self,
        link: &Link,
        credentials: Option<&Credentials>,
    ) -> Result<Response, End> {
        loop {
            let attempt = Handover::default();
            let request = self.request(credentials, &attempt);
            let answering = match link.config.client.execute(request) {
                Ok(answering) => answering,
                Err(refused) => return Err(self.failed(refused.into())),
            };
            let mut answering = pin!(answering);
            let answer = match timeout(HANDOVER_PATIENCE, &mut answering).await {
                Ok(answer) => answer,
                Err(_) if self.outgoing.body.is_some() && attempt.withdraw() => continue,
                Err(_) => answering.await,
            };
            return match answer {
                Ok(response) => {
                    self.control.answered();
                    Ok(response)
                }
                Err(error) => Err(self.failed(HttpFault::of(&error))),
            };
        }
    }

    fn request(&self, credentials: Option<&Credentials>, attempt: &Handover) -> Request {
        let outgoing = &self.outgoing;
        let mut request = Request::new(outgoing.method.clone(), outgoing.url.clone());
        request.headers_mut().clone_from(&outgoing.headers);
        for (name, value) in credentials.iter().flat_map(|given| &given.headers) {
            request.headers_mut().insert(name.clone(), value.clone());
        }
        if let Some(text) = &outgoing.body {
            let body = GatedBody::new(Arc::clone(self.control), attempt.clone(), text.clone());
            *request.body_mut() = Some(Body::wrap(body));
        }
        request
    }

    /// The end of an exchange without an answer, told by whether the body was handed over by now.
    fn failed(&self, fault: HttpFault) -> End {
        match self.control.shut() {
            Handed::No => End::NotSent(fault),
            Handed::Yes => End::Broken(fault),
        }
    }
}
