//! What is declared, what is asked, what is sent.

use std::future;
use std::sync::{Arc, Mutex};

use seawall_proto::Json;
use seawall_proto::mcp::{ClientCapabilities, InputMethod};
use serde_json::{Value, json};

use super::{
    Answer, BoxFuture, Consent, FormSupplier, RootsSupplier, Sampler, Suppliers, UrlSupplier,
};
use crate::inputs::{Form, Page, Root};

/// Answers everything as it was told to, and notes who asked.
#[derive(Default)]
struct Told {
    answer: Option<Answer>,
    consent: Option<Consent>,
    sample: Option<Json>,
    takes_tools: bool,
    asked: Mutex<Vec<String>>,
}

impl Told {
    fn note(&self, server: &str, what: &str) {
        self.asked.lock().unwrap().push(format!("{server} {what}"));
    }

    fn asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

impl FormSupplier for Told {
    fn fill(&self, server: &str, form: Form) -> BoxFuture<Answer> {
        self.note(server, form.message());
        match self.answer.clone() {
            Some(answer) => Box::pin(future::ready(answer)),
            None => Box::pin(future::pending()),
        }
    }
}

impl UrlSupplier for Told {
    fn visit(&self, server: &str, page: Page) -> BoxFuture<Consent> {
        self.note(server, page.url().as_str());
        Box::pin(future::ready(self.consent.unwrap()))
    }
}

impl Sampler for Told {
    fn sample(&self, server: &str, request: Json) -> BoxFuture<Option<Json>> {
        self.note(server, request.as_str());
        Box::pin(future::ready(self.sample.clone()))
    }

