//! Whom a server's questions go to.

use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};

use seawall_proto::Json;
use seawall_proto::connection::{CallId, ClientConfig, Connection, Event, Time};
use seawall_proto::mcp::ClientCapabilities;

use super::{Question, Questions};
use crate::client::relays::{Relays, Whose};
use crate::inputs::{BoxFuture, Refusal, Relay, Root, RootsSupplier, Suppliers};

struct Client {
    party: u64,
    capabilities: ClientCapabilities,
    asked: Mutex<Vec<&'static str>>,
    answer: Result<Json, Refusal>,
}

impl Client {
    fn new(party: u64, declared: &str) -> Arc<Self> {
        Arc::new(Self {
            party,
            capabilities: ClientCapabilities::of(&json(declared)),
            asked: Mutex::default(),
            answer: Ok(json("{\"x\": 1}")),
        })
    }

    fn asked(&self) -> Vec<&'static str> {
        self.asked.lock().unwrap().clone()
    }
}

impl Relay for Client {
    fn capabilities(&self) -> ClientCapabilities {
        self.capabilities
    }

    fn ask(&self, method: &'static str, _params: Option<Json>) -> BoxFuture<Result<Json, Refusal>> {
        self.asked.lock().unwrap().push(method);
        Box::pin(std::future::ready(self.answer.clone()))
    }

    fn party(&self) -> u64 {
        self.party
    }
}

struct Folder;

impl RootsSupplier for Folder {
    fn roots(&self, _server: &str) -> BoxFuture<Vec<Root>> {
        Box::pin(std::future::ready(vec![Root::new("file:///host").unwrap()]))
    }
}

fn json(text: &str) -> Json {
    Json::check(text.to_owned()).unwrap()
}

/// Calls of a connection, and what it is asked then.
struct Line {
    connection: Connection,
    calls: Vec<CallId>,
}

impl Line {
    fn new(calls: usize) -> Self {
        let mut config = ClientConfig::new("0");
        config.relayed = ClientCapabilities::all();
        let mut line = Self {
            connection: Connection::client(Time::default(), config),
            calls: Vec::new(),
        };
        line.written();
        line.takes(r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{}}}"#);
        line.written();
        line.takes(r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}}"#);
        for _ in 0..calls {
            let arguments = Json::empty_object();
            let call = line.connection.call(Time::default(), "t", arguments, None);
            line.calls.push(call.unwrap());
        }
        line
    }

    fn written(&mut self) {
        let bytes = self.connection.transmit().map(<[u8]>::len).sum();
        self.connection.handle_written(bytes);
    }

    fn takes(&mut self, frame: &str) {
        let frame = bytes::Bytes::copy_from_slice(frame.as_bytes());
        self.connection.handle_frame(Time::default(), &frame);
    }

    /// The answer of whom a question is for, at once.
    fn ask(
        &mut self,
        relays: &Relays,
        suppliers: &Suppliers,
        method: &str,
        params: &str,
    ) -> Result<String, (i64, String)> {
        self.takes(&format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{params}}}"#
        ));
        let mut questions = Questions::new("s".into(), suppliers.clone());
        while let Some(event) = self.connection.poll_event() {
            if let Event::Input {
                id,
                method,
                params,
                call,
            } = event
            {
                questions.ask(Question { id, method, params }, relays.whose(call));
            }
        }
        let mut context = Context::from_waker(Waker::noop());
        let (id, answer) = questions.poll(&mut context).remove(0);
        self.connection.supply(Time::default(), id, None);
        answer
            .map(|answer| answer.as_str().to_owned())
            .map_err(|refusal| (refusal.code, refusal.message))
    }
}

