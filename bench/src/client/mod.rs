//! The clients under measurement: over stdio each against a server it starts itself, over HTTP against the one of its cell.

pub(crate) mod drive;
mod floor;
mod hyper;
mod rmcp;
mod seawall;

use std::path::PathBuf;

use anyhow::Result;
use seawall_testkit::{Script, Serve, Until};

use crate::measure::{pin, two_cores};
use crate::plan::{Job, Kind, Load, Sample};

/// The tool that the server has.
pub(crate) const TOOL: &str = "echo";
/// Raw JSON of the result that comes after a flood.
const AFTER_FLOOD: &str = r#"{"content":[{"type":"text","text":"after the flood"}]}"#;

/// Pins this process, then measures.
pub(crate) fn measure(job: &str) -> Result<Sample> {
    let job: &Job = &serde_json::from_str(job)?;
    let (own, other) = two_cores()?;
    if let Some(address) = job.address {
        pin(own)?;
        let url = format!("http://{address}/mcp");
        return match job.kind {
            Kind::Floor => drive::measure(job, hyper::Hyper::connect(address)),
            Kind::Seawall => drive::measure(job, seawall::reach(&url)),
            Kind::Rmcp => drive::measure(job, rmcp::reach(&url)),
        };
    }
    let core = if job.cell.load == Load::Alone {
        own
    } else {
        other
    };
    let server = Server::new(job, core)?;
    pin(own)?;
    match job.kind {
        Kind::Floor => floor::measure(job, &server),
        Kind::Seawall => drive::measure(job, seawall::connect(&server)),
        Kind::Rmcp => drive::measure(job, rmcp::connect(&server)),
    }
}

/// The program to talk to.
struct Server {
    program: PathBuf,
    args: Vec<String>,
}

impl Server {
    fn new(job: &Job, core: usize) -> Result<Self> {
        let mut args = vec!["server".to_owned(), core.to_string()];
        if job.cell.load == Load::Flood {
            let copy = "x".repeat(1 << 10);
            let copies = job.cell.result_bytes / copy.len();
            let script = Script::new()
                .serve(Serve::new().tools([TOOL]).until(Until::Listed))
                .expect("tools/call")
                .flood(copy, copies as u64)
                .write("\n")
                .reply(AFTER_FLOOD);
            args.extend(["script".to_owned(), serde_json::to_string(&script)?]);
        } else {
            let bytes = job.cell.result_bytes.to_string();
            args.extend(["echo".to_owned(), "--bytes".to_owned(), bytes]);
        }
        Ok(Self {
            program: std::env::current_exe()?,
            args,
        })
    }

    fn command(&self) -> std::process::Command {
        let mut command = std::process::Command::new(&self.program);
        command.args(&self.args);
        command
    }
}
