// The client of the official TypeScript SDK 2.x. `legacy` is its default; `modern` has it find out.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { done, story, way } from './story.mjs';

const { era, transport, target, args } = way();
let tell;
const changed = new Promise(resolve => (tell = resolve));
const client = new Client(
    { name: 'seawall-client-ts2', version: '1.0.0' },
    {
        capabilities: { elicitation: { form: {} } },
        versionNegotiation: { mode: era === 'modern' ? 'auto' : 'legacy' },
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => tell() } }
    }
);
client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { response: 'me' } }));
await client.connect(
    transport === 'http'
        ? new StreamableHTTPClientTransport(new URL(target))
        : new StdioClientTransport({ command: target, args, stderr: 'inherit' })
);
const seen = await story({
    changed,
    revision: () => client.getNegotiatedProtocolVersion(),
    names: async () => (await client.listTools()).tools.map(tool => tool.name),
    call: (name, given, options) => client.callTool({ name, arguments: given }, options)
});
await client.close();
done(seen);
