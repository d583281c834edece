/**
 * `tell`: one fact by its fields, statements as text, or a list of facts. Several are stored all or none.
 *
 * A fact without metadata gets the name of the client that told it (`metadata.source`). A fact that is already stored
 * keeps its own metadata, since metadata is replaced as a whole and would be lost.
 */
import type { StoredRule } from '../../engine/contract/rules.ts';
import { renderAtom, renderRule, ruleIdentity } from '../../engine/index.ts';
import {
  inTransaction,
  invalidCall,
  perform,
  readStatements,
  type ToolContext,
  type ToolStatement,
} from './tool-run.ts';
import type { StatementOutcome, Told } from '../../engine/contract/tool-contents.ts';
import { factInputSchema, factsInputSchema, type Metadata } from '../../engine/contract/facts.ts';
import { validate } from '../../engine/contract/validation.ts';
import { projections } from './tool-content.ts';
import type { ToolArguments } from './tools.ts';

/** Maximum number of facts in a call that are looked up first and therefore get their own source and status. */
const maxLookedUp = 1000;
/** Maximum number of statements whose outcomes are listed one by one. */
const maxListed = 200;

type Fact = Readonly<Record<string, unknown>>;

/** The answer of `tell`. The arguments have been checked. */
export async function tellTool(run: ToolContext, given: ToolArguments): Promise<Told> {
  const { text, facts, truthVal, ...options } = given;
  if (typeof text === 'string') {
    if (truthVal === false)
      throw invalidCall([{ path: 'truthVal', message: 'in text, write - before what is false' }]);
    return tellText(run, text, options);
  }
  if (!Array.isArray(facts))
    return tellFact(run, { ...options, ...(truthVal === undefined ? {} : { truthVal }) });
  const { ifGeneration, scope, unscoped, ...others } = options;
  if (ifGeneration !== undefined)
    throw invalidCall([{ path: 'ifGeneration', message: 'is for a single fact, by predicate and args' }]);
  const place = {
    ...(scope === undefined ? {} : { scope }),
    ...(unscoped === undefined ? {} : { unscoped }),
  };
  return tellFacts(
    run,
    (facts as Fact[]).map((fact) => ({
      ...('scope' in fact || 'unscoped' in fact ? {} : place),
      ...others,
      ...(truthVal === undefined ? {} : { truthVal }),
      ...fact,
    })),
  );
}

async function tellFact(run: ToolContext, fact: Fact): Promise<Told> {
  const { metadata } = await lookUp(run, fact);
  const source = metadata === null ? {} : { metadata };
  return projections.assertFact(await perform(run, 'assertFact', { body: { ...fact, ...source } }));
}

/** Whether the fact is stored, and the metadata to tell it with; null: as given. */
async function lookUp(
  run: ToolContext,
  fact: Fact,
): Promise<{ readonly isStored: boolean; readonly metadata: Metadata | null }> {
  const checked = validate(factInputSchema, fact);
  // The operation's own validation reports what is wrong.
  if (!checked.ok) return { isStored: false, metadata: null };
  const { predicate, args, truthVal, scope, metadata } = checked.value;
  // A dry run of a retraction finds exactly this fact and, unlike a question, does not count as a use of it.
  const tried = await perform(run, 'retract', {
    body: {
      predicate,
      args,
      truthVal,
      ...(scope === null ? { unscoped: true } : { scope }),
      dryRun: true,
      timeoutMs: 1,
    },
  });
  const isStored = tried.retracted > 0;
  const { client } = run.caller;
  if (client === null) return { isStored, metadata: null };
  if (metadata !== null) return { isStored, metadata: { source: client, ...metadata } };
  return { isStored, metadata: isStored ? null : { source: client } };
}

async function tellFacts(run: ToolContext, facts: readonly Fact[]): Promise<Told> {
  const [only] = facts;
  if (facts.length === 1 && only !== undefined) {
    const checked = validate(factsInputSchema, { facts });
    if (!checked.ok) throw invalidCall(checked.errors);
    return tellFact(run, only);
  }
  const { prepared, known } = await withSources(run, facts);
  const output = await perform(run, 'assertFacts', { body: { facts: prepared } });
  const { asserted, updated, unchanged, generation } = output;
  const status = asserted > 0 ? 'asserted' : updated > 0 ? 'updated' : 'unchanged';
  const again = unchanged === 0 ? 'updated' : 'unchanged';
  const listed = facts.map((fact, index): StatementOutcome => {
    const isKnown = known[index] === true;
    return { status: isKnown ? (updated > 0 ? again : 'unchanged') : 'asserted', atom: atomOf(fact) };
  });
  return {
    status,
    ...(facts.length <= maxListed ? { statements: listed } : {}),
    asserted,
    updated,
    unchanged,
    generation,
    ...hintsOf(output),
  };
}

