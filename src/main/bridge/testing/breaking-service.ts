/**
 * For tests: a stand-in for a service whose connections break. It has three tools (`reads`, `same`, `changes`) and
 * handles a call as instructed; everything else it answers like a service.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

export class BreakingService {
  readonly calls: string[] = [];
  readonly cancelled: unknown[] = [];
  readonly aborted: string[] = [];
  /** The outcomes of the next calls; later ones are answered. */
  fates: ('break' | 'break-after' | 'forget' | 'hang' | 'progress')[] = [];
  /** Responses of clients to its requests. */
  readonly answers: unknown[] = [];
  revision = '2025-11-25';
  /** The number of sessions opened so far. */
  sessions = 0;
  readonly #streams = new Set<ServerResponse>();
  #known = new Set<string>();
  readonly #server: Server = createServer((request, response) => {
    void this.#answer(request, response);
  });

  async start(): Promise<string> {
    await new Promise<void>((resolve) => {
      this.#server.listen(0, '127.0.0.1', resolve);
    });
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  /** The number of open notification streams. */
  get streams(): number {
    return this.#streams.size;
  }

  cutStreams(): void {
    for (const stream of this.#streams) stream.destroy();
  }

  /** Sends a message on every notification stream. */
  tell(message: object): void {
    for (const stream of this.#streams) stream.write(eventOf(message));
  }

  #openStream(response: ServerResponse): void {
    this.#streams.add(response);
    response.once('close', () => this.#streams.delete(response));
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'DELETE') return void response.writeHead(200).end();
    const send = (status: number, body: unknown, headers: Record<string, string> = {}) =>
      response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify(body));
    if (request.url?.startsWith('/health') === true)
      return void send(200, { subsystems: { engine: 'ready' } });
    const session = request.headers['mcp-session-id'];
    if (session !== undefined && !this.#known.has(String(session)))
      return void send(404, { code: 'SessionNotFound', detail: 'gone' });
    if (request.method === 'GET') return this.#openStream(response);
    const message = (await json(request)) as {
      id?: unknown;
      method?: string;
      params?: Record<string, unknown>;
    };
    if (message.method === 'notifications/cancelled') this.cancelled.push(message.params?.['requestId']);
    if (message.method === undefined) this.answers.push(message);
    if (message.id === undefined || message.method === undefined) return void response.writeHead(202).end();
    if (message.method === 'initialize') {
      const id = `session-${++this.sessions}`;
      this.#known.add(id);
      const result = {
        protocolVersion: this.revision,
        capabilities: { tools: {} },
        serverInfo: { name: 's', version: '1' },
      };
      return void send(200, { jsonrpc: '2.0', id: message.id, result }, { 'mcp-session-id': id });
    }
    if (message.method === 'tools/list') {
      const tool = (name: string, annotations: object) => ({
        name,
        inputSchema: { type: 'object' },
        annotations,
      });
      const tools = [
        tool('reads', { readOnlyHint: true }),
        tool('same', { idempotentHint: true }),
        tool('changes', { readOnlyHint: false, idempotentHint: false }),
      ];
      return void send(200, { jsonrpc: '2.0', id: message.id, result: { tools } });
    }
    if (message.method !== 'tools/call')
      return void send(200, { jsonrpc: '2.0', id: message.id, result: {} });
    const name = String(message.params?.['name']);
    this.calls.push(name);
    response.on('close', () => {
      if (!response.writableFinished) this.aborted.push(name);
    });
    const fate = this.fates.shift();
    if (fate === 'break') return void request.socket.destroy();
    if (fate === 'forget') {
      this.#known.clear();
      return void send(404, { code: 'SessionNotFound', detail: 'gone' });
    }
    if (fate === 'progress') {
      const meta = message.params?.['_meta'] as { progressToken: unknown } | undefined;
      const params = { progressToken: meta?.progressToken, progress: 1, total: 2 };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(eventOf({ jsonrpc: '2.0', method: 'notifications/progress', params }));
      return void response.end(eventOf({ jsonrpc: '2.0', id: message.id, result: { content: [] } }));
    }
    if (fate === 'hang' || fate === 'break-after') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      if (fate === 'break-after') response.write(': soon\n\n', () => request.socket.destroy());
      return;
    }
    send(200, { jsonrpc: '2.0', id: message.id, result: { content: [{ type: 'text', text: name }] } });
  }
}

function eventOf(message: object): string {
  return `data: ${JSON.stringify(message)}\n\n`;
}
