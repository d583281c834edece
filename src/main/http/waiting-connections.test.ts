import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { beginning, WaitingConnections } from './waiting-connections.ts';

/** Waiting connections on an event loop that turns when the test says so. */
function bench() {
  const begun: Socket[] = [];
  let resume = (): void => {};
  const pause = (): Promise<void> =>
    new Promise((resolve) => {
      resume = resolve;
    });
  const waiting = new WaitingConnections((socket) => void begun.push(socket), pause);
  const turn = async (): Promise<void> => {
    resume();
    await new Promise((resolve) => void setImmediate(resolve));
  };
  const add = (network: string, count: number): Socket[] =>
    Array.from({ length: count }, () => {
      const socket = new Socket();
      waiting.add(network, socket);
      return socket;
    });
  return { waiting, begun, turn, add };
}

it('begins a bounded number in a turn, however many wait', async () => {
  const { waiting, begun, turn, add } = bench();
  const all = add('one', 1000);
  expect(begun).toEqual([]);
  let before = 0;
  for (let turns = 0; begun.length < all.length; turns++) {
    expect(turns).toBeLessThan(40);
    await turn();
    expect(begun.length - before).toBeLessThanOrEqual(32);
    before = begun.length;
  }
  expect(new Set(begun)).toEqual(new Set(all));
  expect(all.some((socket) => waiting.has(socket))).toBe(false);
  const [late] = add('one', 1);
  await turn();
  expect(begun.at(-1)).toBe(late);
});

it('lets the networks take turns, and passes over what has been closed', async () => {
  const { begun, turn, add } = bench();
  const many = add('many', 500);
  const few = add('few', 3);
  many[0]?.destroy();
  await turn();
  expect(few.every((socket) => begun.includes(socket))).toBe(true);
  expect(begun).not.toContain(many[0]);
});

it('answers what arrived on a connection before it was begun', async () => {
  const server = createServer((request, response) => response.end(request.url));
  const begin = beginning(server);
  const accepted: Socket[] = [];
  server.on('connection', (socket: Socket) => void accepted.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.write('GET /early HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  await expect.poll(() => accepted.length).toBe(1);
  const answer = text(client);
  expect(accepted[0]?.bytesRead).toBe(0);
  begin?.(accepted[0] as Socket);
  expect(await answer).toMatch(/\/early$/m);
});
