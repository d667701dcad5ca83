//! What a server asks while its tool runs, answered at a terminal.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use seawall_testkit::{Script, Serve, Until, pause, wait_until};
use serde_json::{Value, json};

use crate::support::{Config, Ran};

/// Far longer than anything here takes.
const LONG: Duration = Duration::from_secs(20);

/// A terminal that a test looks at and types on.
pub(crate) struct Terminal {
    keyboard: File,
    screen: Arc<Mutex<String>>,
    device: OwnedFd,
}

impl Terminal {
    pub(crate) fn open() -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&master).expect("granted");
        unlockpt(&master).expect("unlocked");
        let name = ptsname(&master, Vec::new()).expect("a name");
        let flags = OFlags::RDWR | OFlags::NOCTTY;
        let device = rustix::fs::open(name, flags, Mode::empty()).expect("the device");
        let size = Winsize {
            ws_row: 40,
            ws_col: 100,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&device, size).expect("its size");
        let keyboard = File::from(master);
        let mut watched = keyboard.try_clone().expect("a second handle");
        let screen = Arc::new(Mutex::new(String::new()));
        let shown = Arc::clone(&screen);
        std::thread::spawn(move || {
            let mut bytes = [0; 1024];
            while let Ok(count @ 1..) = watched.read(&mut bytes) {
                let text = String::from_utf8_lossy(&bytes[..count]);
                shown.lock().expect("the screen").push_str(&text);
            }
        });
        Self {
            keyboard,
            screen,
            device,
        }
    }

    pub(crate) fn run(&self, config: &Config, args: &[&str], browser: Option<&Path>) -> Child {
        let end = || Stdio::from(self.device.try_clone().expect("a second handle"));
        let mut command = config.command(args);
        if let Some(browser) = browser {
            command.env("BROWSER", browser);
        }
        command
            .env("XDG_DATA_HOME", config.folder().join("data"))
            .env("TERM", "xterm")
            .env("NO_COLOR", "1")
            .stdin(end())
            .stdout(Stdio::piped())
            .stderr(end())
            .spawn()
            .expect("the binary runs")
    }

    pub(crate) fn screen(&self) -> String {
        self.screen.lock().expect("the screen").clone()
    }

    #[track_caller]
    pub(crate) fn wait_for(&self, words: &str) {
        let seen = || self.screen().contains(words);
        assert!(wait_until(LONG, seen), "no {words}:\n{}", self.screen());
    }

    /// Types a line once these words are asked.
    #[track_caller]
    pub(crate) fn answer(&mut self, words: &str, line: &str) {
        self.wait_for(words);
        self.screen.lock().expect("the screen").clear();
        self.keyboard
            .write_all(format!("{line}\n").as_bytes())
            .expect("typed");
    }

    /// Presses keys.
    #[track_caller]
    pub(crate) fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("typed");
    }

    /// Whether lines are edited and echoed, as a shell leaves it.
    pub(crate) fn is_sane(&self) -> bool {
        let modes = tcgetattr(&self.device).expect("its modes").local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
    }
}

pub(crate) fn finish(child: Child) -> Ran {
    child.wait_with_output().expect("it ends").into()
}

/// A server that asks before it answers, and what it received.
fn asking(folder: &Path, method: &str, params: &Value) -> (Config, PathBuf) {
    let record = folder.join("record");
    let asked = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    let script = Script::new()
        .record(&record)
        .serve(Serve::new().tools(["t"]).until(Until::Listed))
        .expect_as("tools/call", "call")
        .line(&asked.to_string())
        .expect_any()
        .reply_to("call", r#"{"content":[{"type":"text","text":"thanks"}]}"#);
    (Config::scripted(&script), record)
}

/// The server's record, line by line.
fn received(record: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(record).expect("the record");
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

fn declared(received: &[Value]) -> &Value {
    &received[0]["params"]["capabilities"]
}

fn answered(received: &[Value]) -> &Value {
    let answer = received.iter().find(|line| line["id"] == 7);
    &answer.expect("an answer")["result"]
}

fn form() -> Value {
    json!({
        "message": "Who are you?\u{1b}[2J",
        "requestedSchema": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "size": {"type": "string", "enum": ["S", "M"], "default": "M"},
            },
            "required": ["name"],
        },
    })
}

/// BEHAVIOUR S7: a form is filled in at the terminal; nothing of the server's reaches the terminal as it is.
#[test]
fn a_form_is_filled_in() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (config, record) = asking(folder.path(), "elicitation/create", &form());
    let mut terminal = Terminal::open();
    let child = terminal.run(&config, &["call", "mcp/s/t"], None);
    terminal.wait_for("The server s asks you for 2 values");
    terminal.answer("> ", "octocat");
    terminal.answer("now: \"M\"\r\n> ", "1");
    terminal.answer("Send it?", "yes");
    let ran = finish(child).exits(0);
    assert!(ran.stdout.contains("thanks"), "{ran:?}");
    assert!(!terminal.screen().contains("\u{1b}[2J\r"));
    let received = received(&record);
    assert_eq!(
        declared(&received),
        &json!({"elicitation": {"form": {}, "url": {}}})
    );
    assert_eq!(
        answered(&received),
        &json!({"action": "accept", "content": {"name": "octocat", "size": "S"}})
    );
}

