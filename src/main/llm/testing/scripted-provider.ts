/**
 * For tests: a provider of language models on this machine, in the wire formats of Anthropic, OpenAI (and any
 * compatible address) and Google, with answers from a script.
 *
 * It is a real HTTP server. Every request is recorded as received, and parsed into what all formats have in common; the
 * reply is written in the format of the request, which depends only on the path.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export type Wire = 'anthropic' | 'openai' | 'google';

/** One question to a model, in any format. */
export interface AskedRequest {
  readonly wire: Wire;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** As received. */
  readonly body: Record<string, unknown>;
  readonly model: string;
  readonly temperature: number | undefined;
  /** The system prompt. */
  readonly instructions: string;
  /** The user's first message. */
  readonly input: string;
  /** All messages, the user's and the model's in turns; more than one if an answer must be repaired. */
  readonly turns: readonly string[];
  readonly schema: Record<string, unknown>;
  /** How it requests JSON. */
  readonly jsonBy: 'format' | 'tool';
}

export type Reply =
  /** The model's answer, as JSON. */
  | { readonly json: unknown }
  /** The model's answer, verbatim. */
  | { readonly text: string; readonly stop?: 'length' | 'filter' }
  /** An answer that violates the format. */
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  /** Nothing is sent, and the connection stays open; `first`: sent before that. */
  | { readonly silence: 'before head' | 'in body' }
  /** The connection is closed. */
  | { readonly cut: 'before head' | 'in body' }
  /** An endless body. */
  | { readonly endless: true };

export interface ScriptedProvider {
  /** `http://127.0.0.1:PORT` */
  readonly address: string;
  /** Questions, in the order of arrival. */
  readonly asked: AskedRequest[];
  /** Paths of all requests, such as those for the list of models. */
  readonly paths: string[];
  /** How many connections are open. */
  connections(): Promise<number>;
  close(): Promise<void>;
}

export interface Script {
  /** The answers: replies in turn, and the last one from then on; or one for each request. */
  readonly replies: readonly [Reply, ...Reply[]] | ((request: AskedRequest) => Reply);
  /** Ids that `GET …/models` lists; absent: 404. */
  readonly models?: readonly string[];
  readonly tokens?: { readonly input: unknown; readonly output: unknown };
}

