"""A FastMCP server with three tools: a peer for Seawall's tests."""

from fastmcp import FastMCP

server = FastMCP("seawall-peer-fastmcp")


@server.tool
def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


@server.tool
def greet(name: str) -> str:
    """Greet someone by name."""
    return f"Hello, {name}!"


@server.tool
def weather(city: str) -> dict[str, str | float]:
    """Tell the (made up) weather of a city as structured content."""
    return {"city": city, "sky": "clear", "celsius": 21.5}


if __name__ == "__main__":
    server.run(transport="stdio")
