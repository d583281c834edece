/** Load on a server from this process: clients with persistent connections, each waiting for its answer. */
import autocannon from 'autocannon';
import type { Measured } from './figures.ts';
import { newFact, newFacts, type Path, questions } from './requests.ts';
import type { Server } from './server.ts';

const headers = { 'content-type': 'application/json', 'x-tenant-id': 'bench' };

export interface Load {
  readonly path: Path;
  readonly connections: number;
  readonly seconds: number;
}

/** Sends requests for this many seconds. Rejects a run in which any answer was not 2xx. */
export async function load(server: Server, { path, connections, seconds }: Load): Promise<Measured> {
  const requests: autocannon.Request[] =
    path === '/tell'
      ? [{ setupRequest: (request) => ({ ...request, body: newFact() }) }]
      : questions(path).map((body) => ({ body }));
  const cpuBefore = server.cpuSeconds();
  const startedAt = performance.now();
  const result = await autocannon({
    url: `${server.address}${path}`,
    method: 'POST',
    headers,
    connections,
    duration: seconds,
    sampleInt: 50,
    requests,
  });
  const elapsed = (performance.now() - startedAt) / 1000;
  const cpuSeconds = server.cpuSeconds() - cpuBefore;
  const failed = result.non2xx + result.errors + result.timeouts;
  if (failed > 0) throw new Error(`${server.name} did not answer ${failed} calls of ${path}`);
  return { answered: result['2xx'], seconds: elapsed, cpuSeconds };
}

/** Posts and reads the answer as JSON. Rejects one that is not 2xx. */
export async function post(server: Server, path: string, body: string | Buffer): Promise<unknown> {
  const response = await fetch(`${server.address}${path}`, {
    method: 'POST',
    headers,
    body: typeof body === 'string' ? body : new Uint8Array(body),
  });
  if (!response.ok)
    throw new Error(`${server.name} answered ${path} with ${response.status}: ${await response.text()}`);
  return response.json();
}

export interface Batches {
  /** Facts in a batch. */
  readonly size: number;
  readonly count: number;
  readonly clients: number;
}

/** Stores batches of new facts, each client one after the other; counts facts. */
export async function storeBatches(server: Server, { size, count, clients }: Batches): Promise<Measured> {
  const bodies = Array.from({ length: count }, () => newFacts(size));
  const cpuBefore = server.cpuSeconds();
  const startedAt = performance.now();
  const store = async (): Promise<void> => {
    for (let body = bodies.pop(); body !== undefined; body = bodies.pop()) {
      const { asserted } = (await post(server, '/assert/facts', body)) as { asserted: number };
      if (asserted !== size) throw new Error(`${server.name} stored ${asserted} of ${size} facts`);
    }
  };
  await Promise.all(Array.from({ length: clients }, store));
  const seconds = (performance.now() - startedAt) / 1000;
  return { answered: size * count, seconds, cpuSeconds: server.cpuSeconds() - cpuBefore };
}
