/**
 * A bare server of the SDK: as in its guide, on a Fastify with its defaults, with tools that only return their
 * argument's answer. Sessions at /mcp, the revision without sessions at /stateless.
 */
import { randomUUID } from 'node:crypto';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { type CallToolResult, createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import fastify from 'fastify';
import { z } from 'zod';

const answers = JSON.parse(process.argv[2] ?? '{}') as Record<string, CallToolResult>;

function createServer(): McpServer {
  const server = new McpServer({ name: 'bare', version: '1' });
  const inputSchema = z.object({ predicate: z.string(), args: z.array(z.string()) });
  for (const [tool, answer] of Object.entries(answers))
    server.registerTool(tool, { description: 'Always gives the same answer.', inputSchema }, () => answer);
  return server;
}

const sessions = new Map<string, NodeStreamableHTTPServerTransport>();

async function openSession(): Promise<NodeStreamableHTTPServerTransport> {
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => {
      sessions.set(id, transport);
    },
  });
  await createServer().connect(transport);
  return transport;
}

const app = fastify();
app.post('/mcp', async (request, reply) => {
  const transport = sessions.get(String(request.headers['mcp-session-id'])) ?? (await openSession());
  reply.hijack();
  await transport.handleRequest(request.raw, reply.raw, request.body);
});

const stateless = toNodeHandler(createMcpHandler(createServer));
app.post('/stateless', async ({ raw, body }, reply) => {
  reply.hijack();
  const { method = 'POST', url = '/' } = raw;
  await stateless(Object.assign(raw, { method, url }), reply.raw, body);
});

console.log(await app.listen({ host: '127.0.0.1', port: 0 }));