/// BEHAVIOUR S8, O4: the deadline of the call takes the question back, and the terminal stays as it was.
#[test]
fn a_question_ends_with_its_call() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (config, record) = asking(folder.path(), "elicitation/create", &form());
    let mut terminal = Terminal::open();
    let child = terminal.run(&config, &["call", "mcp/s/t", "--timeout", "1500"], None);
    terminal.wait_for("> ");
    // Nothing turns behind the question: several turns of a spinner later the prompt is still the last word.
    pause(Duration::from_millis(400));
    assert!(terminal.screen().ends_with("> "), "{}", terminal.screen());
    terminal.keyboard.write_all(b"half a li").expect("typed");
    let ran = finish(child).exits(6);
    assert_eq!(ran.stdout, "");
    terminal.wait_for("(nothing was sent: ");
    assert!(terminal.is_sane());
    assert!(received(&record).iter().all(|line| line["id"] != 7));
}

/// A page is opened by the person's own browser after a yes, whole, and the server learns of the consent alone.
#[cfg(target_os = "linux")]
#[test]
fn a_page_is_opened_after_a_yes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let url = "https://mcp.example.com/ui/key?state=1";
    let params = json!({"mode": "url", "message": "Log in", "url": url, "elicitationId": "1"});
    let (config, record) = asking(folder.path(), "elicitation/create", &params);
    let (browser, opened) = (folder.path().join("browser"), folder.path().join("opened"));
    let script = format!("#!/bin/sh\nprintf %s \"$1\" > '{}'\n", opened.display());
    std::fs::write(&browser, script).expect("a browser");
    std::fs::set_permissions(&browser, PermissionsExt::from_mode(0o755)).expect("it runs");
    let mut terminal = Terminal::open();
    let child = terminal.run(&config, &["call", "mcp/s/t"], Some(&browser));
    terminal.wait_for(url);
    terminal.wait_for("It leads to https://mcp.example.com\r\n");
    assert!(!opened.exists());
    terminal.answer("Open it?", "yes");
    finish(child).exits(0);
    let was_opened = || std::fs::read_to_string(&opened).is_ok_and(|opened| opened == url);
    assert!(wait_until(LONG, was_opened));
    assert_eq!(answered(&received(&record)), &json!({"action": "accept"}));
}

/// BEHAVIOUR S2: without a terminal nobody can be asked, and nothing is declared; `--root` declares roots alone.
#[test]
fn roots_are_told_without_a_terminal() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let root = folder.path().to_str().expect("a UTF-8 path");
    let (config, record) = asking(folder.path(), "roots/list", &json!({}));
    config.run(&["call", "mcp/s/t", "--root", root]).exits(0);
    let received = received(&record);
    assert_eq!(declared(&received), &json!({"roots": {}}));
    let roots = &answered(&received)["roots"];
    assert_eq!(roots.as_array().map(Vec::len), Some(1));
    let uri = roots[0]["uri"].as_str().expect("a URI");
    assert!(uri.starts_with("file:///"), "{uri}");

    let (config, record) = asking(folder.path(), "elicitation/create", &form());
    std::fs::remove_file(&record).expect("a new record");
    config.run(&["call", "mcp/s/t"]).exits(0);
    let received = self::received(&record);
    assert_eq!(declared(&received), &json!({}));
    let refusal = received.iter().find(|line| line["id"] == 7);
    assert_eq!(refusal.expect("an answer")["error"]["code"], -32601);

    let file = record.to_str().expect("a UTF-8 path");
    config.run(&["tools", "--root", file]).exits(2);
}

#[test]
fn a_word_does_not_tear_the_spinner_apart() {
    let script = Script::new()
        .sleep(Duration::from_millis(500))
        .serve(Serve::new().tools(["t"]));
    let config = Config::scripted(&script);
    let terminal = Terminal::open();
    finish(terminal.run(&config, &["call", "mcp/s/t", "-v"], None)).exits(0);
    terminal.wait_for("connected to s");
    let screen = terminal.screen();
    let (before, _) = screen.split_once("connected to s").expect("it is there");
    assert!(before.contains("connecting to s"), "no spinner: {screen:?}");
    // The line was cleared since the spinner was drawn.
    let line = before.rsplit("\u{1b}[2K").next().unwrap_or_default();
    assert!(!line.contains("connecting to s"), "{screen:?}");
}
