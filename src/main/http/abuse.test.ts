import { getActiveResourcesInfo } from 'node:process';
import { expect, it } from 'vitest';
import { startServiceUnderTest } from '../testing/service-under-test.ts';
import { Chance } from './testing/chance.ts';
import { GoodClient } from './testing/good-client.ts';
import { abuses, flawOfReply, idleConnections } from './testing/raw-abuse.ts';

/**
 * Contract section 1 from the wire up: whatever clients do to connections, others get correct answers, and nothing
 * leaks.
 */
const apiKey = 'the-key-of-the-test';

const sockets = (): number => getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;

it('serves others while connections are abused, and leaks nothing', async () => {
  const service = await startServiceUnderTest({ AUTH_ENABLED: 'true', API_KEY: apiKey, LOG_LEVEL: 'WARN' });
  const before = sockets();
  const good = new GoodClient(service.port, apiKey);
  const working = good.run();
  const endIdle = await idleConnections(service.port, 200);
  const chance = new Chance(Number(process.env['SEED'] ?? 1));
  const run = async (abuse: (typeof abuses)[number]): Promise<void> => {
    for (const text of await abuse.run(service.port, chance))
      expect(flawOfReply(text), `${abuse.name}: ${text.slice(0, 500)}`).toBeNull();
  };
  const each = [...abuses, ...abuses];
  for (let at = 0; at < each.length; at += 6) await Promise.all(each.slice(at, at + 6).map(run));
  endIdle();
  const inFlight = async (): Promise<string | undefined> =>
    /^service_http_requests_in_flight (\d+)$/m.exec(await good.metrics())?.[1];
  // The client that asks.
  await expect.poll(inFlight).toBe('1');
  good.stop();
  await working;
  expect(good.figures().calls).toBeGreaterThan(0);
  await expect.poll(sockets).toBe(before);
  expect(service.logged.filter(({ level }) => level === 'ERROR')).toEqual([]);
  await service.close();
});
