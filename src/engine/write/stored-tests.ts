import type { Caller } from '../base/caller.ts';
import { EngineError, invalid } from '../base/errors.ts';
import {
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
import type { Writer } from '../session/writer.ts';
import { testsAfter } from '../state/apply-shape.ts';
import { type Commit, outcomeAs, type ShapeOperation, type TestToStore } from '../state/operation.ts';
import type { TestRecord, TestStore } from '../store/test-store.ts';
import { testTexts } from '../language/test-text.ts';

/** Tests kept in the service. Those of one request are stored or deleted together, as a commit is. */

type StoredStatus = TestsStored['tests'][number]['status'];

/** Stores tests, each under its name. Throws ValidationException if the text is no test, QuotaExceeded if they are too many. */
export async function storeTests(
  writer: Writer,
  caller: Caller,
  input: StoreTestsInput,
): Promise<TestsStored> {
  const given = testsToStore(input);
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
  { names, dryRun }: { readonly names: readonly string[]; readonly dryRun: boolean },
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

/** The tests of the request. Throws ValidationException with line and column if a text is no test. */
function testsToStore({ text, tests, scope }: StoreTestsInput): TestToStore[] {
  const found: TestToStore[] = [];
  if (text !== null) {
    for (const each of testTexts(text, 'text')) found.push({ ...each, scope });
    if (found.length === 0) throw invalid('text', 'there is no test in it: write test "name" { … }');
  }
  for (const [at, each] of (tests ?? []).entries()) {
    const [first, ...more] = testTexts(each.text, `tests.${at}.text`);
    if (first === undefined || more.length > 0)
      throw invalid(`tests.${at}.text`, 'give the text of one test, test "name" { … }');
    if (each.name !== null && each.name !== first.name)
      throw invalid(`tests.${at}.name`, `the text names the test ${JSON.stringify(first.name)}`);
    found.push({ ...first, scope: each.scope });
  }
  if (found.length > maxTestsInRequest)
    throw invalid('text', `one request stores at most ${maxTestsInRequest} tests: send several requests`);
  refuseDouble(found);
  return found;
}

type TestOperation = Extract<ShapeOperation, { kind: 'putTest' | 'deleteTest' }>;

/** Changes of tests as part of a transaction. */
export interface TestChanges {
  readonly operations: readonly TestOperation[];
  readonly dryRun: boolean;
}

/** What `PUT /tests` changes. Throws ValidationException if a text is no test. */
export function storing(input: StoreTestsInput): TestChanges {
  const operations = testsToStore(input).map((test) => ({ kind: 'putTest', test }) as const);
  return { operations, dryRun: input.dryRun };
}

/** The input that stores one test of an import. */
export function importedTest({ test, scope }: ImportedTest): StoreTestsInput {
  return { text: null, tests: [{ name: null, text: test, scope }], scope: null, dryRun: false };
}

/** What `DELETE /tests` changes. */
export function deleting(names: readonly string[], dryRun: boolean): TestChanges {
  return { operations: deletionsOf(names), dryRun };
}

/** The names that a request gives in its query string or its body. Throws ValidationException if it gives none, or in two ways. */
export function namesToDelete(
  asked: string | null,
  { name, names }: { readonly name: string | null; readonly names: readonly string[] | null },
): readonly string[] {
  const ways = [asked === null ? null : [asked], name === null ? null : [name], names].filter(
    (way) => way !== null,
  );
  const [given] = ways;
  if (given === undefined || ways.length > 1)
    throw invalid('name', 'name the tests once: by ?name=, or by name or names in the body');
  return given;
}

/** The operations that delete the tests of these names. */
function deletionsOf(names: readonly string[]): Extract<ShapeOperation, { kind: 'deleteTest' }>[] {
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
  { live }: Pick<Writer, 'live'>,
  caller: Caller,
  { name }: TestsQuery,
): Promise<TestList> {
  live.refuseClosed();
  const { tests } = live.database(caller);
  const found = name === null ? tests.all() : [requireTest(tests, name)];
  return { tests: found.map(({ changedIn: _, ...test }) => test) };
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
