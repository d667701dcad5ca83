//! One request of a client, while the host works on it: what is told and asked meanwhile goes to the client.
//!
//! **Invariant:** dropping it drops the host's call, and withdraws what the client was asked.

use std::fmt::Write as _;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use seawall::Progress;
use seawall::inputs::Refusal;
use seawall_proto::Json;
use seawall_proto::framing::Kind;
use seawall_proto::jsonrpc::{ErrorObject, INTERNAL_ERROR};
use seawall_proto::server::NotSent;
use serde_json::{Value, json};

use super::levels::Levels;
use super::parked::{Claimed, Of, Parked, not_parked};
use super::told::{Question, Told};
use super::visits;
use super::wiring::{Beside, Wiring, Work, brought};
use crate::service::{Answer, AskError, Exchange, Request};

/// A call of the host under way, with what comes beside its answer.
pub(super) struct Underway {
    work: Work,
    /// Its end, once it came.
    ended: Option<Answer>,
    beside: Beside,
    /// What a client of 2026-07-28 was asked, by the keys that it was asked under.
    open: Vec<(u64, Question)>,
    next_key: u64,
    /// Whether it is no call any longer, but the pages to visit before it is made again.
    is_visit: bool,
}

impl std::fmt::Debug for Underway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Underway").finish_non_exhaustive()
    }
}

/// Serves a request by the call that `begin` makes, or by the one that its state stands for.
pub(super) async fn carry<F>(
    parked: &Parked,
    levels: &Levels,
    request: &Request,
    exchange: &Exchange,
    begin: impl FnOnce(Wiring) -> F,
) -> Answer
where
    F: Future<Output = Result<Work, ErrorObject>>,
{
    let carrying = Carrying {
        parked,
        request,
        exchange,
    };
    if request.meta.revision.is_legacy() {
        let (wiring, beside) = Wiring::of(request, exchange, levels)?;
        let underway = Underway::new(begin(wiring).await?, beside);
        return carrying.ask_while(underway).await;
    }
    let mut visited = false;
    if let Some(state) = brought(request, "requestState", Kind::String)? {
        let of = Of::new(request, exchange);
        if let Claimed::Call(mut underway) = parked.claim(&state, &of).await? {
            let responses = brought(request, "inputResponses", Kind::Object)?;
            if !underway.is_visit {
                underway.answer(responses.as_ref());
                return carrying.ask_by_result(*underway).await;
            }
            if underway.ended.is_some() {
                return Err(not_parked());
            }
            visits::accepted(&underway.open, responses.as_ref())?;
            visited = true;
        }
    }
    let (mut wiring, beside) = Wiring::of(request, exchange, levels)?;
    if visited {
        // They were for the gateway; to the server this is the call, made once more.
        wiring.rounds = Some((None, None));
    }
    let underway = Underway::new(begin(wiring).await?, beside);
    carrying.ask_by_result(underway).await
}

impl Underway {
    fn new(work: Work, beside: Beside) -> Self {
        Self {
            work,
            ended: None,
            beside,
            open: Vec::new(),
            next_key: 1,
            is_visit: false,
        }
    }

    /// What is left of a call that failed since its client has pages to visit first: it waits for the client's word that
    /// they were.
    fn visit(beside: Beside, open: Vec<(u64, Question)>, work: Work) -> Self {
        Self {
            open,
            is_visit: true,
            ..Self::new(work, beside)
        }
    }

    /// Waits for the end.
    ///
    /// # Cancel safety
    /// Nothing is lost.
    pub(super) async fn end(&mut self) {
        if self.ended.is_none() {
            self.ended = Some((&mut self.work).await);
        }
    }

    /// What comes next. At the end everything that was told before it came first.
    async fn next(&mut self) -> Next {
        if self.ended.is_none() {
            let Self {
                work,
                ended,
                beside,
                ..
            } = self;
            tokio::select! {
                biased;
                Some(told) = beside.told.recv() => return Next::Told(told),
                answer = work => *ended = Some(answer),
                Ok(()) = beside.progress.changed() => {
                    let progress = beside.progress.borrow_and_update().clone();
                    return progress.map_or(Next::Nothing, Next::Progress);
                }
            }
        }
        if let Ok(told) = self.beside.told.try_recv() {
            return Next::Told(told);
        }
        if self.beside.progress.has_changed().unwrap_or(false)
            && let Some(progress) = self.beside.progress.borrow_and_update().clone()
        {
            return Next::Progress(progress);
        }
        // It ended, so this is its end.
        self.ended.take().map_or(Next::Nothing, Next::Ended)
    }

