import { maxPlanDetail, maxPlanSteps, type PlanStep } from '../../contract/plan.ts';
import { type AtomLiteral, isVariable, type Literal } from '../../contract/language.ts';
import { renderBody, renderConstant, renderLiteral } from '../../language/print.ts';
import { isAggregate, isNamedVariable, relationOf } from '../../language/terms.ts';
import type { ScopeChoice } from '../../store/fact-store.ts';
import { shapeOf } from '../model/table.ts';
import type { PlannedAtom, PlannedBody, PlannedWait, Stage } from '../plan/body-plan.ts';
import {
  atomWaitedFor,
  type JoinAtom,
  type JoinMeans,
  type JoinPlan,
  type JoinRule,
  type JoinStart,
  type JoinStep,
  planJoin,
} from '../plan/join-plan.ts';
import { type Asked, variablesFor } from '../plan/linear-recursion.ts';
import { type Planner, tableKey, type TablePart, type TablePlan } from '../plan/planner.ts';
import type { JoinCounts, Profile } from '../plan/profile.ts';
import { derivedAtomOf, type Question } from '../tables/question.ts';

/** A plan as a tree, and whether steps had to be left out of it. */
export interface PlanTree {
  readonly plan: PlanStep;
  readonly truncated: boolean;
}

/** Tables nested deeper are shown below the others, and referred to. */
const maxDepth = 12;
/** Rows expected of a key of a table whose own estimate is not known yet. */
const likelyRows = 100;
const mostRows = 1e15;

/**
 * The plan of a question as a tree, made in slices. What the planner decides for a step is decided by the
 * same planner when the question is evaluated; with a profile, the recorded plans are shown, with what was
 * counted. Nothing is evaluated here.
 *
 * A table is shown where it is first asked for; later steps refer to it, so that cycles end.
 */
export function* planTree(
  asked: Question,
  planner: Planner,
  profile: Profile | null,
): Generator<'more', PlanTree> {
  const writer = new PlanWriter(planner, profile);
  const plan = yield* writer.question(asked);
  return { plan, truncated: writer.isTruncated };
}

/** The tree as indented text, a line a step. */
export function planText({ plan, truncated }: PlanTree): string {
  const lines: string[] = [];
  const write = (step: PlanStep, depth: number): void => {
    lines.push(`${'  '.repeat(depth)}${depth === 0 ? '' : '-> '}${lineOf(step)}`);
    for (const child of step.children) write(child, depth + 1);
  };
  write(plan, 0);
  if (truncated) lines.push(`the plan has more than ${maxPlanSteps} steps; the rest is left out`);
  return lines.join('\n');
}

function lineOf(step: PlanStep): string {
  const { access, columns, estimatedRows, strategy, reason, rows, elapsedMs } = step;
  const by = columns === undefined ? '' : ` by argument ${columns.map((column) => column + 1).join(', ')}`;
  const how = access === 'none' ? '' : access === 'reference' ? ' [shown elsewhere]' : ` [${access}${by}]`;
  const counted =
    rows === undefined ? '' : `, rows ${rows}${elapsedMs === undefined ? '' : `, ${elapsedMs} ms`}`;
  const chosen = [strategy, reason].filter((each) => each !== undefined).join(': ');
  const why = chosen === '' ? '' : `; ${chosen}`;
  return `${step.step} ${step.detail}${how} (estimated ${estimatedRows}${counted})${why}`;
}

/** Where a body stands: what identifies its demand in its joins. */
interface BodyPlace {
  readonly headTerms: readonly string[];
  readonly demand: unknown;
  readonly demandTerms: readonly string[];
  /** What starts its first join, in words. */
  readonly startedBy: string;
  /** Rows with which its first join starts. */
  readonly keys: number;
}

class PlanWriter {
  readonly #planner: Planner;
  readonly #profile: Profile | null;
  readonly #estimates = new Map<string, number>();
  readonly #shown = new Set<string>();
  /** Tables to show after the others. */
  readonly #deferred: Asked[] = [];
  #steps = 0;
  #depth = 0;
  isTruncated = false;

  constructor(planner: Planner, profile: Profile | null) {
    this.#planner = planner;
    this.#profile = profile;
  }

