/** Compares docs/agents.md with the source of configurations, and tries each block as its client would. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AgentPlace,
  type AgentProgram,
  type AgentRoute,
  agentPrograms,
  configurationOf,
} from '../../engine/contract/agent-setup.ts';
import { routeOf } from '../../engine/contract/testing/read-configuration.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import { tools } from './tools.ts';

const page = readFileSync(new URL('../../../docs/agents.md', import.meta.url), 'utf8');

/** The address shown on the page. */
const place: AgentPlace = {
  address: 'http://127.0.0.1:9300',
  database: 'my-project',
  tenant: 'default',
  key: null,
  bridge: { command: 'node', args: ['/path/to/corollary/out/bridge/corollary-mcp.js'] },
};

interface Block {
  readonly section: string;
  readonly language: string;
  readonly text: string;
}

/** The page's code blocks, in order, each with its heading. */
function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  let section = '';
  let open: { language: string; lines: string[] } | null = null;
  for (const line of text.split('\n')) {
    const fence = /^```(\w*)$/.exec(line);
    if (fence !== null && open === null) open = { language: fence[1] ?? '', lines: [] };
    else if (fence !== null && open !== null) {
      blocks.push({ section, language: open.language, text: open.lines.join('\n') });
      open = null;
    } else if (open !== null) open.lines.push(line);
    else section = /^## (.*)$/.exec(line)?.[1] ?? section;
  }
  return blocks;
}

const blocks = blocksOf(page);
const languages = { json: 'json', toml: 'toml', shell: 'sh' } as const;

function configured(program: AgentProgram, key: string | null) {
  const configuration = configurationOf(program, { ...place, key });
  if (configuration === null) throw new Error(`no configuration of ${program}`);
  return configuration;
}

let open: ServiceUnderTest;
let keyed: ServiceUnderTest;

beforeAll(async () => {
  [open, keyed] = await Promise.all([
    startServiceUnderTest(),
    startServiceUnderTest({ AUTH_ENABLED: 'true', API_KEY: 'the-admin-key' }),
  ]);
  // The setup at the top of the page, and that of an administrator if keys are required.
  const [created, ...others] = blocks.filter(({ section }) => section === '');
  if (others.length > 0)
    throw new Error('the page begins with one block of code: how the database is created');
  await promisify(execFile)('sh', ['-c', created?.text.replace(':9300/', `:${open.port}/`) ?? '']);
  const headers = { 'X-API-Key': 'the-admin-key' };
  await keyed.call('POST', '/databases', { name: 'my-project' }, { headers });
});
afterAll(() => Promise.all([open.close(), keyed.close()]));

/** Connects with exactly this address, except for the port, and these headers; tells a fact and asks for it. */
async function performed(route: AgentRoute, service: ServiceUnderTest) {
  if (route.via !== 'http') throw new Error('a route by the address was expected');
  const url = route.url.replace(':9300/', `:${service.port}/`);
  const client = new Client({ name: 'a client of the page', version: '1' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: route.headers } }),
  );
  try {
    const listed = await client.listTools();
    const fact = { predicate: 'parent', args: ['alice', 'bob'] };
    await client.callTool({ name: 'tell', arguments: fact });
    const answer = await client.callTool({ name: 'ask', arguments: fact });
    return { tools: listed.tools.map(({ name }) => name), answer: answer.structuredContent };
  } finally {
    await client.close();
  }
}

const worked = { tools: [...tools.keys()], answer: { results: ['parent(alice, bob)'] } };

describe.each(agentPrograms)('docs/agents.md on %s', (program) => {
  const { title, language, text, route } = configured(program, null);
  const found = blocks.filter(({ section }) => section === title);

  it('has one block: the configuration for the default address and a separate database', () => {
    expect(found).toEqual([{ section: title, language: languages[language], text }]);
  });

  it('has a block that its client reads as the route to the service', () => {
    expect(routeOf(program, found[0]?.text ?? '', null)).toEqual(route);
  });

  // e2e/docs-agents.spec.ts tries those that use the bridge, with the built one.
  if (route.via === 'bridge') return;
  it('has a block with which a client connects, tells and asks', async () => {
    const read = routeOf(program, found[0]?.text ?? '', null);
    expect(await performed(read, open)).toMatchObject(worked);
    const { body } = await open.call<{ total: number }>('GET', '/facts', undefined, {
      headers: { 'X-Database': 'my-project', 'X-Tenant-ID': 'default' },
    });
    expect(body.total).toBe(1);
  });
});

describe('docs/agents.md on keys', () => {
  const [request, asked, ...others] = blocks.filter(({ section }) => section === 'With a key');

  it('has a command that creates a key for every client of its database', async () => {
    const command = request?.text.replace(':9300/', `:${keyed.port}/`) ?? '';
    const environment = { ...process.env, ADMIN_KEY: 'the-admin-key' };
    const { stdout } = await promisify(execFile)('sh', ['-c', command], { env: environment });
    const made = JSON.parse(stdout) as { key: string; role: string; tenants: string[] };
    expect(made).toMatchObject({ role: 'writer', databases: ['my-project'] });
    for (const program of agentPrograms) {
      const { text, route } = configured(program, made.key);
      const read = routeOf(program, text, made.key);
      expect(read).toEqual(route);
      if (read.via === 'http') {
        expect(await performed(read, keyed)).toMatchObject(worked);
        const elsewhere = { ...read, headers: { ...read.headers, 'X-Database': 'default' } };
        await expect(performed(elsewhere, keyed)).rejects.toThrow('403');
      }
    }
    const without = configured('codex', null).route;
    await expect(performed(without, keyed)).rejects.toThrow('401');
  });

  it('shows how VS Code asks for it, as in the configuration with a key', () => {
    expect(others).toEqual([]);
    expect(asked?.text).toBe(configured('vs-code', 'any').text);
  });

  it('says where each client finds it, as its configuration with a key does', () => {
    const rows = page
      .split('\n')
      .filter((line) => line.startsWith('| ') && line.includes('COROLLARY_API_KEY'));
    expect(rows.length).toBeGreaterThan(0);
    expect(configured('codex', 'any').text).toContain(wordOf('Codex'));
    for (const [row, program] of [
      ['Cursor', 'cursor'],
      ['VS Code', 'vs-code'],
    ] as const)
      expect(configured(program, 'any').text).toContain(wordOf(row).replaceAll('`', ''));
  });

  /** The first code in the row of this client. */
  function wordOf(client: string): string {
    return new RegExp(`^\\| ${client} \\| \`([^\`]+)\``, 'm').exec(page)?.[1] ?? 'no such row';
  }
});

describe('docs/agents.md', () => {
  it('has no block without a test', () => {
    const titles = agentPrograms.map((program) => configured(program, null).title);
    const rest = blocks.filter(({ section }) => !['', ...titles, 'With a key'].includes(section));
    expect(rest.map(({ section, language }) => ({ section, language }))).toEqual([
      { section: 'What the tools are for', language: 'markdown' },
    ]);
  });

  it('says when to use each tool, and names no unknown one', () => {
    const table = page.slice(
      page.indexOf('## What the tools are for'),
      page.indexOf('The prompt `start_session`'),
    );
    const named = [...table.matchAll(/^\| (`[^|]+`) \|/gm)].flatMap(([, names]) =>
      (names ?? '').split(', ').map((name) => name.replaceAll('`', '')),
    );
    expect(named.toSorted()).toEqual([...tools.keys()].toSorted());
  });
});
