import { describe, expect, test } from 'vitest';
import { callListSchema, rememberedCalls, type ToolCallRecord } from '../../../engine/contract/agents.ts';
import {
  argumentsLine,
  callFileName,
  type CallFilter,
  callPieces,
  countSince,
  type FetchCalls,
  smallPage,
  maxPage,
  namelessClient,
  passes,
  pausedCalls,
  readFirst,
  readNewer,
  readOlder,
} from './call-log.ts';

function callOf(number: number, part: Partial<ToolCallRecord> = {}): ToolCallRecord {
  return {
    id: String(number),
    time: 1_000 + number,
    client: 'Cursor',
    tool: 'ask',
    arguments: { predicate: 'parent', args: ['ada', '?who'] },
    argumentsCut: false,
    outcome: 'ok',
    elapsedMs: 1.5,
    resultChars: 10,
    result: 'parent(ada, ben)',
    database: 'default',
    tenant: 'default',
    requestId: `request-${number}`,
    ...part,
  };
}

/** Calls `last`, ..., `first`: newest first. */
function callsTo(last: number, first = 1, part: Partial<ToolCallRecord> = {}): ToolCallRecord[] {
  return Array.from({ length: last - first + 1 }, (_, index) => callOf(last - index, part));
}

/** A log that follows the contract, and the pages requested from it. */
function logOf(calls: readonly ToolCallRecord[]): { fetchCalls: FetchCalls; asked: number[] } {
  const asked: number[] = [];
  return {
    asked,
    async fetchCalls({ limit, before }) {
      asked.push(limit);
      const older = before === null ? calls : calls.filter(({ id }) => Number(id) < Number(before));
      return older.slice(0, limit);
    },
  };
}

describe('following the log of calls', () => {
  test('reads the newest calls first, and whether there are older ones', async () => {
    const few = await readFirst(logOf(callsTo(3)).fetchCalls);
    expect(few.calls.map(({ id }) => id)).toEqual(['3', '2', '1']);
    expect(few.isWhole).toBe(true);
    const many = await readFirst(logOf(callsTo(500)).fetchCalls);
    expect(many.calls).toHaveLength(smallPage);
    expect(many.isWhole).toBe(false);
  });

  test('reads only newer calls, in one small page if there are few', async () => {
    const held = await readFirst(logOf(callsTo(500)).fetchCalls);
    const { fetchCalls, asked } = logOf(callsTo(503));
    const next = await readNewer(held, fetchCalls);
    expect(asked).toEqual([smallPage]);
    expect(next.calls.slice(0, 4).map(({ id }) => id)).toEqual(['503', '502', '501', '500']);
    expect(next.calls).toHaveLength(smallPage + 3);
    expect(next.anchor?.id).toBe('500');
    expect(await readNewer(next, fetchCalls)).toBe(next);
  });

  test('reads many new calls in a large page, without a gap', async () => {
    const held = await readFirst(logOf(callsTo(10)).fetchCalls);
    const { fetchCalls, asked } = logOf(callsTo(900));
    const next = await readNewer(held, fetchCalls);
    expect(asked).toEqual([smallPage, maxPage]);
    expect(next.calls).toEqual(callsTo(900));
    expect(next.isWhole).toBe(true);
  });

  test('replaces the loaded calls if there are too many new ones for a page', async () => {
    const held = await readFirst(logOf(callsTo(10)).fetchCalls);
    const next = await readNewer(held, logOf(callsTo(5_000)).fetchCalls);
    expect(next.calls).toEqual(callsTo(5_000, 5_001 - smallPage - maxPage));
    expect(next.isWhole).toBe(false);
    expect(next.anchor?.id).toBe('5000');
  });

  test('distinguishes calls of a restarted service although their ids are the same', async () => {
    const held = await readFirst(logOf(callsTo(3)).fetchCalls);
    const again = callsTo(4).map((call) => ({ ...call, requestId: `other-${call.id}` }));
    const next = await readNewer(held, logOf(again).fetchCalls);
    expect(next.calls).toEqual(again);
    expect(next.isWhole).toBe(true);
    const emptied = await readNewer(held, logOf([]).fetchCalls);
    expect(emptied.calls).toEqual([]);
  });

  test('treats the first call of all as new', async () => {
    const nothing = await readFirst(logOf([]).fetchCalls);
    expect(await readNewer(nothing, logOf([]).fetchCalls)).toBe(nothing);
    const next = await readNewer(nothing, logOf(callsTo(2)).fetchCalls);
    expect(next.calls).toHaveLength(2);
    expect(countSince(next.calls, next.calls, next.anchor)).toBe(2);
  });

  test('reads older calls in large pages until there are no more', async () => {
    const { fetchCalls } = logOf(callsTo(2_500));
    let held = await readFirst(fetchCalls);
    held = await readOlder(held, fetchCalls);
    expect(held.calls).toHaveLength(smallPage + maxPage);
    held = await readOlder(held, fetchCalls);
    held = await readOlder(held, fetchCalls);
    expect(held.calls).toEqual(callsTo(2_500));
    expect(held.isWhole).toBe(true);
    expect(await readOlder(held, fetchCalls)).toBe(held);
  });

  test('loads no more calls than the service remembers', async () => {
    const held = { calls: callsTo(rememberedCalls), isWhole: true, anchor: callOf(rememberedCalls) };
    const next = await readNewer(held, logOf(callsTo(rememberedCalls + 5)).fetchCalls);
    expect(next.calls).toHaveLength(rememberedCalls);
    expect(next.calls.at(-1)?.id).toBe('6');
  });
});

