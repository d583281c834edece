import { createServer } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import { warmUpRequests, warmUp } from './warm-up.ts';

let service: ServiceUnderTest | null = null;
afterEach(async () => {
  await service?.close();
  service = null;
});

async function startWarming(): Promise<ServiceUnderTest> {
  service = await startServiceUnderTest({}, { warmUpAfterMs: 20 });
  return service;
}

/** Samples of the metrics that count activity, without those of the process itself. */
async function countsOf({ call }: ServiceUnderTest): Promise<string[]> {
  const { body } = await call<string>('GET', '/metrics');
  const own = body.split('\n').filter((line) => line.startsWith('service_') && !line.endsWith(' 0'));
  return own.filter(
    (line) => !/_(seconds|bytes|bucket|sum)\b|uptime|connections|event_loop|turns_over|http_/.test(line),
  );
}

/** Its log without the lines of any start from source, and those that a slow machine brings. */
function saidOf({ logged }: ServiceUnderTest): unknown[] {
  return logged.filter(
    ({ msg }) => !/^(?:Server listening|this program was not built|a long turn)/.test(String(msg)),
  );
}

describe('a service that warms up', () => {
  it('leaves no trace of it: no log line, count, tenant, call or event', async () => {
    const cold = await startServiceUnderTest();
    const counted = await countsOf(cold);
    await cold.close();
    const warm = await startWarming();
    const changes: unknown[] = [];
    const end = warm.engine.subscribe((change) => changes.push(change));
    expect(await warm.warmedUp).toBe(true);
    end();
    expect(saidOf(warm)).toEqual([]);
    expect(changes).toEqual([]);
    expect((await warm.call('GET', '/admin/databases/default/tenants')).body).toEqual({ tenants: [] });
    expect((await warm.call('GET', '/mcp/calls')).body).toEqual({ calls: [] });
    expect((await warm.call('GET', '/mcp/clients')).body).toEqual({ clients: [] });
    expect((await warm.call('GET', '/rules')).body).toMatchObject({ rules: [] });
    expect(await countsOf(warm)).toEqual(counted);
  });

  it('answers requests in the middle of it', async () => {
    const warm = await startWarming();
    let isWarm = false;
    void warm.warmedUp.then(() => (isWarm = true));
    const told = await warm.call('POST', '/tell', { predicate: 'p', args: ['a'] });
    const asked = await warm.call('POST', '/ask', { predicate: 'p', args: ['?x'] });
    expect(isWarm).toBe(false);
    expect([told.status, asked.status]).toEqual([200, 200]);
    expect(asked.body).toMatchObject({ results: ['p(a)'] });
    await warm.warmedUp;
    expect(warm.logged.filter(({ level }) => level === 'ERROR')).toEqual([]);
  });

  it('ends at once on request, in the middle of it', async () => {
    const warm = await startWarming();
    await new Promise((resolve) => setTimeout(resolve, 150));
    await warm.close();
    await warm.warmedUp;
    expect(saidOf(warm)).toEqual([]);
  });
});

/** A server that counts and answers its requests. */
function counting(status = 200) {
  const rehearsal = { asked: 0, isClosed: false };
  const server = createServer((request, response) => {
    rehearsal.asked++;
    request.resume().on('end', () => response.writeHead(status, { 'content-length': 0 }).end());
  });
  const close = (): Promise<void> => {
    rehearsal.isClosed = true;
    return Promise.resolve();
  };
  return { rehearsal, open: () => Promise.resolve({ server, close }) };
}

describe('warming up', () => {
  const all = [...warmUpRequests()].length;

  it('makes every request if the service is idle', async () => {
    const { rehearsal, open } = counting();
    await warmUp(
      { activity: { running: 0, started: 3 }, signal: new AbortController().signal, quietMs: 20 },
      open,
    );
    expect(rehearsal).toEqual({ asked: all, isClosed: true });
  });

  it('makes none while a call runs, and resumes after it', async () => {
    const { rehearsal, open } = counting();
    const activity = { running: 0, started: 0 };
    const warming = warmUp({ activity, signal: new AbortController().signal, quietMs: 20 }, open);
    await expect.poll(() => rehearsal.asked).toBeGreaterThan(3);
    Object.assign(activity, { running: 1, started: 1 });
    // One request may be on its way, however long this thread pauses.
    const before = rehearsal.asked;
    await new Promise((resolve) => setTimeout(resolve, 130));
    expect(rehearsal.asked).toBeLessThanOrEqual(before + 1);
    activity.running = 0;
    await warming;
    expect(rehearsal.asked).toBe(all);
  });

  it('makes none while calls keep coming', async () => {
    const { rehearsal, open } = counting();
    const activity = { running: 0, started: 0 };
    const asking = setInterval(() => activity.started++, 1);
    const ended = new AbortController();
    const warming = warmUp({ activity, signal: ended.signal, quietMs: 20 }, open);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(rehearsal.asked).toBeLessThan(3);
    clearInterval(asking);
    ended.abort();
    await warming;
  });

  it('ends early when the service ends', async () => {
    const { rehearsal, open } = counting();
    const ended = new AbortController();
    const warming = warmUp({ activity: { running: 0, started: 0 }, signal: ended.signal, quietMs: 20 }, open);
    await expect.poll(() => rehearsal.asked).toBeGreaterThan(3);
    ended.abort();
    await warming;
    expect(rehearsal.isClosed).toBe(true);
    expect(rehearsal.asked).toBeLessThan(all);
  });

  it('waits for the end of a chunked answer', async () => {
    const open = { now: 0, most: 0 };
    const server = createServer((request, response) => {
      open.most = Math.max(open.most, ++open.now);
      request.resume().on('end', () => {
        response.writeHead(200).write('begun');
        setTimeout(() => {
          open.now--;
          response.end('ended');
        }, 3);
      });
    });
    const signal = new AbortController().signal;
    const service = { server, close: () => Promise.resolve() };
    await warmUp({ activity: { running: 0, started: 0 }, signal, quietMs: 20 }, () =>
      Promise.resolve(service),
    );
    expect(open).toEqual({ now: 0, most: 1 });
  });

  it('ends without a complaint at a limit of time', async () => {
    const { rehearsal, open } = counting(422);
    const signal = new AbortController().signal;
    const warming = warmUp({ activity: { running: 0, started: 0 }, signal, quietMs: 20 }, open);
    await expect(warming).resolves.toBe(false);
    expect(rehearsal).toEqual({ asked: 1, isClosed: true });
  });

  it('logs an unexpected answer', async () => {
    const { rehearsal, open } = counting(500);
    const signal = new AbortController().signal;
    await expect(warmUp({ activity: { running: 0, started: 0 }, signal, quietMs: 20 }, open)).rejects.toThrow(
      '500',
    );
    expect(rehearsal).toEqual({ asked: 1, isClosed: true });
  });
});
