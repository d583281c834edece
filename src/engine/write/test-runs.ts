/**
 * Runs of stored tests: over what is stored, over what a change would make of it, and before a write.
 *
 * All tests of a run see one generation. A write that tests judge is checked as ever afterwards: what others write meanwhile
 * no test has seen.
 */
import type { Caller } from '../base/caller.ts';
import { EngineError } from '../base/errors.ts';
import type { WhatIfInput } from '../contract/explanation.ts';
import { defaultMaxDerivations } from '../contract/inference.ts';
import { maxFailuresListed, type RunTestsInput, type TestsOfWrite } from '../contract/stored-tests.ts';
import type { TestOutcome, TestRun } from '../contract/tests.ts';
import { factToStore } from '../commit/prepare-facts.ts';
import { requireRule, ruleToStore } from '../commit/prepare-rules.ts';
import type { ArgumentNames } from '../language/argument-names.ts';
import { type TestedText, runTests } from '../read/run-tests.ts';
import type { LastTestRuns } from '../session/last-test-runs.ts';
import { type ReadContext, scopeChoice } from '../session/read-context.ts';
import type { ReadLimits } from '../session/read-limits.ts';
import type { Writer } from '../session/writer.ts';
import { declarationsAfter, testsAfter } from '../state/apply-shape.ts';
import type { Commit, RuleOperation } from '../state/operation.ts';
import type { DatabaseState } from '../state/state.ts';
import type { FactIdentity } from '../store/fact-store.ts';
import type { TestRecord, TestStore } from '../store/test-store.ts';
import { checkRulesInTurn } from './commit-check.ts';
import { noTestIn, readTests, refusalOf, requireTest } from './stored-tests.ts';

/** Time for the tests before a write, in milliseconds. */
const testsOfWriteTimeoutMs = 10_000;

/** The writes of the transaction that the caller names. */
interface Pending {
  pendingCommit(caller: Caller): Promise<Commit>;
}

/** What a run needs. */
type TestHost = Writer & { readonly transactions: Pending; readonly testRuns: LastTestRuns };

/** How the stored tests went; `failures`: the first that failed. */
export type OutcomeOfTests = TestsOfWrite & { readonly failures: TestOutcome[] };

interface RunLimits {
  /** Of all tests together, in milliseconds. */
  readonly timeoutMs: number;
  /** Of each test. */
  readonly testTimeoutMs: number;
  /** Of each test. */
  readonly maxDerivations: number;
  readonly coverage: boolean;
}

/**
 * Runs tests by name, or given as text. `testTimeoutMs`: of each test, within the time of all. Throws NotFound for an unknown name, ValidationException for a text that is no test,
 * and what the real writes would throw for what is supposed.
 */
export async function testRun(
  host: TestHost,
  caller: Caller,
  input: RunTestsInput,
  testTimeoutMs: number = input.timeoutMs,
): Promise<TestRun> {
  const { live } = host;
  const { names, text, suppose } = input;
  const pending = caller.transaction === null ? null : await host.transactions.pendingCommit(caller);
  const { names: argumentNames } = declarationsAfter(live.database(caller), pending?.shape ?? []);
  const read = text === null ? null : await readTests(text, argumentNames, host.slices(caller));
  const refused = read === null ? null : refusalOf(read, 'text');
  if (refused !== null) throw refused;
  if (read?.tests.length === 0) throw noTestIn('text');
  return running(host, caller, { ...input, testTimeoutMs }, async (context, run) => {
    const { tests, argumentNames } = testedAfter(context, pending);
    const stored =
      names !== null ? names.map((name) => requireTest(tests, name)) : text === null ? tests.all() : [];
    const before = await supposedCommit(context, host, caller, pending, suppose);
    const texts = await storedTexts(context, stored, argumentNames, input);
    if (read !== null) texts.push({ ...read, view: scopeChoice(input), scope: input.scope });
    const found = await run(texts, before);
    if (before === null && input.scope === null && !input.unscoped)
      noteRuns(host.testRuns, context, caller, stored, found);
    return found;
  });
}

