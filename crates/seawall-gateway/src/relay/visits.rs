//! Pages that a client is to visit before it makes a call again: an error on 2025-11-25, a round on 2026-07-28.
//!
//! Source: 2025-11-25, `client/elicitation`, "URL Elicitation Required Error"; 2026-07-28, `client/elicitation`, "URL Mode
//! Flow".
//!
//! **Invariant:** the call is made again by the client's own next request, and only if it says that it visited all of them.

use std::time::Duration;

use seawall::Outcome;
use seawall_proto::Json;
use seawall_proto::framing::Kind;
use seawall_proto::jsonrpc::{ErrorObject, INTERNAL_ERROR, URL_ELICITATION_REQUIRED};
use seawall_proto::limits::MAX_INPUTS;
use serde_json::json;
use tokio::sync::oneshot;
use tokio::time::sleep;

use super::not_parked;
use super::told::Question;
use super::wiring::Work;

/// How long a client has to visit them: a login with a second factor, and a mail that has to be found.
const VISIT: Duration = Duration::from_secs(600);

/// The pages that this error is about; none of another error, or if they are too many to ask for.
pub(super) fn pages(error: &ErrorObject) -> Vec<Json> {
    if error.code != URL_ELICITATION_REQUIRED {
        return Vec::new();
    }
    let pages = error.data.as_ref();
    let pages = pages.and_then(|data| data.member("elicitations"));
    let pages = pages.as_ref().map(Json::elements).unwrap_or_default();
    let all = pages.iter().all(|page| page.kind() == Kind::Object);
    if all && pages.len() <= MAX_INPUTS {
        pages
    } else {
        Vec::new()
    }
}

/// What the client is asked, and what waits for it.
pub(super) fn waiting(pages: Vec<Json>) -> (Vec<(u64, Question)>, Work) {
    let asked = (1..).zip(pages).map(|(key, page)| {
        let (answer, answered) = oneshot::channel();
        let question = Question {
            method: "elicitation/create",
            params: Some(page),
            answer,
        };
        ((key, question), answered)
    });
    let (open, answered): (Vec<_>, Vec<_>) = asked.unzip();
    let work: Work = Box::pin(async move {
        sleep(VISIT).await;
        drop(answered);
        Err(not_parked())
    });
    (open, work)
}

/// Whether the client says that it visited all of them.
///
/// # Errors
/// It did not, or it is too late.
pub(super) fn accepted(
    open: &[(u64, Question)],
    responses: Option<&Json>,
) -> Result<(), ErrorObject> {
    let accepts = |(key, _): &(u64, Question)| {
        let response = responses.and_then(|responses| responses.member(&key.to_string()));
        let action = response.and_then(|response| response.member("action"));
        action.as_ref().and_then(Json::string).as_deref() == Some("accept")
    };
    if open.iter().all(accepts) {
        return Ok(());
    }
    let message = "the tool's server wants a page visited first, and it was not; nothing was sent";
    let data = json!({"code": "declined", "outcome": Outcome::NotSent.as_str()});
    Err(ErrorObject::new(
        INTERNAL_ERROR,
        message,
        Json::of(&data).ok(),
    ))
}

/// The same failure, where it is no round: the code means nothing on 2026-07-28.
pub(super) fn untold(mut error: ErrorObject) -> ErrorObject {
    if error.code == URL_ELICITATION_REQUIRED {
        error.code = INTERNAL_ERROR;
    }
    error
}
