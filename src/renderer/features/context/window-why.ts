/** Why a line is in a window that was chosen for a query: the goals that it answers, and what the search says of it. */
import type { ContextWindow } from '../../../engine/contract/context.ts';
import { type Atom, isVariable } from '../../../engine/contract/language.ts';
import type { Category } from '../../../engine/contract/memory.ts';
import type { OperationRequest } from '../../../engine/contract/operations.ts';
import type { SearchHit } from '../../../engine/contract/search.ts';
import { parseAtom } from '../../../engine/language/parse.ts';
import { isNamedVariable } from '../../../engine/language/terms.ts';
import { whyFound } from '../../api/why-found.ts';
import type { WindowRequest } from './form.ts';

/** Why the search finds a fact or conclusion, by its atom. */
export type WhyByAtom = ReadonlyMap<string, SearchHit['why']>;

/** At least so many hits of a query are explained. */
const minHits = 200;
/** The service's limit. */
const maxHits = 100_000;

/** The search whose signals explain a window for a query; null without one. */
export function explaining(request: WindowRequest): OperationRequest<'search'>['body'] | null {
  const { query, maxFacts, predicates, scope, unscoped } = request;
  if (query === undefined || query === null) return null;
  return {
    text: query,
    limit: Math.min(maxHits, Math.max(minHits, maxFacts ?? 0)),
    kinds: ['fact', 'conclusion'],
    ...(predicates === undefined ? {} : { predicates }),
    ...(scope === undefined ? {} : { scope }),
    ...(unscoped === undefined ? {} : { unscoped }),
  };
}

/** Why each atom is found. Several scopes may have an atom: the best hit explains it. */
export function whyByAtom(hits: readonly SearchHit[]): WhyByAtom {
  const why = new Map<string, SearchHit['why']>();
  for (const hit of hits) if (hit.atom !== undefined && !why.has(hit.atom)) why.set(hit.atom, hit.why);
  return why;
}

/** A line of a window, or one that was left out. */
interface Line {
  readonly atom: string;
  /** null: it was left out. */
  readonly category: Category | null;
}

interface Chosen {
  readonly window: Pick<ContextWindow, 'goals'>;
  readonly request: Pick<WindowRequest, 'query' | 'fill'>;
  readonly why: WhyByAtom;
}

/** The parsed goals of a window, which every line is compared with. */
const parsedGoals = new WeakMap<ContextWindow['goals'], readonly Atom[]>();

function patternsOf(goals: ContextWindow['goals']): readonly Atom[] {
  const known = parsedGoals.get(goals);
  if (known !== undefined) return known;
  const patterns = goals.map(({ goal }) => parseAtom(goal));
  parsedGoals.set(goals, patterns);
  return patterns;
}

/** True if the atom is an instance of the pattern. */
function isInstance(pattern: Atom, { predicate, args, negated }: Atom): boolean {
  if (pattern.predicate !== predicate || pattern.negated !== negated) return false;
  if (pattern.args.length !== args.length) return false;
  const values = new Map<string, string | undefined>();
  return pattern.args.every((term, index) => {
    if (!isVariable(term)) return term === args[index];
    if (!isNamedVariable(term)) return true;
    const value = values.has(term) ? values.get(term) : args[index];
    values.set(term, value);
    return value === args[index];
  });
}

/** Why a line is there, in a few words; empty where its category says all. */
export function reasonOfLine({ atom, category }: Line, { window, request, why }: Chosen): string {
  const known = parseAtom(atom);
  const answered = patternsOf(window.goals).findIndex((pattern) => isInstance(pattern, known));
  if (answered >= 0) return `answers ${window.goals[answered]?.goal}`;
  if (category === 'goal_relevant') return 'is a premise';
  const found = whyFound(why.get(atom) ?? []);
  if (found !== '' || category === null || (request.query ?? '') === '') return found;
  return request.fill === true ? 'is near the names, or salient' : 'is near the names';
}
