/**
 * `forget`: facts by their fields, facts and rules as text, a rule by its id. Several are forgotten all or none.
 *
 * The text of a rule matches a stored rule with the same head and body up to the names of variables. What does not
 * exist is reported as absent, with similar statements.
 */
import type { Atom } from '../../engine/contract/language.ts';
import type { StoredRule } from '../../engine/contract/rules.ts';
import { editDistance, EngineError, renderAtom, renderRule, ruleIdentity } from '../../engine/index.ts';
import { inTransaction, perform, readStatements, type ToolContext, type ToolStatement } from './tool-run.ts';
import type { Forgotten, StatementOutcome } from '../../engine/contract/tool-contents.ts';
import { projections } from './tool-content.ts';
import type { ToolArguments } from './tools.ts';

const maxListed = 200;

/** Maximum number of conclusions listed. */
const maxDependents = 100;

/** The answer of `forget`. The arguments have been checked. */
export async function forgetTool(run: ToolContext, given: ToolArguments): Promise<Forgotten> {
  const { text, ruleId, ...options } = given;
  if (typeof ruleId === 'string') return forgetRules(run, [await ruleById(run, ruleId)], options);
  if (typeof text !== 'string')
    return projections.retractPattern(await perform(run, 'retractPattern', { body: options }));
  const statements = await readStatements(run, text, true);
  const [only] = statements;
  if (statements.length > 1 || only === undefined) return forgetSeveral(run, statements, options);
  if (only.kind === 'fact')
    return projections.retractPattern(
      await perform(run, 'retractPattern', { body: { ...patternOf(only.atom), ...options } }),
    );
  const { rules } = await perform(run, 'listRules');
  const meant = sameRules(rules, only, options);
  return meant.length > 0 ? forgetRules(run, meant, options) : noSuchRule(rules, only);
}

/** An atom as text has a sign, so it matches only facts of that sign. */
function patternOf({ predicate, args, negated }: Atom): ToolArguments {
  return { predicate, args, truthVal: !negated };
}

function sameRules(
  rules: readonly StoredRule[],
  { rule }: ToolStatement & { kind: 'rule' },
  { scope, unscoped }: ToolArguments,
): StoredRule[] {
  const identity = ruleIdentity(rule);
  const isInPlace = (other: StoredRule): boolean =>
    unscoped === true ? other.scope === null : scope === undefined || other.scope === scope;
  return rules.filter((other) => isInPlace(other) && ruleIdentity(other) === identity);
}

async function ruleById(run: ToolContext, id: string): Promise<StoredRule> {
  const { rules } = await perform(run, 'listRules');
  const rule = rules.find((candidate) => candidate.id === id);
  if (rule !== undefined) return rule;
  const near = nearestRules(rules, id);
  throw new EngineError(
    'RuleNotFound',
    [`there is no rule with the id ${id.slice(0, 100)}`, ...near].join('\n'),
  );
}

function noSuchRule(rules: readonly StoredRule[], { rule }: ToolStatement & { kind: 'rule' }): Forgotten {
  const text = renderRule(rule);
  const hints = nearestRules(rules, text);
  return { status: 'absent', rule: text, ...(hints.length === 0 ? {} : { hints }) };
}

async function forgetRules(
  run: ToolContext,
  rules: readonly StoredRule[],
  { dryRun }: ToolArguments,
): Promise<Forgotten> {
  const written = rules.map(({ text }) => text).join('\n');
  const ids = rules.map(({ id }) => id);
  if (dryRun === true) {
    const { goals } = await perform(run, 'whatIf', { body: { withoutRules: ids } });
    const lost = goals.flatMap((goal) => goal.lost);
    return {
      status: 'retracted',
      rule: written,
      dependents: lost.slice(0, maxDependents),
      dependentsCount: lost.length,
      dryRun: true,
    };
  }
  const [only] = ids;
  if (ids.length === 1 && only !== undefined) {
    const { dependentsCount, generation } = await perform(run, 'deleteRule', { params: { id: only } });
    return { status: 'retracted', rule: written, dependentsCount, generation };
  }
  const { generation, lost } = await inTransaction(run, async (write) => {
    for (const id of ids) await write('deleteRule', { params: { id } });
  });
  return { status: 'retracted', rule: written, dependentsCount: lost, generation };
}

