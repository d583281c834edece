import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { type ClientLimits, ClientLines } from './run-bridge.ts';

function lines(limits: Partial<ClientLimits> = {}, highWaterMark = 16_384) {
  const input = new PassThrough();
  const output = new PassThrough({ highWaterMark });
  const taken: JSONRPCMessage[] = [];
  const ends: string[] = [];
  const client = new ClientLines(
    input,
    output,
    { onMessage: (message) => taken.push(message), onEnd: (how) => ends.push(how) },
    { maxLineBytes: 1000, maxUnreadBytes: 10_000, ...limits },
  );
  client.start();
  return { input, output, taken, ends, client, turn: () => new Promise((resolve) => setImmediate(resolve)) };
}

function read(output: PassThrough): Record<string, unknown>[] {
  const text = (output.read() as Buffer | null)?.toString('utf8') ?? '';
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' } as const;

describe("the client's side of the bridge", () => {
  it('parses one message per line, however the input is split', async () => {
    const { input, taken, turn } = lines();
    const bytes = Buffer.from(
      `${JSON.stringify({ ...ping, params: { text: 'grün €' } })}\r\n\n${JSON.stringify(ping)}\n`,
    );
    for (const byte of bytes) input.write(Buffer.from([byte]));
    await turn();
    expect(taken).toEqual([{ ...ping, params: { text: 'grün €' } }, ping]);
  });

  it('answers a line that is invalid JSON, no message or a batch with an error, and goes on', async () => {
    const { input, output, taken, turn } = lines();
    input.write(`{"jsonrpc":\n{"id":7}\n[${JSON.stringify(ping)}]\n${JSON.stringify(ping)}\n`);
    await turn();
    expect(read(output)).toMatchObject([
      { jsonrpc: '2.0', id: null, error: { code: -32700 } },
      { jsonrpc: '2.0', id: 7, error: { code: -32600 } },
      {
        jsonrpc: '2.0',
        id: null,
        error: { code: -32600, message: expect.stringContaining('batch') as string },
      },
    ]);
    expect(taken).toEqual([ping]);
  });

  it('answers an overlong line by its id without buffering it, and goes on', async () => {
    const { input, output, taken, turn } = lines();
    const text = 'x'.repeat(5000);
    for (const message of [
      { method: 'ping', params: { text }, jsonrpc: '2.0', id: 3 },
      { jsonrpc: '2.0', id: 'four', method: 'ping', params: { text } },
      { jsonrpc: '2.0', method: 'ping', params: { text, nested: { id: 5 } } },
    ])
      input.write(`${JSON.stringify(message)}\n`);
    input.write(`${JSON.stringify(ping)}\n`);
    await turn();
    expect(read(output).map(({ id, error }) => [id, (error as { code: number }).code])).toEqual([
      [3, -32600],
      ['four', -32600],
      [null, -32600],
    ]);
    expect(taken).toEqual([ping]);
  });

  it('stops reading a client that does not read its answers, and queues each notification once', async () => {
    const { input, output, taken, client, turn } = lines({}, 100);
    const changed = { jsonrpc: '2.0', method: 'notifications/resources/list_changed' } as const;
    client.send({ jsonrpc: '2.0', id: 1, result: { text: 'x'.repeat(200) } });
    for (let count = 0; count < 1000; count++) client.send(changed);
    client.send({ jsonrpc: '2.0', id: 2, result: {} });
    input.write(`${JSON.stringify(ping)}\n`);
    await turn();
    expect(taken).toEqual([]);
    const answers: unknown[] = [];
    for (let round = 0; round < 5; round++) {
      answers.push(...read(output));
      await turn();
    }
    expect(answers).toMatchObject([{ id: 1 }, changed, { id: 2 }]);
    expect(taken).toEqual([ping]);
  });

  it('limits unread answers, and answers further requests with an error', async () => {
    const { output, client, turn } = lines({ maxUnreadBytes: 1000 }, 100);
    for (let id = 0; id < 10; id++) client.send({ jsonrpc: '2.0', id, result: { text: 'x'.repeat(400) } });
    const answers: Record<string, unknown>[] = [];
    for (let round = 0; round < 20; round++) {
      answers.push(...read(output));
      await turn();
    }
    expect(answers.map(({ id }) => id)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(answers.filter((answer) => 'error' in answer).length).toBe(7);
  });

  it('reports the end of the input and a closed output', async () => {
    const { input, output, ends, turn } = lines();
    input.end();
    await turn();
    expect(new Set(ends)).toEqual(new Set(['ended']));
    output.destroy(new Error('EPIPE'));
    await turn();
    expect(ends.at(-1)).toBe('gone');
  });
});
