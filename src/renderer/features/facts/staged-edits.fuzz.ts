import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TransactionWrite } from '../../api/transaction.ts';
import { editConflictsOf, keepMine } from './staged-conflicts.ts';
import {
  netChangesOf,
  clashesOf,
  concernedBy,
  contentOf,
  type FactContent,
  identityOf,
  inverseOf,
  isSameContent,
  type Presents,
  restage,
  type SeenFact,
  stageAdded,
  stageChanged,
  type StagedEdits,
  stageRemoved,
  unstage,
  editWritesOf,
} from './staged-edits.ts';

/** A minimal model of the service's store. */
type Store = ReadonlyMap<string, SeenFact>;

let lastId = 0;
const freshId = () => `f${(lastId += 1)}`;

/** The writes of a transaction by the contract; every guard is assumed to pass. */
function afterWrites(store: Store, writes: readonly TransactionWrite[]): Store {
  const next = new Map(store);
  for (const { operation, input } of writes) {
    if (operation !== 'retract' && operation !== 'assertFact') throw new Error(`unexpected ${operation}`);
    const { predicate, truthVal = true, scope = null } = input.body;
    const args = Object.values(input.body.args).map(String);
    const identity = identityOf({ predicate, args, truthVal: truthVal ?? true, scope: scope ?? null });
    if (operation === 'retract') {
      if (!next.delete(identity)) throw new Error('a retraction found nothing');
      continue;
    }
    const body = input.body;
    const before = next.get(identity);
    next.set(identity, {
      id: before?.id ?? freshId(),
      predicate,
      args,
      truthVal: truthVal ?? true,
      scope: scope ?? null,
      validFrom: bound(body.validFrom, before?.validFrom),
      validUntil: bound(body.validUntil, before?.validUntil),
      metadata: body.metadata ?? before?.metadata ?? {},
    });
  }
  return next;
}

function bound(given: unknown, before: number | null | undefined): number | null {
  if (given === undefined || given === null) return before ?? null;
  return typeof given === 'number' ? given : null;
}

const contents: fc.Arbitrary<FactContent> = fc.record({
  predicate: fc.constantFrom('p', 'q'),
  args: fc.tuple(fc.constantFrom('a', 'b', 'c')),
  truthVal: fc.constantFrom(true, true, false),
  scope: fc.constantFrom(null, null, 's'),
  validFrom: fc.constantFrom(null, null, 1),
  validUntil: fc.constantFrom(null, null, 9),
  metadata: fc.constantFrom({}, { n: 1 }, { n: 2 }),
});

type Act =
  | { kind: 'add'; fact: FactContent }
  | { kind: 'change'; at: number; fact: FactContent }
  | { kind: 'restage'; at: number; fact: FactContent }
  | { kind: 'remove'; at: number }
  | { kind: 'unstage'; at: number };

const acts: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), fact: contents }),
  fc.record({ kind: fc.constant('change' as const), at: fc.nat(20), fact: contents }),
  fc.record({ kind: fc.constant('restage' as const), at: fc.nat(20), fact: contents }),
  fc.record({ kind: fc.constant('remove' as const), at: fc.nat(20) }),
  fc.record({ kind: fc.constant('unstage' as const), at: fc.nat(20) }),
);

function staged(edits: StagedEdits, store: Store, act: Act): StagedEdits {
  if (act.kind === 'add') return stageAdded(edits, act.fact);
  const fact = [...store.values()][act.at % Math.max(1, store.size)];
  const edit = edits[act.at % Math.max(1, edits.length)];
  switch (act.kind) {
    case 'unstage':
      return edit === undefined ? edits : unstage(edits, edit.key);
    case 'restage':
      return edit === undefined ? edits : restage(edits, edit.key, act.fact);
    case 'remove':
      return fact === undefined ? edits : stageRemoved(edits, fact);
    case 'change':
      return fact === undefined ? edits : stageChanged(edits, fact, act.fact);
  }
}

function storeOf(facts: readonly FactContent[]): Store {
  return new Map(facts.map((fact) => [identityOf(fact), { id: freshId(), ...fact }]));
}

/** The stored state of every fact that the edits concern. */
function presentsOf(edits: StagedEdits, store: Store): Presents {
  return new Map(
    concernedBy(edits).map(({ identity }) => [
      identity,
      { fact: store.get(identity) ?? null, generation: 1 },
    ]),
  );
}

function listed(store: Store): string[] {
  return [...store.values()].map((fact) => JSON.stringify(contentOf(fact))).sort();
}

const worlds = fc.record({
  facts: fc.array(contents, { maxLength: 8 }),
  acts: fc.array(acts, { maxLength: 12 }),
  /** What others do before Apply. */
  others: fc.array(fc.record({ fact: contents, isRetraction: fc.boolean() }), { maxLength: 3 }),
});

function afterOthers(store: Store, others: readonly { fact: FactContent; isRetraction: boolean }[]): Store {
  const next = new Map(store);
  for (const { fact, isRetraction } of others) {
    const identity = identityOf(fact);
    if (isRetraction) next.delete(identity);
    else next.set(identity, { id: next.get(identity)?.id ?? freshId(), ...fact });
  }
  return next;
}

test('stores what was staged, writes every fact once, and restores everything by the inverse', () => {
  fc.assert(
    fc.property(worlds, ({ facts, acts: steps, others }) => {
      const before = storeOf(facts);
      let edits: StagedEdits = [];
      for (const act of steps) edits = staged(edits, before, act);
      expect(new Set(edits.map(({ key }) => key)).size).toBe(edits.length);
      fc.pre(clashesOf(edits).size === 0);

      const store = afterOthers(before, others);
      // Keeping mine in every conflict leaves no conflict.
      for (let round = 0; round < 3; round += 1)
        for (const conflict of editConflictsOf(edits, presentsOf(edits, store)))
          edits = keepMine(edits, conflict);
      fc.pre(clashesOf(edits).size === 0);
      const presents = presentsOf(edits, store);
      expect(editConflictsOf(edits, presents)).toEqual([]);

      const changes = netChangesOf(edits, presents);
      const writes = editWritesOf(changes, () => 1);
      const names = writes.map(({ operation, input }) => {
        if (operation !== 'retract' && operation !== 'assertFact') throw new Error(operation);
        const { predicate, args, truthVal, scope } = input.body;
        return JSON.stringify([predicate, args, truthVal, scope ?? null]);
      });
      expect(new Set(names).size).toBe(names.length);

      const after = afterWrites(store, writes);
      for (const edit of edits) {
        if (edit.kind === 'removed') continue;
        const fact = after.get(identityOf(edit.fact));
        expect(fact !== undefined && isSameContent(fact, edit.fact)).toBe(true);
      }
      const outcomes = new Set(
        edits.flatMap((edit) => (edit.kind === 'removed' ? [] : [identityOf(edit.fact)])),
      );
      for (const edit of edits)
        if (edit.kind !== 'added' && !outcomes.has(identityOf(edit.base)))
          expect(after.has(identityOf(edit.base))).toBe(false);
      const undone = afterWrites(
        after,
        editWritesOf(inverseOf(changes), () => 2),
      );
      expect(listed(undone)).toEqual(listed(store));
      expect(
        listed(
          afterWrites(
            undone,
            editWritesOf(changes, () => 3),
          ),
        ),
      ).toEqual(listed(after));
    }),
    { numRuns: 500 },
  );
});
