import { expect, test } from 'vitest';
import { FactStore, type FactPattern, type FactToStore } from '../../store/fact-store.ts';
import { FactOverlay } from './fact-overlay.ts';
import { isAdded, matching, type Reader } from './reader.ts';

/** Facts hidden and added over a pinned reader, compared with the effect of real writes. */

const everywhere = { kind: 'all' } as const;

function fact(predicate: string, args: readonly string[], changes: Partial<FactToStore> = {}): FactToStore {
  return { predicate, args, truthVal: true, scope: null, ...changes };
}

function pattern(
  predicate: string,
  args: readonly string[],
  changes: Partial<FactPattern> = {},
): FactPattern {
  return { predicate, args, truthVal: null, scope: everywhere, ...changes };
}

function pinned(facts: FactStore, generation: number, time = 0): Reader {
  return { facts, generation, time, overlay: null };
}

/** The facts that match through the overlay, rendered with scope and sign. */
function seen(base: Reader, overlay: FactOverlay, wanted: FactPattern): string[] {
  const reader = { ...base, overlay };
  return [...matching(reader, wanted)]
    .map((found) => {
      const facts = isAdded(reader, found) ? overlay.added.facts : base.facts;
      const scope = facts.scopeOf(found);
      const args = Array.from(found.relation.columns.slice(0, found.relation.arity), (column) =>
        overlay.constants.text(column[found.row] as number),
      );
      return `${found.relation.negated ? '-' : ''}${args.join(' ')}${scope === null ? '' : ` in ${scope}`}`;
    })
    .sort();
}

test('shows added facts beside the stored ones, in their scopes, and no hidden ones', () => {
  const facts = new FactStore(0);
  facts.store(fact('p', ['a']), 1, 0);
  facts.store(fact('p', ['b'], { scope: 's' }), 1, 0);
  const base = pinned(facts, 1);
  const overlay = new FactOverlay(base);
  overlay.store(fact('p', ['new'], { scope: 'new scope' }));
  overlay.store(fact('p', ['a'], { truthVal: false, scope: 's' }));
  expect([...overlay.retract(pattern('p', ['b']))]).toHaveLength(1);
  expect(seen(base, overlay, pattern('p', ['?x']))).toEqual(['-a in s', 'a', 'new in new scope']);
  const inScope = (scope: string) =>
    seen(base, overlay, pattern('p', ['?x'], { scope: { kind: 'scope', scope } }));
  expect(inScope('new scope')).toEqual(['new in new scope']);
  expect(inScope('s')).toEqual(['-a in s']);
  expect(seen(base, overlay, pattern('p', ['?x'], { scope: { kind: 'unscoped' } }))).toEqual(['a']);
});

test('keeps constants and scopes of added facts out of the stored ones', () => {
  const facts = new FactStore(0);
  facts.store(fact('p', ['a']), 1, 0);
  const before = {
    constants: facts.dictionary.bytes,
    scopes: facts.scopeNames.length,
    relations: facts.relations.size,
  };
  const overlay = new FactOverlay(pinned(facts, 1));
  for (let at = 0; at < 1000; at++) overlay.store(fact('q', [`constant ${at}`, 'a'], { scope: `s${at}` }));
  expect(facts.dictionary.find('constant 0')).toBe(-1);
  expect({
    constants: facts.dictionary.bytes,
    scopes: facts.scopeNames.length,
    relations: facts.relations.size,
  }).toEqual(before);
});

test('replaces a stored fact by its next version, which keeps its id and the fields not given', () => {
  const facts = new FactStore(0);
  const { relation, row } = facts.store(
    fact('p', ['a'], { validFrom: 5, validUntil: 50, metadata: { a: 1 } }),
    1,
    0,
  );
  const base = pinned(facts, 1);
  const overlay = new FactOverlay(base);
  overlay.store(fact('p', ['a'], { validUntil: 60 }));
  expect(overlay.boundsOf(fact('p', ['a']))).toEqual({ from: 5, until: 60 });
  // Its validity has not begun.
  expect(seen(base, overlay, pattern('p', ['?x']))).toEqual([]);
  overlay.store(fact('p', ['a'], { validFrom: 'always' }));
  const [version] = overlay.added.facts.match(pattern('p', ['?x']), 1, 0);
  if (version === undefined) throw new Error('it is valid now');
  expect(overlay.idOf(version)).toBe(facts.idOf({ relation, row }));
  expect(overlay.added.facts.metadataOf(version)).toEqual({ a: 1 });
  expect(overlay.boundsOf(fact('p', ['a']))).toEqual({ from: Number.NEGATIVE_INFINITY, until: 60 });
});

