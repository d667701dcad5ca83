// A small server on the official TypeScript SDK 2.x: a peer for Seawall's tests.
//
// `node sdk2_server.mjs` serves stdin and stdout; with `--http` as http.mjs says.

import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { acceptedContent, createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';
import './http.mjs';

const PIXEL =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const text = words => ({ content: [{ type: 'text', text: words }] });

function peer() {
    const server = new McpServer({ name: 'seawall-peer-ts2', version: '1.0.0' });
    server.registerTool('echo', { description: 'Give the text back', inputSchema: z.object({ text: z.string() }) }, ({ text: words }) =>
        text(words)
    );
    server.registerTool(
        'add',
        {
            description: 'Add two integers, as structured content',
            inputSchema: z.object({ a: z.int(), b: z.int() }),
            outputSchema: z.object({ sum: z.int() })
        },
        ({ a, b }) => ({ ...text(JSON.stringify({ sum: a + b })), structuredContent: { sum: a + b } })
    );
    server.registerTool('fail', { description: 'Fail, always', inputSchema: z.object({}) }, () => ({
        ...text('failed on purpose'),
        isError: true
    }));
    server.registerTool(
        'slow',
        { description: 'Take so many milliseconds, and tell of the progress', inputSchema: z.object({ ms: z.int() }) },
        async ({ ms }, ctx) => {
            const progressToken = ctx.mcpReq._meta?.progressToken;
            for (let progress = 1; progress <= 3; progress += 1) {
                await sleep(ms / 3);
                if (progressToken !== undefined) {
                    await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 3 } });
                }
            }
            return text(`took ${ms} ms`);
        }
    );
    server.registerTool('ask', { description: 'Ask for a name', inputSchema: z.object({}) }, (_, ctx) => {
        const answer = ctx.mcpReq.inputResponses?.name;
        if (answer === undefined) {
            return inputRequired({
                inputRequests: {
                    name: inputRequired.elicit({ message: 'What is your name?', requestedSchema: z.object({ name: z.string() }) })
                }
            });
        }
        const accepted = acceptedContent(ctx.mcpReq.inputResponses, 'name');
        return text(accepted === undefined ? answer.action : `hello, ${accepted.name}`);
    });
    server.registerTool('image', { description: 'Give a picture of one pixel', inputSchema: z.object({}) }, () => ({
        content: [{ type: 'image', data: PIXEL, mimeType: 'image/png' }]
    }));
    return server;
}

if (process.argv.includes('--http')) {
    createServer(toNodeHandler(createMcpHandler(peer))).listen();
} else {
    serveStdio(peer);
}
