import { expect, test } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { compareText } from '../base/text-order.ts';
import { type ReadContext, visibleIn } from '../session/read-context.ts';
import { contradictions, countContradictions } from './contradictions.ts';
import type { FactRow, ScopeChoice } from '../store/fact-store.ts';
import { FactWorld } from '../testing/fact-world.ts';
import { overSeeds } from '../testing/twin.ts';

/** Contradictions against a comparison of all facts with all facts, for current and earlier readers. */

function shown({ tenant }: ReadContext, atom: string, facts: readonly FactRow[]): string {
  return `${atom} ${facts
    .map((fact) => `${tenant.facts.idOf(fact)}.${fact.row}`)
    .sort()
    .join(' ')}`;
}

function plainly(context: ReadContext, view: ScopeChoice): string[] {
  const { facts } = context.tenant;
  const isVisible = visibleIn(context, view);
  const atoms = new Map<string, { positive: FactRow[]; negative: FactRow[] }>();
  for (const relation of facts.relations.values())
    for (let row = 0; row < relation.count; row++) {
      if (!isVisible(relation, row)) continue;
      const key = JSON.stringify([relation.predicate, ...facts.argsOf({ relation, row })]);
      const atom = atoms.get(key) ?? { positive: [], negative: [] };
      atom[relation.negated ? 'negative' : 'positive'].push({ relation, row });
      atoms.set(key, atom);
    }
  return [...atoms]
    .filter(([, { positive, negative }]) => positive.length > 0 && negative.length > 0)
    .flatMap(([key, { positive, negative }]) => [
      shown(context, key, positive),
      shown(context, `-${key}`, negative),
    ])
    .sort(compareText);
}

async function found(context: ReadContext, view: ScopeChoice): Promise<string[]> {
  const { facts } = context.tenant;
  const lines: string[] = [];
  for await (const { positive, negative } of contradictions(context, view)) {
    const [first] = positive as [FactRow];
    const key = JSON.stringify([first.relation.predicate, ...facts.argsOf(first)]);
    lines.push(shown(context, key, positive), shown(context, `-${key}`, negative));
  }
  return lines.sort(compareText);
}

test('finds the contradictions of every view, in every pinned state', () =>
  overSeeds({ name: 'contradictions', few: 40, many: 4000 }, async (seed) => {
    const prng = new Prng(seed);
    const world = new FactWorld(prng);
    let readers: ReadContext[] = [];
    for (let step = 0; step < 120; step++) {
      world.step(readers.length > 0);
      if (prng.chance(0.1)) readers.push(world.context());
      if (!prng.chance(0.15)) continue;
      const context = readers.length > 0 && prng.chance(0.6) ? prng.pick(readers) : world.context();
      const view = world.view();
      const wanted = plainly(context, view);
      expect(await found(context, view)).toEqual(wanted);
      expect(await countContradictions(context, view)).toBe(wanted.length / 2);
      if (prng.chance(0.3)) readers = [];
    }
  }));
