import { type AtomLiteral, isVariable, type Literal, type Rule } from '../../contract/language.ts';
import type { ScopeChoice } from '../../store/fact-store.ts';
import { planRule } from '../../language/order.ts';
import { isNamedVariable, isPositiveAtom, relationOf, variablesOf } from '../../language/terms.ts';
import { filtersOf, spread } from './join-order.ts';
import { type Program, relationsRead, type ViewRule } from '../model/program.ts';
import { viewKey } from '../model/reader.ts';
import type { Table } from '../model/table.ts';

/**
 * Factoring of linear recursion (Naughton, Ramakrishnan, Sagiv and Ullman 1989).
 *
 * Asked with the first argument bound, `tc(?x, ?z) :- edge(?x, ?y), tc(?y, ?z)` demands `tc` of every node that is
 * reached, and would derive the whole closure among them. But what it passes on in the free arguments comes back
 * unchanged, so it is enough to know which nodes a demanded one reaches:
 *
 *     reach(k, k) :- demand(k).
 *     reach(k, y) :- reach(k, x), edge(x, y).
 *     tc(k, z)    :- reach(k, x), <the rules that do not recur, with x for their first argument>.
 *
 * Rules that recur with the bound arguments unchanged (`tc(?x, ?z) :- tc(?x, ?y), edge(?y, ?z)`) stay as they are
 * beside these: they only append at the other end.
 */
export interface FactoredPart {
  /** null for what is no rule of its own. */
  readonly ruleId: string | null;
  readonly target: 'reach' | 'rows';
  readonly demand: 'demand' | 'reach' | 'rows';
  readonly view: ScopeChoice;
  readonly headTerms: readonly string[];
  readonly demandTerms: readonly string[];
  /** null: the stored facts of the relation itself, whose arguments are the head's. */
  readonly body: readonly Literal[] | null;
  /** The whole rule: which filter binds which variable is decided by all of it. */
  readonly rule: Rule | null;
}

/** An exit does not recur; `right` recurs with its free arguments unchanged, `left` with the bound ones. */
export type Recursion =
  | { readonly kind: 'exit' }
  | { readonly kind: 'right' | 'left'; readonly recursive: AtomLiteral };

/** A relation asked with some arguments bound. */
type Asked = Pick<Table, 'view' | 'relation' | 'boundPositions' | 'freePositions'>;

/** The factored program of the table, or null where the recursion is not of that kind or needs no factoring. */
export function factorLinearRecursion(
  table: Table,
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
  const start: FactoredPart = {
    ...own(table),
    target: 'reach',
    demand: 'demand',
    headTerms: [...seedsOf(table), ...seedsOf(table)],
    demandTerms: seedsOf(table),
    body: [],
  };
  const parts = rules.map((rule, at) => partOf(table, rule, kinds[at] as Recursion));
  return [start, storedFacts(table), ...parts];
}

/** What the parts have in common that stand for no rule. */
function own(table: Table): Pick<FactoredPart, 'ruleId' | 'view' | 'rule'> {
  return { ruleId: null, view: table.view, rule: null };
}

/** Variables for the arguments that were demanded; no rule can name them. */
function seedsOf(table: Table): string[] {
  return table.boundPositions.map((_, at) => `?seed ${at}`);
}

/** The seeds, then those of the terms that stand in bound positions. */
function reachTerms(table: Table, terms: readonly string[]): string[] {
  return [...seedsOf(table), ...table.boundPositions.map((position) => terms[position] as string)];
}

/** The head with the seeds in its bound positions. */
function seededHead(table: Table, head: readonly string[]): string[] {
  const seeds = seedsOf(table);
  return head.map((term, position) => {
    const at = table.boundPositions.indexOf(position);
    return at < 0 ? term : (seeds[at] as string);
  });
}

/** What a node that is reached has stored, the demanded one has. */
function storedFacts(table: Table): FactoredPart {
  const terms = Array.from({ length: table.arity }, (_, position) => `?${position}`);
  const headTerms = seededHead(table, terms);
  return {
    ...own(table),
    target: 'rows',
    demand: 'reach',
    headTerms,
    demandTerms: reachTerms(table, terms),
    body: null,
  };
}

function partOf(table: Table, rule: ViewRule, kind: Recursion): FactoredPart {
  const { head, body } = rule.record.rule;
  const common = { ruleId: rule.record.id, view: rule.bodyView, rule: rule.record.rule };
  if (kind.kind === 'exit') {
    const headTerms = seededHead(table, head.args);
    return {
      ...common,
      target: 'rows',
      demand: 'reach',
      headTerms,
      demandTerms: reachTerms(table, head.args),
      body,
    };
  }
  const rest = body.filter((literal) => literal !== kind.recursive);
  if (kind.kind === 'left')
    return {
      ...common,
      target: 'rows',
      demand: 'rows',
      headTerms: head.args,
      demandTerms: kind.recursive.args,
      body: rest,
    };
  return {
    ...common,
    target: 'reach',
    demand: 'reach',
    headTerms: reachTerms(table, kind.recursive.args),
    demandTerms: reachTerms(table, head.args),
    body: rest,
  };
}

/** How the rule recurs, or null where it does in a way that cannot be factored. */
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
 * True where the arguments at `positions` go through the rule untouched: the same distinct variables in head and
 * recursive atom, found nowhere else in the rule.
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

/** Variables bound by the head's bound arguments, the literals, and what the rule's filters bind then. */
function boundBy(table: Asked, rule: Rule, rest: readonly Literal[]): Set<string> {
  const bound = new Set<string>();
  for (const position of table.boundPositions) bound.add(rule.head.args[position] as string);
  for (const literal of rest) if (isPositiveAtom(literal)) for (const term of literal.args) bound.add(term);
  bound.delete('?_');
  spread(filtersOf(rule.body, planRule(rule)), bound);
  return bound;
}
