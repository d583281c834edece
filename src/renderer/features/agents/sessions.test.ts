import '../../api/testing/browser.ts';
import { expect, test } from 'vitest';
import type { ToolCallRecord } from '../../../engine/contract/agents.ts';
import { durationShare, pauseMs, sessionsOf, spanOf } from './sessions.ts';

let lastId = 0;
function callAt(time: number, beside: Partial<ToolCallRecord> = {}): ToolCallRecord {
  const place = { database: 'default', tenant: 'default', requestId: '', client: 'claude' };
  const said = { tool: 'ask', arguments: {}, argumentsCut: false, result: '', resultChars: 0 };
  return { id: String((lastId += 1)), time, outcome: 'ok', elapsedMs: 10, ...place, ...said, ...beside };
}

test('calls of one client and tenant are a session until it pauses', () => {
  const calls = [
    callAt(1_000),
    callAt(2_000, { client: null }),
    callAt(3_000, { outcome: 'error' }),
    callAt(4_000, { tenant: 'acme' }),
    // The call came within the pause, though it ended after it.
    callAt(3_000 + pauseMs + 50, { elapsedMs: 60 }),
    callAt(3_000 + 3 * pauseMs),
  ];
  const sessions = sessionsOf([...calls].reverse());
  expect(
    sessions.map(({ client, tenant, calls: own, errors }) => [client, tenant, own.length, errors]),
  ).toEqual([
    ['claude', 'default', 1, 0],
    ['claude', 'default', 3, 1],
    ['claude', 'acme', 1, 0],
    ['(no name)', 'default', 1, 0],
  ]);
  const [, longer] = sessions;
  expect(longer).toMatchObject({ from: 990, until: 3_000 + pauseMs + 50, busyMs: 80 });
  expect(longer?.calls.map(({ time }) => time)).toEqual([1_000, 3_000, 3_050 + pauseMs]);
  expect(sessionsOf([])).toEqual([]);
});

test('durations are compared on a logarithmic scale, and placed on a linear one', () => {
  expect([0, 0.1, 1, 10, 1_000, 5_000].map((ms) => durationShare(ms, 1_000))).toEqual([
    0, 0, 0.25, 0.5, 1, 1,
  ]);
  expect(durationShare(0.1, 0.1)).toBe(0);
  const session = { from: 1_000, until: 2_000 };
  expect(spanOf({ time: 1_500, elapsedMs: 250 }, session)).toEqual({ start: 0.25, length: 0.25 });
  expect(spanOf({ time: 1_000, elapsedMs: 0 }, { from: 1_000, until: 1_000 })).toEqual({
    start: 0,
    length: 0,
  });
});
