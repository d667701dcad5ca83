//! What clients ask of one server: a resource, a prompt, a completion, to be told of a change.
//!
//! **Invariant:** dropping it abandons the request, which tells the server so (S8).

use seawall::host::LiveSession;
use seawall_proto::Json;
use seawall_proto::framing::Kind as JsonKind;
use seawall_proto::jsonrpc::ErrorObject;
use seawall_proto::server::RequestMeta;

use super::Offers;
use super::failure::{self, Failed};
use super::follow::Follower;
use super::kind;
use crate::clients::Client;
use crate::relay::{Wiring, Work};
use crate::service::{Answer, Request, Session};
use crate::tools::{acted_on, for_era, invalid};

/// Members of a request that are of the hop that it came by.
const OF_THE_HOP: [&str; 3] = ["_meta", "inputResponses", "requestState"];

impl Offers {
    /// `resources/read`.
    pub(crate) async fn read(
        &self,
        request: &Request,
        wiring: Wiring,
    ) -> Result<Work, ErrorObject> {
        let params = request.params.as_ref();
        let (uri, text) = named(params, "uri", "resources/read has no uri")?;
        let (remote, meta) = (self.remote_errors, request.meta.clone());
        let home = self.home(&request.client, &text).await;
        let home = home.ok_or_else(|| Failed::NoResource.of_resource(remote, &uri, &meta))?;
        let params = params.and_then(own);
        let read = self
            .host
            .request(&home.server, "resources/read", params)
            .carrying(wiring.carried());
        Ok(Box::pin(async move {
            match read.await {
                Ok(result) if asks(&home, &result) => Ok(result),
                Ok(result) => Ok(cacheable(&result, &meta)),
                Err(error) => {
                    let told = Failed::Host(error.clone()).of_resource(remote, &uri, &meta);
                    Err(acted_on(told, &error, &meta))
                }
            }
        }))
    }

    /// `prompts/get`.
    pub(crate) async fn prompt(
        &self,
        request: &Request,
        wiring: Wiring,
    ) -> Result<Work, ErrorObject> {
        let params = request.params.as_ref();
        let (_, name) = named(params, "name", "prompts/get has no name")?;
        let home = self.home_of_prompt(&request.client, &name).await;
        let (home, name) = home.ok_or_else(failure::unknown_prompt)?;
        let params = params.and_then(own);
        let params = params.map(|params| renamed(&params, "name", &name));
        let got = self
            .host
            .request(&home.server, "prompts/get", params)
            .carrying(wiring.carried());
        let (remote, meta) = (self.remote_errors, request.meta.clone());
        Ok(Box::pin(async move {
            match got.await {
                Ok(result) if asks(&home, &result) => Ok(result),
                Ok(result) => Ok(complete(&result, &meta)),
                Err(error) => {
                    let told = Failed::Host(error.clone()).of_request(remote);
                    Err(acted_on(told, &error, &meta))
                }
            }
        }))
    }

    /// `completion/complete`.
    pub(crate) async fn completion(&self, request: &Request) -> Answer {
        let params = request.params.as_ref();
        let reference = params.and_then(|params| params.member("ref"));
        let reference = reference.ok_or_else(|| invalid("completion/complete has no ref"))?;
        let of = reference.member("type");
        let of = of.as_ref().and_then(Json::string);
        let client = &request.client;
        let (home, params) = match of.as_deref() {
            Some("ref/prompt") => {
                let (_, name) = named(Some(&reference), "name", "the ref has no name")?;
                let home = self.home_of_prompt(client, &name).await;
                let (home, name) = home.ok_or_else(failure::unknown_prompt)?;
                let renamed = renamed(&reference, "name", &name);
                let params = params.and_then(own);
                let in_place = |key: &str, _: &Json| (key == "ref").then(|| renamed.clone());
                (home, params.map(|params| params.with_values(in_place)))
            }
            Some("ref/resource") => {
                let (uri, text) = named(Some(&reference), "uri", "the ref has no uri")?;
                let home = match self.home_of_template(client, &text).await {
                    Some(home) => Some(home),
                    None => self.home(client, &text).await,
                };
                let failed =
                    || Failed::NoResource.of_resource(self.remote_errors, &uri, &request.meta);
                (home.ok_or_else(failed)?, params.and_then(own))
            }
            _ => return Err(invalid("the ref is neither of a prompt nor of a resource")),
        };
        if !kind::completes(&home) {
            // It cannot be known before which servers do, so this is no error.
            let nothing = r#"{"completion":{"values":[],"total":0,"hasMore":false}}"#;
            let nothing = Json::check(nothing).map_err(|_| crate::tools::internal())?;
            return Ok(complete(&nothing, &request.meta));
        }
        let completed = self
            .host
            .request(&home.server, "completion/complete", params);
        match completed.await {
            Ok(result) => Ok(complete(&result, &request.meta)),
            Err(error) => Err(Failed::Host(error).of_request(self.remote_errors)),
        }
    }

