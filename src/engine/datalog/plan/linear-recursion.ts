import { type AtomLiteral, isVariable, type Literal, type Rule } from '../../contract/language.ts';
import { planRule } from '../../language/order.ts';
import { isNamedVariable, isPositiveAtom, relationOf, variablesOf } from '../../language/terms.ts';
import { filtersOf, spread } from './join-order.ts';
import { type Program, relationsRead, type ViewRule } from '../model/program.ts';
import { viewKey } from '../model/reader.ts';
import type { Table } from '../model/table.ts';

/** One rule of a factored linear recursion. */
export interface FactoredPart {
  /** The whole rule, whose plan decides which filter binds which variable; null if the part comes from no rule. */
  readonly rule: ViewRule | null;
  readonly target: 'reach' | 'rows';
  readonly demand: 'demand' | 'reach' | 'rows';
  readonly headTerms: readonly string[];
  readonly demandTerms: readonly string[];
  /** null: the stored facts of the relation itself, whose arguments are the head's. */
  readonly body: readonly Literal[] | null;
}

/**
 * An exit rule is not recursive; `right` recurs with its free arguments unchanged, `left` with the bound
 * ones.
 */
export type Recursion =
  | { readonly kind: 'exit' }
  | { readonly kind: 'right' | 'left'; readonly recursive: AtomLiteral };

/** A relation asked for with some arguments bound. */
export type Asked = Pick<
  Table,
  'view' | 'predicate' | 'negated' | 'relation' | 'boundPositions' | 'freePositions'
>;

/**
 * Factors linear recursion (Naughton, Ramakrishnan, Sagiv and Ullman 1989). Returns null if the recursion is
 * not of that kind or needs no factoring.
 *
 * Asked with the first argument bound, `tc(?x, ?z) :- edge(?x, ?y), tc(?y, ?z)` demands `tc` of every
 * reachable node, and would derive the whole closure among them. But the free arguments are passed through
 * unchanged, so it suffices to know which nodes a demanded one reaches:
 *
 *     reach(k, k) :- demand(k).
 *     reach(k, y) :- reach(k, x), edge(x, y).
 *     tc(k, z)    :- reach(k, x), <the exit rules, with x as first argument>.
 *
 * Rules that recur with the bound arguments unchanged (`tc(?x, ?z) :- tc(?x, ?y), edge(?y, ?z)`) stay as they
 * are: they only append at the other end.
 */
export function factorLinearRecursion(
  table: Asked,
  rules: readonly ViewRule[],
  program: Program,
): FactoredPart[] | null {
  if (table.boundPositions.length === 0 || table.freePositions.length === 0) return null;
  const kinds: Recursion[] = [];
  for (const rule of rules) {
    const kind = recursionOf(table, rule, program);
    if (kind === null) return null;
    kinds.push(kind);
  }
  if (!kinds.some((kind) => kind.kind === 'right')) return null;
  const seeds = seedsOf(table);
  const start: FactoredPart = {
    rule: null,
    target: 'reach',
    demand: 'demand',
    headTerms: [...seeds, ...seeds],
    demandTerms: seeds,
    body: [],
  };
  const parts = rules.map((rule, at) => partOf(table, rule, kinds[at] as Recursion));
  return [start, exitPart(table, null), ...parts];
}

/** A variable for each argument of the table's relation; no rule can name them. */
export function variablesFor({ boundPositions, freePositions }: Asked): string[] {
  return Array.from({ length: boundPositions.length + freePositions.length }, (_, at) => `?${at}`);
}

/** Variables for the demanded arguments; no rule can name them. */
function seedsOf(table: Asked): string[] {
  return table.boundPositions.map((_, at) => `?seed ${at}`);
}

/** The seeds, then the terms in bound positions. */
function reachTerms(table: Asked, terms: readonly string[]): string[] {
  return [...seedsOf(table), ...table.boundPositions.map((position) => terms[position] as string)];
}

