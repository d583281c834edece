import { describe, expect, test } from 'vitest';
import type { ScopeDiff, ScopeFact } from '../../../engine/contract/scopes.ts';
import {
  filterRows,
  isSameJson,
  joinVersions,
  mergeKeyOf,
  mergeRowCountsOf,
  mergeRowsOf,
  readChoices,
  resolutionsOf,
  resultOf,
  withChoice,
  writeChoices,
} from './merge.ts';
import { supposedOf, undoOf } from './undo.ts';

const nothing: ScopeDiff = {
  source: 'draft',
  target: 'main',
  added: [],
  removed: [],
  modified: [],
  unchanged: 0,
  truncated: false,
};

function fact(text: string, scope: string, more: Partial<ScopeFact> = {}): ScopeFact {
  const truthVal = !text.startsWith('-');
  const [predicate = '', ...args] = text.replace(/^-/, '').split(' ');
  return {
    id: `${scope} ${text}`,
    predicate,
    args,
    truthVal,
    scope,
    validFrom: null,
    validUntil: null,
    metadata: {},
    ...more,
  };
}

const none = new Map();
const pair = {
  source: fact('p a', 'draft', { metadata: { confidence: 0.9 } }),
  target: fact('p a', 'main', { metadata: { confidence: 0.5, note: 'old' } }),
  fields: ['metadata' as const],
};

describe('the rows of a comparison', () => {
  test('are ordered by predicate and arguments by code point, true before false', () => {
    const rows = mergeRowsOf({
      ...nothing,
      added: [fact('-p b', 'draft'), fact('p b', 'draft'), fact('p \u{1f600}', 'draft')],
      removed: [fact('p \uff21', 'main'), fact('p b c', 'main'), fact('o z', 'main')],
      modified: [pair],
    });
    expect(rows.map(({ key }) => key)).toEqual([
      'o(z)',
      'p(a)',
      'p(b)',
      '-p(b)',
      'p(b, c)',
      'p(\uff21)',
      'p(\u{1f600})',
    ]);
  });

  test('are conflicts or take one side as the service says', () => {
    const target = fact('-r', 'main');
    const rows = mergeRowsOf({
      ...nothing,
      added: [
        { ...fact('q a', 'draft'), merge: 'source' },
        { ...fact('q c', 'draft'), merge: 'target' },
        { ...fact('r', 'draft'), merge: 'conflict', opposite: target },
      ],
      removed: [{ ...fact('q b', 'main'), merge: 'source' }],
      modified: [{ ...pair, merge: 'conflict' }],
    });
    expect(rows.map(({ key, kind, conflicts, unasked }) => [key, kind, conflicts, unasked])).toEqual([
      ['p(a)', 'modified', true, 'target'],
      ['q(a)', 'added', false, 'source'],
      ['q(b)', 'removed', false, 'source'],
      ['q(c)', 'added', false, 'target'],
      ['r()', 'added', true, 'target'],
    ]);
    expect(rows.map(({ opposite }) => opposite)).toEqual([null, null, null, null, target]);
  });

  test('are counted and filtered by kind, by being unresolved, and by text', () => {
    const rows = mergeRowsOf({
      ...nothing,
      added: [{ ...fact('q Abc', 'draft'), merge: 'source' }],
      modified: [pair],
    });
    const chosen = (place: string) => place === mergeKeyOf(pair.source);
    expect(mergeRowCountsOf(rows, chosen)).toEqual({
      added: 1,
      removed: 0,
      modified: 1,
      conflicting: 1,
      unresolved: 0,
      resolved: 1,
    });
    expect(filterRows(rows, { kind: 'unresolved', q: '' }, chosen)).toEqual([]);
    expect(filterRows(rows, { kind: 'conflicting', q: '' }, chosen).map(({ key }) => key)).toEqual(['p(a)']);
    expect(filterRows(rows, { kind: undefined, q: 'aBC' }, chosen).map(({ key }) => key)).toEqual(['q(Abc)']);
  });
});

