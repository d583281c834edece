import type { Pacer } from '../datalog/tables/evaluation.ts';
import type { FactStore } from '../store/fact-store.ts';
import type { StoredRelation } from '../store/stored-relation.ts';

/** Rows looked at, and rows indexed, between two looks at the clock. */
const rowsBetweenBreaths = 0x400;
const indexedAtOnce = 0x1_0000;

/**
 * Visits every row with one of the constants, once for each argument that is one, newest first at each argument; also
 * dead rows and those that a reader does not see. Missing indexes are built in slices.
 */
export async function eachRowWith(
  facts: FactStore,
  constants: ReadonlySet<number>,
  pacer: Pacer,
  visit: (relation: StoredRelation, row: number, position: number) => void,
): Promise<void> {
  if (constants.size === 0) return;
  let looked = 0;
  for (const relation of facts.relations.values()) {
    await pacer.breathe();
    if (relation.count === 0) continue;
    for (let position = 0; position < relation.arity; position++) {
      const index = relation.indexToBuild([position]);
      while (!index.takeIn(relation.count, indexedAtOnce)) await pacer.breathe();
      for (const constant of constants)
        for (let next = index.firstOf(constant); next !== 0; next = index.next[next - 1] as number) {
          if ((++looked & (rowsBetweenBreaths - 1)) === 0) await pacer.breathe();
          visit(relation, next - 1, position);
        }
    }
  }
}
