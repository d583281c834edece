import type { QueryInput, QueryResult } from '../contract/facts.ts';
import { type ReadContext, type LookupContext, scopeChoice } from '../session/read-context.ts';
import type { FactRow } from '../store/fact-store.ts';
import { pointLookup } from './point-lookup.ts';
import { tupleAt, Tuples } from '../store/tuples.ts';
import { Constants } from '../datalog/model/constants.ts';
import type { Pacer } from '../datalog/tables/evaluation.ts';
import { isAdded, matching, type Reader } from '../datalog/model/reader.ts';
import { rowsByText } from '../datalog/tables/sorted.ts';

/** The answer to a query, and the stored facts behind it. */
export interface Queried {
  readonly result: QueryResult;
  readonly facts: readonly FactRow[];
}

/**
 * The point look-up path of `queryFacts`, if an index finds few facts; else null. Synchronous. Not for a reader with an
 * overlay.
 */
export function queryByPointLookup({ reader }: LookupContext, input: QueryInput): Queried | null {
  const { predicate, args, truthVal } = input;
  const found = pointLookup(reader, { predicate, args, truthVal, scope: scopeChoice(input) }, input);
  if (found === null) return null;
  const result: QueryResult = [];
  const facts: FactRow[] = [];
  for (const atom of found.atoms) {
    result.push({ predicate, args: atom.args, truthVal: !atom.negated });
    for (const fact of atom.facts) facts.push(fact);
  }
  return { result, facts };
}

/**
 * Visible stored facts that match a pattern, without inference: each atom once, ordered by arguments, true before
 * false. `facts`: the stored facts behind the page, without those that an overlay adds.
 */
export async function queryFacts(context: ReadContext, input: QueryInput): Promise<Queried> {
  const { tenant, reader, pacer } = context;
  const constants = reader.overlay?.constants ?? new Constants(tenant.facts.dictionary);
  const { predicate, args, truthVal } = input;
  const pattern = { predicate, args, truthVal, scope: scopeChoice(input) };
  const found: FactRow[] = [];
  for (const fact of matching(reader, pattern)) {
    found.push(fact);
    if ((found.length & 0xfff) === 0) await pacer.breathe();
  }
  const distinct = await distinctAtoms(found, args.length, reader, pacer);
  const { columns, negatedAt, behind } = distinct;
  const order =
    args.length === 0
      ? Int32Array.from({ length: distinct.count }, (_, row) => row).sort(
          (a, b) => (negatedAt[a] as number) - (negatedAt[b] as number),
        )
      : await rowsByText(
          columns,
          distinct.count,
          constants,
          pacer,
          input.limit === null ? distinct.count : Math.min(distinct.count, input.offset + input.limit),
          (row) => negatedAt[row] as number,
        );
  const end = input.limit === null ? order.length : input.offset + input.limit;
  const page = Array.from(order.subarray(input.offset, end));
  const result = page.map((row) => factAt(row, distinct, input, constants));
  return { result, facts: page.flatMap((row) => behind[row] ?? []) };
}

/** One atom in answer form. */
function factAt(
  row: number,
  { columns, negatedAt }: Pick<Atoms, 'columns' | 'negatedAt'>,
  { predicate, args: asked }: QueryInput,
  constants: Constants,
): QueryResult[number] {
  const args: string[] = [];
  for (let position = 0; position < asked.length; position++) {
    // A constant in the pattern is the constant of the fact.
    const term = asked[position] as string;
    args.push(term.startsWith('?') ? constants.text((columns[position] as Int32Array)[row] as number) : term);
  }
  return { predicate, args, truthVal: negatedAt[row] === 0 };
}

/** The distinct atoms of facts of one predicate, as rows. */
interface Atoms {
  readonly count: number;
  /** Constants by argument, then by row. */
  readonly columns: readonly Int32Array[];
  /** By row: 1 for explicit negation. */
  readonly negatedAt: ArrayLike<number>;
  /** By row, the stored facts of the atom, without those that an overlay adds. */
  readonly behind: FactRow[][];
}

async function distinctAtoms(
  found: readonly FactRow[],
  arity: number,
  reader: Reader,
  pacer: Pacer,
): Promise<Atoms> {
  const distinct = new Tuples(arity + 1);
  const behind: FactRow[][] = [];
  const tuple = new Int32Array(arity + 1);
  for (const [looked, fact] of found.entries()) {
    tupleAt(fact.relation, fact.row, tuple);
    tuple[arity] = fact.relation.negated ? 1 : 0;
    if (distinct.insert(tuple) >= 0) behind.push([]);
    if (!isAdded(reader, fact)) behind[distinct.find(tuple)]?.push(fact);
    if ((looked & 0xfff) === 0xfff) await pacer.breathe();
  }
  const columns = distinct.columns.slice(0, arity);
  return { count: distinct.count, columns, negatedAt: distinct.columns[arity] as Int32Array, behind };
}
