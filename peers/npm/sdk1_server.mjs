// A small server on the official TypeScript SDK 1.x: a peer for Seawall's tests.
//
// `node sdk1_server.mjs` serves stdin and stdout; with `--http` as http.mjs says: with
// sessions, the stream of a GET, and events that are kept. `slow` hangs up after its first sign of progress, so that
// its client has to resume.

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import * as z from 'zod';
import './http.mjs';

const PIXEL =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const text = words => ({ content: [{ type: 'text', text: words }] });

function peer() {
    const server = new McpServer({ name: 'seawall-peer-ts1', version: '1.0.0' });
    server.registerTool('echo', { description: 'Give the text back', inputSchema: { text: z.string() } }, ({ text: words }) => text(words));
    server.registerTool(
        'add',
        {
            description: 'Add two integers, as structured content',
            inputSchema: { a: z.int(), b: z.int() },
            outputSchema: { sum: z.int() }
        },
        ({ a, b }) => ({ ...text(JSON.stringify({ sum: a + b })), structuredContent: { sum: a + b } })
    );
    server.registerTool('fail', { description: 'Fail, always', inputSchema: {} }, () => ({ ...text('failed on purpose'), isError: true }));
    server.registerTool(
        'slow',
        { description: 'Take so many milliseconds, and tell of the progress', inputSchema: { ms: z.int() } },
        async ({ ms }, extra) => {
            const progressToken = extra._meta?.progressToken;
            for (let progress = 1; progress <= 3; progress += 1) {
                await sleep(ms / 3);
                if (progressToken !== undefined) {
                    await extra.sendNotification({ method: 'notifications/progress', params: { progressToken, progress, total: 3 } });
                }
                if (progress === 1) {
                    extra.closeSSEStream?.();
                }
            }
            return text(`took ${ms} ms`);
        }
    );
    server.registerTool('ask', { description: 'Ask for a name', inputSchema: {} }, async (_, extra) => {
        const requestedSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
        const answer = await server.server.elicitInput(
            { message: 'What is your name?', requestedSchema },
            { relatedRequestId: extra.requestId }
        );
        return text(answer.action === 'accept' ? `hello, ${answer.content.name}` : answer.action);
    });
    server.registerTool('image', { description: 'Give a picture of one pixel', inputSchema: {} }, () => ({
        content: [{ type: 'image', data: PIXEL, mimeType: 'image/png' }]
    }));
    return server;
}

/** The events of one session's streams, in order. */
class Events {
    #events = [];

    async storeEvent(stream, message) {
        this.#events.push({ stream, message });
        return String(this.#events.length);
    }

    async getStreamIdForEventId(id) {
        return this.#events[Number(id) - 1]?.stream;
    }

    async replayEventsAfter(id, { send }) {
        const { stream } = this.#events[Number(id) - 1];
        for (const [at, event] of this.#events.entries()) {
            // The event that opens a stream has no message of its own.
            if (at >= Number(id) && event.stream === stream && Object.keys(event.message).length > 0) {
                await send(String(at + 1), event.message);
            }
        }
        return stream;
    }
}

async function serveHttp() {
    const sessions = new Map();
    const http = createServer(async (request, response) => {
        const id = request.headers['mcp-session-id'];
        let transport = sessions.get(id);
        if (id !== undefined && transport === undefined) {
            response.writeHead(404).end();
            return;
        }
        if (transport === undefined) {
            transport = new StreamableHTTPServerTransport({
                sessionIdGenerator: randomUUID,
                eventStore: new Events(),
                retryInterval: 200,
                onsessioninitialized: made => sessions.set(made, transport),
                onsessionclosed: closed => sessions.delete(closed)
            });
            await peer().connect(transport);
        }
        await transport.handleRequest(request, response);
    });
    http.listen();
}

if (process.argv.includes('--http')) {
    await serveHttp();
} else {
    await peer().connect(new StdioServerTransport());
}
