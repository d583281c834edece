import type { Caller } from '../base/caller.ts';
import { EngineError, invalid } from '../base/errors.ts';
import { runInSlices, type Slices } from '../base/slices.ts';
import {
  type DeletedTests,
  maxTestCharacters,
  maxTests,
  maxTestsInRequest,
  type StoreTestsInput,
  type TestList,
  type TestsDeleted,
  type TestsQuery,
  type TestsStored,
} from '../contract/stored-tests.ts';
import type { ImportedTest } from '../contract/transfer.ts';
import type { LastTestRuns } from '../session/last-test-runs.ts';
import type { Writer } from '../session/writer.ts';
import { testsAfter } from '../state/apply-shape.ts';
import { type Commit, outcomeAs, type ShapeOperation, type TestToStore } from '../state/operation.ts';
import type { TestRecord, TestStore } from '../store/test-store.ts';
import type { ArgumentNames } from '../language/argument-names.ts';
import { knowledgeTextSteps } from '../language/knowledge-text.ts';
import type { LineTable, Span } from '../language/source.ts';
import type { KnowledgeTest } from '../language/test-text.ts';

/** Tests kept in the service. Those of one request are stored or deleted together, as a commit is. */

const onlyTests = 'only tests can stand here: suppose facts with given, in a test';
/** Errors that a refused text lists. */
const maxErrorsOfText = 100;

type StoredStatus = TestsStored['tests'][number]['status'];

/** Stores tests, each under its name. Throws ValidationException if the text is no test, QuotaExceeded if they are too many. */
export async function storeTests(
  writer: Writer,
  caller: Caller,
  input: StoreTestsInput,
): Promise<TestsStored> {
  const { names } = writer.live.database(caller).declarations;
  const given = await testsToStore(input, names, writer.slices(caller));
  const shape = given.map((test) => ({ kind: 'putTest', test }) as const);
  if (input.dryRun) {
    const { generation, tests } = stateOf(writer, caller);
    return { ...storedPart(given, statusesIn(tests, given)), generation, dryRun: true };
  }
  const operation = (): { operation: Commit; isUnjudged: true } => {
    const { tests } = writer.live.database(caller);
    const note = JSON.stringify(statusesIn(tests, given));
    return { operation: commitOf(caller, shape, note), isUnjudged: true };
  };
  const { outcome } = await writer.write({ caller, operation: () => Promise.resolve(operation()) });
  const { note = '[]', generation } = outcomeAs(outcome, 'committed');
  return { ...storedPart(given, JSON.parse(note) as StoredStatus[]), generation };
}

/** Deletes tests. Throws NotFound if one of them is unknown; then none is deleted. */
export async function deleteTests(
  writer: Writer,
  caller: Caller,
  { names, dryRun }: DeletedTests,
): Promise<TestsDeleted> {
  const shape = deletionsOf(names);
  const retracted = shape.map(({ name }) => ({ name, status: 'retracted' as const }));
  if (dryRun) {
    const { generation, tests } = stateOf(writer, caller);
    checkTests(tests, shape);
    return { tests: retracted, generation, dryRun: true };
  }
  const check = (): void => checkTests(writer.live.database(caller).tests, shape);
  const { outcome } = await writer.write({ caller, operation: commitOf(caller, shape), check });
  return { tests: retracted, generation: outcomeAs(outcome, 'committed').generation };
}

/**
 * The tests of the request. Throws ValidationException with line and column if a text is no test. `names`: of the declared
 * arguments.
 */
export async function testsToStore(
  { text, tests, scope }: StoreTestsInput,
  names: ArgumentNames,
  slices: Pick<Slices, 'breathe'>,
): Promise<TestToStore[]> {
  const found: TestToStore[] = [];
  if (text !== null) {
    for (const each of await testsIn(text, 'text', names, slices)) found.push({ ...each, scope });
    if (found.length === 0) throw noTestIn('text');
  }
  for (const [at, each] of (tests ?? []).entries()) {
    const path = `tests.${at}`;
    const [first, ...more] = await testsIn(each.text, `${path}.text`, names, slices);
    if (first === undefined || more.length > 0)
      throw invalid(`${path}.text`, 'give the text of one test, test "name" { … }');
    if (each.name !== null && each.name !== first.name)
      throw invalid(`${path}.name`, `the text names the test ${JSON.stringify(first.name)}`);
    found.push({ ...first, scope: each.scope });
  }
  if (found.length > maxTestsInRequest)
    throw invalid('text', `one request stores at most ${maxTestsInRequest} tests: send several requests`);
  refuseDouble(found);
  return found;
}

/** The 400 for a text without a test. */
export function noTestIn(path: string): EngineError {
  return invalid(path, 'there is no test in it: write test "name" { … }');
}

/** Each test in the text, as written. */
async function testsIn(
  text: string,
  path: string,
  names: ArgumentNames,
  slices: Pick<Slices, 'breathe'>,
): Promise<{ name: string; text: string }[]> {
  const read = await readTests(text, names, slices);
  const refused = refusalOf(read, path);
  if (refused !== null) throw refused;
  return read.tests.map(({ name, span }) => ({ name, text: text.slice(span.start, span.end) }));
}

/** The tests in a text, and what else is in it. */
interface ReadTests {
  readonly tests: readonly KnowledgeTest[];
  readonly lines: LineTable;
  /** What is no test, in the order of the text. */
  readonly problems: readonly { readonly message: string; readonly span: Span }[];
}

