/** Agents: the live log of calls, connected clients, connecting one, trying a tool. */
import { readFile } from 'node:fs/promises';
import { expect, type Page } from '@playwright/test';
import { expectNothingGrave } from './accessibility.ts';
import { ServiceProcess, test as unwatched } from './service.ts';
import { goTo, open, rowsOf, test } from './workbench.ts';

type CallTool = (tool: string, given: Record<string, unknown>) => Promise<void>;

/** An agent in its own session, by its messages over HTTP. */
async function connectAgent(service: ServiceProcess, name: string, headers: Record<string, string> = {}) {
  const sent = {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    ...headers,
  };
  async function post(body: object, session: Record<string, string>): Promise<Response> {
    const response = await fetch(`${service.url}/mcp`, {
      method: 'POST',
      headers: { ...sent, ...session },
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
    });
    expect(response.ok, JSON.stringify(body)).toBe(true);
    await response.text();
    return response;
  }
  const opened = await post(
    {
      id: 0,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name, version: '4.2' } },
    },
    {},
  );
  const session = { 'Mcp-Session-Id': opened.headers.get('mcp-session-id') ?? '' };
  await post({ method: 'notifications/initialized' }, session);
  let id = 0;
  const callTool: CallTool = async (tool, given) => {
    id += 1;
    await post({ id, method: 'tools/call', params: { name: tool, arguments: given } }, session);
  };
  return callTool;
}

function tab(page: Page, name: string) {
  return page.getByRole('tab', { name, exact: true });
}

test('an agent connects, its calls appear as they happen, and one of them is asked again', async ({
  page,
  service,
}) => {
  await open(page, service, '/facts');
  await expect(page.getByRole('navigation', { name: 'Tools' })).toBeVisible();
  await page.keyboard.press('Alt+7');
  await expect(page.getByRole('heading', { name: 'No agent has called yet' })).toBeVisible();
  const endpoint = page.getByRole('region', { name: 'Endpoint for agents' });
  await expect(endpoint).toContainText(`${service.url}/mcp`);
  await expect(endpoint).toContainText('ready');

  await page.getByRole('button', { name: 'Connect an agent' }).click();
  await tab(page, 'VS Code').click();
  await expect(page).toHaveURL(/program=vs-code/);
  await page.getByRole('combobox', { name: 'Tenant' }).fill('acme');
  await expect(page.getByLabel('Configuration', { exact: true })).toContainText('"X-Tenant-ID": "acme"');
  await page.getByRole('button', { name: 'Test', exact: true }).click();
  await expect(page.getByText(/^10 tools answered in .+, revision 2025-11-25\.$/)).toBeVisible();
  // The shown call is no longer the tried one.
  await page.getByRole('combobox', { name: 'Tenant' }).fill('default');
  await expect(page.getByText('tools answered')).toBeHidden();
  await expect(page.getByLabel('Configuration', { exact: true })).not.toContainText('headers');

  await tab(page, 'Claude Desktop').click();
  await page.getByRole('button', { name: 'Test', exact: true }).click();
  await expect(page.getByText(/^10 tools answered in .+, revision 2025-11-25\.$/)).toBeVisible();

  await tab(page, 'Calls').click();
  const cursor = await connectAgent(service, 'Cursor');
  await cursor('tell', { predicate: 'parent', args: ['ada', 'ben'] });
  await cursor('tell', { predicate: 'parent' });
  await cursor('ask', { predicate: 'parent', args: ['ada', '?who'] });
  const rows = rowsOf(page, 'Tool calls');
  await expect(rows).toHaveCount(3);
  await expect(rows.first()).toContainText('parent(ada, ?who)');
  await expect(rows.nth(1)).toContainText('error');

  await page.getByRole('button', { name: 'Pause' }).click();
  const codex = await connectAgent(service, 'Codex', { 'X-Tenant-ID': 'acme' });
  await cursor('predicates', {});
  await cursor('recall', {});
  await expect(page.getByRole('button', { name: 'Resume (2 new)' })).toBeVisible();
  await expect(rows).toHaveCount(3);
  await page.getByRole('button', { name: 'Resume (2 new)' }).click();
  await expect(rows).toHaveCount(5);
  // Visible although the workbench is in another space.
  await codex('tell', { predicate: 'city', args: ['oslo'] });
  await expect(rows).toHaveCount(6);
  await expect(rows.first()).toContainText('default / acme');

  await page.getByRole('combobox', { name: 'Outcome' }).click();
  await page.getByRole('option', { name: 'error' }).click();
  await expect(rows).toHaveCount(1);
  await expect(page.getByText('1 of 6 calls')).toBeVisible();
  await rows.first().click();
  const detail = page.getByRole('region', { name: 'Detail' });
  await expect(detail).toContainText('args: is required');
  await expect(page).toHaveURL(/outcome=error.*call=\d+|call=\d+.*outcome=error/);
  await page.reload();
  await expect(detail).toContainText('args: is required');
  await expect(rows).toHaveCount(1);

  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByRole('menuitem', { name: 'As NDJSON' }).click();
  const lines = (await readFile(await (await saved).path(), 'utf8')).trim().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { tool: 'tell', outcome: 'error' },
  ]);

  await page.getByRole('button', { name: 'All calls' }).click();
  await rows.filter({ hasText: 'parent(ada, ?who)' }).click();
  await detail.getByRole('link', { name: 'Open in Ask' }).click();
  await expect(page).toHaveURL(/ask\?question=parent/);
  await expect(rowsOf(page, 'Answers')).toHaveCount(1);

  await goTo(page, 'Agents');
  await tab(page, 'Clients').click();
  const clients = rowsOf(page, 'Connected clients');
  await expect(clients.filter({ hasText: 'Cursor' })).toContainText('4.2');
  await page.getByRole('button', { name: 'Calls of Codex' }).click();
  await expect(page).toHaveURL(/client=Codex/);
  await expect(rows).toHaveCount(1);
});

