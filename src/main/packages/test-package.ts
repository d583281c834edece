/**
 * Runs the tests of a package: over an engine in memory that has its declarations, facts, rules and constraints, by the
 * operation that runs tests in a service. No file is written.
 */
import type { FactInput } from '../../engine/contract/facts.ts';
import { defaultMaxDerivations } from '../../engine/contract/inference.ts';
import type { TestCoverage, TestOutcome } from '../../engine/contract/tests.ts';
import {
  type Caller,
  type Engine,
  EngineError,
  nameOfConstraint,
  openEngine,
  renderConstraint,
  ruleIdentity,
  type Span,
  systemCaller,
} from '../../engine/index.ts';
import type { KnowledgePackage, PackageFile } from './read-package.ts';

/** Time limit of one test, in milliseconds. */
const testTimeoutMs = 10_000;
/** Of all tests of one file, in milliseconds. */
const maxFileMs = 600_000;
/** Facts stored by one write. */
const factsOfWrite = 5000;

/** Something of the package that the engine refuses, with its place. */
export class RefusedItem extends Error {
  readonly path: string;
  readonly line: number;
  readonly column: number;

  constructor(file: PackageFile, span: Span, message: string) {
    super(message);
    const { startLine, startColumn } = file.lines.range(span);
    this.path = file.path;
    this.line = startLine;
    this.column = startColumn;
  }
}

/** The outcome of the tests of one file. */
export interface TestedFile {
  readonly path: string;
  readonly tests: readonly TestOutcome[];
}

/** A rule, or literals of it, that no test exercised. */
export interface UncoveredRule {
  readonly path: string;
  readonly line: number;
  readonly rule: string;
  readonly exercised: boolean;
  readonly literals: readonly { readonly line: number; readonly column: number; readonly literal: string }[];
}

/** What the tests of all files exercised; `uncovered` in the order of the files. */
export interface PackageCoverage extends Omit<TestCoverage, 'uncovered'> {
  readonly uncovered: readonly UncoveredRule[];
}

/** The outcome of a run. */
export interface PackageTestRun {
  readonly name: string;
  readonly passed: number;
  readonly failed: number;
  readonly elapsedMs: number;
  readonly files: readonly TestedFile[];
  readonly coverage: PackageCoverage | null;
}

/** Runs all tests of a package without errors. Throws a RefusedItem if the engine refuses something of it. */
export async function testPackage(
  knowledge: KnowledgePackage,
  { coverage, signal }: { readonly coverage: boolean; readonly signal: AbortSignal },
): Promise<PackageTestRun> {
  const startedAt = performance.now();
  const caller = systemCaller('corollary test', 'default', 'default', signal);
  const engine = await openEngine({ storageDir: null, decayIntervalMs: null, endedIntervalMs: null });
  try {
    await load(knowledge, engine, caller);
    const files: TestedFile[] = [];
    const covered: TestCoverage[] = [];
    for (const file of knowledge.files) {
      const count = file.items.filter(({ kind }) => kind === 'test').length;
      if (count === 0) continue;
      const input = {
        names: null,
        text: file.text,
        scope: knowledge.scope,
        unscoped: false,
        suppose: null,
        timeoutMs: Math.min(maxFileMs, testTimeoutMs * count),
        maxDerivations: defaultMaxDerivations,
        coverage,
      };
      const run = await engine.testRun(caller, input, testTimeoutMs);
      files.push({ path: file.path, tests: run.tests });
      if (run.coverage !== undefined) covered.push(run.coverage);
    }
    const tests = files.flatMap((file) => file.tests);
    const passed = tests.filter((test) => test.passed).length;
    return {
      name: knowledge.name,
      passed,
      failed: tests.length - passed,
      elapsedMs: Math.round(performance.now() - startedAt),
      files,
      coverage: coverage ? await together(covered, knowledge, engine, caller) : null,
    };
  } finally {
    await engine.close();
  }
}

interface PlacedFact {
  readonly input: FactInput;
  readonly file: PackageFile;
  readonly span: Span;
}

