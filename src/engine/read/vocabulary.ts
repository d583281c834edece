import { type ReadContext, visibleIn } from '../session/read-context.ts';
import { compareText } from '../base/text-order.ts';
import type { ScopeChoice } from '../store/fact-store.ts';
import { renderAtom } from '../language/print.ts';
import { relationKey } from '../language/terms.ts';

type Entry = { -readonly [Key in keyof VocabularyEntry]: VocabularyEntry[Key] };

/**
 * The relations that the view has facts or conclusions of, most facts first, then most rules, then by name, arity and
 * truth value: what can be said and asked here.
 */
export async function vocabularyOf(context: ReadContext, view: ScopeChoice): Promise<VocabularyEntry[]> {
  const { database, tenant, reader, pacer } = context;
  const isVisible = visibleIn(context, view);
  const entries = new Map<string, Entry>();
  const entryOf = (predicate: string, arity: number, negated: boolean): Entry => {
    const key = relationKey(predicate, arity, negated);
    let entry = entries.get(key);
    if (entry === undefined)
      entries.set(key, (entry = { predicate, arity, negated, facts: 0, rules: 0, example: null }));
    return entry;
  };
  for (const relation of tenant.facts.relations.values()) {
    const { predicate, arity, negated } = relation;
    const count = relation.rowsAt(reader.generation);
    let entry: Entry | null = null;
    for (let row = 0; row < count; row++) {
      if ((row & 0xfff) === 0xfff) await pacer.breathe();
      if (!isVisible(relation, row)) continue;
      entry ??= entryOf(predicate, arity, negated);
      entry.facts++;
      entry.example ??= renderAtom({ predicate, args: tenant.facts.argsOf({ relation, row }), negated });
    }
  }
  for (const { rule, scope, enabled } of database.rules.all())
    if (
      enabled &&
      (scope === null || view.kind === 'all' || (view.kind === 'scope' && view.scope === scope))
    ) {
      const { predicate, args, negated } = rule.head;
      entryOf(predicate, args.length, negated).rules++;
    }
  return [...entries.values()].sort(
    (a, b) =>
      b.facts - a.facts ||
      b.rules - a.rules ||
      compareText(a.predicate, b.predicate) ||
      a.arity - b.arity ||
      Number(a.negated) - Number(b.negated),
  );
}

/** A relation that the tenant has facts of in a view, or that a rule concludes there. */
export interface VocabularyEntry {
  readonly predicate: string;
  readonly arity: number;
  readonly negated: boolean;
  /** Stored visible facts of the view. */
  readonly facts: number;
  /** Enabled rules that conclude it in the view. */
  readonly rules: number;
  /** One fact, rendered; null where none is stored. */
  readonly example: string | null;
}