describe('the result of a merge', () => {
  const [row] = mergeRowsOf({ ...nothing, modified: [pair] });
  if (row === undefined) throw new Error('no row');

  test('follows the strategy for a conflict', () => {
    expect(resultOf(row, 'SOURCE_WINS', none)).toMatchObject({ versions: [pair.source], change: 'update' });
    expect(resultOf(row, 'TARGET_WINS', none)).toMatchObject({ versions: [pair.target], change: 'none' });
    expect(resultOf(row, 'REJECT', none)).toMatchObject({ take: 'refused', change: 'none' });
    expect(resultOf(row, 'KEEP_BOTH', none).versions[0]?.metadata).toEqual({
      confidence: 0.5,
      note: 'old',
      _source: { confidence: 0.9 },
    });
  });

  test('lets a choice override the strategy', () => {
    const choices = withChoice(none, [row.place], 'source');
    const result = resultOf(row, 'REJECT', choices);
    expect(result).toMatchObject({ take: 'source', by: 'choice', change: 'update' });
  });

  test('can reject a fact that is only in the source, and remove one from the target', () => {
    const [added, removed] = mergeRowsOf({
      ...nothing,
      added: [{ ...fact('a', 'draft'), merge: 'source' }],
      removed: [{ ...fact('b', 'main'), merge: 'target' }],
    });
    if (added === undefined || removed === undefined) throw new Error('no rows');
    expect(resultOf(added, 'REJECT', none).change).toBe('add');
    expect(resultOf(added, 'REJECT', new Map([[added.place, 'target']])).change).toBe('none');
    expect(resultOf(removed, 'REJECT', none).change).toBe('none');
    expect(resultOf(removed, 'REJECT', new Map([[removed.place, 'source']])).change).toBe('delete');
  });

  test('has the widest validity when joined, and joining again changes nothing', () => {
    const source = fact('p', 's', {
      validFrom: 5,
      validUntil: 20,
      metadata: { a: { x: 1, y: 2 }, b: 1, c: 3 },
    });
    const target = fact('p', 't', { validFrom: 7, validUntil: null, metadata: { a: { y: 2, x: 1 }, b: 2 } });
    const joined = joinVersions(source, target);
    expect(joined).toMatchObject({ validFrom: 5, validUntil: null });
    expect(joined.metadata).toEqual({ a: { x: 1, y: 2 }, b: 2, c: 3, _source: { b: 1 } });
    expect(isSameJson(joinVersions(source, joined), joined)).toBe(true);
  });
});

test.each([
  [{ a: 1, _source: { z: 1 } }, { a: 1 }, { a: 1, _source: { z: 1 } }],
  [{ a: 1, _source: { z: 1 } }, { a: 2 }, { a: 2, _source: { a: 1, _source: { z: 1 } } }],
  [{ a: 1 }, { a: 2, _source: { b: 3 } }, { a: 2, _source: { a: 1, b: 3 } }],
  [{ a: 1 }, { a: 2, _source: 'x' }, { a: 2, _source: { _target: 'x', a: 1 } }],
])(
  'puts contradictory metadata of the source under _source, whatever is there: %j into %j',
  (said, had, joined) => {
    const source = fact('p', 's', { metadata: said });
    const once = joinVersions(source, fact('p', 't', { metadata: had }));
    expect(once.metadata).toEqual(joined);
    expect(joinVersions(source, once).metadata).toEqual(joined);
  },
);

test('stores choices as a draft, and sends only those for differing facts', () => {
  const rows = mergeRowsOf({ ...nothing, modified: [pair], added: [fact('q b', 'draft')] });
  const choices = withChoice(none, ['["gone"]', mergeKeyOf(pair.source)], 'both');
  expect(readChoices(writeChoices(choices))).toEqual(choices);
  expect(readChoices('{"x":"theirs"}')).toEqual(new Map());
  expect(readChoices('{')).toEqual(new Map());
  expect(resolutionsOf(rows, choices)).toEqual([{ predicate: 'p', args: ['a'], take: 'both' }]);
  expect(withChoice(choices, ['["gone"]'], null).size).toBe(1);
});