    /// `resources/subscribe` of a session.
    pub(crate) async fn subscribe(&self, request: &Request, session: &Session) -> Answer {
        let params = request.params.as_ref();
        let (uri, text) = named(params, "uri", "resources/subscribe has no uri")?;
        let follower = Follower::Session(session.id());
        let followed = self.follow(&request.client, &text, follower, Some(session));
        match followed.await {
            Ok(()) => Ok(Json::empty_object()),
            Err(why) => Err(why.of_resource(self.remote_errors, &uri, &request.meta)),
        }
    }

    /// `resources/unsubscribe` of a session. What it did not follow, it does not follow after either.
    pub(crate) fn unsubscribe(&self, request: &Request, session: &Session) -> Answer {
        let params = request.params.as_ref();
        let (_, uri) = named(params, "uri", "resources/unsubscribe has no uri")?;
        self.follows.unfollow(&uri, Follower::Session(session.id()));
        Ok(Json::empty_object())
    }

    /// Has changes of a resource told, until its follower leaves.
    async fn follow(
        &self,
        client: &Client,
        uri: &str,
        follower: Follower,
        session: Option<&Session>,
    ) -> Result<(), Failed> {
        let home = self.home(client, uri).await.ok_or(Failed::NoResource)?;
        if !kind::tells_updates(&home) {
            return Err(Failed::NotTold);
        }
        let following = self.follows.follow(&home.server, uri, follower, session);
        let mut following = following.map_err(Failed::NotFollowed)?;
        following.settled().await.map_err(Failed::NotFollowed)?;
        following.keep();
        Ok(())
    }

    /// Has changes of resources told to a subscription; which of them are.
    pub(crate) async fn follow_all(
        &self,
        client: &Client,
        uris: impl IntoIterator<Item = String>,
        listener: u64,
    ) -> Vec<String> {
        let follower = Follower::Listener(listener);
        let asked = uris.into_iter().map(async |uri: String| {
            let followed = self.follow(client, &uri, follower, None).await;
            followed.is_ok().then_some(uri)
        });
        let followed = futures_util::future::join_all(asked).await;
        followed.into_iter().flatten().collect()
    }
}

/// A member that names what is asked for: as it was written, and its text.
fn named(params: Option<&Json>, key: &str, missing: &str) -> Result<(Json, String), ErrorObject> {
    let value = params.and_then(|params| params.member(key));
    let text = value.as_ref().and_then(Json::string);
    let text = text.ok_or_else(|| invalid(missing))?.into_owned();
    let value = value.ok_or_else(|| invalid(missing))?;
    Ok((value, text))
}

/// The parameters without what is of the hop that they came by.
fn own(params: &Json) -> Option<Json> {
    if params.kind() != JsonKind::Object {
        return None;
    }
    let mut text = String::with_capacity(params.len());
    for (key, value) in params.members() {
        if OF_THE_HOP.contains(&&*key) {
            continue;
        }
        text.push(if text.is_empty() { '{' } else { ',' });
        text.push_str(Json::of(&key).ok()?.as_str());
        text.push(':');
        text.push_str(value.as_str());
    }
    if text.is_empty() {
        text.push('{');
    }
    text.push('}');
    Json::check(text).ok()
}

/// The object with another text for one of its members.
fn renamed(object: &Json, key: &str, name: &str) -> Json {
    object.with_values(|member, _| match member == key {
        true => Json::of(&name).ok(),
        false => None,
    })
}

/// Whether a result asks its client for input. Of a server of an earlier revision none does.
fn asks(home: &LiveSession, result: &Json) -> bool {
    let kind = result.member("resultType");
    let kind = kind.as_ref().and_then(Json::string);
    !home.session.revision.is_legacy() && kind.as_deref() == Some("input_required")
}

/// The result as the client's revision wants it: 2026-07-28 has every result say its type.
fn complete(result: &Json, meta: &RequestMeta) -> Json {
    for_era(result, meta)
}

/// The same of a result that a client may keep: 2026-07-28 has it say for how long, which is not at all where the server does
/// not say.
fn cacheable(result: &Json, meta: &RequestMeta) -> Json {
    let hints = [("cacheScope", r#""private""#), ("ttlMs", "0")];
    for_era(&with(result, meta, &hints), meta)
}

fn with(result: &Json, meta: &RequestMeta, members: &[(&'static str, &'static str)]) -> Json {
    let mut result = result.clone();
    if meta.revision.is_legacy() {
        return result;
    }
    for (name, value) in members {
        if result.member(name).is_none()
            && let Ok(value) = Json::check(*value)
        {
            result = result.with_first(name, &value);
        }
    }
    result
}
