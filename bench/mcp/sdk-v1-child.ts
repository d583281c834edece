/**
 * A bare server of the first SDK: as in its guide, on a Fastify with its defaults, with tools that only return their
 * argument's answer. Sessions at /mcp, the older SSE transport at /sse.
 */
import { randomUUID } from 'node:crypto';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import fastify from 'fastify';
import { z } from 'zod';

const answers = JSON.parse(process.argv[2] ?? '{}') as Record<string, CallToolResult>;

async function serve(transport: SSEServerTransport | StreamableHTTPServerTransport): Promise<void> {
  const server = new McpServer({ name: 'bare', version: '1' });
  const inputSchema = { predicate: z.string(), args: z.array(z.string()) };
  for (const [tool, answer] of Object.entries(answers))
    server.registerTool(tool, { description: 'Always gives the same answer.', inputSchema }, () => answer);
  await server.connect(transport);
}

const sessions = new Map<string, StreamableHTTPServerTransport>();
const streams = new Map<string, SSEServerTransport>();

async function openSession(): Promise<StreamableHTTPServerTransport> {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => {
      sessions.set(id, transport);
    },
  });
  await serve(transport);
  return transport;
}

const app = fastify();
app.post('/mcp', async (request, reply) => {
  const transport = sessions.get(String(request.headers['mcp-session-id'])) ?? (await openSession());
  reply.hijack();
  await transport.handleRequest(request.raw, reply.raw, request.body);
});
app.get('/sse', async (_request, reply) => {
  const transport = new SSEServerTransport('/messages', reply.raw);
  streams.set(transport.sessionId, transport);
  reply.hijack();
  await serve(transport);
});
app.post<{ Querystring: { sessionId: string } }>('/messages', async (request, reply) => {
  reply.hijack();
  await streams.get(request.query.sessionId)?.handlePostMessage(request.raw, reply.raw, request.body);
});

console.log(await app.listen({ host: '127.0.0.1', port: 0 }));
