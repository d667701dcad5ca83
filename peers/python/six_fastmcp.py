"""The six tools on FastMCP: a peer for Seawall's tests.

Serves stdin and stdout; with `--http` a free port of 127.0.0.1, whose URL it prints as its one line,
until stdin ends, so that it does not outlive its test.
"""

import json
import os
import socket
import sys
import threading

import anyio
import uvicorn
from fastmcp import Context, FastMCP
from fastmcp.server.elicitation import AcceptedElicitation
from fastmcp.tools.base import ToolResult
from mcp_types import ElicitRequest, ElicitRequestFormParams, ImageContent, InputRequiredResult, TextContent
from pydantic import BaseModel

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
QUESTION = "What is your name?"
SUM = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}
server = FastMCP("seawall-peer-fastmcp", version="1.0.0")


class Name(BaseModel):
    name: str


def words(text: str, *, is_error: bool = False) -> ToolResult:
    return ToolResult(content=[TextContent(type="text", text=text)], is_error=is_error)


@server.tool
def echo(text: str) -> ToolResult:
    """Give the text back."""
    return words(text)


@server.tool(output_schema=SUM)
def add(a: int, b: int) -> ToolResult:
    """Add two integers, as structured content."""
    value = {"sum": a + b}
    text = json.dumps(value, separators=(",", ":"))
    return ToolResult(content=[TextContent(type="text", text=text)], structured_content=value)


@server.tool
def fail() -> ToolResult:
    """Fail, always."""
    return words("failed on purpose", is_error=True)


@server.tool
async def slow(ms: int, ctx: Context) -> ToolResult:
    """Take so many milliseconds, and tell of the progress."""
    for progress in (1, 2, 3):
        await anyio.sleep(ms / 3000)
        await ctx.report_progress(progress, 3)
    return words(f"took {ms} ms")


@server.tool
async def ask(ctx: Context):
    """Ask for a name."""
    if ctx._is_modern_protocol():
        answer = (ctx.input_responses or {}).get("name")
        if answer is None:
            schema = Name.model_json_schema()
            params = ElicitRequestFormParams(message=QUESTION, requested_schema=schema)
            return InputRequiredResult(input_requests={"name": ElicitRequest(params=params)})
        return words(f"hello, {answer.content['name']}" if answer.action == "accept" else answer.action)
    answer = await ctx.elicit(QUESTION, Name)
    return words(f"hello, {answer.data.name}" if isinstance(answer, AcceptedElicitation) else answer.action)


@server.tool
def image() -> ToolResult:
    """Give a picture of one pixel."""
    return ToolResult(content=[ImageContent(type="image", data=PIXEL, mime_type="image/png")])


def end_with_stdin() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


def serve_http() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    threading.Thread(target=end_with_stdin, daemon=True).start()
    config = uvicorn.Config(server.http_app(path="/mcp"), log_level="warning")
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    if "--http" in sys.argv:
        serve_http()
    else:
        server.run(transport="stdio", show_banner=False)
