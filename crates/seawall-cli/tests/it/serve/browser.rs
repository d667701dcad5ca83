//! The status page in a browser, which not every machine has, so it is asked for:
//! `cargo test -p seawall-cli --test it -- --ignored browser`. `SEAWALL_CHROMIUM` names a Chromium, or the PATH has it. With
//! `SEAWALL_SCREENSHOT=FILE.png` a picture is left there to be looked at.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use seawall::Arguments;
use seawall::config::Protocol;
use seawall_testkit::{CallRule, Script, Serve};
use serde_json::json;

use super::Served;
use crate::support::Config;

/// A tool whose name is markup.
const MARKUP: &str = "<b id=x>";

fn chromium() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("SEAWALL_CHROMIUM") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|file| file.is_file())
}

fn open(browser: &PathBuf, url: &str, what: &str) -> String {
    let profile = tempfile::tempdir().expect("a temporary folder");
    let output = Command::new(browser)
        .args(["--headless=new", "--disable-gpu", "--no-first-run"])
        // Its own box needs rights that tests in a container do not have; the page is Seawall's.
        .arg("--no-sandbox")
        .args(["--window-size=1280,900", "--virtual-time-budget=4000"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .args([what, url])
        .stdin(Stdio::null())
        .output()
        .expect("the browser runs");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// G3: the page shows servers, calls and plots under its own policy, and what a server wrote as text.
#[tokio::test]
#[ignore = "needs a Chromium; see the head of the file"]
async fn page_shows_servers_and_calls() {
    let browser = chromium().expect("a Chromium: SEAWALL_CHROMIUM, or the PATH");
    let calls = CallRule::Result(r#"{"content":[],"isError":true}"#.to_owned());
    let script = Script::new().serve(
        Serve::new()
            .tools(["plain", MARKUP])
            .calls_of(MARKUP, calls),
    );
    let down = json!({"command": "/nonexistent/server"});
    let config = Config::of(&[("good", script.server().entry()), ("gone", down)]);
    let served = Served::start(&config);
    let client = served.client(Protocol::Legacy).await;
    let named: Vec<String> = client
        .flows()
        .iter()
        .map(|flow| flow.tool().to_owned())
        .collect();
    for tool in &named {
        client
            .call(tool, Arguments::none())
            .await
            .expect("a result");
    }
    let url = format!("http://{}/", served.address());
    let page = open(&browser, &url, "--dump-dom");
    let shown = page.split("<script>").next().expect("a page");
    for part in [
        "<bdi>good</bdi>",
        "<bdi>gone</bdi>",
        "reconnecting",
        "Last error: ",
        "<bdi>plain</bdi>",
        "<bdi>&lt;b id=x&gt;</bdi>",
        "tool error",
        "The newest 2 calls took",
        "When the newest 2 calls ended",
        "<bdi>local</bdi>",
    ] {
        assert!(shown.contains(part), "no {part} in\n{shown}");
    }
    assert!(!shown.contains(MARKUP) && !shown.contains("does not answer"));
    if let Some(file) = std::env::var_os("SEAWALL_SCREENSHOT") {
        let file = PathBuf::from(file);
        open(&browser, &url, &format!("--screenshot={}", file.display()));
    }
}
