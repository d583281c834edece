import { describe, expect, it } from 'vitest';
import { type Caller, systemOrigin } from '../../engine/index.ts';
import type { ToolCall } from '../base/agent-host.ts';
import { ToolCallLog } from './agents.ts';

const caller: Caller = {
  credential: null,
  role: 'admin',
  databases: [],
  tenants: [],
  database: 'default',
  tenant: 'one',
  client: 'agent',
  transaction: null,
  idempotency: null,
  requestId: 'r',
  origin: systemOrigin,
  signal: new AbortController().signal,
};

function call(changes: Partial<ToolCall> = {}): ToolCall {
  const given = { arguments: { predicate: 'p' }, text: 'Stored: p(a)', resultChars: 40 };
  return { caller, tool: 'tell', isKnown: true, outcome: 'ok', elapsedMs: 1.23456, ...given, ...changes };
}

const everything = () => true;

async function ids(log: ToolCallLog, limit = 1000, before: number | null = null): Promise<string[]> {
  return (await log.list(everything, limit, before)).map(({ id }) => id);
}

describe('the log of calls', () => {
  it('records each call with its caller, its target and its outcome', async () => {
    const log = new ToolCallLog();
    expect(log.add(call(), 5)).toBe('1');
    expect(await log.list(everything, 10, null)).toEqual([
      {
        id: '1',
        time: 5,
        client: 'agent',
        tool: 'tell',
        arguments: { predicate: 'p' },
        argumentsCut: false,
        outcome: 'ok',
        elapsedMs: 1.235,
        resultChars: 40,
        result: 'Stored: p(a)',
        database: 'default',
        tenant: 'one',
        requestId: 'r',
      },
    ]);
  });

  it('keeps the last 10,000, newest first', async () => {
    const log = new ToolCallLog();
    for (let index = 0; index < 25_000; index++) log.add(call(), index);
    const all = await ids(log, Number.POSITIVE_INFINITY);
    expect(all).toEqual(Array.from({ length: 10_000 }, (_, index) => String(25_000 - index)));
  });

  it('returns the calls before an id, even if that call was dropped or never existed', async () => {
    const log = new ToolCallLog({ calls: 5, bytes: 1e6 });
    for (let index = 0; index < 12; index++) log.add(call(), index);
    expect(await ids(log, 2)).toEqual(['12', '11']);
    expect(await ids(log, 2, 11)).toEqual(['10', '9']);
    expect(await ids(log, 10, 9)).toEqual(['8']);
    for (const before of [8, 3, 1, 0]) expect(await ids(log, 10, before)).toEqual([]);
    expect(await ids(log, 10, 999)).toHaveLength(5);
  });

  it('is bounded in bytes: it keeps fewer long calls, and always the last one', async () => {
    const log = new ToolCallLog({ calls: 1000, bytes: 20_000 });
    const long = call({ arguments: { text: 'x'.repeat(1200) }, text: 'y'.repeat(10_000) });
    for (let index = 0; index < 100; index++) log.add(long, index);
    const kept = await ids(log);
    expect(kept.length).toBeGreaterThan(5);
    expect(kept.length).toBeLessThan(12);
    expect(kept[0]).toBe('100');
    // Three bytes a character.
    const wide = call({ arguments: { text: '数'.repeat(1200) }, text: '数'.repeat(10_000) });
    for (let index = 0; index < 100; index++) log.add(wide, index);
    expect((await ids(log)).length).toBeLessThan(kept.length);
    const tiny = new ToolCallLog({ calls: 10, bytes: 10 });
    for (let index = 0; index < 3; index++) tiny.add(long, index);
    expect(await ids(tiny)).toEqual(['3']);
  });

  it('has room for 10,000 of the longest calls in Latin letters', async () => {
    const log = new ToolCallLog();
    const longest = call({
      caller: {
        ...caller,
        client: 'c'.repeat(256),
        database: 'd'.repeat(128),
        tenant: 't'.repeat(256),
        requestId: 'i'.repeat(128),
      },
      tool: 't'.repeat(100),
      arguments: { text: 'x'.repeat(1480) },
      text: 'y'.repeat(10_000),
    });
    for (let index = 0; index < 10_100; index++) log.add(longest, 1_782_900_004_000);
    expect(await ids(log, Number.POSITIVE_INFINITY)).toHaveLength(10_000);
  });

  it('shows only what the credential covers, up to the limit', async () => {
    const log = new ToolCallLog();
    for (let index = 0; index < 100; index++)
      log.add(call({ caller: { ...caller, tenant: index % 10 === 0 ? 'one' : 'other' } }), index);
    const calls = await log.list(({ tenant }) => tenant === 'one', 4, null);
    expect(calls.map(({ id, tenant }) => `${id} ${tenant}`)).toEqual([
      '91 one',
      '81 one',
      '71 one',
      '61 one',
    ]);
  });
});