/** The head with the seeds in its bound positions. */
function seededHead(table: Asked, head: readonly string[]): string[] {
  const seeds = seedsOf(table);
  return head.map((term, position) => {
    const at = table.boundPositions.indexOf(position);
    return at < 0 ? term : (seeds[at] as string);
  });
}

/** The demanded node gets what the body derives, by default the stored facts, of every node that it reaches. */
function exitPart(table: Asked, rule: ViewRule | null): FactoredPart {
  const terms = rule?.record.rule.head.args ?? variablesFor(table);
  return {
    rule,
    target: 'rows',
    demand: 'reach',
    headTerms: seededHead(table, terms),
    demandTerms: reachTerms(table, terms),
    body: rule?.record.rule.body ?? null,
  };
}

function partOf(table: Asked, rule: ViewRule, kind: Recursion): FactoredPart {
  if (kind.kind === 'exit') return exitPart(table, rule);
  const { head, body } = rule.record.rule;
  const rest = body.filter((literal) => literal !== kind.recursive);
  const { args } = kind.recursive;
  if (kind.kind === 'left')
    return { rule, target: 'rows', demand: 'rows', headTerms: head.args, demandTerms: args, body: rest };
  const [headTerms, demandTerms] = [reachTerms(table, args), reachTerms(table, head.args)];
  return { rule, target: 'reach', demand: 'reach', headTerms, demandTerms, body: rest };
}

/** How the rule recurs; null if its recursion cannot be factored. */
export function recursionOf(table: Asked, rule: ViewRule, program: Program): Recursion | null {
  const { body, head } = rule.record.rule;
  if (viewKey(rule.bodyView) !== viewKey(table.view)) return { kind: 'exit' };
  const component = program.component(table.view, table.relation);
  const recurring = relationsRead(body).filter(
    (relation) => program.component(table.view, relation) === component,
  );
  if (recurring.length === 0) return { kind: 'exit' };
  if (recurring.length > 1) return null;
  const recursive = body.find(
    (literal): literal is AtomLiteral => isPositiveAtom(literal) && relationOf(literal) === table.relation,
  );
  if (recursive === undefined) return null;
  const rest = body.filter((literal) => literal !== recursive);
  if (passesOn(table.freePositions, table.boundPositions, head.args, recursive.args, rest)) {
    const bound = boundBy(table, rule.record.rule, rest);
    const isBound = table.boundPositions.every((position) => {
      const term = recursive.args[position] as string;
      return !isVariable(term) || bound.has(term);
    });
    return isBound ? { kind: 'right', recursive } : null;
  }
  if (passesOn(table.boundPositions, table.freePositions, head.args, recursive.args, rest))
    return { kind: 'left', recursive };
  return null;
}

/**
 * True if the rule passes the arguments at `positions` through unchanged: the same distinct variables in head
 * and recursive atom, and nowhere else in the rule.
 */
function passesOn(
  positions: readonly number[],
  others: readonly number[],
  head: readonly string[],
  recursive: readonly string[],
  rest: readonly Literal[],
): boolean {
  const elsewhere = new Set(rest.flatMap(variablesOf));
  for (const position of others) {
    elsewhere.add(head[position] as string);
    elsewhere.add(recursive[position] as string);
  }
  const seen = new Set<string>();
  return positions.every((position) => {
    const term = head[position] as string;
    if (!isNamedVariable(term) || term !== recursive[position] || elsewhere.has(term) || seen.has(term))
      return false;
    seen.add(term);
    return true;
  });
}

/** The variables bound by the head's bound arguments and the literals, and then by the rule's filters. */
function boundBy(table: Asked, rule: Rule, rest: readonly Literal[]): Set<string> {
  const bound = new Set<string>();
  for (const position of table.boundPositions) bound.add(rule.head.args[position] as string);
  for (const literal of rest) if (isPositiveAtom(literal)) for (const term of literal.args) bound.add(term);
  bound.delete('?_');
  spread(filtersOf(rule.body, planRule(rule)), bound);
  return bound;
}
