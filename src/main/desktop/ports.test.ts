import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { fallbackCandidates, type ServiceStart, startOnFreePort } from './service-host.ts';

const host = '127.0.0.1';
const servers: Server[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
});

function listen(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(null));
    server.listen(port, host, () => {
      servers.push(server);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : null);
    });
  });
}

/** Starts a bare listener as a service is started: ready, or refused because the port is taken. */
function starter(tried: number[]): (port: number) => Promise<ServiceStart> {
  return async (port) => {
    tried.push(port);
    const taken = await listen(port);
    if (taken === null)
      return {
        outcome: 'refused',
        refusal: { reason: 'port-taken', message: `${port} is taken`, owner: null },
      };
    const service = {
      address: `http://${host}:${taken}`,
      port: taken,
      lost: new Promise<string>(() => {}),
      agents: async () => 0,
      close: async () => {},
    };
    return { outcome: 'running', service };
  };
}

describe('the port of the desktop’s service', () => {
  it('is the default one if it is free', async () => {
    const tried: number[] = [];
    const start = await startOnFreePort(starter(tried), { usual: 0, isFixed: false, host });
    expect(start.outcome).toBe('running');
    expect(tried).toEqual([0]);
  });

  it('is the next free one from 9301 if the default is taken', async () => {
    const usual = await listen(0);
    const tried: number[] = [];
    const start = await startOnFreePort(starter(tried), { usual: usual ?? 0, isFixed: false, host });
    expect(start.outcome).toBe('running');
    expect(tried[0]).toBe(usual);
    expect(tried.at(-1)).toBeGreaterThanOrEqual(9301);
    expect(tried).toHaveLength(2);
  });

  it('is always the one that the user set', async () => {
    const taken = await listen(0);
    const tried: number[] = [];
    const start = await startOnFreePort(starter(tried), { usual: taken ?? 0, isFixed: true, host });
    expect(start).toMatchObject({ outcome: 'refused', refusal: { reason: 'port-taken' } });
    expect(tried).toEqual([taken]);
  });

  it('is not searched for if the start failed for another reason', async () => {
    let starts = 0;
    const refused: ServiceStart = {
      outcome: 'refused',
      refusal: { reason: 'damaged', message: 'Damaged.', owner: null },
    };
    const start = await startOnFreePort(
      async () => {
        starts++;
        return refused;
      },
      { usual: 9300, isFixed: false, host },
    );
    expect(start).toBe(refused);
    expect(starts).toBe(1);
  });

  it('is searched for from 9301 on, skipping the one that was taken', () => {
    expect(fallbackCandidates(9300).slice(0, 2)).toEqual([9301, 9302]);
    expect(fallbackCandidates(9301)[0]).toBe(9302);
  });
});
