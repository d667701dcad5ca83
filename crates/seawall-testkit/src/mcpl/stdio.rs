//! The same over stdin and stdout.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, Write};

use super::engine::{Play, Way};
use super::{Heard, McplServer};

/// Follows a script over stdin and stdout.
pub(crate) fn play_stdio(text: &str) -> io::Result<()> {
    let server: McplServer = serde_json::from_str(text).map_err(io::Error::other)?;
    let record = match &server.record {
        Some(path) => Some(OpenOptions::new().create(true).append(true).open(path)?),
        None => None,
    };
    Play {
        server,
        way: Stdio { record },
        heard: Heard::default(),
        refuses: false,
    }
    .run()
}

struct Stdio {
    record: Option<File>,
}

impl Stdio {
    fn write(bytes: &[u8]) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(bytes)?;
        stdout.flush()
    }
}

impl Way for Stdio {
    fn hear(&mut self) -> io::Result<Option<String>> {
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line)? == 0 {
            return Ok(None);
        }
        if let Some(file) = &mut self.record {
            file.write_all(line.as_bytes())?;
        }
        Ok(Some(line))
    }

    fn say(&mut self, message: &str) -> io::Result<()> {
        Self::write(format!("{message}\n").as_bytes())
    }

    fn binary(&mut self, bytes: &[u8]) -> io::Result<()> {
        Self::write(bytes)?;
        Self::write(b"\n")
    }

    fn tear(&mut self, message: &str) -> io::Result<()> {
        let bytes = message.as_bytes();
        Self::write(&bytes[..bytes.len() / 2])
    }

    fn close(&mut self, _: u16) {}
}
