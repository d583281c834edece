import { expect, test } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { equalPositions, lookUpFew } from './fact-matching.ts';
import { type FactBlock, FactBlockBuilder, framesOf } from './fact-block.ts';
import { type StoreSink, storeAll } from './fact-load.ts';
import { type FactPattern, FactStore, type FactToStore, type StoreOutcome } from './fact-store.ts';
import type { StoredRelation } from './stored-relation.ts';

function fact(predicate: string, args: readonly string[], changes: Partial<FactToStore> = {}): FactToStore {
  return { predicate, args, truthVal: true, scope: null, ...changes };
}

/** The matching facts, as `args@scope`, at the latest generation and this time. */
function matching(
  store: FactStore,
  args: readonly string[],
  changes: Partial<FactPattern> = {},
  time = 0,
  notYetValid = false,
): string[] {
  const pattern: FactPattern = { predicate: 'p', args, truthVal: null, scope: { kind: 'all' }, ...changes };
  const found = store.match(pattern, Number.MAX_SAFE_INTEGER, time, notYetValid);
  return [...found].map((row) => `${store.argsOf(row).join(',')}@${store.scopeOf(row) ?? ''}`);
}

test('builds an id from the generation and the position among the new facts of that write', () => {
  const store = new FactStore(0);
  const first = store.store(fact('p', ['a']), 1, 0);
  const ids = ['b', 'c'].map((arg) => store.idOf(store.store(fact('q', [arg]), 4, 0)));
  expect([store.idOf(first), ...ids]).toEqual(['f1-0', 'f4-0', 'f4-1']);
  const found = store.byId('f4-1');
  expect(found === null ? null : store.argsOf(found)).toEqual(['c']);
});

test('finds nothing for an id that this tenant never assigned', () => {
  const store = new FactStore(0);
  store.store(fact('p', ['a']), 3, 0);
  store.store(fact('p', ['b']), 5, 0);
  const others = ['f3-1', 'f4-0', 'f2-0', 'f6-0', 'f5-1', 'f3', 'f-3-0', 'F3-0', 'f3-0 ', 'f03-0x', '', 'r3'];
  expect(others.filter((id) => store.byId(id) !== null)).toEqual([]);
});

test('stores an update as a new version of the same fact: same id, same assertion', () => {
  const store = new FactStore(0);
  const stored = store.store(fact('p', ['a']), 1, 0);
  const updated = store.store(fact('p', ['a'], { metadata: { importance: 1 } }), 2, 0);
  expect(updated.status).toBe('updated');
  expect(store.idOf(updated)).toBe(store.idOf(stored));
  expect(store.assertedIn(updated)).toBe(1);
  expect(store.byId('f1-0')?.row).toBe(updated.row);
  expect(store.countStored(Number.MAX_SAFE_INTEGER, 0)).toBe(1);
});

test('keeps fields not given and replaces given ones, metadata as a whole', () => {
  const store = new FactStore(0);
  store.store(fact('p', ['a'], { validFrom: 5, validUntil: 50, metadata: { a: 1, b: 2 } }), 1, 0);
  const updated = store.store(fact('p', ['a'], { metadata: { b: 3 } }), 2, 0);
  expect(store.metadataOf(updated)).toEqual({ b: 3 });
  expect(updated.relation.validFrom?.[updated.row]).toBe(5);
  expect(updated.relation.validUntil?.[updated.row]).toBe(50);
  const opened = store.store(fact('p', ['a'], { validFrom: 'always', validUntil: 'never' }), 3, 0);
  expect(opened.relation.validFrom?.[opened.row]).toBe(Number.NEGATIVE_INFINITY);
  expect(opened.relation.validUntil?.[opened.row]).toBe(Number.POSITIVE_INFINITY);
  expect(store.metadataOf(opened)).toEqual({ b: 3 });
});

test('changes nothing for equal fields, whatever the key order of metadata', () => {
  const store = new FactStore(0);
  const metadata = { list: [1, { x: null }], deep: { a: 1, b: 'two' } };
  store.store(fact('p', ['a'], { metadata, validUntil: 9 }), 1, 0);
  const again = { deep: { b: 'two', a: 1 }, list: [1, { x: null }] };
  expect(store.store(fact('p', ['a'], { metadata: again, validUntil: 9 }), 2, 0).status).toBe('unchanged');
  expect(store.store(fact('p', ['a']), 2, 0).status).toBe('unchanged');
  const others = [{ ...again, list: [{ x: null }, 1] }, { ...again, deep: { a: '1', b: 'two' } }, {}];
  for (const [at, changed] of others.entries())
    expect(store.store(fact('p', ['a'], { metadata: changed }), 3 + at, 0).status).toBe('updated');
});