test('a tool can be tried by form and by JSON, asks before it destroys, and shows its refusal', async ({
  page,
  service,
}) => {
  const agent = await connectAgent(service, 'Codex');
  await agent('tell', { predicate: 'parent', args: ['ada', 'ben'] });
  await agent('teach', { text: 'elder(?x) :- parent(?x, ?y)' });
  await agent('ask', { predicate: 'elder', args: ['?who'] });
  await open(page, service, '/agents');
  await rowsOf(page, 'Tool calls').first().click();
  await page.getByRole('link', { name: 'Try it again' }).click();
  await expect(page.getByRole('textbox', { name: 'predicate', exact: true })).toHaveValue('elder');
  await expect(page.getByRole('textbox', { name: 'args' })).toHaveValue('?who');
  await page.keyboard.press('Escape');
  await page.getByRole('textbox', { name: 'args' }).press('ControlOrMeta+Enter');
  await expect(page.getByText('The tool answered')).toBeVisible();
  await expect(page.getByLabel('Structured content', { exact: true })).toContainText('"elder(ada)"');
  await expect(page.getByTestId('outcome').getByRole('link', { name: 'Proof' })).toHaveAttribute(
    'href',
    /proof\?question=elder/,
  );

  await tab(page, 'forget').click();
  await expect(page.getByText('destructive', { exact: true })).toBeVisible();
  await page.getByRole('textbox', { name: 'predicate' }).fill('parent');
  await page.getByRole('button', { name: 'Run' }).click();
  const dialog = page.getByRole('dialog', { name: 'Run forget?' });
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect(dialog).toBeHidden();
  await page.getByRole('textbox', { name: 'args' }).fill('?x\n?y');
  await page.getByRole('button', { name: 'Run' }).click();
  await expect(dialog).toContainText('parent(?x, ?y)');
  await dialog.getByRole('button', { name: 'Run' }).click();
  await expect(page.getByLabel('Text', { exact: true })).toContainText('Retracted 1 fact');

  await page.getByText('JSON', { exact: true }).first().click();
  const json = page.getByRole('textbox', { name: 'Arguments as JSON' });
  await expect(json).toHaveValue(/"\?y"/);
  await json.fill('{"predicate": "p", "args": ["?x"], "colour": 1, "dryRun": true}');
  await page.getByRole('button', { name: 'Run' }).click();
  await expect(page.getByText('The tool refused the call')).toBeVisible();
  await expect(page.getByLabel('Text', { exact: true })).toContainText('colour: unknown field');
  await page.getByText('Form', { exact: true }).click();
  await expect(page.getByText('The form cannot show these arguments as they are.')).toBeVisible();
  await page.reload();
  await expect(json).toHaveValue(/"colour": 1/);

  await tab(page, 'Calls').click();
  await expect(rowsOf(page, 'Tool calls').filter({ hasText: 'Corollary workbench' })).toHaveCount(3);
});

/** Refused calls are under test, so the console is not checked. */
const guarded = unwatched.extend<{ service: ServiceProcess }>({
  service: async ({ browserName: _browserName }, provide) => {
    const service = new ServiceProcess({ AUTH_ENABLED: 'true', API_KEY: 'an-admin-key' });
    try {
      await service.start();
      await provide(service);
    } finally {
      await service.dispose();
    }
  },
});

