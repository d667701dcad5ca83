"""The clients of the official Python SDK and of FastMCP: what each does with the server with everything, and what it saw of it,
as one JSON object on stdout.

python story.py sdk|fastmcp legacy|modern stdio COMMAND ARG… | http URL
"""

import asyncio
import json
import sys

from mcp.client.subscriptions import listen

SLOW_MS = 60_000
PATIENCE = 15.0


class Story:
    def __init__(self) -> None:
        self.seen = {}
        self.changed = asyncio.Event()

    async def tell(self, key, action) -> None:
        try:
            self.seen[key] = await asyncio.wait_for(action(), PATIENCE)
        except Exception as error:  # whatever fails is told under its own key
            self.seen[key] = {"failed": f"{type(error).__name__}: {error}"}

    async def run(self, client) -> None:
        async def error():
            result = await client.call("test_error_handling", {})
            return {"isError": result.is_error, "text": result.content[0].text}

        async def unknown():
            try:
                await client.call("no_such_tool", {})
            except Exception as error:
                return getattr(error, "code", None) or getattr(getattr(error, "error", None), "code", None) or str(error)
            return "answered"

        async def image():
            block = (await client.call("test_image_content", {})).content[0]
            mime = getattr(block, "mime_type", None) or getattr(block, "mimeType", None)
            return {"type": block.type, "mimeType": mime, "isData": len(block.data) > 0}

        async def progress():
            steps = []

            async def step(progress, total, message):
                steps.append(progress)

            await client.call("test_tool_with_progress", {}, progress=step)
            return steps

        async def cancelled():
            call = asyncio.ensure_future(client.call("test_slow", {"ms": SLOW_MS}))
            await asyncio.sleep(0.3)
            call.cancel()
            try:
                await call
                return False
            except asyncio.CancelledError:
                after = await client.call("test_simple_text", {})
                return len(after.content) == 1

        async def changed():
            async with client.listening(self.changed):
                await client.call("test_trigger_tool_change", {})
                await self.changed.wait()
            return True

        async def text(name, arguments):
            return (await client.call(name, arguments)).content[0].text

        async def structured():
            return (await client.call("test_structured_content", {"a": 1, "b": 2})).structured_content

        async def tools():
            return len(await client.names())

        async def revision():
            return client.revision()

        await self.tell("revision", revision)
        await self.tell("tools", tools)
        await self.tell("plain", lambda: text("test_simple_text", {}))
        await self.tell("error", error)
        await self.tell("unknown", unknown)
        await self.tell("structured", structured)
        await self.tell("image", image)
        await self.tell("progress", progress)
        await self.tell("cancelled", cancelled)
        await self.tell("changed", changed)
        await self.tell("elicited", lambda: text("test_elicitation", {"message": "Who?"}))


class Sdk:
    """The official SDK's client."""

    def __init__(self, client) -> None:
        self.client = client

    def revision(self):
        return self.client.protocol_version

    async def names(self):
        return [tool.name for tool in (await self.client.list_tools()).tools]

    async def call(self, name, arguments, progress=None):
        return await self.client.call_tool(name, arguments, progress_callback=progress)

    def listening(self, changed):
        # FastMCP has no way to subscribe of its own; the session under it has.
        return listening(self.client.session, self.revision(), changed)


class FastMcp(Sdk):
    """FastMCP's client."""

    def revision(self):
        return self.client.session.protocol_version

    async def names(self):
        return [tool.name for tool in await self.client.list_tools()]

    async def call(self, name, arguments, progress=None):
        return await self.client.call_tool(name, arguments, progress_handler=progress, raise_on_error=False)


class listening:
    """Hears of changes: by a subscription on 2026-07-28, where a client has to ask; else they come by themselves."""

    def __init__(self, session, revision, changed) -> None:
        wanted = {"tools_list_changed": True, "prompts_list_changed": False, "resources_list_changed": False}
        modern = revision >= "2026-07-28"
        self.listen = listen(session, **wanted, resource_subscriptions=(), on_event=None) if modern else None
        self.changed = changed
        self.task = None

    async def __aenter__(self):
        if self.listen is not None:
            subscription = await self.listen.__aenter__()

            async def hear():
                async for _ in subscription:
                    self.changed.set()

            self.task = asyncio.ensure_future(hear())

    async def __aexit__(self, *exception):
        if self.task is not None:
            self.task.cancel()
            await asyncio.gather(self.task, return_exceptions=True)
            await self.listen.__aexit__(None, None, None)


async def main() -> None:
    which, era, transport, target, *args = sys.argv[1:]
    mode = "auto" if era == "modern" else "legacy"
    story = Story()

    async def hear(message) -> None:
        if getattr(message, "method", getattr(getattr(message, "root", None), "method", "")) == "notifications/tools/list_changed":
            story.changed.set()

    if which == "sdk":
        from mcp import Client, StdioServerParameters
        from mcp.types import ElicitResult

        async def answer(context, params):
            return ElicitResult(action="accept", content={"response": "me"})

        server = target if transport == "http" else StdioServerParameters(command=target, args=args)
        async with Client(server, mode=mode, message_handler=hear, elicitation_callback=answer) as client:
            await story.run(Sdk(client))
    else:
        from fastmcp import Client
        from fastmcp.client.transports import StdioTransport

        async def answer(message, response_type, params, context):
            return {"response": "me"}

        server = target if transport == "http" else StdioTransport(command=target, args=args)
        async with Client(server, mode=mode, message_handler=hear, elicitation_handler=answer) as client:
            await story.run(FastMcp(client))
    print(json.dumps(story.seen))


asyncio.run(main())