  *question(asked: Question): Generator<'more', PlanStep> {
    const { view, body } = asked;
    const root = this.#step({ step: 'question', detail: renderBody(body), access: 'none' });
    const atom = derivedAtomOf(asked, this.#planner);
    if (atom !== null) {
      const positions = [...atom.args.keys()].filter((at) => !isVariable(atom.args[at] as string));
      root.children.push(yield* this.#table(this.#asked(view, atom, positions)));
    } else {
      const planned = this.#profile?.question ?? this.#planner.planQuestion(view, body);
      const place = {
        headTerms: asked.variables,
        demand: 'question',
        demandTerms: [],
        startedBy: 'for the question',
        keys: 1,
      };
      root.children.push(...(yield* this.#body(planned, place)));
    }
    root.estimatedRows = lastEstimate(root.children);
    for (const each of this.#deferred) {
      if (this.#shown.has(tableKey(each))) continue;
      if (this.#isFull) break;
      this.#depth = 0;
      root.children.push(yield* this.#table(each));
    }
    if (this.#profile !== null) {
      root.rows = this.#profile.answers;
      root.elapsedMs = rounded(Math.max(0, this.#profile.elapsedMs - elapsedIn(root.children)));
    }
    return root;
  }

  /** A step that counts towards the limit. */
  #step(step: Pick<PlanStep, 'step' | 'detail' | 'access'> & Partial<PlanStep>): PlanStep {
    this.#steps++;
    const { detail, relation, columns, strategy, reason } = step;
    return {
      step: step.step,
      detail: detail.length > maxPlanDetail ? `${detail.slice(0, maxPlanDetail - 1)}…` : detail,
      ...(relation === undefined ? {} : { relation }),
      access: step.access,
      ...(columns === undefined ? {} : { columns }),
      estimatedRows: step.estimatedRows ?? 0,
      ...(strategy === undefined ? {} : { strategy }),
      ...(reason === undefined ? {} : { reason }),
      ...(this.#profile === null ? {} : { rows: 0, elapsedMs: 0 }),
      children: [],
    };
  }

  get #isFull(): boolean {
    if (this.#steps < maxPlanSteps) return false;
    this.isTruncated = true;
    return true;
  }

  #asked(view: ScopeChoice, atom: AtomLiteral, boundPositions: readonly number[]): Asked {
    const freePositions = [...atom.args.keys()].filter((at) => !boundPositions.includes(at));
    return { ...shapeOf(atom), view, relation: relationOf(atom), boundPositions, freePositions };
  }

  *#table(asked: Asked): Generator<'more', PlanStep> {
    const key = tableKey(asked);
    const { boundPositions } = asked;
    const recorded = this.#profile?.tableOf(key) ?? null;
    const isShown = this.#shown.has(key);
    const isReference = isShown || this.#depth >= maxDepth || this.#isFull;
    const plan = isReference ? null : (recorded?.plan ?? this.#planner.planTable(asked));
    const table = this.#step({
      step: 'table',
      detail: patternOf(asked),
      relation: shownRelation(asked),
      ...keyAccess(boundPositions),
      ...(plan === null ? {} : { strategy: plan.strategy }),
      ...(plan === null || plan.reason === null ? {} : { reason: plan.reason }),
    });
    if (recorded !== null) table.rows = recorded.rows.rows.live;
    if (plan === null) {
      if (!isShown) this.#deferred.push(asked);
      table.access = 'reference';
      table.estimatedRows = this.#estimates.get(key) ?? likelyRows;
      return table;
    }
    this.#shown.add(key);
    this.#depth++;
    if (recorded !== null && recorded.wide !== null) table.children.push(yield* this.#table(recorded.wide));
    for (const part of plan.parts) {
      if (this.#isFull) break;
      if (!this.#isSilent(asked, part)) table.children.push(yield* this.#part(asked, plan, part));
      yield 'more';
    }
    this.#depth--;
    const sum = table.children.reduce((rows, child) => rows + child.estimatedRows, 0);
    table.estimatedRows = estimated(sum);
    this.#estimates.set(key, table.estimatedRows);
    if (recorded !== null) table.elapsedMs = rounded(recorded.elapsedMs);
    return table;
  }

  /** True for what starts a closure, and for the stored facts of a relation that has none. */
  #isSilent(asked: Asked, { target, body }: TablePart): boolean {
    return target === 'turn' || (body === null && this.#planner.storedFacts(asked) === 0);
  }

  *#part(asked: Asked, plan: TablePlan, part: TablePart): Generator<'more', PlanStep> {
    const { rule, body } = part;
    const reason = partReason(plan, part);
    const name = shownRelation(asked);
    const step = this.#step({
      step: body === null ? 'facts' : 'rule',
      detail: rule?.record.text ?? (body === null ? `stored facts of ${name}` : 'every key reaches itself'),
      access: 'none',
      ...(reason === null ? {} : { reason }),
    });
    const planned = this.#profile?.bodyOf(part) ?? this.#planner.planPart(asked, part);
    const key = tableKey(asked);
    const isOwn = part.demand === 'demand';
    const startedBy = isOwn
      ? asked.boundPositions.length > 0
        ? 'for each key'
        : 'once'
      : part.demand === 'reach'
        ? 'for each key reached'
        : 'for each new answer';
    const place = {
      headTerms: part.headTerms,
      demand: isOwn ? `demand ${key}` : `${part.demand} ${key}`,
      demandTerms: part.demandTerms,
      startedBy,
      keys: isOwn ? 1 : likelyRows,
    };
    step.children.push(...(yield* this.#body(planned, place)));
    step.estimatedRows = lastEstimate(step.children);
    if (this.#profile !== null) step.rows = conclusionsOf(step.children);
    return step;
  }

  /** The joins of the body, stage by stage, and what they wait for. */
  *#body(body: PlannedBody, place: BodyPlace): Generator<'more', PlanStep[]> {
    const steps: PlanStep[] = [];
    let { demand, demandTerms, startedBy, keys } = place;
    let waited: readonly PlannedWait[] = [];
    for (const stage of body.stages) {
      if (this.#isFull) break;
      const rule = this.#joinRule(body, stage, waited, { ...place, demand, demandTerms });
      const joins: PlanStep[] = [];
      for (const start of startsOf(rule)) {
        if (this.#isFull) break;
        const ran = this.#profile?.countsOf(stage, start) ?? [];
        for (const counts of ran.length === 0 ? [null] : ran) {
          joins.push(yield* this.#join(stage, rule, start, { startedBy, keys, counts }));
          yield 'more';
        }
      }
      steps.push(...joins);
      if (stage.waits.length > 0) {
        const wait = yield* this.#wait(body.view, stage, lastEstimate(joins));
        if (this.#profile !== null) wait.rows = conclusionsOf(joins);
        steps.push(wait);
      }
      [demand, demandTerms, startedBy] = [stage, stage.variables, 'for each waiting row'];
      keys = lastEstimate(joins);
      waited = stage.waits;
    }
    return steps;
  }

  #joinRule(
    { view }: PlannedBody,
    { atoms, filters, waits, variables }: Stage,
    waited: readonly PlannedWait[],
    { demand, demandTerms, headTerms }: Pick<BodyPlace, 'demand' | 'demandTerms' | 'headTerms'>,
  ): JoinRule {
    return {
      view,
      headTerms: waits.length > 0 ? variables : headTerms,
      demand,
      demandTerms,
      atoms: atoms.map((atom) => this.#joinAtom(view, atom)),
      filters,
      barriers: new Map(
        waited.flatMap((wait) =>
          wait.kind === 'stored' || wait.kind === 'atom'
            ? []
            : [
                [
                  wait.filter.literal,
                  { kind: wait.kind === 'group' ? ('group' as const) : ('derived' as const) },
                ],
              ],
        ),
      ),
      announced: waits.map(announcedBy),
    };
  }

  #joinAtom(view: ScopeChoice, { literal, boundPositions, isComplete }: PlannedAtom): JoinAtom {
    if (boundPositions === null) return { literal, source: { kind: 'stored' } };
    const key = tableKey(this.#asked(view, literal, boundPositions));
    return {
      literal,
      source: { kind: 'derived', rows: `rows ${key}`, demand: `demand ${key}`, boundPositions, isComplete },
    };
  }

  *#join(
    stage: Stage,
    rule: JoinRule,
    start: JoinStart,
    {
      startedBy,
      keys,
      counts,
    }: Pick<BodyPlace, 'startedBy' | 'keys'> & { readonly counts: JoinCounts | null },
  ): Generator<'more', PlanStep> {
    const plan = counts?.plan ?? planJoin(rule, start, this.#planner, this.#means);
    const atom = 'atom' in start ? (rule.atoms[start.atom] as JoinAtom).literal : null;
    const join = this.#step({
      step: 'join',
      detail: atom === null ? startedBy : `for each new row of ${renderLiteral(atom)}`,
      access: 'delta',
    });
    const walk = new JoinWalk(atom === null ? keys : this.#rowsOf(rule, start));
    for (const [at, each] of plan.steps.entries()) {
      if (this.#isFull) break;
      const step = yield* this.#joinStep(rule, stage, each, walk);
      step.estimatedRows = estimated(walk.rows);
      if (counts !== null) count(step, counts, at);
      // What starts a join once says nothing.
      if (each.kind !== 'start' || each.terms.length > 0) join.children.push(step);
    }
    join.estimatedRows = estimated(walk.rows);
    if (counts !== null) {
      join.rows = counts.matches;
      join.elapsedMs = rounded(Math.max(0, counts.totalMs - elapsedOf(counts, plan)));
    }
    return join;
  }

  /** What joins without an observer may use. */
  get #means(): JoinMeans {
    const isPlain = !this.#planner.isObserved;
    return { intersects: isPlain, reduces: isPlain };
  }

  /** Rows expected of the atom whose new rows start the join. */
  #rowsOf(rule: JoinRule, start: JoinStart): number {
    const atom = 'atom' in start ? rule.atoms[start.atom] : undefined;
    if (atom === undefined || atom.source.kind === 'stored') return likelyRows;
    return this.#estimates.get(String(atom.source.rows).slice('rows '.length)) ?? likelyRows;
  }

  *#joinStep(rule: JoinRule, stage: Stage, step: JoinStep, walk: JoinWalk): Generator<'more', PlanStep> {
    switch (step.kind) {
      case 'start':
        walk.bind(step.terms);
        return this.#step({ step: 'start', detail: termsText(step.terms), access: 'delta' });
      case 'demand': {
        const { literal, boundPositions, isWhole } = stage.atoms[step.atom] as PlannedAtom;
        const asked = this.#asked(rule.view, literal, boundPositions ?? []);
        const demand = this.#step({
          step: 'demand',
          detail: renderLiteral(literal),
          relation: shownRelation(asked),
          ...keyAccess(asked.boundPositions),
          ...(isWhole ? { reason: 'nearly every key would be asked for' } : {}),
        });
        demand.children.push(yield* this.#table(asked));
        return demand;
      }
      case 'rows':
        return this.#rows(rule, step, walk);
      case 'intersection':
        return this.#intersection(rule, step, walk);
      case 'semi-join':
        return this.#semiJoin(rule, step, walk);
      case 'comparison':
      case 'arithmetic': {
        const { literal, binds } = step.filter;
        if (binds !== null) walk.bind([binds]);
        const name = step.way === 'bind' && step.kind === 'comparison' ? 'assignment' : step.kind;
        return this.#step({ step: name, detail: renderLiteral(literal), access: 'none' });
      }
      case 'absence':
      case 'aggregate': {
        const { literal, binds } = step.filter;
        if (binds !== null) walk.bind([binds]);
        const { key } = step.columns;
        const isGroup = rule.barriers.get(literal)?.kind === 'group';
        const isWhole = step.kind === 'absence' && key.length === atomWaitedFor(literal).args.length;
        return this.#step({
          step: step.kind === 'absence' ? 'not' : 'aggregate',
          detail: renderLiteral(isAggregate(literal) ? literal : { ...literal, naf: false }),
          ...(isGroup ? {} : { relation: shownRelation(shapeOf(atomWaitedFor(literal))) }),
          access: key.length === 0 ? 'scan' : isWhole ? 'existence' : 'index',
          ...(key.length === 0 ? {} : { columns: [...key] }),
        });
      }
      case 'distinct':
        return this.#step({
          step: 'distinct',
          detail: termsText(step.variables),
          access: 'none',
          reason: 'nothing else is needed any more',
        });
    }
  }

  #rows(rule: JoinRule, step: JoinStep & { readonly kind: 'rows' }, walk: JoinWalk): PlanStep {
    const { atom: at, access, columns, terms } = step;
    const keyed = columns.key.length === 0 ? {} : { columns: [...columns.key] };
    if (at === null) {
      walk.bind(terms);
      return this.#step({ step: 'atom', detail: `keys ${termsText(terms)}`, access, ...keyed });
    }
    const { literal } = rule.atoms[at] as JoinAtom;
    if (access !== 'existence') walk.rows *= this.#planner.estimate(rule.view, literal, walk.bound);
    walk.bind(terms);
    return this.#step({
      step: 'atom',
      detail: renderLiteral(literal),
      relation: shownRelation(shapeOf(literal)),
      access,
      ...keyed,
    });
  }

  /** The values that atoms still to come can match. */
  #semiJoin(
    rule: JoinRule,
    { variable, atoms, way }: JoinStep & { readonly kind: 'semi-join' },
    walk: JoinWalk,
  ): PlanStep {
    const isKeyed = way.kind === 'keyed';
    if (!isKeyed) walk.rows *= way.share;
    const later = atoms.map((at) => renderLiteral((rule.atoms[at] as JoinAtom).literal)).join(', ');
    return this.#step({
      step: 'semi-join',
      detail: `${variable} in ${later}`,
      access: isKeyed ? 'sorted' : 'scan',
      reason: isKeyed
        ? `values that lead to ${way.key}, found once for each of them`
        : 'few values can match later; found once the join takes as long',
    });
  }

  /** The rows of the atom with the fewest, of which the others leave some. */
  #intersection(
    rule: JoinRule,
    { literals }: JoinStep & { readonly kind: 'intersection' },
    walk: JoinWalk,
  ): PlanStep {
    const atoms = literals.map(({ atom }) => (rule.atoms[atom] as JoinAtom).literal);
    walk.rows *= Math.min(...atoms.map((literal) => this.#planner.estimate(rule.view, literal, walk.bound)));
    for (const { terms } of literals) walk.bind(terms);
    return this.#step({
      step: 'intersection',
      detail: atoms.map(renderLiteral).join(', '),
      access: 'sorted',
      reason: 'all of them bind one variable; sorted once that pays',
    });
  }

  /** What the matches of the stage demand and wait for. */
  *#wait(view: ScopeChoice, { waits, variables }: Stage, rows: number): Generator<'more', PlanStep> {
    const wait = this.#step({
      step: 'wait',
      detail: termsText(variables),
      access: 'fixpoint',
      estimatedRows: rows,
      reason: `until everything that ${readersOf(waits)} is complete`,
    });
    for (const each of waits) {
      if (this.#isFull) break;
      if (each.kind === 'atom') {
        wait.children.push(yield* this.#table(this.#asked(view, each.literal, [])));
        continue;
      }
      const { literal } = each.filter;
      if (each.kind === 'table')
        wait.children.push(
          yield* this.#table(this.#asked(view, atomWaitedFor(literal), each.boundPositions)),
        );
      else if (each.kind === 'group') wait.children.push(yield* this.#group(literal, each));
    }
    return wait;
  }

  *#group(
    literal: Literal,
    { filter, body }: PlannedWait & { readonly kind: 'group' },
  ): Generator<'more', PlanStep> {
    const group = this.#step({ step: 'group', detail: renderLiteral(literal), access: 'fixpoint' });
    const { shared } = filter;
    const over = isAggregate(literal) ? literal.over : [];
    const place = {
      headTerms: [...shared, ...over],
      demand: group,
      demandTerms: shared,
      startedBy: 'for each group',
      keys: 1,
    };
    group.children.push(...(yield* this.#body(body, place)));
    group.estimatedRows = lastEstimate(group.children);
    if (this.#profile !== null) group.rows = conclusionsOf(group.children);
    return group;
  }
}

/** The bindings of a join, and the rows expected so far. */
class JoinWalk {
  readonly bound = new Set<string>();
  rows: number;

  constructor(rows: number) {
    this.rows = rows;
  }

  bind(terms: readonly string[]): void {
    for (const term of terms) if (isNamedVariable(term)) this.bound.add(term);
  }
}

/** The joins that evaluate a rule afresh. */
function startsOf({ atoms }: JoinRule): JoinStart[] {
  const starts: JoinStart[] = [{ kind: 'demand' }];
  for (const [atom, { source }] of atoms.entries())
    if (source.kind === 'derived') starts.push({ kind: 'rows', atom });
  return starts;
}

function announcedBy(wait: PlannedWait): { readonly terms: readonly string[] } {
  if (wait.kind === 'stored' || wait.kind === 'atom') return { terms: [] };
  if (wait.kind === 'group') return { terms: wait.filter.shared };
  const { args } = atomWaitedFor(wait.filter.literal);
  return { terms: wait.boundPositions.map((position) => args[position] as string) };
}

/** What reads that for which a stage waits. */
function readersOf(waits: readonly PlannedWait[]): string {
  const intersects = waits.some(({ kind }) => kind === 'atom');
  if (!intersects) return 'negation and aggregates read';
  const isAll = waits.every(({ kind }) => kind === 'atom');
  return isAll ? 'the join intersects' : 'negation, aggregates and intersections read';
}

function partReason({ strategy }: TablePlan, { target, demand }: TablePart): string | null {
  if (strategy === 'bitset') return target === 'base' ? 'the base of the closure' : 'a step of the closure';
  if (strategy !== 'factored') return null;
  if (target === 'reach') return 'finds what each key reaches';
  return demand === 'reach' ? 'answers for what each key reaches' : 'extends the answers';
}

function keyAccess(boundPositions: readonly number[]): Pick<PlanStep, 'access' | 'columns'> {
  return boundPositions.length === 0 ? { access: 'whole' } : { access: 'key', columns: [...boundPositions] };
}

function shownRelation(of: { predicate: string; negated: boolean } & ({ arity: number } | Asked)): string {
  const arity = 'arity' in of ? of.arity : of.boundPositions.length + of.freePositions.length;
  return `${of.negated ? '-' : ''}${of.predicate}/${arity}`;
}

/** The table as a pattern: `bound` where a value is given, `?` where it is not; with its view. */
function patternOf(asked: Asked): string {
  const { predicate, negated, boundPositions, view } = asked;
  const terms = variablesFor(asked).map((_, at) => (boundPositions.includes(at) ? 'bound' : '?'));
  const scope = view.kind === 'scope' ? ` in ${renderConstant(view.scope)}` : '';
  return `${negated ? '-' : ''}${predicate}(${terms.join(', ')})${scope}`;
}

function termsText(terms: readonly string[]): string {
  return `(${terms.map((term) => (isVariable(term) ? term.replace(' ', '') : renderConstant(term))).join(', ')})`;
}

/** To three digits. */
function estimated(rows: number): number {
  return Number(Math.min(rows, mostRows).toPrecision(3));
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000;
}

/** The rows expected of the last stage: those of its first join, the one that its demand starts. */
function lastEstimate(steps: readonly PlanStep[]): number {
  const waits = steps.findLastIndex(({ step }) => step === 'wait');
  return steps[waits + 1]?.estimatedRows ?? 0;
}

/** Matches of the joins of the last stage. */
function conclusionsOf(steps: readonly PlanStep[]): number {
  const waits = steps.findLastIndex(({ step }) => step === 'wait');
  return steps.slice(waits + 1).reduce((rows, step) => rows + (step.rows ?? 0), 0);
}

function elapsedIn(steps: readonly PlanStep[]): number {
  let elapsedMs = 0;
  const open = [...steps];
  for (let step = open.pop(); step !== undefined; step = open.pop()) {
    elapsedMs += step.elapsedMs ?? 0;
    for (const child of step.children) open.push(child);
  }
  return elapsedMs;
}

function count(step: PlanStep, { rows, elapsedMs }: JoinCounts, at: number): void {
  step.rows = rows[at] as number;
  step.elapsedMs = rounded(elapsedMs[at] as number);
}

function elapsedOf({ elapsedMs }: JoinCounts, { steps }: JoinPlan): number {
  let sum = 0;
  for (const at of steps.keys()) sum += elapsedMs[at] as number;
  return sum;
}
