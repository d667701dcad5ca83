// The client of the official TypeScript SDK 1.x, which knows the revisions up to 2025-11-25.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { done, story, way } from './story.mjs';

const { transport, target, args } = way();
let tell;
const changed = new Promise(resolve => (tell = resolve));
const client = new Client({ name: 'seawall-client-ts1', version: '1.0.0' }, { capabilities: { elicitation: { form: {} } } });
client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'accept', content: { response: 'me' } }));
client.setNotificationHandler(ToolListChangedNotificationSchema, () => tell());
const link =
    transport === 'http'
        ? new StreamableHTTPClientTransport(new URL(target))
        : new StdioClientTransport({ command: target, args, stderr: 'inherit' });
let revision;
link.setProtocolVersion = (set => version => {
    revision = version;
    set?.call(link, version);
})(link.setProtocolVersion);
await client.connect(link);
const seen = await story({
    changed,
    revision: () => revision,
    names: async () => (await client.listTools()).tools.map(tool => tool.name),
    call: (name, given, options) => client.callTool({ name, arguments: given }, undefined, options)
});
await client.close();
done(seen);
