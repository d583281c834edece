import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeEndpoint } from '../base/endpoint-file.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import { findService } from './find-service.ts';
import { createFetch } from './http-fetch.ts';

const folder = mkdtempSync(join(tmpdir(), 'corollary-find-'));
const endpointFile = join(folder, 'endpoint.json');
const http = createFetch();
let service: ServiceUnderTest;
/** Answers with the given responses. */
let other: Server;
let answer: [status: number, body: string] = [200, ''];

beforeAll(async () => {
  service = await startServiceUnderTest();
  other = createServer((_request, response) => {
    response.writeHead(answer[0], { 'content-type': 'application/json' }).end(answer[1]);
  });
  await new Promise<void>((resolve) => {
    other.listen(0, '127.0.0.1', resolve);
  });
});

afterAll(async () => {
  http.close();
  other.closeAllConnections();
  other.close();
  await service.close();
  rmSync(folder, { recursive: true });
});

/** Above every process id that a system assigns. */
const deadPid = 2 ** 30;

async function find(url: string, pid = process.pid) {
  await writeEndpoint(endpointFile, { url, pid, version: '1', startedAt: 0 });
  return findService({ url: null, endpointFile }, http.fetch);
}

function otherUrl(): string {
  return `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
}

describe('finding the running service', () => {
  it('uses the endpoint file', async () => {
    expect(await find(service.address)).toEqual({ kind: 'ready', url: service.address });
  });

  it('uses a given address, with or without the path of MCP', async () => {
    for (const path of ['', '/', '/mcp', '/mcp/'])
      expect(
        await findService({ url: new URL(service.address + path), endpointFile: '/nowhere' }, http.fetch),
      ).toEqual({ kind: 'ready', url: service.address });
  });

  it('finds none if the endpoint file is missing or invalid', async () => {
    const place = { url: null, endpointFile: join(folder, 'missing.json') };
    expect(await findService(place, http.fetch)).toMatchObject({ kind: 'none' });
    expect(await findService({ url: null, endpointFile: folder }, http.fetch)).toMatchObject({
      kind: 'none',
    });
  });

  it('ignores a file whose process is dead, even if something answers at its address', async () => {
    expect(await find(service.address, deadPid)).toMatchObject({ kind: 'none' });
  });

  it("ignores a file whose address does not answer or is another program's", async () => {
    expect(await find('http://127.0.0.1:9')).toMatchObject({ kind: 'none' });
    for (const strange of ['', 'null', '[]', '{"status":"ready"}', '{"subsystems":null}', '<html>']) {
      answer = [200, strange];
      expect(await find(otherUrl()), strange).toMatchObject({ kind: 'none' });
    }
  });

  it('tells a starting or ending service from a ready one, even with a full disk', async () => {
    const body = (engine: string) =>
      JSON.stringify({ status: 'not_ready', subsystems: { engine, storage: 'failed' } });
    answer = [503, body('off')];
    expect(await find(otherUrl())).toEqual({ kind: 'not-ready', url: otherUrl() });
    answer = [503, body('ready')];
    expect(await find(otherUrl())).toEqual({ kind: 'ready', url: otherUrl() });
  });
});