test('identifies a fact by scope, truth value, arity and predicate too', () => {
  const store = new FactStore(0);
  const facts = [
    fact('p', ['a']),
    fact('p', ['a'], { truthVal: false }),
    fact('p', ['a'], { scope: 's' }),
    fact('p', ['a', 'a']),
    fact('p', []),
    fact('q', ['a']),
    fact('P', ['a']),
  ];
  expect(facts.map((each) => store.store(each, 1, 0).status)).toEqual(facts.map(() => 'asserted'));
  expect(store.countStored(Number.MAX_SAFE_INTEGER, 0)).toBe(facts.length);
});

test('treats an expired fact as absent: asserted again, it is a new one', () => {
  const store = new FactStore(0);
  store.store(fact('p', ['a'], { validUntil: 100, metadata: { old: true } }), 1, 0);
  expect(store.store(fact('p', ['a']), 2, 99).status).toBe('unchanged');
  const again = store.store(fact('p', ['a']), 2, 100);
  expect(again.status).toBe('asserted');
  expect(store.idOf(again)).toBe('f2-0');
  expect(store.metadataOf(again)).toEqual({});
  expect(store.countStored(Number.MAX_SAFE_INTEGER, 100)).toBe(1);
});

test('makes a fact retracted and asserted again a new one', () => {
  const store = new FactStore(0);
  store.retract(store.store(fact('p', ['a'], { metadata: { old: true } }), 1, 0), 2);
  expect(store.changedAt('p', ['a'], true, null)).toBe(2);
  const again = store.store(fact('p', ['a']), 3, 0);
  expect(store.idOf(again)).toBe('f3-0');
  expect(store.assertedIn(again)).toBe(3);
  expect(store.changesOf(again)).toEqual([]);
  expect(store.metadataOf(again)).toEqual({});
  expect(store.changedAt('p', ['a'], true, null)).toBe(3);
});

test('counts expired facts as absent and future ones as stored', () => {
  const store = new FactStore(0);
  store.store(fact('p', ['a'], { validUntil: 100 }), 1, 0);
  store.store(fact('p', ['b'], { validFrom: 500 }), 1, 0);
  expect([
    store.countStored(Number.MAX_SAFE_INTEGER, 99),
    store.countStored(Number.MAX_SAFE_INTEGER, 100),
  ]).toEqual([2, 1]);
});

test('matches a pattern by constants and repeated variables, with ?_ for anything', () => {
  const store = new FactStore(0);
  for (const args of [
    ['a', 'a'],
    ['a', 'b'],
    ['b', 'b'],
    ['b', 'c'],
  ])
    store.store(fact('p', args), 1, 0);
  expect(matching(store, ['?x', '?y'])).toEqual(['a,a@', 'a,b@', 'b,b@', 'b,c@']);
  expect(matching(store, ['?x', '?x'])).toEqual(['a,a@', 'b,b@']);
  expect(matching(store, ['?_', '?_'])).toHaveLength(4);
  expect(matching(store, ['b', '?y'])).toEqual(['b,b@', 'b,c@']);
  expect(matching(store, ['?x', 'b'])).toEqual(['a,b@', 'b,b@']);
  expect(matching(store, ['never', '?y'])).toEqual([]);
  expect(matching(store, ['?x'])).toEqual([]);
});

test('matches a pattern in all scopes, one scope, or the unscoped facts', () => {
  const store = new FactStore(0);
  for (const scope of [null, 's', 't']) store.store(fact('p', ['a'], { scope }), 1, 0);
  expect(matching(store, ['?x'])).toEqual(['a@', 'a@s', 'a@t']);
  expect(matching(store, ['?x'], { scope: { kind: 'scope', scope: 's' } })).toEqual(['a@s']);
  expect(matching(store, ['a'], { scope: { kind: 'unscoped' } })).toEqual(['a@']);
  expect(matching(store, ['a'], { scope: { kind: 'scope', scope: 'never' } })).toEqual([]);
});