/** A generator of random numbers from a seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

type Scope = Map<string, ScopeFact>;

function differencesOf(source: Scope, target: Scope): ScopeDiff {
  const isAlike = (one: ScopeFact, other: ScopeFact) =>
    one.validUntil === other.validUntil && isSameJson(one.metadata, other.metadata);
  const diff = { ...nothing, added: [...nothing.added], removed: [...nothing.removed] };
  const modified: ScopeDiff['modified'] = [];
  for (const [key, one] of source) {
    const other = target.get(key);
    if (other === undefined) diff.added.push(one);
    else if (!isAlike(one, other)) modified.push({ source: one, target: other, fields: ['metadata'] });
  }
  for (const [key, other] of target) if (!source.has(key)) diff.removed.push(other);
  for (const one of diff.added.slice()) {
    const other = diff.removed.find((left) => mergeKeyOf(left) === mergeKeyOf(one));
    if (other === undefined) continue;
    modified.push({ source: one, target: other, fields: ['truthVal'] });
    diff.added.splice(diff.added.indexOf(one), 1);
    diff.removed.splice(diff.removed.indexOf(other), 1);
  }
  return { ...diff, modified };
}

test('restores the target by the inverse of a merge, whatever was merged', () => {
  for (let seed = 1; seed <= 400; seed++) {
    const random = randomOf(seed);
    const scopeOf = (name: string): Scope => {
      const scope: Scope = new Map();
      for (let count = random(8); count > 0; count--) {
        const text = `${random(2) === 0 ? '' : '-'}p ${random(4)}`;
        scope.set(
          text,
          fact(text, name, { metadata: { v: random(2) }, validUntil: [null, 50][random(2)] ?? null }),
        );
      }
      return scope;
    };
    const [source, target] = [scopeOf('draft'), scopeOf('main')];
    const diff = differencesOf(source, target);
    const taken = <Of extends object>(of: Of) => ({
      ...of,
      merge: (['source', 'target', 'conflict'] as const)[random(3)],
    });
    const { added, removed, modified } = diff;
    const rows = mergeRowsOf({
      ...diff,
      added: added.map(taken),
      removed: removed.map(taken),
      modified: modified.map(taken),
    });
    const choices = new Map(
      rows
        .filter(() => random(3) === 0)
        .map(({ place }) => [place, (['source', 'target', 'both'] as const)[random(3)] ?? 'both']),
    );
    const strategy = (['SOURCE_WINS', 'TARGET_WINS', 'KEEP_BOTH', 'REJECT'] as const)[random(4)] ?? 'REJECT';
    const changed = rows.map((row) => ({ row, result: resultOf(row, strategy, choices) }));

    const after: Scope = new Map(target);
    const keyOf = ({ predicate, args, truthVal }: Pick<ScopeFact, 'predicate' | 'args' | 'truthVal'>) =>
      `${truthVal ? '' : '-'}${predicate} ${args.join(' ')}`;
    const versionOf = ({ validUntil, metadata }: Pick<ScopeFact, 'validUntil' | 'metadata'>) => ({
      validUntil,
      metadata,
    });
    for (const { row, result } of changed) {
      const about = row.source ?? row.target;
      if (about === null) throw new Error('a row without a fact');
      if (row.target !== null) after.delete(keyOf(row.target));
      for (const version of result.versions)
        after.set(keyOf({ ...about, ...version }), { ...about, ...version });
    }
    const asMerged = new Map([...after].map(([key, version]) => [key, versionOf(version)]));

    for (const write of undoOf(changed, 'main', 9, 10)) {
      const input = write.input.body;
      expect(input).toMatchObject({ scope: 'main', ifGeneration: 9 });
      const key = keyOf({
        ...input,
        args: Object.values(input.args).map(String),
        truthVal: input.truthVal ?? true,
      });
      if (write.operation === 'retract')
        expect(after.delete(key), `seed ${seed}: ${key} is there`).toBe(true);
      else {
        const { validUntil, metadata } = write.input.body;
        const end = typeof validUntil === 'number' ? validUntil : null;
        after.set(key, { ...fact(key, 'main'), validUntil: end, metadata: metadata ?? {} });
      }
    }
    const sorted = (scope: Scope) =>
      [...scope]
        .map(([key, version]) => ({ key, ...versionOf(version) }))
        .sort((one, other) => (one.key < other.key ? -1 : 1));
    expect(sorted(after), `seed ${seed}`).toEqual(sorted(target));

    // The preview equals what the merge does.
    const tried: Scope = new Map(target);
    const { assert, retract } = supposedOf(changed, 'main');
    for (const gone of retract) expect(tried.delete(keyOf(gone)), `seed ${seed}`).toBe(true);
    for (const one of assert)
      tried.set(keyOf(one), {
        ...fact(keyOf(one), 'main'),
        validUntil: typeof one.validUntil === 'number' ? one.validUntil : null,
        metadata: one.metadata,
      });
    expect(new Map([...tried].map(([key, version]) => [key, versionOf(version)])), `seed ${seed}`).toEqual(
      asMerged,
    );
  }
});

test('does not restore a fact whose validity has ended since', () => {
  const [row] = mergeRowsOf({ ...nothing, removed: [fact('p', 'main', { validUntil: 50 })] });
  if (row === undefined) throw new Error('no row');
  const changed = [{ row, result: resultOf(row, 'REJECT', new Map([[row.place, 'source']])) }];
  expect(undoOf(changed, null, 3, 49)).toMatchObject([
    { input: { body: { unscoped: true, validUntil: 50 } } },
  ]);
  expect(undoOf(changed, null, 3, 50)).toEqual([]);
});