/** Facts and rules of one text: one transaction, or a dry run of each. */
async function forgetSeveral(
  run: ToolContext,
  statements: readonly ToolStatement[],
  options: ToolArguments,
): Promise<Forgotten> {
  const { dryRun, ...others } = options;
  const hasRules = statements.some(({ kind }) => kind === 'rule');
  const rules = hasRules ? (await perform(run, 'listRules')).rules : [];
  const dependents = new Set<string>();
  const tried: Removal = {
    async facts(pattern) {
      const outcome = await perform(run, 'retractPattern', { body: { ...pattern, dryRun: true } });
      for (const atom of outcome.dependents) dependents.add(atom);
      return outcome.retracted;
    },
    async rule(id) {
      const outcome = await forgetRules(
        run,
        rules.filter((rule) => rule.id === id),
        options,
      );
      for (const atom of outcome.dependents ?? []) dependents.add(atom);
    },
  };
  const { result, ...committed } =
    dryRun === true
      ? { result: await removeEach(tried, statements, rules, others), lost: dependents.size }
      : await inTransaction(run, (write) =>
          removeEach(
            {
              facts: async (body) => (await write('retractPattern', { body })).retracted ?? 0,
              rule: async (id) => void (await write('deleteRule', { params: { id } })),
            },
            statements,
            rules,
            others,
          ),
        );
  return {
    status: result.some(({ status }) => status === 'retracted') ? 'retracted' : 'absent',
    retracted: result.reduce((sum, outcome) => sum + (outcome.retracted ?? 0), 0),
    ...(result.length <= maxListed ? { statements: result } : {}),
    ...(dryRun === true ? { dependents: [...dependents].slice(0, maxDependents), dryRun } : {}),
    dependentsCount: committed.lost,
    ...('generation' in committed ? { generation: committed.generation } : {}),
    ...(await hintsAbout(run, statements, result, rules, others)),
  };
}

/** How one item is removed, or tried. */
interface Removal {
  facts(pattern: ToolArguments): Promise<number>;
  rule(id: string): Promise<void>;
}

async function removeEach(
  removal: Removal,
  statements: readonly ToolStatement[],
  rules: readonly StoredRule[],
  options: ToolArguments,
): Promise<StatementOutcome[]> {
  const outcomes: StatementOutcome[] = [];
  const gone = new Set<string>();
  for (const statement of statements) {
    if (statement.kind === 'fact') {
      const retracted = await removal.facts({ ...patternOf(statement.atom), ...options });
      outcomes.push({ status: statusOf(retracted), atom: renderAtom(statement.atom), retracted });
      continue;
    }
    const meant = sameRules(rules, statement, options).filter(({ id }) => !gone.has(id));
    for (const { id } of meant) {
      gone.add(id);
      await removal.rule(id);
    }
    outcomes.push({ status: statusOf(meant.length), rule: renderRule(statement.rule) });
  }
  return outcomes;
}

function statusOf(found: number): StatementOutcome['status'] {
  return found > 0 ? 'retracted' : 'absent';
}

const mostHints = 5;

/** Stored statements similar to those that matched nothing. */
async function hintsAbout(
  run: ToolContext,
  statements: readonly ToolStatement[],
  outcomes: readonly StatementOutcome[],
  rules: readonly StoredRule[],
  options: ToolArguments,
): Promise<{ hints?: string[] }> {
  const hints: string[] = [];
  const absent = statements.filter((_, index) => outcomes[index]?.status === 'absent').slice(0, mostHints);
  for (const statement of absent) {
    if (statement.kind === 'rule') {
      hints.push(...nearestRules(rules, renderRule(statement.rule)));
      continue;
    }
    const body = { ...patternOf(statement.atom), ...options, dryRun: true };
    const tried = projections.retractPattern(await perform(run, 'retractPattern', { body }));
    hints.push(...(tried.hints ?? []));
  }
  return hints.length === 0 ? {} : { hints: [...new Set(hints)].slice(0, mostHints) };
}

const maxNamed = 3;
/** Characters of a rule that are compared and shown. */
const compared = 300;

/** Rules similar to the text, which is a rule, its head or an id, each with the call that forgets it. */
function nearestRules(rules: readonly StoredRule[], text: string): string[] {
  const wanted = text.slice(0, compared);
  const name = predicateOf(wanted);
  const about = rules.filter(
    (rule) => rule.id === wanted || rule.name === wanted || rule.head.predicate === name,
  );
  const from =
    about.length > 0 ? about : rules.filter((rule) => editDistance(rule.head.predicate, name) <= 2);
  return from
    .slice(0, 100)
    .map((rule) => ({ rule, far: editDistance(rule.text.slice(0, compared), wanted) }))
    .toSorted((left, right) => left.far - right.far)
    .slice(0, maxNamed)
    .map(({ rule }) => `${JSON.stringify({ ruleId: rule.id })} is the rule ${rule.text.slice(0, compared)}`);
}

function predicateOf(text: string): string {
  return /^-?([^\s(]{1,256})/.exec(text)?.[1] ?? '';
}
