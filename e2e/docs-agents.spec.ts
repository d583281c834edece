/** Runs the blocks of docs/agents.md that start the bridge, and checks that it responds. */
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { routeOf } from '../src/engine/contract/testing/read-configuration.ts';
import { test } from './service.ts';

const page = readFileSync(fileURLToPath(new URL('../docs/agents.md', import.meta.url)), 'utf8');
const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');

/** The block under a heading. */
function blockOf(heading: string): string {
  const section = page.split(`\n## ${heading}\n`)[1] ?? '';
  return /```json\n([^]*?)\n```/.exec(section)?.[1] ?? '';
}

test('docs/agents.md: the bridge started by its blocks reaches the database of the page', async ({
  service,
}) => {
  await fetch(`${service.url}/databases`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'my-project' }),
  });
  for (const [program, heading] of [
    ['claude-desktop', 'Claude Desktop'],
    ['other-stdio', 'Any other client, by a program that it starts'],
  ] as const) {
    const route = routeOf(program, blockOf(heading), null);
    if (route.via !== 'bridge') throw new Error('a route by the bridge was expected');
    const client = new Client({ name: heading, version: '1' });
    await client.connect(
      new StdioClientTransport({
        command: route.command,
        args: route.args.map((word) => word.replace('/path/to/corollary', root)),
        env: { ...service.environment, ...route.env },
        stderr: 'ignore',
      }),
    );
    expect((await client.listTools()).tools).toHaveLength(10);
    await client.callTool({ name: 'tell', arguments: { predicate: 'tried', args: [program] } });
    await client.close();
    const facts = await fetch(`${service.url}/facts?q=${program}`, {
      headers: { 'X-Database': 'my-project', 'X-Tenant-ID': 'default' },
    });
    expect(await facts.json()).toMatchObject({ total: 1, facts: [{ metadata: { source: heading } }] });
  }
});
