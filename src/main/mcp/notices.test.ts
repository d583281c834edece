import { setTimeout } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { type Caller, openEngine, systemOrigin } from '../../engine/index.ts';
import type { McpHost } from '../base/agent-host.ts';
import { createLogger } from '../telemetry/logger.ts';
import { type Notice, Notices } from './resources.ts';

const caller: Caller = {
  credential: null,
  role: 'admin',
  databases: [],
  tenants: [],
  database: 'default',
  tenant: 'one',
  client: null,
  transaction: null,
  idempotency: null,
  requestId: 'r',
  origin: systemOrigin,
  signal: new AbortController().signal,
};

/** Longer than changes are gathered, in milliseconds. */
const gatheredMs = 150;

it('computes a change once, however many clients of a space subscribe', async () => {
  const engine = await openEngine({ storageDir: null });
  let asked = 0;
  let listening = 0;
  const host: McpHost = {
    version: '1',
    logger: createLogger({ level: 'ERROR', format: 'json', write: () => {} }),
    requireAllowed: () => {},
    callerOf: () => caller,
    argumentNames: (who) => engine.argumentNames(who),
    perform: (_name, who) => {
      asked++;
      return engine.predicates(who);
    },
    onChange: (listener) => {
      listening++;
      const stop = engine.subscribe(listener);
      return () => {
        listening--;
        stop();
      };
    },
    holds: () => true,
    onToolCall: () => {},
    listClients: () => {},
    onSubscribers: () => {},
    proofAppFile: '',
    workbenchOf: () => null,
  };
  const notices = new Notices(host);
  const told: Notice[][] = Array.from({ length: 100 }, () => []);
  const ends = told.map((own) => notices.watch(caller, (notice) => own.push(notice)));
  await expect.poll(() => asked).toBe(1);
  await setTimeout(10);
  // What is gathered is told when this test says so, however long this thread pauses between the two facts.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  for (const predicate of ['p', 'q'])
    await engine.tell(caller, {
      predicate,
      args: ['a'],
      truthVal: true,
      scope: null,
      unscoped: false,
      validFrom: null,
      validUntil: null,
      ttl: null,
      metadata: null,
      ifGeneration: null,
    });
  vi.advanceTimersByTime(gatheredMs);
  await vi.waitUntil(() => told.every((own) => own.length === 1), { timeout: 300_000, interval: 1 });
  const [first] = told;
  expect(first).toEqual([
    { uris: new Set(['kb://predicates', 'kb://facts/p', 'kb://facts/q']), hasOthers: true },
  ]);
  expect({ asked, listening }).toEqual({ asked: 2, listening: 1 });
  // A tool call changes no document, so it causes no notification.
  engine.tellOfToolCall(caller, '1');
  vi.advanceTimersByTime(gatheredMs);
  await setTimeout(10);
  expect(first).toHaveLength(1);
  for (const end of ends) end();
  expect(listening).toBe(0);
  await engine.close(0);
});
