/**
 * Test suites that need a newer Node than the product, downloaded on demand: the command line of the official Inspector
 * against the built service, over every transport, and the conformance suite as its authors run it.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServiceUnderTest } from '../testing/service-under-test.ts';
import { type BuiltService, startBuiltService } from './testing/built-service.ts';
import { failing } from './testing/conformance-exceptions.ts';
import { revisions, runConformance } from './testing/conformance-run.ts';
import { conformanceSurface } from './testing/conformance-surface.ts';
import { type FetchedTools, fetchTools } from './testing/fetched-tools.ts';

const bridge = fileURLToPath(new URL('../../../out/bridge/corollary-mcp.js', import.meta.url));
const patienceMs = 15 * 60_000;
let judges: FetchedTools;

beforeAll(async () => {
  judges = await fetchTools();
}, patienceMs);

interface Way {
  readonly title: string;
  /** Where the Inspector connects to, and how. */
  target(service: BuiltService): string[];
}

function over(transport: string, path: string, more: readonly string[] = []) {
  return ({ address, apiKey }: BuiltService): string[] => {
    const headers = [`Authorization: Bearer ${apiKey}`, 'X-Tenant-ID: inspected'];
    return [`${address}${path}`, '--transport', transport, '--header', ...headers, ...more];
  };
}

const ways: readonly Way[] = [
  { title: 'Streamable HTTP in a session', target: over('http', '/mcp') },
  {
    title: 'Streamable HTTP without a session',
    target: over('http', '/mcp', ['--protocol-era', 'modern']),
  },
  { title: 'Streamable HTTP at the SSE address', target: over('http', '/mcp/sse') },
  { title: 'SSE', target: over('sse', '/mcp/sse') },
  {
    title: 'the stdio bridge',
    target({ apiKey, endpointFile }) {
      const variables = [`COROLLARY_API_KEY=${apiKey}`, `COROLLARY_ENDPOINT_FILE=${endpointFile}`];
      const program = [process.execPath, bridge, '--no-start', '--tenant', 'inspected'];
      return [...program, '--transport', 'stdio', ...variables.flatMap((variable) => ['-e', variable])];
    },
  },
];

describe.each(ways)("the Inspector's command line over $title", ({ title, target }) => {
  const scope = title.replaceAll(' ', '_');
  let service: BuiltService;

  beforeAll(async () => {
    if (!existsSync(bridge)) throw new Error('build the bridge first: npm run build');
    service = await startBuiltService();
  });
  afterAll(() => service.close());

  /** The parsed answer of a method. Rejects if the Inspector exits with an error. */
  function inspect(method: string, more: readonly string[] = []): Promise<Record<string, unknown>> {
    const argumentList = [judges.inspector, '--cli', ...target(service), '--method', method, ...more];
    // Its catalog of servers is in the home folder, so it must not be that of the user running the test.
    const env = { PATH: process.env['PATH'], HOME: service.folder };
    return new Promise((resolve, reject) => {
      execFile(
        judges.node,
        [...argumentList, '--quiet'],
        { env, timeout: 60_000 },
        (error, stdout, stderr) => {
          if (error !== null) reject(new Error(`${method}: ${stderr}\n${stdout}`, { cause: error }));
          else resolve(JSON.parse(stdout) as Record<string, unknown>);
        },
      );
    });
  }

  async function call(tool: string, given: object): Promise<Record<string, unknown>> {
    return inspect('tools/call', ['--tool-name', tool, '--tool-args-json', JSON.stringify(given)]);
  }

  it('lists the ten tools and finds no error in their schemas', async () => {
    const { tools } = await inspect('tools/list', ['--strict']);
    expect(tools).toHaveLength(10);
  });

  it('completes tell, teach, ask with the proof, and forget', async () => {
    const rule = 'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)';
    for (const args of [
      ['alice', 'bob'],
      ['bob', 'carol'],
    ])
      expect(await call('tell', { predicate: 'parent', args, scope })).toMatchObject({
        structuredContent: { status: 'asserted' },
      });
    expect(await call('teach', { text: rule })).toMatchObject({ structuredContent: { rule } });
    expect(await call('ask', { predicate: 'grandparent', args: ['alice', '?who'] })).toMatchObject({
      structuredContent: {
        results: ['grandparent(alice, carol)'],
        proof: { steps: expect.arrayContaining([expect.objectContaining({ kind: 'rule', rule })]) },
      },
    });
    expect(await call('forget', { predicate: 'parent', args: ['?x', '?y'] })).toMatchObject({
      structuredContent: { retracted: 2 },
    });
  });

  it('reads resources and gets prompts', async () => {
    expect(await inspect('resources/list')).toMatchObject({
      resources: expect.arrayContaining([expect.objectContaining({ uri: 'kb://rules' })]),
    });
    expect(await inspect('resources/read', ['--uri', 'kb://rules'])).toMatchObject({
      contents: [{ text: expect.stringContaining('grandparent') }],
    });
    const prompt = ['--prompt-name', 'explain_conclusion', '--prompt-args', 'atom=p(a)'];
    expect(JSON.stringify(await inspect('prompts/get', prompt))).toContain('p(a)');
  });
});

describe('the conformance suite under its own Node', () => {
  it.each(revisions)('gives the same result for %s as under ours', async (revision) => {
    const service = await startServiceUnderTest({}, { mcpSurface: conformanceSurface });
    try {
      const checks = await runConformance(`${service.address}/mcp`, revision, judges.node);
      const failed = checks.filter(({ status }) => status === 'FAILURE').map(({ scenario }) => scenario);
      expect([...new Set(failed)].toSorted()).toEqual(Object.keys(failing[revision]).toSorted());
    } finally {
      await service.close();
    }
  });
});