/** Reads tests, in slices. */
export async function readTests(
  text: string,
  names: ArgumentNames,
  slices: Pick<Slices, 'breathe'>,
): Promise<ReadTests> {
  const steps = knowledgeTextSteps(text, { tests: true, names, maxErrors: maxErrorsOfText });
  const { items, errors, lines } = await runInSlices(steps, () => slices.breathe());
  const tests: KnowledgeTest[] = [];
  const problems = errors.map(({ message, span }) => ({ message, span }));
  for (const item of items)
    if (item.kind === 'test') tests.push(item);
    else problems.push({ message: onlyTests, span: item.span });
  return { tests, lines, problems };
}

/** The 400 for what is no test, with line and column; null: there is only tests. `path`: of the text in the request. */
export function refusalOf({ problems, lines }: ReadTests, path: string): EngineError | null {
  const said = problems.slice(0, maxErrorsOfText).map(({ message, span }) => {
    const { startLine, startColumn } = lines.range(span);
    return { path, message: `line ${startLine}, column ${startColumn}: ${message}` };
  });
  const [first] = said;
  const [problem] = problems;
  if (first === undefined || problem === undefined) return null;
  const { startLine: line, startColumn: column } = lines.range(problem.span);
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  return new EngineError('ValidationException', `${path === '' ? '' : `${path}: `}${first.message}${more}`, {
    errors: said,
    line,
    column,
  });
}

/** The input that stores one test of an import. */
export function importedTest({ test, scope }: ImportedTest): StoreTestsInput {
  return { text: null, tests: [{ name: null, text: test, scope }], scope: null, dryRun: false };
}

/** The names that a request gives in its query string and its body. Throws ValidationException if it gives none. */
export function namesToDelete(
  asked: string | null,
  { name, names }: { readonly name: string | null; readonly names: readonly string[] | null },
): readonly string[] {
  const given = [asked, name, ...(names ?? [])].filter((each) => each !== null);
  if (given.length === 0) throw invalid('name', 'name tests: by ?name=, or by name or names in the body');
  return given;
}

/** The operations that delete the tests of these names. */
export function deletionsOf(names: readonly string[]): Extract<ShapeOperation, { kind: 'deleteTest' }>[] {
  return Array.from(new Set(names), (name) => ({ kind: 'deleteTest', name }));
}

/** Refuses operations that the tests do not allow: NotFound for one that is not there, QuotaExceeded for too many. */
export function checkTests(tests: TestStore, operations: readonly ShapeOperation[]): void {
  for (const each of operations) if (each.kind === 'deleteTest') requireTest(tests, each.name);
  const { size, characters } = testsAfter({ tests }, operations);
  if (size > maxTests && size > tests.size) throw tooMany('tests', maxTests, tests.size);
  if (characters > maxTestCharacters && characters > tests.characters)
    throw tooMany('testCharacters', maxTestCharacters, tests.characters);
}

/** The stored tests, oldest first. Throws NotFound if the one that is asked for is unknown. */
export async function listTests(
  { live, testRuns }: Pick<Writer, 'live'> & { readonly testRuns: LastTestRuns },
  caller: Caller,
  { name }: TestsQuery,
): Promise<TestList> {
  live.refuseClosed();
  const database = live.database(caller);
  const { tests } = database;
  const found = name === null ? tests.all() : [requireTest(tests, name)];
  return {
    tests: found.map(({ changedIn, ...test }) => {
      const lastRun = testRuns.of(database, caller.tenant, { name: test.name, changedIn });
      return { ...test, ...(lastRun === undefined ? {} : { lastRun }) };
    }),
  };
}

/** The test of this name. Throws NotFound if there is none. */
export function requireTest(tests: TestStore, name: string): TestRecord {
  const test = tests.get(name);
  if (test === null)
    throw new EngineError(
      'NotFound',
      `there is no test ${JSON.stringify(name)} in this database: GET /tests lists the tests`,
    );
  return test;
}

function tooMany(quota: 'tests' | 'testCharacters', allowed: number, used: number): EngineError {
  const what = quota === 'tests' ? `${allowed} tests` : `tests of ${allowed} characters together`;
  return new EngineError('QuotaExceeded', `a database keeps at most ${what}: delete some`, {
    quota,
    of: 'database',
    allowed,
    used,
  });
}

function refuseDouble(tests: readonly TestToStore[]): void {
  const names = new Set<string>();
  for (const { name } of tests) {
    if (names.has(name)) throw invalid('', `two of the tests have the name ${JSON.stringify(name)}`);
    names.add(name);
  }
}

/** What storing each of them makes of the tests; they have distinct names. Refuses what `checkTests` refuses. */
function statusesIn(tests: TestStore, given: readonly TestToStore[]): StoredStatus[] {
  checkTests(
    tests,
    given.map((test) => ({ kind: 'putTest', test })),
  );
  return given.map(({ name, text, scope }) => {
    const before = tests.get(name);
    if (before === null) return 'asserted';
    return before.text === text && before.scope === scope ? 'unchanged' : 'updated';
  });
}

function storedPart(
  given: readonly TestToStore[],
  statuses: readonly StoredStatus[],
): Pick<TestsStored, 'tests'> {
  return { tests: given.map(({ name }, at) => ({ name, status: statuses[at] ?? 'unchanged' })) };
}

function stateOf({ live }: Writer, caller: Caller): { generation: number; tests: TestStore } {
  live.refuseClosed();
  const database = live.database(caller);
  return { generation: database.generationOf(caller.tenant), tests: database.tests };
}

function commitOf({ tenant }: Caller, shape: readonly ShapeOperation[], note?: string): Commit {
  return {
    kind: 'commit',
    tenant,
    retract: [],
    assert: [],
    rules: [],
    shape,
    operations: shape.length,
    ...(note === undefined ? {} : { note }),
  };
}
