/** The official conformance suite against the whole service with a key, at the revisions that it covers. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import { failing, warning } from './testing/conformance-exceptions.ts';
import {
  type Check,
  type Gateway,
  openGateway,
  requiredScenarios,
  revisions,
  runConformance,
} from './testing/conformance-run.ts';
import { conformanceSurface } from './testing/conformance-surface.ts';

const apiKey = 'key-of-the-suite';
const environment = { AUTH_ENABLED: 'true', API_KEY: apiKey };
const open: { close(): Promise<void> }[] = [];

afterAll(async () => {
  for (const each of open.reverse()) await each.close();
});

/** A service that requires a key, and a gateway in front of it that adds one. */
async function serve(
  options: Parameters<typeof startServiceUnderTest>[1],
): Promise<[ServiceUnderTest, Gateway]> {
  const service = await startServiceUnderTest(environment, options);
  open.push(service);
  const gateway = await openGateway(service.port, {
    authorization: `Bearer ${apiKey}`,
    'x-tenant-id': 'suite',
  });
  open.push(gateway);
  return [service, gateway];
}

const wordsOf = (checks: readonly Check[]) =>
  checks.map(({ scenario, id, errorMessage }) => `${scenario}: ${id}: ${errorMessage ?? ''}`);

function failedScenarios(checks: readonly Check[]): string[] {
  const failed = checks.filter(({ status }) => status === 'FAILURE');
  return [...new Set(failed.map(({ scenario }) => scenario))].toSorted();
}

describe.each(revisions)('our transports in the conformance suite for %s', (revision) => {
  let checks: Check[];
  let service: ServiceUnderTest;

  beforeAll(async () => {
    const [started, gateway] = await serve({ mcpSurface: conformanceSurface });
    service = started;
    checks = await runConformance(`${gateway.address}/mcp`, revision);
    // The suite has deadlines of its own, which a pause of a busy machine can miss: then it runs once more.
    if (failedScenarios(checks).join() !== Object.keys(failing[revision]).toSorted().join())
      checks = await runConformance(`${gateway.address}/mcp`, revision);
  });

  it('pass every scenario that the revision requires', () => {
    const required = requiredScenarios(revision);
    expect(required.length).toBeGreaterThanOrEqual(30);
    const failed = checks.filter(
      ({ status, scenario }) => status === 'FAILURE' && required.includes(scenario),
    );
    expect(wordsOf(failed)).toEqual([]);
    const passed = new Set(
      checks.filter(({ status }) => status === 'SUCCESS').map(({ scenario }) => scenario),
    );
    expect(required.filter((scenario) => !passed.has(scenario))).toEqual([]);
  });

  it('fail and warn exactly where an exception explains it', () => {
    expect(failedScenarios(checks)).toEqual(Object.keys(failing[revision]).toSorted());
    const warned = checks.filter(({ status }) => status === 'WARNING');
    expect(warned.map(({ id }) => id).toSorted()).toEqual(Object.keys(warning[revision]).toSorted());
  });

  it('make the service log no error', () => {
    expect(service.logged.filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
  });
});

/** What the suite can check of any server, whatever it offers. */
const ofAnyServer = {
  '2025-11-25': [
    'server-initialize',
    'ping',
    'completion-complete',
    'tools-list',
    'server-sse-multiple-streams',
    'resources-list',
    'resources-subscribe',
    'resources-unsubscribe',
    'prompts-list',
    'dns-rebinding-protection',
    'server-session-lifecycle',
  ],
  '2026-07-28': [
    'completion-complete',
    'tools-list',
    'server-sse-multiple-streams',
    'resources-list',
    'sep-2164-resource-not-found',
    'prompts-list',
    'dns-rebinding-protection',
    'caching',
    'http-header-validation',
    'input-required-result-unsupported-methods',
  ],
} as const;

describe('the knowledge base in the conformance suite', () => {
  let gateway: Gateway;

  beforeAll(async () => {
    [, gateway] = await serve({});
  });

  it.each(revisions)(
    'passes the checks of %s that apply to any server',
    async (revision) => {
      const checks = await runConformance(`${gateway.address}/mcp`, revision);
      for (const scenario of ofAnyServer[revision]) {
        const own = checks.filter((check) => check.scenario === scenario);
        expect(
          own.some(({ status }) => status === 'SUCCESS'),
          scenario,
        ).toBe(true);
        expect(wordsOf(own.filter(({ status }) => status === 'FAILURE' || status === 'WARNING'))).toEqual([]);
      }
    },
    150_000,
  );
});

it('documents the result and every exception', () => {
  const text = readFileSync(new URL('../../../docs/mcp.md', import.meta.url), 'utf8');
  for (const revision of revisions) {
    const { length } = requiredScenarios(revision);
    expect(text).toContain(`| ${revision} | ${length} of ${length} |`);
    const names = [...Object.keys(failing[revision]), ...Object.keys(warning[revision])];
    for (const name of names) expect(text).toContain(`\`${name.replace(/^tasks-.*/, 'tasks-*')}\``);
  }
});
