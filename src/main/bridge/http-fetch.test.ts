import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFetch, NotSent } from './http-fetch.ts';

let server: Server;
let url = '';
let closed = 0;
const http = createFetch(() => closed++);

beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === '/break') return request.socket.destroy();
    if (request.url === '/half') return response.writeHead(200).write('{', () => request.socket.destroy());
    if (request.url === '/none') return response.writeHead(204).end();
    return request.pipe(response.writeHead(200, { 'x-method': request.method }));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  http.close();
  server.closeAllConnections();
  server.close();
});

async function failing(path: string, signal: AbortSignal | null = null): Promise<unknown> {
  try {
    await (await http.fetch(`${url}${path}`, { signal })).text();
  } catch (error) {
    return error;
  }
  return null;
}

/** Starting processes and services is slow on a busy machine. */
function eventually<Seen>(look: () => Seen) {
  return expect.poll(look);
}

describe("fetch over Node's HTTP client", () => {
  it('sends and returns the same as fetch', async () => {
    const answer = await http.fetch(`${url}/echo`, { method: 'POST', body: 'grün', headers: { a: 'b' } });
    expect([answer.status, answer.headers.get('x-method'), await answer.text()]).toEqual([
      200,
      'POST',
      'grün',
    ]);
    expect((await http.fetch(`${url}/none`)).status).toBe(204);
  });

  it('distinguishes a request that was never received from one whose answer is missing', async () => {
    await expect(http.fetch('http://127.0.0.1:9/')).rejects.toBeInstanceOf(NotSent);
    for (const path of ['/break', '/half']) {
      const error = await failing(path);
      expect(error, path).toBeInstanceOf(Error);
      expect(error, path).not.toBeInstanceOf(NotSent);
    }
    const aborted = await failing('/echo', AbortSignal.abort());
    expect(aborted).toMatchObject({ name: 'AbortError' });
  });

  it('reports the end or failure of a requested stream, and nothing else', async () => {
    closed = 0;
    const headers = { accept: 'text/event-stream' };
    await (await http.fetch(`${url}/echo`, { headers })).text();
    await eventually(() => closed).toBe(1);
    await expect(http.fetch('http://127.0.0.1:9/', { headers })).rejects.toThrow('ECONNREFUSED');
    expect(closed).toBe(2);
    await (await http.fetch(`${url}/echo`)).text();
    await (await http.fetch(`${url}/echo`, { method: 'POST', body: '', headers })).text();
    expect(closed).toBe(2);
  });

  it('reuses connections without accumulating listeners', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error): number => warnings.push(warning);
    process.on('warning', note);
    for (let count = 0; count < 20; count++) await (await http.fetch(`${url}/echo`)).text();
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });
});
