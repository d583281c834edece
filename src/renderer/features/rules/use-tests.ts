/** The stored tests, and what came out of them in this session. */
import { useQuery } from '@tanstack/react-query';
import { create } from 'zustand';
import type { RunTestsInput, StoredTest } from '../../../engine/contract/stored-tests.ts';
import type { TestOutcome, TestRun } from '../../../engine/contract/tests.ts';
import { queryKeyOf } from '../../api/live.ts';
import { useSession } from '../../api/session.tsx';
import { type Run, useRun } from '../../api/use-run.ts';

/** All tests of the database. */
export function useTests() {
  const { call, endpoint } = useSession();
  return useQuery({
    queryKey: queryKeyOf('rules', endpoint, 'tests'),
    queryFn: async ({ signal }) => (await call('listTests', { query: {} }, { signal })).tests,
  });
}

/** The last outcome of a test, and the text that ran. */
export interface TestResult {
  readonly outcome: TestOutcome;
  readonly text: string;
}

interface Results {
  /** By database and tenant, then by the name of the test. */
  readonly of: Readonly<Record<string, ReadonlyMap<string, TestResult>>>;
}

const useResults = create<Results>()(() => ({ of: {} }));
const noResults: ReadonlyMap<string, TestResult> = new Map();

/** What a run is asked for. */
type RunRequest = Partial<Pick<RunTestsInput, 'names' | 'text' | 'scope' | 'coverage'>>;

/** Time for a run from the workbench, in milliseconds. */
const timeoutMs = 60_000;

/** Runs of tests, and their results by name. */
export interface TestRuns {
  readonly results: ReadonlyMap<string, TestResult>;
  readonly run: Run<TestRun>;
  /** Runs the stored tests of these names, or all; with coverage, if it is asked for. */
  runStored(tests: readonly StoredTest[], coverage: boolean): void;
  /** Runs the tests of a text, which need not be stored. */
  runText(text: string, scope: string | null): void;
}

/** Returns the runner; the last results of the session stay when the view is left. */
export function useTestRuns(): TestRuns {
  const { call, space } = useSession();
  const place = JSON.stringify([space.database, space.tenant]);
  const results = useResults(({ of }) => of[place] ?? noResults);
  const run = useRun<TestRun>();
  const start = (request: RunRequest, textOf: (name: string) => string) =>
    run.start(async (signal) => {
      const found = await call('runTests', { body: { ...request, timeoutMs } }, { signal });
      useResults.setState(({ of }) => {
        const known = new Map(of[place]);
        for (const outcome of found.tests) known.set(outcome.name, { outcome, text: textOf(outcome.name) });
        return { of: { ...of, [place]: known } };
      });
      return found;
    });
  return {
    results,
    run,
    runStored(tests, coverage) {
      const texts = new Map(tests.map(({ name, text }) => [name, text]));
      start({ names: [...texts.keys()], coverage }, (name) => texts.get(name) ?? '');
    },
    runText: (text, scope) => start({ text, ...(scope === null ? {} : { scope }) }, () => text),
  };
}

/** How a stored test stands: by its last run in this session, else by what the service knows. */
export function testStanding(
  { name, text, lastRun }: StoredTest,
  results: ReadonlyMap<string, TestResult>,
): 'passed' | 'failed' | 'unknown' {
  const known = results.get(name);
  const passed = known !== undefined && known.text === text ? known.outcome.passed : lastRun?.passed;
  return passed === undefined ? 'unknown' : passed ? 'passed' : 'failed';
}
