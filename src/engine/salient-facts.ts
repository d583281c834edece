import type { BrowseContext } from './browse.ts';
import { compareText } from './base/text-order.ts';
import type { FactRow, ScopeChoice } from './facts/fact-store.ts';
import type { StoredRelation } from './facts/stored-relation.ts';
import { renderAtom } from './logic/print.ts';
import { sees } from './solve/reader.ts';

/** A stored fact with its salience at the reader's time. */
export interface SalientFact {
  readonly fact: FactRow;
  readonly salience: number;
}

/**
 * The stored facts of the view that the reader sees, of the relations that are wanted, highest salience first; ties by
 * rendered atom, then by the name of the scope, that without scope first, both by code point. Every stored fact is
 * one, also where several scopes have the same atom.
 */
export async function* salientFacts(
  context: BrowseContext,
  view: ScopeChoice,
  isWanted: (relation: StoredRelation) => boolean,
): AsyncGenerator<SalientFact> {
  const { tenant, reader, database, pacer } = context;
  const { facts, uses } = tenant;
  const found: (SalientFact & { atom: string; scope: string | null })[] = [];
  for (const relation of facts.relations.values()) {
    if (!isWanted(relation)) continue;
    const count = relation.rowsAt(reader.generation);
    for (let row = 0; row < count; row++) {
      if ((row & 0x3ff) === 0x3ff) await pacer.breathe();
      const fact = { relation, row };
      if (!sees(reader, relation, row) || !isIn(view, facts.scopeOf(fact))) continue;
      const { createdAt } = database.timesOf(facts, fact);
      const { salience } = uses.salience(fact, createdAt, reader.time);
      const { predicate, negated } = relation;
      const atom = renderAtom({ predicate, args: facts.argsOf(fact), negated });
      found.push({ fact, salience, atom, scope: facts.scopeOf(fact) });
    }
  }
  found.sort(
    (a, b) =>
      b.salience - a.salience || compareText(a.atom, b.atom) || compareText(a.scope ?? '', b.scope ?? ''),
  );
  for (const { fact, salience } of found) yield { fact, salience };
}

/** True where the view has facts of this scope. */
export function isIn(view: ScopeChoice, scope: string | null): boolean {
  if (view.kind === 'all') return true;
  return scope === (view.kind === 'unscoped' ? null : view.scope);
}