async function makeKey(service: ServiceProcess, role: string): Promise<{ id: string; key: string }> {
  const response = await fetch(`${service.url}/auth/keys`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: 'Bearer an-admin-key' },
    body: JSON.stringify({ role }),
  });
  expect(response.status).toBe(201);
  return (await response.json()) as { id: string; key: string };
}

guarded(
  'a key without rights, a revoked one and a service that is away are told in place',
  async ({ page, service }) => {
    // Once an admin key exists, there is no bootstrap.
    await makeKey(service, 'admin');
    const reader = await makeKey(service, 'reader');
    const agentKey = await makeKey(service, 'writer');
    await open(page, service, '/agents?part=clients');
    await page.getByRole('textbox', { name: 'API key' }).fill(reader.key);
    await page.keyboard.press('Enter');
    await expect(
      page.getByRole('heading', { name: 'Only administrators can see who is connected' }),
    ).toBeVisible();
    await expect(page.getByText('you are signed in as reader').first()).toBeVisible();
    await tab(page, 'Try a tool').click();
    await expect(page.getByText('The call will be refused.')).toBeVisible();
    await page.getByRole('textbox', { name: 'predicate' }).fill('p');
    await page.getByRole('button', { name: 'Run' }).click();
    await expect(page.getByText('The tool refused the call')).toBeVisible();

    await tab(page, 'Connect').click();
    await tab(page, 'Cursor').click();
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    const problem = page.getByRole('alert');
    await expect(problem).toContainText('The service requires a key: type one');
    await expect(problem).toContainText('Request');
    await page.getByLabel('Key', { exact: true }).fill(agentKey.key);
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await expect(page.getByText(/^10 tools answered/)).toBeVisible();
    // Stored neither in the address nor in the browser.
    expect(page.url()).not.toContain(agentKey.key);
    expect(await page.evaluate(() => JSON.stringify({ ...localStorage }))).not.toContain(agentKey.key);

    const revoked = await fetch(`${service.url}/auth/keys/${agentKey.id}`, {
      method: 'DELETE',
      headers: { Authorization: 'Bearer an-admin-key' },
    });
    expect(revoked.ok).toBe(true);
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await expect(problem).toContainText('The service rejected the key');

    await service.stop();
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await expect(problem.filter({ hasText: 'Check that the service runs' })).toContainText(
      'The service cannot be reached',
    );
  },
);

test('Connect creates the database of a project, and an agent works in it', async ({ page, service }) => {
  await open(page, service, '/agents');
  await tab(page, 'Connect').click();
  await tab(page, 'Claude Code').click();
  await expect(page.getByText(/Use one database for each project/)).toBeVisible();
  await expect(page.getByText(/There is no database/)).toBeHidden();
  await page.getByRole('combobox', { name: 'Database' }).fill('shop');
  await expect(page.getByText('There is no database shop yet')).toBeVisible();
  await expect(page.getByLabel('Configuration', { exact: true })).toContainText('X-Database: shop');
  await page.getByRole('button', { name: 'Create shop' }).click();
  await expect(page.getByText(/There is no database/)).toBeHidden();
  await page.getByRole('button', { name: 'Test', exact: true }).click();
  await expect(page.getByText(/^10 tools answered/)).toBeVisible();
});

test('Agents has no serious accessibility finding', { tag: '@long' }, async ({ page, service }) => {
  const agent = await connectAgent(service, 'Cursor');
  await agent('tell', { predicate: 'parent', args: ['ada', 'ben'] });
  await agent('ask', { predicate: 'parent' });
  await agent('ask', { predicate: 'parent', args: ['ada', '?who'] });
  await open(page, service, '/agents');
  await rowsOf(page, 'Tool calls').first().click();
  await expectNothingGrave(page, 'the calls of agents');
  await tab(page, 'Connect').click();
  await tab(page, 'Claude Code').click();
  await page.getByRole('button', { name: 'Test', exact: true }).click();
  await expect(page.getByText(/^10 tools answered/)).toBeVisible();
  await expectNothingGrave(page, 'the configuration of an agent');
  await open(page, service, '/agents?part=try&trying=predicates');
  await page.getByRole('button', { name: 'Run' }).click();
  await expect(page.getByText('The tool answered')).toBeVisible();
  await tab(page, 'tell').click();
  await expectNothingGrave(page, 'a tool that is tried');
});
