import type { QueryInput, QueryResult } from './contract/facts.ts';
import { type BrowseContext, scopeChoice } from './browse.ts';
import type { FactRow } from './facts/fact-store.ts';
import { Tuples } from './facts/tuples.ts';
import { Constants } from './solve/constants.ts';
import type { Pacer } from './solve/evaluation.ts';
import { isAdded, matching, type Reader } from './solve/reader.ts';
import { fewByText, rowsByText } from './solve/sorted.ts';

/** The answer to a query, and the stored facts behind it. */
export interface Queried {
  readonly result: QueryResult;
  readonly facts: readonly FactRow[];
}

/** As `queryFacts`, at once: where an index finds few facts; else null. Not for a reader with an overlay. */
export function queryFew(context: BrowseContext, input: QueryInput): Queried | null {
  const { tenant, reader, pacer } = context;
  const { predicate, args, truthVal, offset, limit } = input;
  const pattern = { predicate, args, truthVal, scope: scopeChoice(input) };
  const found = tenant.facts.fewMatches(pattern, reader.generation, reader.time, few);
  if (found === null) return null;
  pacer.look();
  const { length: width } = args;
  const { ids, negatedAt, behind, count } = fewAtoms(found, width, reader);
  const constants = new Constants(tenant.facts.dictionary);
  const order = fewByText(ids, count, width, constants, (row) => negatedAt[row] as number);
  const result: QueryResult = [];
  const facts: FactRow[] = [];
  const end = limit === null ? count : Math.min(count, offset + limit);
  for (let at = offset; at < end; at++) {
    const row = order[at] as number;
    result.push(factAt(row, { ids, negatedAt }, input, constants));
    facts.push(...(behind[row] ?? []));
  }
  return { result, facts };
}

/**
 * Stored visible facts that match a pattern, each atom once, without inference: ordered by their arguments, the true
 * one before the false one. Beside the result the stored facts behind it; what an overlay adds is none.
 */
export async function queryFacts(context: BrowseContext, input: QueryInput): Promise<Queried> {
  const { tenant, reader, pacer } = context;
  const constants = reader.overlay?.constants ?? new Constants(tenant.facts.dictionary);
  const { predicate, args, truthVal } = input;
  const pattern = { predicate, args, truthVal, scope: scopeChoice(input) };
  const found: FactRow[] = [];
  for (const fact of matching(reader, pattern)) {
    found.push(fact);
    if ((found.length & 0xfff) === 0) await pacer.breathe();
  }
  const distinct =
    found.length <= few
      ? fewAtoms(found, args.length, reader)
      : await manyAtoms(found, args.length, reader, pacer);
  const { ids, negatedAt, behind } = distinct;
  const order =
    args.length === 0
      ? Int32Array.from({ length: distinct.count }, (_, row) => row).sort(
          (a, b) => (negatedAt[a] as number) - (negatedAt[b] as number),
        )
      : await rowsByText(
          ids,
          distinct.count,
          args.length,
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

/** One of the atoms as it is answered. */
function factAt(
  row: number,
  { ids, negatedAt }: Pick<Atoms, 'ids' | 'negatedAt'>,
  { predicate, args: asked }: QueryInput,
  constants: Constants,
): QueryResult[number] {
  const args: string[] = [];
  for (let position = 0; position < asked.length; position++) {
    // What was asked for is what stands there.
    const term = asked[position] as string;
    args.push(term.startsWith('?') ? constants.text(ids[row * asked.length + position] as number) : term);
  }
  return { predicate, args, truthVal: negatedAt[row] === 0 };
}

/** So many facts are compared each with each. */
const few = 32;

/** The atoms of facts of one predicate, each once, as rows. */
interface Atoms {
  readonly count: number;
  /** Constants, row by row. */
  readonly ids: Int32Array;
  /** By row: 1 for what is explicitly not so. */
  readonly negatedAt: ArrayLike<number>;
  /** By row the stored facts of the atom, without those that an overlay adds. */
  readonly behind: FactRow[][];
}

function fewAtoms(found: readonly FactRow[], arity: number, reader: Reader): Atoms {
  const ids = new Int32Array(found.length * arity);
  const negatedAt: number[] = [];
  const behind: FactRow[][] = [];
  for (const fact of found) {
    const { relation, row } = fact;
    const negated = relation.negated ? 1 : 0;
    const next = negatedAt.length;
    for (let position = 0; position < arity; position++)
      ids[next * arity + position] = (relation.columns[position] as Int32Array)[row] as number;
    let known = 0;
    while (known < next && !(negatedAt[known] === negated && isSameRow(ids, arity, known, next))) known++;
    if (known === next) {
      negatedAt.push(negated);
      behind.push([]);
    }
    if (!isAdded(reader, fact)) behind[known]?.push(fact);
  }
  return { count: negatedAt.length, ids, negatedAt, behind };
}

function isSameRow(ids: Int32Array, arity: number, left: number, right: number): boolean {
  for (let position = 0; position < arity; position++)
    if (ids[left * arity + position] !== ids[right * arity + position]) return false;
  return true;
}

async function manyAtoms(
  found: readonly FactRow[],
  arity: number,
  reader: Reader,
  pacer: Pacer,
): Promise<Atoms> {
  const distinct = new Tuples(arity + 1);
  const behind: FactRow[][] = [];
  const tuple = new Int32Array(arity + 1);
  for (const [looked, fact] of found.entries()) {
    for (let position = 0; position < arity; position++)
      tuple[position] = (fact.relation.columns[position] as Int32Array)[fact.row] as number;
    tuple[arity] = fact.relation.negated ? 1 : 0;
    if (distinct.insert(tuple) >= 0) behind.push([]);
    if (!isAdded(reader, fact)) behind[distinct.find(tuple)]?.push(fact);
    if ((looked & 0xfff) === 0xfff) await pacer.breathe();
  }
  const ids = new Int32Array(distinct.count * arity);
  for (let row = 0; row < distinct.count; row++)
    for (let position = 0; position < arity; position++)
      ids[row * arity + position] = (distinct.columns[position] as Int32Array)[row] as number;
  return { count: distinct.count, ids, negatedAt: distinct.columns[arity] as Int32Array, behind };
}
