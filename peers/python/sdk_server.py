"""A small server on the official Python SDK: a peer for Seawall's tests."""

from mcp.server import MCPServer

server = MCPServer("seawall-peer-sdk", version="1.0.0")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


@server.tool()
def echo(text: str) -> str:
    """Give the text back."""
    return text


@server.tool()
def fail(reason: str = "asked to") -> str:
    """Fail, always."""
    raise ValueError(reason)


if __name__ == "__main__":
    server.run("stdio")