    /// Hands the client's answers to the server.
    fn answer(&mut self, responses: Option<&Json>) {
        let waiting = std::mem::take(&mut self.open);
        for (key, question) in waiting {
            let response = responses.and_then(|responses| responses.member(&key.to_string()));
            match response {
                Some(response) => {
                    // The server may not want it any longer.
                    let _ = question.answer.send(Ok(response));
                }
                None => self.open.push((key, question)),
            }
        }
    }

    fn open(&mut self, question: Question) {
        self.open.push((self.next_key, question));
        self.next_key += 1;
    }

    /// Whether the client is to be asked for something.
    fn asks(&mut self) -> bool {
        self.open
            .retain(|(_, question)| !question.answer.is_closed());
        !self.open.is_empty()
    }
}

/// What comes of a call.
enum Next {
    Told(Told),
    Progress(Progress),
    Ended(Answer),
    Nothing,
}

struct Carrying<'a> {
    parked: &'a Parked,
    request: &'a Request,
    exchange: &'a Exchange,
}

impl Carrying<'_> {
    /// A legacy client is asked while its request is under way.
    async fn ask_while(&self, mut underway: Underway) -> Answer {
        let mut asking = Asking::default();
        loop {
            let next = tokio::select! {
                biased;
                () = asking.answered() => continue,
                next = underway.next() => next,
            };
            match next {
                Next::Told(Told::Question(question)) => asking.ask(self.exchange, question),
                Next::Told(Told::Line(line)) => self.log(&line).await,
                Next::Progress(progress) => self.progress(&progress).await,
                Next::Ended(answer) => return answer,
                Next::Nothing => {}
            }
        }
    }

    /// A client of 2026-07-28 is asked by a result, and the call waits for its next request.
    async fn ask_by_result(&self, mut underway: Underway) -> Answer {
        loop {
            if underway.ended.is_none() && underway.asks() {
                // What else the server asks for by now goes with it.
                while let Ok(told) = underway.beside.told.try_recv() {
                    match told {
                        Told::Question(question) => underway.open(question),
                        Told::Line(line) => self.log(&line).await,
                    }
                }
                let requests = input_requests(&underway.open);
                let of = Of::new(self.request, self.exchange);
                match self.parked.park(of, underway) {
                    Ok(state) => return input_required(&requests, &state),
                    Err(mut kept) => {
                        kept.refuse();
                        underway = *kept;
                    }
                }
            }
            match underway.next().await {
                Next::Told(Told::Question(question)) => underway.open(question),
                Next::Told(Told::Line(line)) => self.log(&line).await,
                Next::Progress(progress) => self.progress(&progress).await,
                Next::Ended(Err(error)) => return self.visit_first(error, underway.beside),
                Next::Ended(answer) => return answer,
                Next::Nothing => {}
            }
        }
    }

    /// A client of 2026-07-28 is asked to visit the pages that a server of 2025-11-25 refused the call for; its next request
    /// makes the call again.
    fn visit_first(&self, error: ErrorObject, beside: Beside) -> Answer {
        let pages = visits::pages(&error);
        if pages.is_empty() {
            return Err(visits::untold(error));
        }
        let (open, work) = visits::waiting(pages);
        let requests = input_requests(&open);
        let of = Of::new(self.request, self.exchange);
        match self.parked.park(of, Underway::visit(beside, open, work)) {
            Ok(state) => input_required(&requests, &state),
            Err(_) => Err(visits::untold(error)),
        }
    }

    async fn log(&self, line: &Json) {
        // A client that left is not told.
        let _ = self
            .exchange
            .notify("notifications/message", Some(line))
            .await;
    }

    async fn progress(&self, progress: &Progress) {
        let token = self.request.meta.progress_token.as_ref();
        if let Some(params) = token.and_then(|token| progress_params(token, progress)) {
            // A client that left is not told.
            let _ = self
                .exchange
                .notify("notifications/progress", Some(&params))
                .await;
        }
    }
}

