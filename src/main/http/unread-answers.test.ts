/** Clients that take nothing, over real sockets; the looks are the test's own. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { holdAnswer, takenFrom, UnreadAnswers } from './unread-answers.ts';

/** Far more than a connection takes without its reader. */
const answerBytes = 100_000_000;
const answer = Buffer.alloc(answerBytes);

async function serving(mostBytes: number, respond: (response: ServerResponse) => void) {
  const warnings: unknown[] = [];
  const unread = new UnreadAnswers(mostBytes, { warn: (...line: unknown[]) => void warnings.push(line) });
  const sockets: Socket[] = [];
  const server = createServer((_request, response) => {
    sockets.push(response.socket as Socket);
    respond(response);
  });
  unread.watch(server, 'connection');
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  /** A client that sends a request and reads nothing. */
  const ask = async (): Promise<Socket> => {
    const before = sockets.length;
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
    client.on('error', () => client.destroy());
    onTestFinished(() => void client.destroy());
    client.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await expect.poll(() => sockets.length).toBe(before + 1);
    return client;
  };
  const isCut = (): boolean[] => sockets.map(({ destroyed }) => destroyed);
  return { unread, ask, sockets, isCut, warnings };
}

it('cuts off the clients that took nothing for longest, and no more than are too many', async () => {
  const { unread, ask, sockets, isCut, warnings } = await serving(2.1 * answerBytes, (response) =>
    response.end(answer),
  );
  const first = await ask();
  await ask();
  await unread.look();
  expect(isCut()).toEqual([false, false]);
  expect(warnings).toEqual([]);
  const before = takenFrom(sockets[0] as Socket);
  let read = 0;
  first.on('data', (chunk: Buffer) => {
    if ((read += chunk.length) > answerBytes / 5) first.pause();
  });
  first.resume();
  await expect.poll(() => takenFrom(sockets[0] as Socket)).toBeGreaterThan(before);
  await ask();
  await unread.look();
  expect(isCut()).toEqual([false, true, false]);
  expect(warnings).toHaveLength(1);
});

it('lets one answer be longer than the bound', async () => {
  const { unread, ask, isCut, warnings } = await serving(answerBytes / 2, (response) => response.end(answer));
  await ask();
  await unread.look();
  await unread.look();
  expect(isCut()).toEqual([false]);
  expect(warnings).toEqual([]);
});

it('counts the value of an answer that is written in pieces, until it has been sent', async () => {
  const value = Array.from({ length: 1000 }, (_, at) => ({ at, text: 'x'.repeat(1000) }));
  const responses: ServerResponse[] = [];
  const { unread, ask, isCut } = await serving(2.5e6, (response) => {
    holdAnswer(response, value);
    response.write('[');
    responses.push(response);
  });
  for (let asked = 0; asked < 2; asked++) await ask();
  await unread.look();
  expect(isCut()).toEqual([false, false]);
  responses[0]?.end(']');
  await expect.poll(() => responses[0]?.closed).toBe(true);
  await ask();
  await unread.look();
  expect(isCut()).toEqual([false, false, false]);
  await ask();
  await unread.look();
  expect(isCut()).toEqual([false, true, false, false]);
});
