import { type AtomLiteral, isVariable, type Literal } from '../../contract/language.ts';
import { planRule } from '../../language/order.ts';
import { isNamedVariable, isPositiveAtom, relationOf, variablesOf } from '../../language/terms.ts';
import type { FactStore } from '../../store/fact-store.ts';
import type { StoredRelation } from '../../store/stored-relation.ts';
import { type Program, relationsRead, type ViewRule } from '../model/program.ts';
import { viewKey } from '../model/reader.ts';
import { filtersOf, spread } from './join-order.ts';
import { type Asked, recursionOf } from './linear-recursion.ts';

/**
 * A relation that is a closure: its conclusions are a base, and the base extended by steps before it, behind
 * it, or both.
 *
 *     behind  r(x, z) :- r(x, y), step(y, z).
 *     before  r(x, z) :- step(x, y), r(y, z).
 *     both    r(x, z) :- step(x, u), r(u, v), other(v, z).     equally many on both sides
 *     double  r(x, z) :- r(x, y), r(y, z).                     the step is the base itself
 *
 * One rule is recursive; all other rules of the relation, and its stored facts, are the base. A step is one
 * atom with any filters on its variables: a longer join, evaluated with all arguments free, could cost more
 * than inside the rule.
 */
export interface ClosureShape {
  readonly recursive: ViewRule;
  readonly base: readonly ViewRule[];
  /** null if there is no step on that side; both are null if the step is the base. */
  readonly before: StepShape | null;
  readonly behind: StepShape | null;
}

/** The literals of a step, and the two terms that it connects. */
export interface StepShape {
  readonly literals: readonly Literal[];
  readonly terms: readonly [string, string];
}

/**
 * The closure shape of a relation by its rules in its view; null if it is no closure, or certainly too sparse
 * for bitset rows.
 */
export function closureShape(table: Asked, program: Program, facts: FactStore): ClosureShape | null {
  if (table.boundPositions.length + table.freePositions.length !== 2) return null;
  const { view, relation } = table;
  const asked = { ...table, boundPositions: [0], freePositions: [1] };
  let shape: ClosureShape | null = null;
  const base: ViewRule[] = [];
  for (const rule of program.rulesFor(view, relation)) {
    const recursion = recursionOf(asked, rule, program);
    if (recursion?.kind === 'exit') {
      base.push(rule);
      continue;
    }
    if (shape !== null) return null;
    const steps =
      recursion === null
        ? (doubleSteps(table, rule) ?? stepsAround(table, rule, program))
        : linearStep(rule, recursion);
    if (steps === null) return null;
    shape = { recursive: rule, base, ...steps };
  }
  if (shape === null) return null;
  const read = [...(shape.before?.literals ?? []), ...(shape.behind?.literals ?? [])].filter(isPositiveAtom);
  const isStored = read.every((atom) => program.rulesFor(view, relationOf(atom)).length === 0);
  return isStored && isClearlySparse(shape, facts) ? null : shape;
}

type Steps = Pick<ClosureShape, 'before' | 'behind'>;

/** The step of linear recursion. */
function linearStep(
  rule: ViewRule,
  { kind, recursive }: { readonly kind: 'left' | 'right'; readonly recursive: AtomLiteral },
): Steps | null {
  const { head, body } = rule.record.rule;
  const literals = body.filter((literal) => literal !== recursive);
  const [first, second] = kind === 'left' ? [recursive, head] : [head, recursive];
  const at = kind === 'left' ? 1 : 0;
  const step = stepShape(rule, literals, [first.args[at] as string, second.args[at] as string]);
  if (step === null) return null;
  return kind === 'left' ? { before: null, behind: step } : { before: step, behind: null };
}

/** The step that these literals form; null if they form none. */
function stepShape(
  rule: ViewRule,
  literals: readonly Literal[],
  terms: readonly [string, string],
): StepShape | null {
  const atoms = literals.filter(isPositiveAtom);
  if (atoms.length !== 1) return null;
  const bound = new Set(atoms.flatMap(({ args }) => args.filter(isNamedVariable)));
  if (spread(stepFilters(rule, literals), bound).length > 0) return null;
  if (!terms.every((term) => !isVariable(term) || bound.has(term))) return null;
  return { literals, terms };
}

/** Two steps around the recursive atom that share no variable. */
function stepsAround({ view, relation }: Asked, rule: ViewRule, program: Program): Steps | null {
  const { head, body } = rule.record.rule;
  const component = program.component(view, relation);
  const recurring = relationsRead(body).filter((each) => program.component(view, each) === component);
  const recursive = body.find(
    (literal): literal is AtomLiteral => isPositiveAtom(literal) && relationOf(literal) === relation,
  );
  if (recurring.length !== 1 || recursive === undefined || viewKey(rule.bodyView) !== viewKey(view))
    return null;
  const [x, y] = head.args as [string, string];
  const [u, v] = recursive.args as [string, string];
  const rest = body.filter((literal) => literal !== recursive);
  const atBefore = connected(rest, [x, u]);
  const atBehind = connected(rest, [v, y]);
  if (atBefore.length + atBehind.length !== rest.length) return null;
  if (atBefore.some((literal) => atBehind.includes(literal))) return null;
  if ([x, u].some((term) => isVariable(term) && (term === v || term === y))) return null;
  const before = stepShape(rule, atBefore, [x, u]);
  const behind = stepShape(rule, atBehind, [v, y]);
  return before === null || behind === null ? null : { before, behind };
}

