import { expect, test } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { FactStore, type FactRow } from './fact-store.ts';

test('finds in slices what it finds at once, in the same order, with or without an index', () => {
  const prng = new Prng(23);
  for (let round = 0; round < 12; round++) {
    const store = new FactStore(0);
    const name = (kinds: number): string => `a${prng.below(kinds)}`;
    const facts = Array.from({ length: prng.below(6000) }, (_, at) => {
      const args = [name(4), name(prng.chance(0.5) ? 4 : 3000), String(at % 7)];
      return store.store({ predicate: 'p', args, truthVal: true, scope: [null, 's'][at % 2] ?? null }, 1, 0);
    });
    for (const each of facts) if (prng.chance(0.2) && each.relation.isAlive(each.row)) store.retract(each, 2);
    for (let asked = 0; asked < 40; asked++) {
      const term = (text: string): string =>
        prng.chance(0.5) ? text : (['?x', '?y', '?_'][prng.below(3)] as string);
      const pattern = {
        predicate: 'p',
        args: [term(name(4)), term(name(8)), term(String(prng.below(7)))],
        truthVal: true,
        scope: prng.chance(0.5) ? { kind: 'all' as const } : { kind: 'unscoped' as const },
      };
      const generation = 1 + prng.below(2);
      const found = [...store.matchInSlices(pattern, generation, 1)];
      const rows = (list: readonly (FactRow | null)[]): number[] => list.flatMap((fact) => fact?.row ?? []);
      expect(rows(found)).toEqual(rows([...store.match(pattern, generation, 1, true)]));
    }
  }
});

test('pauses while it looks at many rows, whether or not they match', () => {
  const store = new FactStore(0);
  for (let at = 0; at < 5000; at++)
    store.store({ predicate: 'p', args: [String(at), 'a'], truthVal: true, scope: null }, 1, 0);
  for (const args of [
    ['?x', '?y'],
    ['?x', '?x'],
    ['?x', 'a'],
    ['?x', '1'],
  ]) {
    const steps = [
      ...store.matchInSlices({ predicate: 'p', args, truthVal: true, scope: { kind: 'all' } }, 1, 0),
    ];
    expect(steps.filter((step) => step === null).length, args.join()).toBeGreaterThan(3);
  }
});