test('treats an expired fact as absent: asserted again it is a new one', () => {
  const facts = new FactStore(0);
  facts.store(fact('p', ['a'], { validUntil: 5, metadata: { a: 1 } }), 1, 0);
  const overlay = new FactOverlay(pinned(facts, 1, 10));
  expect([...overlay.retract(pattern('p', ['a']))]).toEqual([]);
  overlay.store(fact('p', ['a']));
  const [version] = overlay.added.facts.match(pattern('p', ['a']), 1, 10);
  expect(version && [overlay.idOf(version), overlay.added.facts.metadataOf(version)]).toEqual([null, {}]);
});

test('makes a retracted and reasserted fact a new one; an added one can be retracted', () => {
  const facts = new FactStore(0);
  facts.store(fact('p', ['a'], { validUntil: 50 }), 1, 0);
  const base = pinned(facts, 1);
  const overlay = new FactOverlay(base);
  expect([...overlay.retract(pattern('p', ['?x']))]).toHaveLength(1);
  expect([...overlay.retract(pattern('p', ['?x']))]).toHaveLength(0);
  overlay.store(fact('p', ['a']));
  expect(overlay.boundsOf(fact('p', ['a'])).until).toBe(Number.POSITIVE_INFINITY);
  overlay.store(fact('p', ['b']));
  expect([...overlay.retract(pattern('p', ['?x']))]).toHaveLength(2);
  expect(seen(base, overlay, pattern('p', ['?x']))).toEqual([]);
});

test('retracts facts by pattern even before their validity begins', () => {
  const facts = new FactStore(0);
  facts.store(fact('p', ['a'], { validFrom: 50 }), 1, 0);
  const overlay = new FactOverlay(pinned(facts, 1));
  overlay.store(fact('p', ['b'], { validFrom: 50 }));
  expect([...overlay.retract(pattern('p', ['?x']))]).toHaveLength(2);
  expect(overlay.boundsOf(fact('p', ['a'])).from).toBe(Number.NEGATIVE_INFINITY);
});

test('retracts a fact by its id in any version, once, and never another in its place', () => {
  const facts = new FactStore(0);
  const id = facts.idOf(facts.store(fact('p', ['a']), 1, 0));
  const overlayOf = (): FactOverlay => new FactOverlay(pinned(facts, 1));
  const plain = overlayOf();
  expect(plain.retractById(id)).not.toBeNull();
  expect(plain.retractById(id)).toBeNull();
  const updated = overlayOf();
  updated.store(fact('p', ['a'], { validUntil: 50 }));
  expect(updated.retractById(id)).not.toBeNull();
  expect(updated.retractById(id)).toBeNull();
  const replaced = overlayOf();
  replaced.retractById(id);
  replaced.store(fact('p', ['a']));
  expect(replaced.retractById(id)).toBeNull();
  expect(overlayOf().retractById('f1-1')).toBeNull();
});

test('ignores writes after the reader was pinned: the version of its generation counts', () => {
  const facts = new FactStore(0);
  const first = facts.store(fact('p', ['a'], { validUntil: 50 }), 1, 0);
  const id = facts.idOf(first);
  facts.store(fact('q', ['b']), 1, 0);
  const base = pinned(facts, 1);
  facts.store(fact('p', ['a'], { validUntil: 60 }), 2, 0);
  const gone = facts.find('q', ['b'], true, null);
  if (gone === null) throw new Error('it was stored');
  facts.retract(gone, 2);
  facts.store(fact('q', ['b'], { validUntil: 70 }), 3, 0);
  facts.store(fact('r', ['c']), 3, 0);

  const overlay = new FactOverlay(base);
  expect(overlay.boundsOf(fact('p', ['a'])).until).toBe(50);
  expect(overlay.boundsOf(fact('q', ['b'])).until).toBe(Number.POSITIVE_INFINITY);
  overlay.store(fact('p', ['a'], { metadata: { a: 1 } }));
  expect(overlay.boundsOf(fact('p', ['a'])).until).toBe(50);
  expect(seen(base, overlay, pattern('p', ['?x']))).toEqual(['a']);
  overlay.store(fact('r', ['c'], { validUntil: 80 }));
  expect(overlay.boundsOf(fact('r', ['c'])).until).toBe(80);
  expect([...overlay.retract(pattern('q', ['?x']))]).toHaveLength(1);
  expect(seen(base, overlay, pattern('q', ['?x']))).toEqual([]);
  const again = new FactOverlay(base);
  expect(again.retractById(id)).toEqual({ relation: first.relation, row: first.row });
  expect(seen(base, again, pattern('p', ['?x']))).toEqual([]);
});