test('matches future facts only for stored facts, and expired ones never', () => {
  const store = new FactStore(0);
  store.store(fact('p', ['soon'], { validFrom: 10 }), 1, 0);
  store.store(fact('p', ['gone'], { validUntil: 5 }), 1, 0);
  store.store(fact('p', ['now']), 1, 0);
  expect(matching(store, ['?x'], {}, 5)).toEqual(['now@']);
  expect(matching(store, ['?x'], {}, 5, true)).toEqual(['soon@', 'now@']);
  expect(matching(store, ['?x'], {}, 10)).toEqual(['soon@', 'now@']);
});

test('records the instants at which visibility changes, except past ones', () => {
  const store = new FactStore(0);
  store.store(fact('p', ['a'], { validFrom: 50, validUntil: 90 }), 1, 60);
  store.store(fact('q', ['a'], { validFrom: 70 }), 1, 60);
  expect(store.boundaries.next).toBe(70);
  expect([...store.boundaries.takeUntil(90)].sort((a, b) => a - b)).toEqual([0, 1]);
});

test('drops dead versions at compaction; live ones keep ids, versions and history', () => {
  const store = new FactStore(0);
  for (let at = 0; at < 500; at++) store.store(fact('p', [`a${at}`]), 1, 0);
  store.store(fact('p', ['a3'], { metadata: { kept: true } }), 2, 0);
  const others = [...store.match(pattern('p', 1), 2, 0)].filter((row) => store.argsOf(row)[0] !== 'a3');
  for (const row of others) store.retract(row, 3);
  store.compact(['p/1'], 3);
  expect(matching(store, ['?x'])).toEqual(['a3@']);
  const kept = store.byId('f1-3');
  expect(kept === null ? null : [store.argsOf(kept), store.metadataOf(kept), store.idOf(kept)]).toEqual([
    ['a3'],
    { kept: true },
    'f1-3',
  ]);
  expect(store.byId('f1-4')).toBeNull();
  expect(store.changedAt('p', ['a4'], true, null)).toBe(3);
  expect(store.idOf(store.store(fact('p', ['a4']), 4, 0))).toBe('f4-0');
});

test('postpones compaction of relations whose dead rows are still in use', () => {
  const store = new FactStore(0);
  for (let at = 0; at < 500; at++) store.store(fact('p', [`a${at}`]), 1, 0);
  for (const row of [...store.match(pattern('p', 1), 1, 0)].slice(0, 400)) store.retract(row, 2);
  expect(store.compact(['p/1', 'q/1'], 1)).toEqual(['p/1']);
  expect(store.changedAt('p', ['a4'], true, null)).toBe(2);
  expect(store.byId('f1-4')).not.toBeNull();
  expect(store.compact(['p/1'], 2)).toEqual([]);
  expect(store.byId('f1-4')).toBeNull();
  expect(store.byId('f1-400')).not.toBeNull();
});

test('reports a fact as present if storing it would change nothing', () => {
  const store = new FactStore(0);
  store.store(fact('p', ['a'], { validUntil: 90, metadata: { by: { x: 1, y: 2 } } }), 1, 0);
  expect(store.isAlready(fact('p', ['a']), 0)).toBe(true);
  expect(store.isAlready(fact('p', ['a'], { validUntil: 90, metadata: { by: { y: 2, x: 1 } } }), 0)).toBe(
    true,
  );
  expect(store.isAlready(fact('p', ['a'], { validUntil: 'never' }), 0)).toBe(false);
  expect(store.isAlready(fact('p', ['a'], { validFrom: 5 }), 0)).toBe(false);
  expect(store.isAlready(fact('p', ['a'], { metadata: {} }), 0)).toBe(false);
  expect(store.isAlready(fact('p', ['b']), 0)).toBe(false);
  expect(store.isAlready(fact('p', ['a']), 90)).toBe(false);
});

function pattern(predicate: string, arity: number): FactPattern {
  const args = Array.from({ length: arity }, () => '?_');
  return { predicate, args, truthVal: null, scope: { kind: 'all' } };
}

test('orders pairs of equal positions by the first occurrence of a variable', () => {
  expect(equalPositions(['?x', 'a', '?y', '?x', '?_', '?_', '?x'])).toEqual([
    [0, 3],
    [0, 6],
  ]);
});

