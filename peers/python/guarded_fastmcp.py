"""One tool on FastMCP behind its own OAuth server, which lets everybody in: a peer for Seawall's tests.

Serves a free port of 127.0.0.1, whose URL it prints as its one line, until stdin ends. Its access tokens last
TOKEN_SECONDS seconds (an hour by default); a refresh token is used once.
"""

import os
import socket
import sys
import threading

import uvicorn
from fastmcp import FastMCP
from fastmcp.server.auth.providers import in_memory
from mcp.server.auth.settings import ClientRegistrationOptions

SCOPE = "issues:read"


def end_with_stdin() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


def main() -> None:
    in_memory.DEFAULT_ACCESS_TOKEN_EXPIRY_SECONDS = int(os.environ.get("TOKEN_SECONDS", "3600"))
    listener = socket.create_server(("127.0.0.1", 0))
    origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
    auth = in_memory.InMemoryOAuthProvider(
        base_url=origin,
        client_registration_options=ClientRegistrationOptions(
            enabled=True, valid_scopes=[SCOPE], default_scopes=[SCOPE]
        ),
        required_scopes=[SCOPE],
    )
    server = FastMCP("seawall-peer-guarded", version="1.0.0", auth=auth)

    @server.tool
    def search(query: str) -> str:
        """Search the issues."""
        return f"3 issues speak of {query}"

    print(f"{origin}/mcp", flush=True)
    threading.Thread(target=end_with_stdin, daemon=True).start()
    config = uvicorn.Config(server.http_app(path="/mcp"), log_level="warning")
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
