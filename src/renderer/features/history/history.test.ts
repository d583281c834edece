/** What the History view works out without the service: its address, groups, moments as text, and why it is empty. */
import { describe, expect, test } from 'vitest';
import type { GenerationEntry } from '../../../engine/contract/history.ts';
import { problems } from '../../../engine/contract/problems.ts';
import { groupsOf, changedFactsOf } from './groups.ts';
import { historyFilterOf, historySearchOf, isFiltered } from './history-search.ts';
import { readMoment, writeMoment } from './moment-text.ts';
import { whereItEnds, whyEmpty, whyGone } from './why-empty.ts';

const none = { count: 0, facts: [] };

function entry(generation: number, part: Partial<GenerationEntry> = {}): GenerationEntry {
  return {
    generation,
    time: generation * 1000,
    actor: { id: 'local', name: null },
    surface: 'mcp',
    client: 'agent/1',
    session: 's1',
    reason: null,
    operation: 'assert',
    added: { count: 1, facts: [`p(${generation})`] },
    removed: none,
    changed: none,
    rules: [],
    declarations: [],
    redacted: 0,
    ...part,
  };
}

describe('the address', () => {
  test('has part, filters, what is open and the moments compared; the rest is dropped', () => {
    const search = {
      part: 'compare',
      entity: 'anna',
      predicate: 'p',
      rule: 'r1',
      actor: 'local',
      surface: 'mcp',
      open: '12',
      from: '3',
      to: '2026-07-01T10:00:00Z',
      flip: 'p(a)',
    } as const;
    expect(historySearchOf({ ...search, other: 'x' })).toEqual(search);
    expect(historyFilterOf(search)).toEqual({
      entity: 'anna',
      predicate: 'p',
      rule: 'r1',
      actor: 'local',
      surface: 'mcp',
    });
    expect(
      historySearchOf({ part: 'all', entity: '', surface: 'post', open: '0', from: 'then', to: 5, flip: '' }),
    ).toEqual({});
  });

  test('filters with any of five', () => {
    expect(isFiltered({ open: '3', part: 'compare', from: '1' })).toBe(false);
    for (const name of ['entity', 'predicate', 'rule', 'actor'])
      expect(isFiltered({ [name]: 'x' }), name).toBe(true);
  });
});

describe('groups', () => {
  const dayOf = (time: number) => (time < 5000 ? 'Monday' : 'Tuesday');

  test('have neighbours of one actor, client, session and day, in the order of the list', () => {
    const entries = [
      entry(9),
      entry(8),
      entry(7, { session: 's2' }),
      entry(6, { client: 'agent/2' }),
      entry(5),
      entry(4),
      entry(3, { actor: { id: 'k1', name: 'sync' } }),
      entry(2, { actor: { id: 'k1', name: 'renamed since' } }),
      entry(1, { actor: null, surface: null, client: null, session: null }),
    ];
    const groups = groupsOf(entries, dayOf);
    expect(groups.map((group) => group.entries.map(({ generation }) => generation))).toEqual([
      [9, 8],
      [7],
      [6],
      [5],
      [4],
      [3, 2],
      [1],
    ]);
    expect(groups.flatMap((group) => group.entries)).toEqual(entries);
    expect(new Set(groups.map(({ key }) => key)).size).toBe(groups.length);
  });

  test('add up the facts of their entries, also those that are not listed', () => {
    const some = (count: number) => ({ count, facts: [] });
    expect(
      changedFactsOf([entry(2, { added: some(1000), changed: some(2) }), entry(1, { removed: some(3) })]),
    ).toEqual({ added: 1001, removed: 3, changed: 2 });
  });
});

describe('a moment as text', () => {
  test('is a generation, or a time of this place', () => {
    expect(readMoment(' 412 ')).toBe('412');
    expect(readMoment('2026-03-01 10:20')).toBe(new Date(2026, 2, 1, 10, 20).toISOString());
    expect(readMoment('2026-03-01T10:20:30')).toBe(new Date(2026, 2, 1, 10, 20, 30).toISOString());
    expect(readMoment('2026-03-01')).toBe(new Date(2026, 2, 1).toISOString());
    expect(readMoment('2026-03-01T10:20:30Z')).toBe('2026-03-01T10:20:30Z');
    expect(readMoment('2026-03-01T10:20+02:00')).toBe('2026-03-01T10:20+02:00');
  });

  test('is nothing else, nor a day that its month does not have', () => {
    for (const text of ['', 'yesterday', '-1', '2026-02-31', '2026-02-31 10:00', '2026-13-01', '10:20'])
      expect(readMoment(text), text).toBe(null);
  });

  test('is read back as it is written', () => {
    for (const moment of ['412', '2026-03-01T10:20:30.000Z', '2026-10-25T00:30:00.000Z'])
      expect(readMoment(writeMoment(moment))).toBe(moment);
    expect(writeMoment('soon')).toBe('soon');
  });
});

describe('an empty history says why', () => {
  test('a list that has ended says what a repair lost', () => {
    const gaps = [{ from: 1_782_900_000_300, to: 1_782_900_400_300 }];
    expect(whereItEnds({ since: null, gaps: [] })).toBe('This is everything, from the first write on.');
    expect(whereItEnds({ since: null, gaps })).toMatch(
      /^This goes back to the first write\. Writes between .+ and .+ are missing: damaged records were lost\.$/,
    );
  });

  test('nothing has changed yet, or it is not kept, or the filters leave nothing', () => {
    expect(whyEmpty(null, false).title).toBe('Nothing has changed yet');
    expect(whyEmpty(null, true).detail).not.toContain('HISTORY_DAYS');
    expect(whyEmpty(1_782_900_000_300, false)).toMatchObject({
      title: 'No change is kept',
      detail: expect.stringContaining('HISTORY_DAYS'),
    });
    expect(whyEmpty(1_782_900_000_300, true).title).toBe('No change passes the filters');
  });

  test('a service without a history says so itself, and other failures are failures', () => {
    const failure = { status: 410, title: '', detail: 'with STORE_URL …', requestId: '', errors: [] };
    expect(whyGone({ ...failure, code: 'HistoryGone' })?.detail).toBe('with STORE_URL …');
    expect(problems.HistoryGone.status).toBe(410);
    expect(whyGone({ ...failure, code: 'Unreachable' })).toBe(null);
  });
});