function hintsOf(output: object): { hints?: string[] } {
  return 'hints' in output && Array.isArray(output.hints) ? { hints: output.hints as string[] } : {};
}

/** The facts with their sources, and which of them are stored already, as far as that was looked up. */
async function withSources(
  run: ToolContext,
  facts: readonly Fact[],
): Promise<{ prepared: Fact[]; known: boolean[] }> {
  if (facts.length > maxLookedUp) return { prepared: [...facts], known: [] };
  const prepared: Fact[] = [];
  const known: boolean[] = [];
  const told = new Set<string>();
  for (const fact of facts) {
    const { isStored, metadata } = await lookUp(run, fact);
    const key = JSON.stringify([fact['scope'] ?? null, atomOf(fact)]);
    known.push(isStored || told.has(key));
    told.add(key);
    prepared.push(metadata === null ? fact : { ...fact, metadata });
  }
  return { prepared, known };
}

/** The fact as text; an invalid one is left to the operation to refuse, and is written nowhere. */
function atomOf(fact: Fact): string {
  const { predicate, args, truthVal } = fact;
  const texts = Array.isArray(args) ? args.map(String) : [];
  return renderAtom({ predicate: String(predicate), args: texts, negated: truthVal === false });
}

async function tellText(run: ToolContext, text: string, options: Fact): Promise<Told> {
  const statements = await readStatements(run, text, false);
  const rules = statements.filter((statement) => statement.kind === 'rule');
  const facts = statements.flatMap((statement) =>
    statement.kind === 'fact' ? [factOf(statement, options)] : [],
  );
  if (rules.length === 0) return tellFacts(run, facts);
  const { scope, unscoped, ...others } = options;
  const [extra] = Object.keys(others);
  if (extra !== undefined)
    throw invalidCall([{ path: extra, message: 'is for facts here: tell the rules in a separate call' }]);
  const place = {
    ...(scope === undefined ? {} : { scope }),
    ...(unscoped === undefined ? {} : { unscoped }),
  };
  const [only] = rules;
  if (statements.length === 1 && only !== undefined) {
    const { etag: _, ...outcome } = await perform(run, 'assertRule', { body: { text: only.text, ...place } });
    return outcome;
  }
  return tellMixed(run, statements, facts, place);
}

function factOf({ atom }: ToolStatement & { kind: 'fact' }, options: Fact): Fact {
  const { predicate, args, negated } = atom;
  return { predicate, args, ...(negated ? { truthVal: false } : {}), ...options };
}

/** Facts and rules, or several rules: one transaction. */
async function tellMixed(
  run: ToolContext,
  statements: readonly ToolStatement[],
  facts: readonly Fact[],
  place: Fact,
): Promise<Told> {
  const { prepared, known } = await withSources(run, facts);
  const inPlace = ({ scope }: StoredRule) => scope === (place['scope'] ?? null);
  const storedBefore = (await perform(run, 'listRules')).rules.filter(inPlace).map(ruleIdentity);
  const before = new Set(storedBefore);
  const { generation } = await inTransaction(run, async (write) => {
    if (prepared.length > 0) await write('assertFacts', { body: { facts: prepared } });
    for (const statement of statements)
      if (statement.kind === 'rule') await write('assertRule', { body: { text: statement.text, ...place } });
  });
  const stored = (await perform(run, 'listRules')).rules.filter(inPlace);
  const ids = new Map(stored.map((rule) => [ruleIdentity(rule), rule.id]));
  let fact = 0;
  const outcomes = statements.map((statement): StatementOutcome => {
    if (statement.kind === 'fact')
      return { status: known[fact++] === true ? 'unchanged' : 'asserted', atom: renderAtom(statement.atom) };
    const identity = ruleIdentity(statement.rule);
    const id = ids.get(identity);
    const status = before.has(identity) ? 'unchanged' : 'asserted';
    before.add(identity);
    return { status, rule: renderRule(statement.rule), ...(id === undefined ? {} : { id }) };
  });
  const asserted = outcomes.filter(({ status }) => status === 'asserted').length;
  return {
    status: asserted > 0 ? 'asserted' : 'unchanged',
    ...(outcomes.length <= maxListed ? { statements: outcomes } : {}),
    asserted,
    unchanged: outcomes.length - asserted,
    generation,
  };
}
