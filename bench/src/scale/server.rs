//! A light server of many: it answers, says nothing to calls, or floods once it is called.

use std::io::{self, BufRead, Write};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The tool that is called.
pub(super) const TOOL: &str = "tool-0";

/// What a server does with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Manner {
    Answers,
    /// Reads calls and never answers one.
    Stuck,
    /// At the first call it writes log messages without an end, and reads no more.
    Floods,
}

/// Only what the server looks at.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: &'a str,
}

/// Serves until the end of input.
pub(crate) fn serve(core: &str, tools: &str, manner: &str) -> Result<()> {
    crate::measure::pin(core.parse()?)?;
    let manner: Manner = serde_json::from_str(manner)?;
    let tools = list(tools.parse()?);
    let (mut stdin, mut stdout) = (io::stdin().lock(), io::stdout().lock());
    let mut line = Vec::new();
    while stdin.read_until(b'\n', &mut line)? > 0 {
        let head: Head = serde_json::from_slice(&line).context("no request")?;
        let answer = match (head.method, manner) {
            ("tools/call", Manner::Answers) => {
                r#"{"content":[{"type":"text","text":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}]}"#
            }
            ("tools/call", Manner::Stuck) => "",
            ("tools/call", Manner::Floods) => return flood(&mut stdout),
            ("initialize", _) => {
                r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"logging":{}},"serverInfo":{"name":"one-of-many","version":"0"}}"#
            }
            ("tools/list", _) => &tools,
            _ => "{}",
        };
        if let (Some(id), false) = (head.id, answer.is_empty()) {
            let text = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{answer}}}\n");
            stdout.write_all(text.as_bytes())?;
            stdout.flush()?;
        }
        line.clear();
    }
    Ok(())
}

/// The result of `tools/list`: each tool of some 300 bytes.
fn list(count: usize) -> String {
    let tool = |n| {
        format!(
            r#"{{"name":"tool-{n}","description":"Does what tool {n} of many is there for, and says so in a sentence or two of a usual length.","inputSchema":{{"type":"object","properties":{{"path":{{"type":"string","description":"Where"}},"limit":{{"type":"integer"}}}},"required":["path"]}}}}"#
        )
    };
    let tools: Vec<String> = (0..count).map(tool).collect();
    format!(r#"{{"tools":[{}]}}"#, tools.join(","))
}

fn flood(stdout: &mut impl Write) -> Result<()> {
    let text = "y".repeat(100);
    let line = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"info","data":"{text}"}}}}"#
    );
    let lines = format!("{line}\n").repeat(200);
    loop {
        stdout.write_all(lines.as_bytes())?;
    }
}