describe('a pause', () => {
  test('keeps the calls and older ones, and counts new ones', () => {
    const { shown, newer } = pausedCalls(callsTo(9), callsTo(6, 4));
    expect(shown).toEqual(callsTo(6));
    expect(newer.map(({ id }) => id)).toEqual(['9', '8', '7']);
  });

  test('keeps calls that the service has dropped', () => {
    const again = callsTo(2).map((call) => ({ ...call, requestId: `other-${call.id}` }));
    expect(pausedCalls(again, callsTo(2))).toEqual({ shown: callsTo(2), newer: again });
  });

  test('before the first call shows none', () => {
    expect(pausedCalls(callsTo(2), [])).toEqual({ shown: [], newer: callsTo(2) });
  });
});

describe('filters', () => {
  const any: CallFilter = { client: null, tool: null, outcome: null, text: '' };

  test('match client, tool and outcome exactly', () => {
    const call = callOf(1, { outcome: 'error' });
    expect(passes(call, any)).toBe(true);
    expect(passes(call, { ...any, client: 'Cursor', tool: 'ask', outcome: 'error' })).toBe(true);
    expect(passes(call, { ...any, client: 'cursor' })).toBe(false);
    expect(passes(call, { ...any, tool: 'as' })).toBe(false);
    expect(passes(call, { ...any, outcome: 'ok' })).toBe(false);
  });

  test('can select a client without a name', () => {
    expect(passes(callOf(1, { client: null }), { ...any, client: namelessClient })).toBe(true);
    expect(passes(callOf(1), { ...any, client: namelessClient })).toBe(false);
  });

  test('search a text in arguments, result, space and ids, ignoring case', () => {
    const call = callOf(1, { tenant: 'Acme', arguments: { predicate: 'p', args: ['a b'], limit: 7 } });
    for (const text of ['P(A B)', '"limit":7', 'BEN', 'acme', 'request-1'])
      expect(passes(call, { ...any, text }), text).toBe(true);
    expect(passes(call, { ...any, text: 'zoe' })).toBe(false);
  });

  test('count the filtered calls since the log was opened', () => {
    const calls = callsTo(6).map((call) => ({ ...call, tool: Number(call.id) % 2 === 0 ? 'ask' : 'tell' }));
    const asks = calls.filter(({ tool }) => tool === 'ask');
    expect(countSince(asks, calls, calls[3] ?? null)).toBe(2);
    expect(countSince(calls, calls, calls[0] ?? null)).toBe(0);
  });
});

describe('arguments in one line', () => {
  test('show the pattern as written, then all other arguments', () => {
    expect(argumentsLine({ predicate: 'age', args: ['ada', 36], limit: 5 })).toBe('age(ada, 36) · limit: 5');
    expect(argumentsLine({ text: 'p(?x),\n  q(?x)' })).toBe('p(?x), q(?x)');
    expect(argumentsLine({})).toBe('');
  });

  test('show whatever a careless agent sent', () => {
    expect(argumentsLine({ predicate: 7, args: 'ada' })).toBe('predicate: 7 · args: ada');
    expect(argumentsLine({ predicate: 'p', args: [{ a: 1 }] })).toBe('predicate: p · args: [{"a":1}]');
    expect(argumentsLine({ body: [{ naf: true }], scope: 'plan' })).toBe(
      'body: [{"naf":true}] · scope: plan',
    );
  });
});

const call: ToolCallRecord = {
  id: '7',
  time: 5,
  client: null,
  tool: 'tell',
  arguments: { predicate: 'p', args: ['line\nbreak', '\u2028'] },
  argumentsCut: false,
  outcome: 'error',
  elapsedMs: 0.25,
  resultChars: 3,
  result: 'no\n',
  database: 'default',
  tenant: 'acme',
  requestId: 'r-1',
};

test('exports calls as one JSON object per line', () => {
  const lines = callPieces([call, { ...call, id: '6' }], 'ndjson')
    .join('')
    .split('\n');
  expect(lines).toHaveLength(3);
  expect(lines[2]).toBe('');
  expect(lines.slice(0, 2).map((line) => JSON.parse(line) as unknown)).toEqual([call, { ...call, id: '6' }]);
});

test("exports calls as the service's list", () => {
  for (const calls of [[], [call], [call, { ...call, id: '6' }]]) {
    const text = callPieces(calls, 'json').join('');
    expect(callListSchema.parse(JSON.parse(text))).toEqual({ calls });
  }
});

test('puts the time into the file name, in characters that every system accepts', () => {
  expect(callFileName('ndjson', 0)).toBe('tool-calls-1970-01-01T00-00-00Z.ndjson');
});
