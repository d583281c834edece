import type { QueryInput, QueryResult } from './contract/facts.ts';
import { type BrowseContext, scopeChoice } from './browse.ts';
import type { FactRow } from './facts/fact-store.ts';
import { Tuples } from './facts/tuples.ts';
import { Constants } from './solve/constants.ts';
import { isAdded, matching } from './solve/reader.ts';
import { rowsByText } from './solve/sorted.ts';

/**
 * Stored visible facts that match a pattern, each atom once, without inference: ordered by their arguments, the true
 * one before the false one. Beside the result the stored facts behind it; what an overlay adds is none.
 */
export async function queryFacts(
  context: BrowseContext,
  input: QueryInput,
): Promise<{ result: QueryResult; facts: FactRow[] }> {
  const { tenant, reader, pacer } = context;
  const constants = reader.overlay?.constants ?? new Constants(tenant.facts.dictionary);
  const { predicate, args, truthVal } = input;
  const pattern = { predicate, args, truthVal, scope: scopeChoice(input) };
  const distinct = new Tuples(args.length + 1);
  const behind: FactRow[][] = [];
  const tuple = new Int32Array(args.length + 1);
  let looked = 0;
  for (const fact of matching(reader, pattern)) {
    for (let position = 0; position < args.length; position++)
      tuple[position] = (fact.relation.columns[position] as Int32Array)[fact.row] as number;
    tuple[args.length] = fact.relation.negated ? 1 : 0;
    if (distinct.insert(tuple) >= 0) behind.push([]);
    if (!isAdded(reader, fact)) behind[distinct.find(tuple)]?.push(fact);
    if ((++looked & 0xfff) === 0) await pacer.breathe();
  }
  const ids = new Int32Array(distinct.count * args.length);
  for (let row = 0; row < distinct.count; row++)
    for (let position = 0; position < args.length; position++)
      ids[row * args.length + position] = (distinct.columns[position] as Int32Array)[row] as number;
  const negatedAt = distinct.columns[args.length] as Int32Array;
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
  const result = page.map((row) => ({
    predicate,
    args: Array.from(args, (_, position) => constants.text(ids[row * args.length + position] as number)),
    truthVal: negatedAt[row] === 0,
  }));
  return { result, facts: page.flatMap((row) => behind[row] ?? []) };
}