export async function startScriptedProvider(script: Script): Promise<ScriptedProvider> {
  const asked: AskedRequest[] = [];
  const paths: string[] = [];
  const server = createServer((request, response) => {
    void answer(request, response);
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? '';
    paths.push(path);
    response.on('error', () => response.destroy());
    const wire = wireOf(path);
    if (wire === null) return listModels(path, script, response);
    const question = readRequest(wire, path, request.headers, await text(request));
    const { replies } = script;
    const turn = asked.push(question) - 1;
    const reply =
      typeof replies === 'function' ? replies(question) : replies[Math.min(turn, replies.length - 1)];
    write(response, question, reply as Reply, script.tokens ?? { input: 11, output: 7 });
  };
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    paths,
    connections: () =>
      new Promise((resolve, reject) => {
        server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function wireOf(path: string): Wire | null {
  if (path.endsWith('/messages')) return 'anthropic';
  if (path.endsWith('/chat/completions')) return 'openai';
  return /\/models\/[^/]+:generateContent$/.test(path) ? 'google' : null;
}

function listModels(path: string, { models }: Script, response: ServerResponse): void {
  if (!path.endsWith('/models') || models === undefined) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ object: 'list', data: models.map((id) => ({ id, object: 'model' })) }));
}

/** The formats, as far as they are read here. */
interface Part {
  text?: string;
}
interface Message {
  role: string;
  content: string | Part[];
}
interface AnthropicBody {
  model: string;
  temperature?: number;
  system?: string | Part[];
  messages: Message[];
  tools?: { input_schema: Record<string, unknown> }[];
  output_config?: { format?: { schema: Record<string, unknown> } };
}
interface OpenAiBody {
  model: string;
  temperature?: number;
  messages: Message[];
  response_format?: { json_schema?: { schema: Record<string, unknown> } };
}
interface GoogleBody {
  systemInstruction?: { parts: Part[] };
  contents: { parts: Part[] }[];
  generationConfig?: { temperature?: number; responseSchema?: Record<string, unknown> };
}

function readRequest(wire: Wire, path: string, headers: IncomingHttpHeaders, content: string): AskedRequest {
  const body = JSON.parse(content) as Record<string, unknown>;
  const common = { wire, path, headers, body };
  switch (wire) {
    case 'anthropic': {
      const { model, temperature, system, messages, tools, output_config } = body as unknown as AnthropicBody;
      const turns = messages.map((message) => textOf(message.content));
      const tool = tools?.[0]?.input_schema;
      return {
        ...common,
        model,
        temperature,
        turns,
        instructions: textOf(system ?? ''),
        input: turns[0] ?? '',
        schema: tool ?? output_config?.format?.schema ?? {},
        jsonBy: tool === undefined ? 'format' : 'tool',
      };
    }
    case 'openai': {
      const { model, temperature, messages, response_format } = body as unknown as OpenAiBody;
      const [system, ...said] = messages.map((message) => textOf(message.content));
      return {
        ...common,
        model,
        temperature,
        turns: said,
        instructions: system ?? '',
        input: said[0] ?? '',
        schema: response_format?.json_schema?.schema ?? {},
        jsonBy: 'format',
      };
    }
    case 'google': {
      const { systemInstruction, contents, generationConfig } = body as unknown as GoogleBody;
      const turns = contents.map(({ parts }) => textOf(parts));
      const model = decodeURIComponent(/\/models\/([^/]+):generateContent$/.exec(path)?.[1] ?? '');
      return {
        ...common,
        model,
        turns,
        instructions: textOf(systemInstruction?.parts ?? ''),
        input: turns[0] ?? '',
        temperature: generationConfig?.temperature,
        schema: generationConfig?.responseSchema ?? {},
        jsonBy: 'format',
      };
    }
  }
}

function textOf(content: string | Part[]): string {
  return typeof content === 'string' ? content : content.map((part) => part.text ?? '').join('');
}

function write(
  response: ServerResponse,
  request: AskedRequest,
  reply: Reply,
  tokens: { input: unknown; output: unknown },
): void {
  const head = { 'content-type': 'application/json' };
  if ('json' in reply || 'text' in reply) {
    response.writeHead(200, head).end(JSON.stringify(envelope(request, reply, tokens)));
  } else if ('status' in reply) {
    response.writeHead(reply.status, { ...head, ...reply.headers }).end(reply.body ?? '');
  } else if ('endless' in reply) {
    response.writeHead(200, head);
    const more = (): void => {
      let hasRoom = true;
      while (hasRoom && !response.destroyed) hasRoom = response.write(' '.repeat(65_536));
    };
    response.on('drain', more);
    more();
  } else {
    const place = 'cut' in reply ? reply.cut : reply.silence;
    if (place === 'in body')
      response.writeHead(200, { ...head, 'content-length': '1000' }).write('{"id": "x", ');
    if ('cut' in reply) setImmediate(() => response.socket?.destroy());
  }
}

function envelope(
  { wire, model, jsonBy }: AskedRequest,
  reply: Extract<Reply, { json: unknown } | { text: string }>,
  tokens: { input: unknown; output: unknown },
): unknown {
  const said = 'json' in reply ? JSON.stringify(reply.json) : reply.text;
  const stop = 'json' in reply ? undefined : reply.stop;
  switch (wire) {
    case 'anthropic': {
      const isTool = jsonBy === 'tool' && 'json' in reply;
      return {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model,
        content: [
          isTool
            ? { type: 'tool_use', id: 'toolu_1', name: 'json', input: reply.json }
            : { type: 'text', text: said },
        ],
        stop_reason: { length: 'max_tokens', filter: 'refusal', end: isTool ? 'tool_use' : 'end_turn' }[
          stop ?? 'end'
        ],
        stop_sequence: null,
        usage: { input_tokens: tokens.input, output_tokens: tokens.output },
      };
    }
    case 'openai':
      return {
        id: 'chatcmpl-1',
        object: 'chat.completion',
        created: 0,
        model,
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: said },
            finish_reason: { length: 'length', filter: 'content_filter', end: 'stop' }[stop ?? 'end'],
          },
        ],
        usage: { prompt_tokens: tokens.input, completion_tokens: tokens.output, total_tokens: 0 },
      };
    case 'google':
      return {
        candidates: [
          {
            content: { role: 'model', parts: [{ text: said }] },
            finishReason: { length: 'MAX_TOKENS', filter: 'SAFETY', end: 'STOP' }[stop ?? 'end'],
            index: 0,
          },
        ],
        usageMetadata: { promptTokenCount: tokens.input, candidatesTokenCount: tokens.output },
      };
  }
}
