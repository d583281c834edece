import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startServiceUnderTest } from '../testing/service-under-test.ts';
import { compared, jsonValues, readTour, type Walked, walk } from './testing/tour.ts';

/**
 * Runs the calls shown on documentation pages with a shell and curl against the services that they start, and compares
 * the answers.
 */
const root = fileURLToPath(new URL('../../..', import.meta.url));
const pages = [
  'README.md',
  'docs/tutorial.md',
  'docs/http.md',
  'docs/a2a.md',
  ...readdirSync(join(root, 'docs/how-to'))
    .sort()
    .map((name) => `docs/how-to/${name}`),
].map((path) => ({ path, legs: readTour(readFileSync(join(root, path), 'utf8')) }));

beforeAll(() => {
  try {
    execFileSync('curl', ['--version'], { stdio: 'ignore' });
  } catch (error) {
    throw new Error('this test calls the service with curl, as the pages do: install curl', {
      cause: error,
    });
  }
});

describe.each(pages.filter(({ legs }) => legs.length > 0))('$path', ({ legs }) => {
  const folder = mkdtempSync(join(tmpdir(), 'corollary-tour-'));
  const walked: Walked[] = [];

  beforeAll(async () => {
    for (const leg of legs) {
      // The folder of the page, used by no other test.
      const storage =
        leg.environment['STORAGE_DIR'] === undefined ? {} : { STORAGE_DIR: join(folder, 'data') };
      const service = await startServiceUnderTest({ ...leg.environment, ...storage });
      try {
        walked.push(...compared(leg, await walk(leg, service.address, folder)));
      } finally {
        await service.close();
      }
    }
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(legs.flatMap(({ steps }) => steps))('prints the output shown for: $command', ({ line }) => {
    const step = walked.find((each) => each.line === line);
    expect(step).toBeDefined();
    expect(step?.printed).toEqual(step?.shown);
  });
});

it('prints the same on the second page if a reader works through README and then the tutorial in one service', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'corollary-tour-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const service = await startServiceUnderTest({});
  onTestFinished(() => service.close());
  for (const path of ['README.md', 'docs/tutorial.md']) {
    const legs = pages.find((page) => page.path === path)?.legs ?? [];
    expect(legs).toHaveLength(1);
    for (const leg of legs)
      for (const { line, shown, printed } of compared(leg, await walk(leg, service.address, folder)))
        expect(printed, `${path}:${line}`).toEqual(shown);
  }
});

describe('the runner', () => {
  it('runs the tour of the API without keys, then with them', () => {
    const legs = pages.find(({ path }) => path === 'docs/http.md')?.legs ?? [];
    expect(legs.map(({ environment }) => environment['AUTH_ENABLED'])).toEqual([undefined, 'true']);
    expect(legs.flatMap(({ steps }) => steps).length).toBeGreaterThan(35);
  });

  it('compares all of an answer except what differs between runs', () => {
    const leg = {
      environment: {},
      definitions: [],
      steps: [{ command: '', line: 1, shown: { kind: 'json', text: '{"a": 1, "elapsedMs": 2}' } }],
    } as const;
    expect(compared(leg, ['{"a":1,"elapsedMs":3.5}'])[0]).toMatchObject({
      shown: [{ a: 1 }],
      printed: [{ a: 1 }],
    });
    const [other] = compared(leg, ['{"a":2,"elapsedMs":2}\n']);
    expect(other?.printed).not.toEqual(other?.shown);
    expect(jsonValues('[1]\n{"a": "}\\"{"} []')).toEqual([[1], { a: '}"{' }, []]);
  });
});