test('finds the versions of an atom in every requested scope, however many scopes there are', () => {
  for (const count of [3, 40]) {
    const store = new FactStore(0);
    for (let scope = 0; scope < count; scope++)
      for (const args of [['a', 'b'], ['b', 'a'], []])
        store.store(fact('p', args, { scope: scope === 0 ? null : `s${scope}` }), 1, 0);
    store.store(fact('p', ['a', 'b'], { scope: 's2', validUntil: 9 }), 2, 0);
    for (const args of [['a', 'b'], []]) {
      const scopesOf = (scope: FactPattern['scope']): (string | null)[] => {
        const alive = store.versionsOf('p', args, true, scope).filter((each) => store.isStored(each, 0));
        expect(alive.map((each) => store.argsOf(each))).toEqual(alive.map(() => args));
        return alive.map((each) => store.scopeOf(each));
      };
      expect(new Set(scopesOf({ kind: 'all' }))).toEqual(
        new Set([null, ...Array.from({ length: count - 1 }, (_, at) => `s${at + 1}`)]),
      );
      expect(scopesOf({ kind: 'all' })).toHaveLength(count);
      expect(scopesOf({ kind: 'unscoped' })).toEqual([null]);
      expect(scopesOf({ kind: 'scope', scope: 's2' })).toEqual(['s2']);
      expect(scopesOf({ kind: 'scope', scope: 'none' })).toEqual([]);
    }
    expect(store.versionsOf('p', ['a', 'c'], true, { kind: 'all' })).toEqual([]);
    expect(store.versionsOf('p', ['a', 'b'], false, { kind: 'all' })).toEqual([]);
  }
});

/** A store with one fact `p(a, b)` after many rows of the same key that are no longer visible. */
function behindDead(count: number): FactStore {
  const store = new FactStore(0);
  const stored = (args: readonly string[]) => store.store(fact('p', args), 1, 0);
  stored(['a', 'b']);
  for (let dead = 0; dead < count; dead++) store.retract(stored(['a', `d${dead}`]), 2);
  return store;
}

const few = (store: FactStore, args: readonly string[], changes: Partial<FactPattern> = {}, time = 0) => {
  const wanted: FactPattern = { predicate: 'p', args, truthVal: null, scope: { kind: 'all' }, ...changes };
  return lookUpFew(store, wanted, 9, time, 32)?.map((row) => store.argsOf(row).join(',')) ?? null;
};

test('looks for few facts among a limited number of rows of a key', () => {
  // 2,048 rows are scanned, including the one found.
  expect(few(behindDead(2_047), ['a', '?y'])).toEqual(['a,b']);
  expect(few(behindDead(2_048), ['a', '?y'])).toBeNull();
  // An atom is found directly, however many facts share its arguments.
  expect(few(behindDead(2_048), ['a', 'b'])).toEqual(['a,b']);
  expect(few(behindDead(2_048), ['a', 'd7'])).toEqual([]);
});

test('makes a large index in parts, one with each look-up, and finds the same facts meanwhile', () => {
  const store = new FactStore(0);
  const rows = 140_000;
  const expected = new Map<string, string[]>();
  const add = (at: number): void => {
    const key = `b${at % 9_000}`;
    store.store(fact('p', [`a${at}`, key]), 1, 0);
    expected.set(key, [...(expected.get(key) ?? []), `a${at},${key}`]);
  };
  for (let at = 0; at < rows; at++) add(at);
  const relation = store.relation('p', 2, false) as StoredRelation;
  const indexed: number[] = [];
  for (let lookUp = 0; lookUp < 4; lookUp++) {
    for (const key of [`b${lookUp * 7}`, 'b8999'])
      expect(few(store, ['?x', key], { scope: { kind: 'unscoped' } })).toEqual(expected.get(key));
    indexed.push(relation.indexToBuild([1, 2]).rows);
    add(rows + lookUp);
  }
  // The first look-ups scan.
  expect(indexed).toEqual([0, 131_072, 140_002, 140_003]);
});

test('counts invisible rows as scanned too: of other times, and unequal ones for a repeated variable', () => {
  for (const [count, found] of [
    [2_047, ['a,b,b']],
    [2_048, null],
  ] as const) {
    const store = new FactStore(0);
    store.store(fact('p', ['a', 'b', 'b']), 1, 0);
    for (let row = 0; row < count; row++)
      store.store(fact('p', ['a', `c${row}`, row % 2 === 0 ? 'd' : `c${row}`], { validFrom: 5 }), 1, 0);
    expect(few(store, ['a', '?y', '?y'])).toEqual(found);
  }
});

