import { ByteMeter, charactersOf } from '../base/byte-meter.ts';
import type { QueryInput, QueryResult } from '../contract/facts.ts';
import type { InferenceContext } from './ask.ts';
import { type LookupContext, scopeChoice } from '../session/read-context.ts';
import type { FactRow } from '../store/fact-store.ts';
import { factsOf, matchedArgs, pointLookup } from './point-lookup.ts';
import { tupleAt, Tuples } from '../store/tuples.ts';
import { Constants } from '../datalog/model/constants.ts';
import { isAdded, matching } from '../datalog/model/reader.ts';
import { rowsByText } from '../datalog/tables/sorted.ts';

/** Approximate bytes of an atom in the answer beside its texts. */
const bytesOfAtom = 200;

/** The answer to a query, and the stored facts behind it. */
export interface Queried {
  readonly result: QueryResult;
  readonly facts: readonly FactRow[];
}

/**
 * The point look-up path of `queryFacts`, if an index finds few facts; else null. Synchronous. Not for a reader with an
 * overlay.
 */
export function queryByPointLookup({ database, reader }: LookupContext, input: QueryInput): Queried | null {
  const { predicate, args } = input;
  const pattern = { predicate, args, truthVal: input.truthVal, scope: scopeChoice(input) };
  const found = pointLookup(reader, pattern, input);
  if (found === null) return null;
  const result: QueryResult = [];
  const { names } = database.declarations;
  for (const { args: matched, negated } of found.atoms) {
    const truthVal = !negated;
    result.push(
      names.isEmpty
        ? { predicate, args: matched, truthVal }
        : { predicate, args: matched, ...names.part(predicate, matched), truthVal },
    );
  }
  return { result, facts: factsOf(found) };
}

/**
 * Visible stored facts that match a pattern, without inference: each atom once, ordered by arguments, true before
 * false. `facts`: the stored facts behind the page, without those that an overlay adds.
 */
export async function queryFacts(context: InferenceContext, input: QueryInput): Promise<Queried> {
  const { database, tenant, reader, pacer } = context;
  const { names } = database.declarations;
  const constants = reader.overlay?.constants ?? new Constants(tenant.facts.dictionary);
  const { predicate, args, truthVal, offset, limit } = input;
  const arity = args.length;
  // The arguments, then 1 for explicit negation.
  const atoms = new Tuples(arity + 1);
  const tuple = new Int32Array(arity + 1);
  const behind: FactRow[][] = [];
  let looked = 0;
  for (const fact of matching(reader, { predicate, args, truthVal, scope: scopeChoice(input) })) {
    tupleAt(fact.relation, fact.row, tuple)[arity] = Number(fact.relation.negated);
    if (atoms.insert(tuple) >= 0) behind.push([fact]);
    else behind[atoms.find(tuple)]?.push(fact);
    if ((++looked & 0xfff) === 0) await pacer.breathe();
  }
  const { count } = atoms;
  const end = limit === null ? count : Math.min(count, offset + limit);
  const negated = atoms.columns[arity] as Int32Array;
  const columns = atoms.columns.slice(0, arity);
  const places = { from: Math.min(offset, end), to: end };
  const order = await rowsByText(columns, count, constants, pacer, places, (row) => negated[row] as number);
  const result: QueryResult = [];
  const facts: FactRow[] = [];
  const meter = new ByteMeter();
  for (const row of order) {
    const copies = behind[row] as FactRow[];
    const first = copies[0] as FactRow;
    const matched = matchedArgs(constants, first, args);
    result.push({
      predicate,
      args: matched,
      ...names.part(predicate, matched),
      truthVal: !first.relation.negated,
    });
    for (const fact of copies) if (!isAdded(reader, fact)) facts.push(fact);
    const characters = charactersOf(matched);
    pacer.memory.take(bytesOfAtom + characters);
    if (meter.counts(characters)) await pacer.breathe();
  }
  return { result, facts };
}