    fn takes_tools(&self) -> bool {
        self.takes_tools
    }
}

impl RootsSupplier for Told {
    fn roots(&self, server: &str) -> BoxFuture<Vec<Root>> {
        self.note(server, "roots");
        let roots = ["file:///srv/a", "file:///srv/b%20c"].map(|uri| Root::new(uri).unwrap());
        let [plain, named] = roots;
        Box::pin(future::ready(vec![plain, named.named("B")]))
    }
}

fn json(value: &Value) -> Json {
    Json::of(value).unwrap()
}

fn form_params() -> Value {
    json!({"message": "why", "requestedSchema": {
        "type": "object", "properties": {"n": {"type": "integer", "maximum": 3}}, "required": ["n"],
    }})
}

async fn supplied(
    suppliers: &Suppliers,
    method: InputMethod,
    params: Option<Value>,
) -> Option<String> {
    let params = params.map(|params| json(&params));
    let answer = suppliers.supply("srv", method, params).await?;
    Some(answer.as_str().to_owned())
}

async fn answered(answer: Answer) -> Option<String> {
    let told = Told {
        answer: Some(answer),
        ..Told::default()
    };
    let suppliers = Suppliers::default().with_form(Arc::new(told));
    supplied(&suppliers, InputMethod::ElicitForm, Some(form_params())).await
}

/// S2, S7: what is not supplied is not declared, and not answered.
#[tokio::test]
async fn capabilities_are_what_is_supplied() {
    let none = Suppliers::default();
    assert_eq!(none.capabilities(), ClientCapabilities::default());
    for method in [
        InputMethod::ElicitForm,
        InputMethod::ElicitUrl,
        InputMethod::Sample,
        InputMethod::ListRoots,
    ] {
        assert_eq!(supplied(&none, method, Some(json!({}))).await, None);
    }
    let told = || Arc::new(Told::default());
    let declared = |suppliers: Suppliers| suppliers.capabilities().to_json();
    assert_eq!(
        declared(none.clone().with_form(told())),
        r#"{"elicitation":{"form":{}}}"#
    );
    assert_eq!(
        declared(none.clone().with_url(told())),
        r#"{"elicitation":{"url":{}}}"#
    );
    assert_eq!(declared(none.clone().with_roots(told())), r#"{"roots":{}}"#);
    assert_eq!(
        declared(none.clone().with_sampling(told())),
        r#"{"sampling":{}}"#
    );
    let with_tools = Arc::new(Told {
        takes_tools: true,
        ..Told::default()
    });
    assert_eq!(
        declared(none.with_sampling(with_tools)),
        r#"{"sampling":{"tools":{}}}"#
    );
}

#[tokio::test]
async fn a_form_is_answered_as_the_specification_has_it() {
    let content = json(&json!({"n": 3}));
    assert_eq!(
        answered(Answer::Accept(content)).await.unwrap(),
        r#"{"action":"accept","content":{"n":3}}"#
    );
    assert_eq!(
        answered(Answer::Decline).await.unwrap(),
        r#"{"action":"decline"}"#
    );
    assert_eq!(
        answered(Answer::Cancel).await.unwrap(),
        r#"{"action":"cancel"}"#
    );
}

#[tokio::test]
async fn an_answer_that_does_not_satisfy_the_form_is_not_sent() {
    for content in [
        json!({"n": 4}),
        json!({}),
        json!({"n": 1, "secret": 2}),
        json!(1),
    ] {
        let answer = answered(Answer::Accept(json(&content))).await;
        assert_eq!(answer.unwrap(), r#"{"action":"cancel"}"#, "{content}");
    }
}

#[tokio::test]
async fn nobody_is_asked_what_cannot_be_shown() {
    let told = Arc::new(Told {
        answer: Some(Answer::Decline),
        consent: Some(Consent::Accept),
        ..Told::default()
    });
    let suppliers = Suppliers::default()
        .with_form(Arc::clone(&told) as _)
        .with_url(Arc::clone(&told) as _);
    for params in [None, Some(json!({"message": "m"})), Some(json!(["m"]))] {
        assert_eq!(
            supplied(&suppliers, InputMethod::ElicitForm, params).await,
            None
        );
    }
    for params in [
        None,
        Some(json!({"message": "m", "url": "file:///etc/passwd"})),
    ] {
        assert_eq!(
            supplied(&suppliers, InputMethod::ElicitUrl, params).await,
            None
        );
    }
    assert_eq!(told.asked(), 0);
}

#[tokio::test]
async fn a_page_is_answered_without_content() {
    for (consent, expected) in [
        (Consent::Accept, r#"{"action":"accept"}"#),
        (Consent::Decline, r#"{"action":"decline"}"#),
        (Consent::Cancel, r#"{"action":"cancel"}"#),
    ] {
        let told = Arc::new(Told {
            consent: Some(consent),
            ..Told::default()
        });
        let suppliers = Suppliers::default().with_url(Arc::clone(&told) as _);
        let params = json!({"mode": "url", "message": "m", "url": "https://a.example/x", "elicitationId": "1"});
        let answer = supplied(&suppliers, InputMethod::ElicitUrl, Some(params)).await;
        assert_eq!(answer.as_deref(), Some(expected));
        assert_eq!(*told.asked.lock().unwrap(), ["srv https://a.example/x"]);
    }
}

#[tokio::test]
async fn a_sample_passes_unchanged_and_tools_only_where_declared() {
    let plain = json!({"messages": [], "maxTokens": 9});
    let tooled = json!({"messages": [], "maxTokens": 9, "tools": []});
    let result = r#"{"role":"assistant",  "content":{"type":"text","text":"hi"},"model":"m"}"#;
    for (takes_tools, expected) in [(false, None), (true, Some(result.to_owned()))] {
        let sample = Some(Json::check(result).unwrap());
        let suppliers = Suppliers::default().with_sampling(Arc::new(Told {
            sample,
            takes_tools,
            ..Told::default()
        }));
        let method = InputMethod::Sample;
        assert_eq!(
            supplied(&suppliers, method, Some(plain.clone()))
                .await
                .as_deref(),
            Some(result)
        );
        assert_eq!(
            supplied(&suppliers, method, Some(tooled.clone())).await,
            expected
        );
        assert_eq!(supplied(&suppliers, method, None).await, None);
    }
    for sample in [None, Some(Json::check("[]").unwrap())] {
        let suppliers = Suppliers::default().with_sampling(Arc::new(Told {
            sample,
            ..Told::default()
        }));
        assert_eq!(
            supplied(&suppliers, InputMethod::Sample, Some(plain.clone())).await,
            None
        );
    }
}

#[tokio::test]
async fn roots_are_listed() {
    let suppliers = Suppliers::default().with_roots(Arc::new(Told::default()));
    let answer = supplied(&suppliers, InputMethod::ListRoots, None).await;
    assert_eq!(
        serde_json::from_str::<Value>(&answer.unwrap()).unwrap(),
        json!({"roots": [{"uri": "file:///srv/a"}, {"uri": "file:///srv/b%20c", "name": "B"}]})
    );
}

#[tokio::test]
async fn a_dropped_question_is_withdrawn() {
    let told = Arc::new(Told::default());
    let suppliers = Suppliers::default().with_form(Arc::clone(&told) as _);
    let mut question = suppliers.supply("srv", InputMethod::ElicitForm, Some(json(&form_params())));
    let waker = std::task::Waker::noop();
    assert!(
        question
            .as_mut()
            .poll(&mut std::task::Context::from_waker(waker))
            .is_pending()
    );
    assert_eq!(told.asked(), 1);
    drop(question);
    drop(suppliers);
    assert_eq!(Arc::strong_count(&told), 1);
}
