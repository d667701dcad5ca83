"""The six tools on the official Python SDK: a peer for Seawall's tests.

Serves stdin and stdout; with `--http` a free port of 127.0.0.1, whose URL it prints as its one line,
until stdin ends, so that it does not outlive its test.
"""

import json
import os
import socket
import sys
import threading
from typing import Annotated

import anyio
import uvicorn
from mcp.server.mcpserver import AcceptedElicitation, Context, Elicit, ElicitationResult, MCPServer, Resolve
from mcp_types import CallToolResult, ImageContent, TextContent
from pydantic import BaseModel

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
server = MCPServer("seawall-peer-python", version="1.0.0")


class Sum(BaseModel):
    sum: int


class Name(BaseModel):
    name: str


def text(words: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=words)])


async def name_of_user() -> Elicit[Name]:
    return Elicit("What is your name?", Name)


# Each has its parameter named `text`, so the function of that name is kept under another.
_text = text


@server.tool()
def echo(text: str) -> CallToolResult:
    """Give the text back."""
    return _text(text)


@server.tool()
def add(a: int, b: int) -> Annotated[CallToolResult, Sum]:
    """Add two integers, as structured content."""
    value = {"sum": a + b}
    words = json.dumps(value, separators=(",", ":"))
    return CallToolResult(content=[TextContent(type="text", text=words)], structured_content=value)


@server.tool()
def fail() -> CallToolResult:
    """Fail, always."""
    return CallToolResult(content=[TextContent(type="text", text="failed on purpose")], is_error=True)


@server.tool()
async def slow(ms: int, ctx: Context) -> CallToolResult:
    """Take so many milliseconds, and tell of the progress."""
    for progress in (1, 2, 3):
        await anyio.sleep(ms / 3000)
        await ctx.report_progress(progress, 3)
    return text(f"took {ms} ms")


@server.tool()
async def ask(answer: Annotated[ElicitationResult[Name], Resolve(name_of_user)]) -> CallToolResult:
    """Ask for a name."""
    if isinstance(answer, AcceptedElicitation):
        return text(f"hello, {answer.data.name}")
    return text(answer.action)


@server.tool()
def image() -> CallToolResult:
    """Give a picture of one pixel."""
    return CallToolResult(content=[ImageContent(type="image", data=PIXEL, mime_type="image/png")])


def end_with_stdin() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


def serve_http() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    threading.Thread(target=end_with_stdin, daemon=True).start()
    config = uvicorn.Config(server.streamable_http_app(), log_level="warning")
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    if "--http" in sys.argv:
        serve_http()
    else:
        server.run("stdio")
