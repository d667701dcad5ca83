//! `seawall demo-server`.

use std::io::{self, IsTerminal};

use crate::demo_server;
use crate::failure::{Failure, Status};
use crate::printer::Printer;

pub(crate) fn run(printer: &mut Printer) -> Result<Status, Failure> {
    if io::stdin().is_terminal() {
        printer.talk("This is an MCP server: it reads JSON-RPC messages from stdin, one per line, and ends with it (Ctrl-D).");
        printer.hint("to call its tools: seawall call mcp/demo/add a=2 b=3 --demo");
    }
    demo_server::run(io::stdin(), io::stdout()).map_err(Failure::Output)?;
    Ok(Status::Done)
}
