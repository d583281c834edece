import { expect, test } from 'vitest';
import type { ToolCallRecord } from '../../../engine/contract/agents.ts';
import { errorOfSilence } from '../../api/problem.ts';
import { createCallLog, type FetchCalls } from './call-log.ts';

function callOf(number: number): ToolCallRecord {
  return {
    id: String(number),
    time: number,
    client: null,
    tool: 'ask',
    arguments: {},
    argumentsCut: false,
    outcome: 'ok',
    elapsedMs: 1,
    resultChars: 1,
    result: '',
    database: 'default',
    tenant: 'default',
    requestId: `request-${number}`,
  };
}

interface Service {
  count: number;
  asked: number;
  isAway: boolean;
  wait: Promise<void>;
  readonly fetchCalls: FetchCalls;
}

/** A log of this many calls whose responses the test releases or fails. */
function serviceOf(count: number): Service {
  const service: Service = {
    count,
    asked: 0,
    isAway: false,
    wait: Promise.resolve(),
    async fetchCalls({ limit, before }) {
      service.asked += 1;
      await service.wait;
      if (service.isAway) throw errorOfSilence('no route', 'r-1');
      const last = before === null ? service.count : Number(before) - 1;
      return Array.from({ length: Math.min(limit, last) }, (_, index) => callOf(last - index));
    },
  };
  return service;
}

/** Lets all pending reads finish: they wait for promises only. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
}

test('merges waiting reads of newer calls', async () => {
  const service = serviceOf(3);
  const log = createCallLog(service.fetchCalls);
  log.readOn();
  log.readOn();
  log.readOn();
  await settled();
  expect(service.asked).toBe(1);
  service.count = 5;
  log.readOn();
  await settled();
  expect(log.store.getState().held?.calls.map(({ id }) => id)).toEqual(['5', '4', '3', '2', '1']);
});

test('does not miss a call announced during a read', async () => {
  const service = serviceOf(3);
  let release: () => void = () => undefined;
  const log = createCallLog(service.fetchCalls);
  log.readOn();
  await settled();
  service.wait = new Promise<void>((resolve) => (release = resolve));
  log.readOn();
  await Promise.resolve();
  await Promise.resolve();
  log.readOn();
  release();
  await settled();
  expect(service.asked).toBe(3);
});

test('exports everything that the service remembers, without a gap while calls arrive', async () => {
  const service = serviceOf(2_345);
  const log = createCallLog(service.fetchCalls);
  log.readOn();
  const all = log.readAll();
  log.readOn();
  const calls = await all;
  expect(calls).toHaveLength(2_345);
  expect(new Set(calls.map(({ id }) => id)).size).toBe(2_345);
});

test('keeps the loaded calls while the service is unreachable, and clears the failure at the next read', async () => {
  const service = serviceOf(3);
  const log = createCallLog(service.fetchCalls);
  log.readOn();
  await settled();
  service.isAway = true;
  service.count = 4;
  log.readOn();
  await settled();
  expect(log.store.getState()).toMatchObject({ failure: { code: 'Unreachable' } });
  expect(log.store.getState().held?.calls).toHaveLength(3);
  // The loaded calls can be saved, which says nothing about the service.
  expect(await log.readAll()).toHaveLength(3);
  expect(log.store.getState().failure).not.toBeNull();
  service.isAway = false;
  log.readOn();
  await settled();
  expect(log.store.getState().failure).toBeNull();
  expect(log.store.getState().held?.calls).toHaveLength(4);
});

test('fails an export rather than omitting calls', async () => {
  const service = serviceOf(500);
  const log = createCallLog(service.fetchCalls);
  log.readOn();
  await settled();
  const other = createCallLog(service.fetchCalls);
  service.isAway = true;
  await expect(other.readAll()).rejects.toMatchObject({ code: 'Unreachable' });
});
