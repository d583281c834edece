/** Which answers rested on what an agent told, and what would make a statement no longer true. */
import { expect } from '@playwright/test';
import { prepareKnowledge } from './screens.ts';
import { open, rowsOf, test } from './workbench.ts';

test('the answers that rested on what an agent told are listed', async ({ page, service }) => {
  await prepareKnowledge(page, service);
  const headers = { Accept: 'application/json, text/event-stream' };
  const clientInfo = { name: 'Reader', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const opened = await page.request.post(`${service.url}/mcp`, {
    headers,
    data: { jsonrpc: '2.0', id: 0, method: 'initialize', params },
  });
  const session = { ...headers, 'Mcp-Session-Id': opened.headers()['mcp-session-id'] ?? '' };
  // By the rule and the fact that the other agent told.
  for (const [id, args] of [
    ['ada', 'nina'],
    ['ruth', 'nobody'],
  ].entries()) {
    const given = { name: 'ask', arguments: { predicate: 'met', args } };
    const data = { jsonrpc: '2.0', id: id + 1, method: 'tools/call', params: given };
    const called = await page.request.post(`${service.url}/mcp`, { headers: session, data });
    expect(called.ok(), await called.text()).toBe(true);
  }
  await open(page, service, '/agents?client=Cursor&as=answers');
  await page.getByRole('button', { name: 'Look for answers' }).click();
  const rows = rowsOf(page, 'Answers that rested on it');
  await expect(rows.filter({ hasText: 'met(ada, nina)' })).toContainText('Reader');
  await expect(rows.filter({ hasText: 'nobody' })).toHaveCount(0);
  await expect(page.getByText(/told by Cursor/)).toBeVisible();
  await rows.first().click();
  await expect(page.getByRole('region', { name: 'Detail' })).toContainText('by Reader');
});

test('what would make a statement no longer true is found, tried, and staged', async ({ page, service }) => {
  await prepareKnowledge(page, service);
  await open(page, service, '/why-not?question=grandparent(agnes, anna)');
  await page.getByRole('button', { name: 'Look for changes' }).click();
  const sets = page.getByRole('list', { name: 'Sets of changes' });
  const first = sets.getByRole('listitem').filter({ hasText: 'mother(agnes, ' }).first();
  await expect(first).toContainText('retract');
  await first.getByRole('button', { name: 'Apply' }).click();
  await expect(page.getByText('1 change staged: apply them in Facts')).toBeVisible();
});
