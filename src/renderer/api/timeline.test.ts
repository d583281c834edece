import { describe, expect, test } from 'vitest';
import type { GenerationEntry } from '../../engine/contract/history.ts';
import { call } from './client.ts';
import { queryKeyOf } from './live.ts';
import { endScriptedServices, scriptedService } from './testing/scripted-service.ts';
import { actorInWords, changesInWords, knownInWords, newestOf, surfaceInWords } from './timeline.ts';

endScriptedServices();

const none = { count: 0, facts: [] };
const entry: GenerationEntry = {
  generation: 12,
  time: 0,
  actor: { id: 'local', name: null },
  surface: 'http',
  client: null,
  session: null,
  reason: null,
  operation: 'assert',
  added: none,
  removed: none,
  changed: none,
  rules: [],
  declarations: [],
  redacted: 0,
};

describe('a generation in words', () => {
  test('counts what it changed, the word fact once', () => {
    const some = (count: number) => ({ count, facts: [] });
    expect(changesInWords({ ...entry, added: some(1) })).toBe('1 fact added');
    expect(changesInWords({ ...entry, added: some(1200), removed: some(2), changed: some(1) })).toBe(
      '1,200 facts added, 2 removed, 1 changed',
    );
    expect(changesInWords({ ...entry, removed: some(2) })).toBe('2 facts removed');
    expect(
      changesInWords({
        ...entry,
        rules: [{ id: 'r1', rule: 'p(?x) :- q(?x)', change: 'added' }],
        declarations: [
          { kind: 'alias', name: 'ann', change: 'added' },
          { kind: 'alias', name: 'anna', change: 'added' },
          { kind: 'constraint', name: 'c1', change: 'removed' },
        ],
        redacted: 3,
      }),
    ).toBe('1 rule, 1 constraint, 2 aliases, 3 facts erased since');
  });

  test('names who and by what: a key, this machine, the service itself, or nobody that is known', () => {
    expect(actorInWords(entry)).toBe('local');
    expect(actorInWords({ ...entry, actor: { id: 'k1', name: 'sync' } })).toBe('sync');
    expect(actorInWords({ ...entry, actor: null })).toBe('unknown');
    expect(actorInWords({ ...entry, surface: 'system' })).toBe('the service');
    expect(surfaceInWords(entry)).toBe('HTTP');
    expect(surfaceInWords({ ...entry, client: 'claude-code/2.1' })).toBe('claude-code/2.1');
    expect(surfaceInWords({ ...entry, surface: 'system', client: 'x' })).toBe('');
    expect(surfaceInWords({ surface: null })).toBe('');
    expect(surfaceInWords({ surface: 'carrier pigeon' })).toBe('carrier pigeon');
  });

  test('is known by its number, with separators', () => {
    expect(knownInWords('1234')).toBe('generation 1,234');
    expect(knownInWords('2026-07-01T10:00:00Z')).toContain('2026');
  });
});

test('answers about the past are cached apart: no key of theirs continues one of the present', () => {
  const present = { origin: '', database: 'd', tenant: 't', key: null };
  const past = { ...present, moment: { asOf: null, asKnown: '7' } };
  const prefix = queryKeyOf('facts', present);
  expect(prefix).toEqual(['facts', 'd', 't']);
  const key = queryKeyOf('facts', past, 'one');
  expect(key.slice(0, 3)).not.toEqual(prefix);
  expect(key).not.toEqual(queryKeyOf('facts', { ...past, moment: { asOf: null, asKnown: '8' } }, 'one'));
  expect(queryKeyOf('facts', { ...present, moment: null }, 'one')).toEqual([...prefix, 'one']);
});

test('an empty page of the history with a next one is no answer: that is asked too', async () => {
  const urls: string[] = [];
  const pages = [
    { generations: [], nextCursor: 's9', since: null },
    { generations: [], nextCursor: 's5', since: null },
    { generations: [entry], nextCursor: null, since: null },
  ];
  const endpoint = await scriptedService((request, response) => {
    urls.push(request.url ?? '');
    response.end(JSON.stringify(pages.shift() ?? { generations: [], nextCursor: null, since: null }));
  });
  const session = {
    call: (name, request) => call(endpoint, name, request),
  } as Parameters<typeof newestOf>[0];
  const { signal } = new AbortController();
  expect(await newestOf(session, { rule: 'r1' }, signal)).toEqual(entry);
  expect(urls).toEqual([
    '/history?rule=r1&limit=1',
    '/history?rule=r1&limit=1&cursor=s9',
    '/history?rule=r1&limit=1&cursor=s5',
  ]);
  expect(await newestOf(session, {}, signal)).toBe(null);
});