/** The literals connected to these terms by shared variables, directly or through other literals. */
function connected(literals: readonly Literal[], terms: readonly string[]): Literal[] {
  const variables = new Set(terms.filter(isNamedVariable));
  let found: Literal[] = [];
  for (let before = -1; before !== found.length; ) {
    before = found.length;
    found = literals.filter((literal) => variablesOf(literal).some((variable) => variables.has(variable)));
    for (const literal of found)
      for (const variable of variablesOf(literal)) if (isNamedVariable(variable)) variables.add(variable);
  }
  return found;
}

/** The filters of a step. The plan of the whole rule decided which of them bind a variable. */
function stepFilters({ record }: ViewRule, literals: readonly Literal[]): ReturnType<typeof filtersOf> {
  return filtersOf(record.rule.body, planRule(record.rule)).filter(({ literal }) =>
    literals.includes(literal),
  );
}

/** Recognizes `r(x, z) :- r(x, y), r(y, z)`, with the atoms in either order. */
function doubleSteps({ relation }: Asked, rule: ViewRule): Steps | null {
  const { head, body } = rule.record.rule;
  const atoms = body.filter(isPositiveAtom).filter((atom) => relationOf(atom) === relation);
  if (body.length !== 2 || atoms.length !== 2) return null;
  const [x, z] = head.args as [string, string];
  const isChain = ([one, other]: AtomLiteral[]): boolean => {
    const [from, middle] = (one as AtomLiteral).args as [string, string];
    const [next, to] = (other as AtomLiteral).args as [string, string];
    const variables = new Set([x, middle, z]);
    if (variables.size !== 3 || ![...variables].every(isNamedVariable)) return false;
    return from === x && middle === next && to === z;
  };
  return isChain(atoms) || isChain([...atoms].reverse()) ? { before: null, behind: null } : null;
}

/** A stored relation with the columns of a step's source and target. */
interface StepEdges {
  readonly relation: StoredRelation;
  readonly from: number;
  readonly to: number;
}

/** Bitset rows up to this many bytes are computed without an estimate of their density. */
export const bytesToTry = 0x100_0000;
/** Number of rows from which the reach is sampled. */
const samples = 32;
/** Smaller relations are cheap to try, whatever their density. */
const minSampledRows = 64;
/** A closure with less than 1 in this many of all pairs is clearly sparse. */
const sparseDivisor = 64;
/** Limit of the nodes visited by all samples together. */
const maxVisits = 20_000;

/**
 * Estimates, before anything is derived, whether a closure is too sparse for bitset rows: true if a node
 * reaches next to none of the others along the stored facts of the step.
 *
 * The estimate reads all stored facts, visible or not. `BitsetRelation.isWorthBeginning` tests again once the
 * base and the step are known; this only avoids starting large sparse closures.
 */
function isClearlySparse({ before, behind, base }: ClosureShape, facts: FactStore): boolean {
  if (before !== null && behind !== null) return areTooMany(before, behind, facts);
  const along = before ?? behind;
  const edges = along === null ? null : stepEdges(along, facts);
  if (edges === null || edges.relation.count < minSampledRows) return false;
  const { relation, from, to } = edges;
  const sources = relation.index([from]).keys;
  const step = Math.ceil(relation.count / samples);
  let [reached, looked] = [0, 0];
  for (let row = 0; row < relation.count; row += step) {
    const left = maxVisits - reached;
    const found = reachOf((relation.columns[from] as Int32Array)[row] as number, relation, from, to, left);
    if (found >= left) return false;
    reached += found;
    looked++;
  }
  // Many sources may share the row of one node.
  const origins = Math.max(sources, storedRows(base, facts));
  return (reached / looked) * origins * sparseDivisor < sources * sources;
}

/** The approximate number of pairs of the base, counting rules that read one stored relation. */
function storedRows(base: readonly ViewRule[], facts: FactStore): number {
  let rows = 0;
  for (const { record } of base) {
    const [atom, ...others] = record.rule.body.filter(isPositiveAtom);
    if (atom === undefined || others.length > 0) continue;
    rows += facts.relation(atom.predicate, atom.args.length, atom.negated)?.live ?? 0;
  }
  return rows;
}

/** True if there are too many sources and targets for bitset rows. */
function areTooMany(before: StepShape, behind: StepShape, facts: FactStore): boolean {
  const [sources, targets] = [stepEdges(before, facts), stepEdges(behind, facts)];
  if (sources === null || targets === null) return false;
  const rows = sources.relation.index([sources.from]).keys;
  return (rows * targets.relation.index([targets.to]).keys) / 8 > bytesToTry;
}

/** The stored relation of the step, with the columns of its two terms; null if it has none. */
function stepEdges({ literals, terms }: StepShape, facts: FactStore): StepEdges | null {
  const atom = literals.find(isPositiveAtom);
  if (atom === undefined) return null;
  const relation = facts.relation(atom.predicate, atom.args.length, atom.negated);
  const [from, to] = [atom.args.indexOf(terms[0]), atom.args.indexOf(terms[1])];
  return relation === null || from < 0 || to < 0 || from === to ? null : { relation, from, to };
}

/** The number of nodes reachable from a node; stops counting at `most`. */
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
