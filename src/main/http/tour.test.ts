import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServiceUnderTest } from '../service-under-test.ts';
import { compared, jsonValues, readTour, type Walked, walk } from './testing/tour.ts';

/** docs/http.md and docs/a2a.md, walked with a shell and curl against the services that they start. */
const pageOf = (name: string): string =>
  readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8');
const legs = readTour(pageOf('http.md'));
const legsOfAgents = readTour(pageOf('a2a.md'));
const folder = mkdtempSync(join(tmpdir(), 'corollary-tour-'));
const walked: Walked[] = [];
const walkedByAgents: Walked[] = [];

beforeAll(async () => {
  try {
    execFileSync('curl', ['--version'], { stdio: 'ignore' });
  } catch (error) {
    throw new Error('this test calls the service with curl, as the page does: install curl', {
      cause: error,
    });
  }
  for (const leg of legs) {
    // The folder of the page, as one that nobody else has.
    const service = await startServiceUnderTest({ ...leg.environment, STORAGE_DIR: folder });
    try {
      walked.push(...compared(leg, await walk(leg, service.address)));
    } finally {
      await service.close();
    }
  }
  const service = await startServiceUnderTest();
  try {
    for (const leg of legsOfAgents) walkedByAgents.push(...compared(leg, await walk(leg, service.address)));
  } finally {
    await service.close();
  }
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the tour of the HTTP API', () => {
  it.each(legs.flatMap(({ steps }) => steps))('prints what it shows: $command', ({ line }) => {
    const step = walked.find((each) => each.line === line);
    expect(step).toBeDefined();
    expect(step?.printed).toEqual(step?.shown);
  });

  it('starts the service without keys, and then with them', () => {
    expect(legs.map(({ environment }) => environment['AUTH_ENABLED'])).toEqual([undefined, 'true']);
    expect(walked.length).toBeGreaterThan(35);
  });

  it('compares all of an answer but what differs from run to run', () => {
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

describe('the conversation with an agent', () => {
  it.each(legsOfAgents.flatMap(({ steps }) => steps))('prints what it shows: $command', ({ line }) => {
    const step = walkedByAgents.find((each) => each.line === line);
    expect(step).toBeDefined();
    expect(step?.printed).toEqual(step?.shown);
  });

  it('is one service, told and asked in both revisions', () => {
    expect([legsOfAgents.length, walkedByAgents.length]).toEqual([1, 5]);
  });
});