/// G2, S7: what a server over one stream asks goes to the one call that relays, or to the calls of one party; of several
/// nobody is asked, and the server is told why.
#[test]
fn a_question_goes_to_one_party() {
    let mut line = Line::new(3);
    let (one, same) = (
        Client::new(1, r#"{"roots":{}}"#),
        Client::new(1, r#"{"sampling":{}}"#),
    );
    let other = Client::new(2, r#"{"roots":{},"sampling":{}}"#);
    let nobody = Suppliers::default();
    let mut relays = Relays::default();
    let calls = line.calls.clone();
    // Nobody relays: the host's own suppliers, of which there are none.
    let refused = line.ask(&relays, &nobody, "roots/list", "{}").unwrap_err();
    assert_eq!(refused.0, -32603);

    relays.add(calls[0], one.clone());
    let answer = line.ask(&relays, &nobody, "roots/list", "{}");
    assert_eq!(answer.as_deref(), Ok("{\"x\": 1}"));
    relays.add(calls[1], same.clone());
    // By way of the call whose client has it.
    let sampled = line.ask(&relays, &nobody, "sampling/createMessage", "{}");
    assert!(sampled.is_ok());
    assert_eq!(
        (one.asked(), same.asked()),
        (vec!["roots/list"], vec!["sampling/createMessage"])
    );

    relays.add(calls[2], other.clone());
    let (code, words) = line.ask(&relays, &nobody, "roots/list", "{}").unwrap_err();
    assert_eq!(code, -32603);
    assert!(words.contains("nothing says which"), "{words}");
    assert!(other.asked().is_empty() && one.asked().len() == 1);
    // Where the call is known there is nothing to guess.
    assert!(matches!(relays.whose(Some(calls[2])), Whose::Party(of) if of[0].party() == 2));
    relays.remove(calls[2]);
    assert!(line.ask(&relays, &nobody, "roots/list", "{}").is_ok());
}

/// S2, S7: what neither the client nor the host has is refused in words that say so; what the host has, the host supplies.
#[test]
fn what_a_client_lacks_is_refused() {
    let mut line = Line::new(1);
    let client = Client::new(1, r#"{"elicitation":{},"sampling":{}}"#);
    let mut relays = Relays::default();
    relays.add(line.calls[0], client.clone());
    let nobody = Suppliers::default();
    for (method, params, code, lacks) in [
        (
            "elicitation/create",
            r#"{"mode":"url"}"#,
            -32602,
            "elicitation in URL mode",
        ),
        (
            "sampling/createMessage",
            r#"{"tools":[]}"#,
            -32602,
            "sampling with tools",
        ),
        ("roots/list", "{}", -32601, "roots"),
    ] {
        let (told, words) = line.ask(&relays, &nobody, method, params).unwrap_err();
        assert_eq!(told, code, "{method}");
        assert!(
            words.ends_with(&format!("does not have {lacks}")),
            "{words}"
        );
    }
    assert!(client.asked().is_empty());
    let host = Suppliers::default().with_roots(Arc::new(Folder));
    let roots = line.ask(&relays, &host, "roots/list", "{}").unwrap();
    assert!(roots.contains("file:///host"), "{roots}");
    assert!(line.ask(&relays, &host, "elicitation/create", "{}").is_ok());
    assert_eq!(client.asked(), ["elicitation/create"]);
}

/// S7: a client's own refusal goes back in its own words, and an answer that is no object is none.
#[test]
fn a_clients_refusal_is_the_servers_answer() {
    let mut line = Line::new(1);
    let with = |answer| {
        let mut client = Arc::into_inner(Client::new(1, r#"{"roots":{}}"#)).unwrap();
        client.answer = answer;
        let mut relays = Relays::default();
        relays.add(Line::new(1).calls[0], Arc::new(client));
        relays
    };
    let nobody = Suppliers::default();
    let refusing = with(Err(Refusal::new(-1, "User rejected it", None)));
    let refused = line.ask(&refusing, &nobody, "roots/list", "{}");
    assert_eq!(refused, Err((-1, "User rejected it".to_owned())));
    let odd = with(Ok(json("[]")));
    assert_eq!(
        line.ask(&odd, &nobody, "roots/list", "{}").unwrap_err().0,
        -32603
    );
}
