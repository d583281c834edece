import type { FactStore } from '../../store/fact-store.ts';
import type { StoredRelation } from '../../store/stored-relation.ts';
import { isPositiveAtom } from '../../language/terms.ts';
import { bytesToTry } from './bitset-relation.ts';
import type { ClosureShape, StepShape } from './closure-shape.ts';
import type { ViewRule } from '../model/program.ts';

/**
 * Whether a closure is worth a look as rows of bits, before anything is derived for it.
 *
 * Stored facts are looked at as they are, whoever sees them: it is an estimate, and what it lets pass is looked at again
 * where the base and the step are known (`BitClosure.isDense`). It only keeps large sparse closures from being begun.
 */
interface Edges {
  readonly relation: StoredRelation;
  readonly from: number;
  readonly to: number;
}

const samples = 32;
/** A relation of fewer rows costs nothing to begin with. */
const fewRows = 64;
/** Reaching less than this part of all nodes is sparse beyond doubt. */
const clearPart = 64;
const mostVisits = 20_000;

/** True where the step goes along stored facts by which a node reaches next to none of the others. */
export function isClearlySparse({ before, behind, base }: ClosureShape, facts: FactStore): boolean {
  if (before !== null && behind !== null) return areTooMany(before, behind, facts);
  const along = before ?? behind;
  const edges = along === null ? null : edgesOf(along, facts);
  if (edges === null || edges.relation.count < fewRows) return false;
  const { relation, from, to } = edges;
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
  // Many sources may share the row of one node.
  const origins = Math.max(sources, storedRows(base, facts));
  return (reached / looked) * origins * clearPart < sources * sources;
}

/** About how many pairs the base has, as far as single stored relations tell. */
function storedRows(base: readonly ViewRule[], facts: FactStore): number {
  let rows = 0;
  for (const { record } of base) {
    const [atom, ...others] = record.rule.body.filter(isPositiveAtom);
    if (atom === undefined || others.length > 0) continue;
    rows += facts.relation(atom.predicate, atom.args.length, atom.negated)?.live ?? 0;
  }
  return rows;
}

/** True where there are more sources and targets than rows of bits are tried for. */
function areTooMany(before: StepShape, behind: StepShape, facts: FactStore): boolean {
  const [sources, targets] = [edgesOf(before, facts), edgesOf(behind, facts)];
  if (sources === null || targets === null) return false;
  const rows = sources.relation.index([sources.from]).keys;
  return (rows * targets.relation.index([targets.to]).keys) / 8 > bytesToTry;
}

/** The stored relation that the step goes along, and which of its arguments are the step's; null where it does not. */
function edgesOf({ literals, terms }: StepShape, facts: FactStore): Edges | null {
  const atom = literals.find(isPositiveAtom);
  if (atom === undefined) return null;
  const relation = facts.relation(atom.predicate, atom.args.length, atom.negated);
  const [from, to] = [atom.args.indexOf(terms[0]), atom.args.indexOf(terms[1])];
  return relation === null || from < 0 || to < 0 || from === to ? null : { relation, from, to };
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