async function load(knowledge: KnowledgePackage, engine: Engine, caller: Caller): Promise<void> {
  const { scope, files, declarations } = knowledge;
  for (const { declaration, file, span } of declarations)
    await placing(file, span, () => engine.declare(caller, declaration));
  const facts: PlacedFact[] = [];
  for (const file of files)
    for (const item of file.isTests ? [] : file.items) {
      if (item.kind !== 'fact') continue;
      const { predicate, args, negated } = item.atom;
      const input = { ...plainFact, predicate, args, truthVal: !negated, scope };
      facts.push({ input, file, span: item.span });
    }
  for (let from = 0; from < facts.length; from += factsOfWrite)
    await store(facts.slice(from, from + factsOfWrite), engine, caller);
  for (const file of files)
    for (const item of file.isTests ? [] : file.items) {
      const { span } = item;
      if (item.kind === 'rule')
        await placing(file, span, () => engine.teach(caller, { ...plainRule, ...item.rule, scope }));
      else if (item.kind === 'constraint') {
        const text = renderConstraint(item.literals);
        const name = nameOfConstraint(item.reason ?? text);
        await placing(file, span, () =>
          engine.addConstraint(caller, { ...plainConstraint, text, name, description: item.reason, scope }),
        );
      }
    }
}

const plainFact = { unscoped: false, validFrom: null, validUntil: null, ttl: null, metadata: null } as const;
const plainRule = { text: null, unscoped: false, name: null, description: null, enabled: null } as const;
const plainConstraint = { mode: 'warn', dryRun: false, timeoutMs: testTimeoutMs } as const;

async function store(facts: readonly PlacedFact[], engine: Engine, caller: Caller): Promise<void> {
  try {
    await engine.tellAll(
      caller,
      facts.map(({ input }) => input),
    );
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    // The refusal names the fact by its position.
    const [, index = '0'] = /^facts\.(\d+)\b/.exec(error.message) ?? [];
    const at = facts[Number(index)];
    if (at === undefined) throw error;
    throw new RefusedItem(at.file, at.span, error.message.replace(/^facts\.\d+(\.\S+)?: /, ''));
  }
}

async function placing(file: PackageFile, span: Span, make: () => Promise<unknown>): Promise<void> {
  try {
    await make();
  } catch (error) {
    if (error instanceof EngineError) throw new RefusedItem(file, span, error.message);
    throw error;
  }
}

/** What any of the runs exercised. */
async function together(
  runs: readonly TestCoverage[],
  { files }: KnowledgePackage,
  engine: Engine,
  caller: Caller,
): Promise<PackageCoverage> {
  const placeOf = new Map<string, { readonly file: PackageFile; readonly item: RuleItem }>();
  for (const file of files)
    for (const item of file.isTests ? [] : file.items) {
      if (item.kind !== 'rule') continue;
      const identity = ruleIdentity(item.rule);
      if (!placeOf.has(identity)) placeOf.set(identity, { file, item });
    }
  const stored = await engine.rules(caller);
  const uncoveredIn = runs.map((run) => new Map(run.uncovered.map((each) => [each.ruleId, each])));
  const uncovered: UncoveredRule[] = [];
  let rulesExercised = 0;
  let literals = 0;
  let literalsExercised = 0;
  for (const { id, text, head, body } of stored) {
    const found = uncoveredIn.map((each) => each.get(id));
    const isExercised = runs.length > 0 && found.some((each) => each === undefined || each.exercised);
    const open = [...body.keys()].filter((at) =>
      found.every((each) => each?.literals.some((literal) => literal.at === at) === true),
    );
    rulesExercised += isExercised ? 1 : 0;
    literals += body.length;
    literalsExercised += body.length - open.length;
    const place = placeOf.get(ruleIdentity({ head, body }));
    if ((isExercised && open.length === 0) || place === undefined) continue;
    const { file, item } = place;
    uncovered.push({
      path: file.path,
      line: file.lines.range(item.span).startLine,
      rule: text,
      exercised: isExercised,
      literals: open.map((at) => {
        const span = item.body[at]?.span ?? item.span;
        const { startLine, startColumn } = file.lines.range(span);
        return { line: startLine, column: startColumn, literal: file.text.slice(span.start, span.end) };
      }),
    });
  }
  const complete = runs.every((run) => run.complete);
  return { rules: stored.length, rulesExercised, literals, literalsExercised, complete, uncovered };
}

type RuleItem = Extract<PackageFile['items'][number], { kind: 'rule' }>;