test('does not scan rows of other scopes for the facts of one', () => {
  const store = new FactStore(0);
  for (let row = 0; row < 3_000; row++) store.store(fact('p', ['a', `b${row}`], { scope: 's' }), 1, 0);
  store.store(fact('p', ['a', 'b1']), 1, 0);
  expect(few(store, ['a', '?y'], { scope: { kind: 'unscoped' } })).toEqual(['a,b1']);
  expect(few(store, ['a', '?y'])).toBeNull();
});

test('returns all facts visible in a generation and at a time, whatever came later', () => {
  const store = new FactStore(0);
  const seen = (generation: number, args: readonly string[], time = 0): string[] | null =>
    lookUpFew(
      store,
      { predicate: 'p', args, truthVal: null, scope: { kind: 'all' } },
      generation,
      time,
      32,
    )?.map((row) => `${store.argsOf(row).join(',')}@${store.scopeOf(row) ?? ''}`) ?? null;
  store.store(fact('p', ['a', 'b']), 1, 0);
  store.store(fact('p', ['a', 'b'], { scope: 's' }), 2, 0);
  store.store(fact('p', ['a', 'b'], { metadata: { importance: 1 } }), 3, 0);
  store.store(fact('p', ['a', 'b'], { validUntil: 50 }), 4, 0);
  store.store(fact('p', ['a', 'b'], { truthVal: false }), 5, 0);
  for (const args of [
    ['a', 'b'],
    ['a', '?y'],
    ['?x', 'b'],
  ]) {
    const counts = [0, 1, 2, 3, 4, 5].map((generation) => seen(generation, args)?.length);
    expect(counts).toEqual([0, 1, 2, 2, 2, 3]);
    expect(seen(4, args)?.toSorted()).toEqual(['a,b@', 'a,b@s']);
    expect(seen(4, args, 50)).toEqual(['a,b@s']);
  }
});

function blockOf(facts: readonly FactToStore[], following = 0): FactBlock {
  const builder = new FactBlockBuilder();
  for (const each of facts) builder.add(each);
  return builder.built(following);
}

test.each([false, true])('stores facts together as it stores them one by one, in columns: %s', (isBlock) => {
  for (let seed = 1; seed <= 12; seed++) {
    const prng = new Prng(seed);
    const constants = prng.pick([4, 40, 4000]);
    const random = (): FactToStore =>
      fact(
        prng.pick(['p', 'p', 'q']),
        Array.from(
          { length: prng.pick([0, 1, 2, 2, 2, 3]) },
          () => `${prng.pick(['c', 'é', '\ufeff'])}${prng.below(constants)}`,
        ),
        {
          truthVal: prng.chance(0.9),
          scope: prng.pick([null, null, 's', 't', 'u']),
          ...(prng.chance(0.1) ? { validFrom: prng.pick([0, 5, 'always'] as const) } : {}),
          ...(prng.chance(0.1) ? { validUntil: prng.pick([9, 12, 'never'] as const) } : {}),
          ...(prng.chance(0.1) ? { metadata: { importance: prng.pick([0.1, 0.2]) } } : {}),
        },
      );
    const [one, other] = [new FactStore(0), new FactStore(0)];
    const told = (store: FactStore, { status, ...row }: StoreOutcome): unknown[] => [
      status,
      store.idOf(row),
      store.identityOf(row),
      store.versionAt(row),
      row.row,
    ];
    for (let generation = 1; generation <= 12; generation++) {
      const facts = Array.from({ length: prng.below(400) }, random);
      const expected = facts.map((each) => told(one, one.store(each, generation, generation)));
      const found: unknown[][] = [];
      const given = isBlock ? blockOf(facts) : facts;
      for (let from = 0; from < facts.length; ) {
        const end = Math.min(facts.length, from + 1 + prng.below(200));
        const sink: StoreSink = {
          stored: (outcome) => found.push(told(other, outcome)),
          asserted: (relation, row, count) => {
            for (let at = row; at < row + count; at++)
              found.push(told(other, { status: 'asserted', relation, row: at }));
          },
        };
        storeAll({ store: other, generation, time: generation, sink }, given, { from, end });
        from = end;
      }
      expect(found).toEqual(expected);
    }
    expect([...other.relations.keys()]).toEqual([...one.relations.keys()]);
    expect(other.scopeNames).toEqual(one.scopeNames);
    expect(other.dictionary.size).toBe(one.dictionary.size);
  }
});