impl Underway {
    /// There is no room for one more parked call: the server is told so, and goes on without.
    fn refuse(&mut self) {
        for (_, question) in self.open.drain(..) {
            let message = "too many calls wait for their clients' answers";
            let refusal = Refusal::new(INTERNAL_ERROR, message, None);
            let _ = question.answer.send(Err(refusal));
        }
    }
}

/// What a legacy client is asked now. Dropping it withdraws all of it.
#[derive(Default)]
struct Asking(Vec<Pin<Box<dyn Future<Output = ()> + Send>>>);

impl Asking {
    fn ask(&mut self, exchange: &Exchange, question: Question) {
        let exchange = exchange.clone();
        self.0.push(Box::pin(async move {
            let Question {
                method,
                params,
                mut answer,
            } = question;
            let params = params.map(|params| for_legacy(method, params));
            let asked = tokio::select! {
                biased;
                () = answer.closed() => return,
                asked = exchange.ask(method, params.as_ref()) => asked,
            };
            let _ = answer.send(asked.map_err(refusal_of));
        }));
    }

    /// Waits until one of them is over; for ever if there is none.
    async fn answered(&mut self) {
        poll_fn(|context| self.poll_answered(context)).await;
    }

    fn poll_answered(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let before = self.0.len();
        self.0
            .retain_mut(|asking| asking.as_mut().poll(context).is_pending());
        if self.0.len() < before {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

/// What the server is told of a client that did not answer; a refusal in the client's own words.
fn refusal_of(error: AskError) -> Refusal {
    let words = match error {
        AskError::Refused(error) => return error,
        AskError::NotSent(NotSent::TooManyAsked | NotSent::Full) => {
            "the client has too many questions to answer"
        }
        AskError::NotSent(NotSent::TooLong) => "the question is too long for the client",
        _ => "the client could not be asked, or is gone",
    };
    Refusal::new(INTERNAL_ERROR, words, None)
}

/// Legacy revisions want a page to have a name, which 2026-07-28 has no more (2025-11-25, `client/elicitation`).
fn for_legacy(method: &str, params: Json) -> Json {
    let is = |member: &str, value: &str| {
        let member = params.member(member);
        member.and_then(|member| Some(member.string()? == value)) == Some(true)
    };
    if method != "elicitation/create"
        || !is("mode", "url")
        || params.member("elicitationId").is_some()
    {
        return params;
    }
    let mut bytes = [0_u8; 16];
    let id = getrandom::fill(&mut bytes).ok().map(|()| {
        let mut id = String::new();
        for byte in bytes {
            // Writing to a String cannot fail.
            let _ = write!(id, "{byte:02x}");
        }
        id
    });
    match id.and_then(|id| Json::of(&id).ok()) {
        Some(id) => params.with_first("elicitationId", &id),
        None => params,
    }
}

fn input_requests(open: &[(u64, Question)]) -> String {
    let mut requests = String::new();
    for (key, question) in open {
        let comma = if requests.is_empty() { "" } else { "," };
        let method = question.method;
        // Writing to a String cannot fail.
        let _ = write!(requests, "{comma}\"{key}\":{{\"method\":\"{method}\"");
        if let Some(params) = &question.params {
            let _ = write!(requests, ",\"params\":{}", params.as_str());
        }
        requests.push('}');
    }
    requests
}

fn input_required(requests: &str, state: &Json) -> Answer {
    let text = format!(
        "{{\"resultType\":\"input_required\",\"inputRequests\":{{{requests}}},\"requestState\":{}}}",
        state.as_str()
    );
    Json::check(text).map_err(|_| {
        ErrorObject::new(
            INTERNAL_ERROR,
            "what the server asks nests too deep to be asked",
            None,
        )
    })
}

fn progress_params(token: &Json, progress: &Progress) -> Option<Json> {
    let mut params = json!({"progress": number(progress.progress)});
    if let Some(total) = progress.total {
        params["total"] = number(total);
    }
    if let Some(message) = &progress.message {
        params["message"] = json!(message);
    }
    let params = Json::of(&params).ok()?;
    Some(params.with_first("progressToken", token))
}

/// A whole number as most servers write it.
fn number(value: f64) -> Value {
    /// Up to here every whole number is a double.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() <= EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and in range")]
        let whole = value as i64;
        return json!(whole);
    }
    json!(value)
}
