/** Tests kept in the service: what must come out of the knowledge. */
import {
  deleteTestsInputSchema,
  deleteTestsQuerySchema,
  runTestsInputSchema,
  storeTestsInputSchema,
  testListSchema,
  testsDeletedSchema,
  testsQuerySchema,
  testsRunSchema,
  testsStoredSchema,
} from '../stored-tests.ts';
import type { OperationSpec } from '../operation-spec.ts';

const read = { tag: 'tests', tenant: true, database: true, role: 'reader', kind: 'read' } as const;
const write = { tag: 'tests', tenant: true, database: true, role: 'writer', kind: 'write' } as const;

/** The test of the examples. */
const test = {
  name: 'a grandparent',
  text: 'test "a grandparent" {\n  given parent(zoe, yan), parent(yan, xia).\n  expect grandparent(zoe, ?z) = xia.\n}',
  scope: null,
  createdAt: 1782900000500,
  updatedAt: 1782900000500,
};

export const testOperations = {
  storeTests: {
    ...write,
    method: 'PUT',
    path: '/tests',
    summary: 'Store tests',
    description:
      'Tests belong to the database, as rules do, and each has a name of its own: one with the name of a stored test ' +
      'replaces it. All are stored or none. A syntax error is 400 with line and column. A database has at most 10,000 ' +
      'tests, with at most 10,000,000 characters: more is 507 `QuotaExceeded`.',
    transaction: 'write',
    changesRules: true,
    dryRun: 'body',
    body: storeTestsInputSchema,
    output: testsStoredSchema,
    problems: ['StorageUnavailable', 'QuotaExceeded'],
    example: {
      body: { text: test.text },
      answer: { tests: [{ name: test.name, status: 'asserted' }], generation: 5 },
    },
  },
  listTests: {
    ...read,
    method: 'GET',
    path: '/tests',
    summary: 'The stored tests',
    description: 'Oldest first. An unknown `name` is 404 `NotFound`.',
    query: testsQuerySchema,
    output: testListSchema,
    problems: ['NotFound'],
    example: { query: { name: test.name }, answer: { tests: [test] } },
  },
  runTests: {
    ...read,
    method: 'POST',
    path: '/tests/run',
    summary: 'Run tests',
    description:
      'Runs stored tests, or tests given as text, over the knowledge of the tenant: what is stored, or with `suppose` what a ' +
      'change would make of it. Each test supposes its own facts, and nothing is changed. The tests see one generation. A ' +
      'failure says what was expected and found, with the proof of what was found, or why what is missing is not true.',
    transaction: 'read',
    counts: 'question',
    body: runTestsInputSchema,
    output: testsRunSchema,
    problems: ['NotFound', 'RuleNotFound', 'RuleException'],
    example: {
      body: { names: [test.name] },
      answer: {
        passed: 0,
        failed: 1,
        tests: [
          {
            name: test.name,
            line: 1,
            passed: false,
            elapsedMs: 0.412,
            failures: [
              {
                expectation: 'grandparent(zoe, ?z) = xia',
                line: 3,
                column: 3,
                message: '1 of the expected answers missing',
                expected: ['xia'],
                found: [],
                missing: ['xia'],
                attempts: [],
                blockedBy: [],
              },
            ],
          },
        ],
        generation: 27,
        elapsedMs: 0.871,
      },
    },
  },
  deleteTests: {
    ...write,
    method: 'DELETE',
    path: '/tests',
    summary: 'Delete tests',
    description:
      'Those of `?name=`, and of `name` and `names` in the body. If one of them is unknown it is 404 `NotFound`, and none ' +
      'is deleted.',
    transaction: 'write',
    changesRules: true,
    dryRun: 'query',
    query: deleteTestsQuerySchema,
    body: deleteTestsInputSchema,
    output: testsDeletedSchema,
    problems: ['NotFound', 'StorageUnavailable'],
    example: {
      query: { name: test.name },
      body: { names: ['no grandparent'] },
      answer: {
        tests: [
          { name: test.name, status: 'retracted' },
          { name: 'no grandparent', status: 'retracted' },
        ],
        generation: 28,
      },
    },
  },
} as const satisfies Record<string, OperationSpec>;
