import type { AtomLiteral } from '../contract/language.ts';
import type { FactStore } from '../facts/fact-store.ts';
import type { StoredRelation } from '../facts/stored-relation.ts';
import { isPositiveAtom } from '../logic/terms.ts';
import type { ClosureShape } from './closure-shape.ts';

/**
 * Whether a closure is worth a look as rows of bits, before anything is derived for it.
 *
 * Stored facts are looked at as they are, whoever sees them: it is an estimate, and what it lets pass is looked at again
 * where the base and the step are known (`BitClosure.isDense`). It only keeps large sparse closures from being begun.
 */
const samples = 32;
/** A relation of fewer rows costs nothing to begin with. */
const fewRows = 64;
/** Reaching less than this part of all nodes is sparse beyond doubt. */
const clearPart = 64;
const mostVisits = 20_000;

/** True where the step goes along stored facts by which a node reaches next to none of the others. */
export function isClearlySparse({ literals, terms }: ClosureShape, facts: FactStore): boolean {
  const atom = literals.find(isPositiveAtom);
  if (atom === undefined) return false;
  const relation = facts.relation(atom.predicate, atom.args.length, atom.negated);
  const [from, to] = positionsOf(atom, terms);
  if (relation === null || relation.count < fewRows || from < 0 || to < 0 || from === to) return false;
  const sources = relation.index([from]).keys;
  const step = Math.ceil(relation.count / samples);
  let [reached, looked] = [0, 0];
  for (let row = 0; row < relation.count; row += step) {
    const left = mostVisits - reached;
    const found = reachOf((relation.columns[from] as Int32Array)[row] as number, relation, from, to, left);
    if (found >= left) return false;
    reached += found;
    looked++;
  }
  return (reached / looked) * clearPart < sources;
}

function positionsOf({ args }: AtomLiteral, terms: readonly string[]): [number, number] {
  return [args.indexOf(terms[0] as string), args.indexOf(terms[1] as string)];
}

/** How many nodes a node reaches, as far as `most`. */
function reachOf(node: number, relation: StoredRelation, from: number, to: number, most: number): number {
  const index = relation.index([from]);
  const found = new Set<number>();
  const open = [node];
  for (let next = open.pop(); next !== undefined && found.size < most; next = open.pop())
    for (let at = index.firstOf(next); at !== 0; at = index.next[at - 1] as number) {
      const other = (relation.columns[to] as Int32Array)[at - 1] as number;
      if (found.has(other)) continue;
      found.add(other);
      open.push(other);
    }
  return found.size;
}