function noteRuns(
  runs: LastTestRuns,
  { database, reader }: ReadContext,
  { tenant }: Caller,
  stored: readonly TestRecord[],
  { tests }: TestRun,
): void {
  for (const [at, { name }] of stored.entries()) {
    const passed = tests[at]?.passed === true;
    runs.note(database, tenant, name, { passed, time: reader.time, generation: reader.generation });
  }
}

/**
 * How the stored tests go over what the write would make of the knowledge. `before`: the write, as of the context's
 * generation; it refuses what the real write would refuse.
 */
export function testsOfWrite(
  writer: Writer,
  caller: Caller,
  before: (context: ReadContext) => Promise<Commit>,
): Promise<OutcomeOfTests> {
  writer.refuseWrites();
  const limits = {
    timeoutMs: testsOfWriteTimeoutMs,
    testTimeoutMs: testsOfWriteTimeoutMs,
    maxDerivations: defaultMaxDerivations,
    coverage: false,
  };
  return running(writer, caller, limits, async (context, run) => {
    const write = await before(context);
    const { tests, argumentNames } = testedAfter(context, write);
    const inOwnScopes = { scope: null, unscoped: false };
    const texts = await storedTexts(context, tests.all(), argumentNames, inOwnScopes);
    const { passed, failed, tests: outcomes } = await run(texts, write);
    return { passed, failed, failures: outcomes.filter((each) => !each.passed).slice(0, maxFailuresListed) };
  });
}

/** The tests as the write leaves them, and the names of arguments by which they are read. */
function testedAfter(
  { database, reader }: ReadContext,
  write: Commit | null,
): { readonly tests: TestStore; readonly argumentNames: ArgumentNames } {
  const shape = write?.shape ?? [];
  const declarations = declarationsAfter(database, shape);
  const isDeclared = declarations !== database.declarations;
  return {
    tests: testsAfter(database, shape),
    argumentNames: isDeclared ? declarations.names : reader.names,
  };
}

/** Throws TestsFailed if some failed. */
export function refuseFailing(tests: OutcomeOfTests): Pick<TestsOfWrite, 'passed' | 'failed'> {
  const { passed, failed, failures } = tests;
  const [first] = failures;
  if (first === undefined) return { passed, failed };
  const why = first.failures[0]?.message ?? '';
  const more = failed > 1 ? ` (and ${failed - 1} more)` : '';
  throw new EngineError(
    'TestsFailed',
    `the test ${JSON.stringify(first.name)} would fail${more}: ${why}. Nothing was stored: change the write or the test`,
    { tests },
  );
}

/** What a dry run answers of them. */
export function triedPart(tests: OutcomeOfTests): { tests: TestsOfWrite; refused?: 'TestsFailed' } {
  const { passed, failed } = tests;
  return failed === 0 ? { tests: { passed, failed } } : { tests, refused: 'TestsFailed' };
}

/** A write of rules alone. */
export function commitOfRules({ tenant }: Caller, rules: readonly RuleOperation[]): Commit {
  return { kind: 'commit', tenant, retract: [], assert: [], rules, operations: rules.length };
}

type Run = (texts: readonly (TestedText | TestOutcome)[], before: Commit | null) => Promise<TestRun>;

/** Runs in one of the tenant's places for running questions, over one generation. Waiting for the place counts as time. */
function running<Result>(
  { live }: Writer,
  caller: Caller,
  limits: RunLimits,
  act: (context: ReadContext, run: Run) => Promise<Result>,
): Promise<Result> {
  const { timeoutMs, testTimeoutMs, maxDerivations, coverage } = limits;
  const timed: ReadLimits = { timeoutMs, maxDerivations };
  return live.asQuestion(caller, timed, ({ startedAt }) => {
    const deadline = (startedAt ?? performance.now()) + timeoutMs;
    // Its own time would end the run as a whole: the tests that are left fail one by one.
    const unlimited = { timeoutMs: Number.POSITIVE_INFINITY, maxDerivations };
    return live.reading(
      caller,
      unlimited,
      (context) =>
        act(context, (texts, before) =>
          runTests(context, texts, {
            timeoutMs: testTimeoutMs,
            deadline,
            coverage,
            ...(before === null ? {} : { before: stillPossible(before, context.database) }),
          }),
        ),
      null,
    );
  });
}

