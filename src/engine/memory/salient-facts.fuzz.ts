import { expect, test } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { compareText } from '../base/text-order.ts';
import { type ReadContext, visibleIn } from '../session/read-context.ts';
import type { FactRow, ScopeChoice } from '../store/fact-store.ts';
import type { StoredRelation } from '../store/stored-relation.ts';
import { renderAtom } from '../language/print.ts';
import { salientFacts } from './salient-facts.ts';
import { FactWorld } from '../testing/fact-world.ts';
import { overSeeds } from '../testing/twin.ts';

/** The most salient facts, found by bounds, against all facts sorted; for current and earlier readers. */

type IsWanted = (relation: StoredRelation) => boolean;

function shown({ tenant, reader }: ReadContext, { relation, row }: FactRow, salience: number): string {
  const { predicate, negated } = relation;
  const { facts } = tenant;
  const atom = renderAtom({ predicate, args: facts.argsOf({ relation, row }), negated });
  return `${salience} ${atom} ${facts.scopeOf({ relation, row })} ${row} ${reader.generation}`;
}

function sorted(context: ReadContext, view: ScopeChoice, isWanted: IsWanted): string[] {
  const { tenant, reader, database } = context;
  const isVisible = visibleIn(context, view);
  const found: { salience: number; atom: string; scope: string; line: string }[] = [];
  for (const relation of tenant.facts.relations.values())
    for (let row = 0; row < relation.count; row++) {
      if (!isWanted(relation) || !isVisible(relation, row)) continue;
      const fact = { relation, row };
      const { createdAt } = database.timesOf(tenant.facts, fact);
      const { salience } = tenant.uses.salience(fact, createdAt, reader.time);
      const { predicate, negated } = relation;
      const atom = renderAtom({ predicate, args: tenant.facts.argsOf(fact), negated });
      const scope = tenant.facts.scopeOf(fact) ?? '';
      found.push({ salience, atom, scope, line: shown(context, fact, salience) });
    }
  found.sort(
    (a, b) => b.salience - a.salience || compareText(a.atom, b.atom) || compareText(a.scope, b.scope),
  );
  return found.map(({ line }) => line);
}

async function taken(context: ReadContext, facts: ReturnType<typeof salientFacts>, most: number) {
  const lines: string[] = [];
  for await (const { fact, salience } of facts) {
    lines.push(shown(context, fact, salience));
    if (lines.length === most) break;
  }
  return lines;
}

test('finds the most salient facts in every pinned state', { timeout: 3_600_000 }, () =>
  overSeeds({ name: 'salient facts', few: 25, many: 3000 }, async (seed) => {
    const prng = new Prng(seed);
    const world = new FactWorld(prng);
    if (prng.chance(0.7)) world.load(200 + prng.below(5000));
    let readers: ReadContext[] = [];
    const steps = prng.pick([60, 200]);
    for (let step = 0; step < steps; step++) {
      world.step(readers.length > 0);
      if (prng.chance(0.1)) readers.push(world.context());
      if (!prng.chance(0.15)) continue;
      const context = readers.length > 0 && prng.chance(0.5) ? prng.pick(readers) : world.context();
      const view = world.view();
      const predicate = prng.pick(['p', 'q', null, null]);
      const isWanted: IsWanted = (relation) => predicate === null || relation.predicate === predicate;
      const most = prng.pick([1, 10, 100, 1000, Number.POSITIVE_INFINITY]);
      const expected = prng.pick([1, 10, 100, 1000]);
      const all = sorted(context, view, isWanted);
      const wanted = Number.isFinite(most) ? all.slice(0, most) : all;
      const facts = prng.chance(0.3)
        ? salientFacts(context, view, isWanted)
        : salientFacts(context, view, isWanted, expected);
      expect(await taken(context, facts, most)).toEqual(wanted);
      if (prng.chance(0.3)) readers = [];
    }
  }),
);