test('a block is the list of its facts', () => {
  const facts = [
    fact('p', ['a', 'b']),
    fact('p', [], { metadata: { importance: 0.5 } }),
    fact('q', ['', 'é', '\u{1f600}', '\ufeffx', 'y'.repeat(500)], { scope: 's', validUntil: 9 }),
    fact('p', ['a', 'b'], { truthVal: false }),
    fact('p', ['a', 'b']),
  ];
  const block = blockOf(facts);
  expect([...block]).toEqual(facts);
  expect(JSON.stringify({ facts: block })).toBe(JSON.stringify({ facts }));
  expect(block.frames).toHaveLength(4);
  const joined = new FactBlockBuilder();
  joined.addFrom(block, 1, 4);
  joined.addFrom(block, 0, 5);
  expect([...joined.built()]).toEqual([...facts.slice(1, 4), ...facts]);
  expect([...framesOf(block)].map(({ arity }) => arity)).toEqual([2, 0, 5, 2]);
  expect([...framesOf(facts)].map(({ arity }) => arity)).toEqual([2, 0, 5, 2, 2]);
});

test('stores so many facts in columns that tables grow between them', () => {
  const [one, other] = [new FactStore(0), new FactStore(0)];
  // More than are moved at once when slots are rebuilt, some of them known.
  const facts = Array.from({ length: 150_000 }, (_, at) =>
    fact('p', [`a${at % 7}`, `b${at % 11 === 0 ? at - 11 : at}`]),
  );
  for (const each of facts) one.store(each, 1, 1);
  const counts = { asserted: 0, updated: 0, unchanged: 0 };
  const sink: StoreSink = {
    stored: ({ status }) => counts[status]++,
    asserted: (_, __, count) => (counts.asserted += count),
  };
  const block = blockOf(facts);
  for (let from = 0; from < facts.length; from += 1000)
    storeAll({ store: other, generation: 1, time: 1, sink }, block, { from, end: from + 1000 });
  expect(counts.asserted).toBe(one.numbers.count);
  expect(counts.asserted + counts.unchanged).toBe(facts.length);
  const [expected, found] = [one, other].map((store) => store.relation('p', 2, false));
  const rows = expected?.count ?? 0;
  expect(found?.count).toBe(rows);
  for (const [position, column] of (expected?.columns ?? []).entries())
    expect(found?.columns[position]?.subarray(0, rows)).toEqual(column.subarray(0, rows));
  expect(found?.number.slice(0, rows)).toEqual(expected?.number.slice(0, rows));
  for (const [number, { args }] of facts.entries())
    if (number % 97 === 0) expect(other.find('p', args, true, null)).not.toBeNull();
  expect(other.dictionary.size).toBe(one.dictionary.size);
});

test('tables of a load get the room that it says it needs, and not much more than there is', () => {
  const facts = Array.from({ length: 120_000 }, (_, at) => fact(at % 3 === 0 ? 'q' : 'p', [`a${at}`, 'b']));
  const sink: StoreSink = { stored: () => {}, asserted: () => {} };
  const loaded = (following: (left: number) => number): FactStore => {
    const store = new FactStore(0);
    for (let from = 0; from < facts.length; from += 5000) {
      const some = facts.slice(from, from + 5000);
      const block = blockOf(some, following(facts.length - from - some.length));
      for (let at = 0; at < some.length; at += 250)
        storeAll({ store, generation: 1, time: 1, sink }, block, { from: at, end: at + 250 });
    }
    return store;
  };
  const [unknown, known, wrong] = [loaded(() => 0), loaded((left) => left), loaded(() => 1e9)];
  expect(known.bytes).toBeLessThan(unknown.bytes);
  expect(wrong.bytes).toBeLessThan(unknown.bytes * 10);
  for (const store of [unknown, known, wrong]) {
    expect(store.relation('p', 2, false)?.count).toBe(80_000);
    expect(store.find('q', ['a119997', 'b'], true, null)).not.toBeNull();
  }
});