/** The write without what it changes of rules and constraints that are gone since: its commit will be refused. */
function stillPossible(write: Commit, { rules, constraints }: DatabaseState): Commit {
  const known = write.rules.filter((each) => each.kind === 'teach' || rules.get(each.id) !== null);
  const shape = (write.shape ?? []).filter(
    (each) =>
      (each.kind !== 'updateConstraint' && each.kind !== 'deleteConstraint') ||
      constraints.get(each.id) !== null,
  );
  return { ...write, rules: known, shape };
}

/** The stored tests, each in its scope unless one is chosen. One that cannot be read any more has failed. */
async function storedTexts(
  { pacer }: ReadContext,
  stored: readonly TestRecord[],
  names: ArgumentNames,
  chosen: { readonly scope: string | null; readonly unscoped: boolean },
): Promise<(TestedText | TestOutcome)[]> {
  const texts: (TestedText | TestOutcome)[] = [];
  const isChosen = chosen.scope !== null || chosen.unscoped;
  for (const { name, text, scope } of stored) {
    const read = await readTests(text, names, pacer);
    const refused = refusalOf(read, '');
    const own = isChosen ? chosen : { scope, unscoped: false };
    if (refused === null) texts.push({ ...read, view: scopeChoice(own), scope: own.scope });
    else texts.push(unreadable(name, refused));
  }
  return texts;
}

function unreadable(name: string, { message, members }: EngineError): TestOutcome {
  const { line = 1, column = 1 } = members as { readonly line?: number; readonly column?: number };
  const failure = { expectation: '', line, column, message };
  return { name, line: 1, passed: false, elapsedMs: 0, failures: [failure] };
}

/** The writes of the transaction and what is supposed over them, as one write; null: neither is given. */
async function supposedCommit(
  context: ReadContext,
  writer: Writer,
  caller: Caller,
  pending: Commit | null,
  suppose: RunTestsInput['suppose'],
): Promise<Commit | null> {
  if (suppose === null) return pending;
  const { database, tenant, reader, pacer } = context;
  const base = pending === null ? null : stillPossible(pending, database);
  const patterns = suppose.retract.map((fact) => ({
    predicate: fact.predicate,
    args: fact.args,
    truthVal: fact.truthVal,
    scope: scopeChoice(fact),
  }));
  const retract: FactIdentity[] = [...(base?.retract ?? [])];
  for (const pattern of patterns) {
    for (const fact of tenant.facts.match(pattern, reader.generation, reader.time, true))
      retract.push(tenant.facts.identityOf(fact));
    await pacer.breathe();
  }
  const kept = [...(base?.assert ?? [])].filter(
    (fact) => !suppose.retract.some((pattern) => isRetracted(fact, pattern)),
  );
  const assert = [...kept, ...suppose.assert.map((fact) => factToStore(fact, reader.time))];
  const rules = [...(base?.rules ?? []), ...ruleOperations(database, suppose)];
  const { time, generation } = reader;
  await checkRulesInTurn(database, rules, { time, generation }, writer.slices(caller));
  return { ...(base ?? commitOfRules(caller, [])), retract, assert, rules };
}

function ruleOperations(
  database: DatabaseState,
  { rules, withoutRules }: Pick<WhatIfInput, 'rules' | 'withoutRules'>,
): RuleOperation[] {
  return [
    ...Array.from(new Set(withoutRules), (id): RuleOperation => {
      requireRule(database, id);
      return { kind: 'forgetRule', id };
    }),
    ...rules.map(
      (rule, at): RuleOperation => ({ kind: 'teach', rule: ruleToStore(rule, `suppose.rules.${at}.`) }),
    ),
  ];
}

function isRetracted(fact: FactIdentity, pattern: WhatIfInput['retract'][number]): boolean {
  const { predicate, args, truthVal, scope, unscoped } = pattern;
  const isOfScope = unscoped ? fact.scope === null : scope === null || fact.scope === scope;
  return (
    isOfScope &&
    fact.predicate === predicate &&
    (truthVal === null || fact.truthVal === truthVal) &&
    fact.args.length === args.length &&
    args.every((term, at) => term === fact.args[at])
  );
}
