"""FastMCP's proxy, as its documentation has it: `stdio URL` in front of a server behind a URL, or `http PORT COMMAND ARG…` on
127.0.0.1 in front of a program."""

import sys

from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from fastmcp.server import create_proxy

front, target, *rest = sys.argv[1:]
if front == "stdio":
    create_proxy(StreamableHttpTransport(target)).run(transport="stdio", show_banner=False)
else:
    proxy = create_proxy(StdioTransport(command=rest[0], args=rest[1:]))
    proxy.run(transport="http", host="127.0.0.1", port=int(target), show_banner=False, uvicorn_config={"log_level": "error"})
