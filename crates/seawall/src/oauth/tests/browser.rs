use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use url::Url;

use super::world::Running;
use crate::oauth::{Browser as _, LoopbackBrowser};
use crate::web::{AuthError, LoginFault};

const ADDRESS: &str = "https://as.example.com/authorize?state=expected";

async fn get(redirect: &Url, target: &str) -> String {
    let address = ("127.0.0.1", redirect.port().unwrap());
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

/// T5
#[tokio::test]
async fn only_the_answer_of_this_login_ends_the_wait() {
    let told = Arc::new(Mutex::new(None));
    let telling = Arc::clone(&told);
    let browser = LoopbackBrowser::new().telling(move |address| {
        *telling.lock().unwrap() = Some(address.to_string());
    });
    let visit = browser.prepare(None).await.unwrap();
    let redirect = visit.redirect().clone();
    assert_eq!(redirect.host_str(), Some("127.0.0.1"));
    let strays = async {
        // Opened ahead, as browsers do, and never used.
        let _idle = TcpStream::connect(("127.0.0.1", redirect.port().unwrap()))
            .await
            .unwrap();
        for stray in [
            "/favicon.ico",
            "/callback?code=x",
            "/callback?code=x&state=other",
            "/other?code=x&state=expected",
            "//evil.example/callback?code=x&state=expected",
            "http://evil.example/callback?code=x&state=expected",
        ] {
            assert!(get(&redirect, stray).await.starts_with("HTTP/1.1 404"));
        }
        get(&redirect, "/callback?code=<b>&state=expected").await
    };
    let (answer, page) = tokio::join!(visit.authorize(Url::parse(ADDRESS).unwrap()), strays);
    assert_eq!(answer.unwrap().query(), Some("code=%3Cb%3E&state=expected"));
    assert!(page.starts_with("HTTP/1.1 200") && !page.contains("%3Cb%3E") && !page.contains("<b>"));
    assert_eq!(told.lock().unwrap().as_deref(), Some(ADDRESS));
}

/// T5
#[tokio::test]
async fn nobody_is_waited_for_for_ever() {
    let browser = LoopbackBrowser::new()
        .telling(|_| ())
        .patience(Duration::from_millis(20));
    let visit = browser.prepare(None).await.unwrap();
    let answer = visit.authorize(Url::parse(ADDRESS).unwrap()).await;
    assert_eq!(answer, Err(AuthError::Login(LoginFault::TimedOut)));
}

/// T5: the port of an earlier registration, so that it can be used again; another one if it is taken.
#[tokio::test]
async fn an_earlier_port_is_used_again_if_it_is_free() {
    let browser = LoopbackBrowser::new();
    let first = browser.prepare(None).await.unwrap();
    let wanted = first.redirect().clone();
    let other = browser.prepare(Some(&wanted)).await.unwrap();
    assert_ne!(other.redirect(), &wanted);
    drop(first);
    let again = browser.prepare(Some(&wanted)).await.unwrap();
    assert_eq!(again.redirect(), &wanted);
}

/// T5: nobody on this machine keeps the browser out by connecting and saying nothing.
#[tokio::test]
async fn connections_that_say_nothing_do_not_keep_the_answer_out() {
    let browser = LoopbackBrowser::new()
        .telling(|_| ())
        .patience(Duration::from_secs(5));
    let visit = browser.prepare(None).await.unwrap();
    let redirect = visit.redirect().clone();
    let answering = async {
        let mut idle = Vec::new();
        for _ in 0..40 {
            let address = ("127.0.0.1", redirect.port().unwrap());
            idle.push(TcpStream::connect(address).await.unwrap());
        }
        get(&redirect, "/callback?code=x&state=expected").await
    };
    let (answer, page) = tokio::join!(visit.authorize(Url::parse(ADDRESS).unwrap()), answering);
    assert!(answer.is_ok());
    assert!(page.starts_with("HTTP/1.1 200"));
}

/// T5
#[tokio::test]
async fn a_whole_login_goes_through_the_listener() {
    let running = Running::start().await;
    let (send, mut opened) = tokio::sync::mpsc::unbounded_channel();
    let browser = LoopbackBrowser::new().telling(move |address| {
        let _ = send.send(address.clone());
    });
    let oauth = running.oauth().browser(Arc::new(browser)).build().unwrap();
    let user = async {
        let address = opened.recv().await.unwrap();
        let request = running.http.request(http::Method::GET, &address).unwrap();
        let answer = request.send().await.unwrap();
        let location = answer.headers()["location"].to_str().unwrap();
        let location = Url::parse(location).unwrap();
        get(&location, &location[url::Position::BeforePath..]).await
    };
    let (called, page) = tokio::join!(running.call(&oauth), user);
    assert_eq!(called, Ok(200));
    assert!(page.starts_with("HTTP/1.1 200"));
}
