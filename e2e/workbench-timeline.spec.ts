/** Who changed what, and the workbench in the past: the History view, the moment in the title bar, why an agent was told so. */
import { expect, type Page } from '@playwright/test';
import { expectNothingGrave } from './accessibility.ts';
import type { ServiceProcess } from './service.ts';
import { goTo, open, rowsOf, test } from './workbench.ts';

test.use({ viewport: { width: 1440, height: 900 } });

async function post(
  service: ServiceProcess,
  path: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<Response> {
  const response = await fetch(service.url + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Tenant-ID': 'default', ...headers },
    body: JSON.stringify(body),
  });
  expect(response.ok, path).toBe(true);
  return response;
}

const sync = { 'X-Client': 'sync/2.0', 'X-Reason': 'from%20the%20register' };

/** Generations 1 to 5: two rules, three dependencies. */
async function prepare(service: ServiceProcess): Promise<void> {
  await post(service, '/teach', { text: 'needs(?x, ?y) :- depends(?x, ?y)' });
  await post(service, '/teach', { text: 'needs(?x, ?z) :- needs(?x, ?y), depends(?y, ?z)' });
  for (const args of [
    ['shop', 'cart'],
    ['cart', 'database'],
    ['database', 'disk'],
  ])
    await post(service, '/tell', { predicate: 'depends', args }, sync);
}

/** Generation 6. */
async function retract(service: ServiceProcess): Promise<void> {
  await post(service, '/retract', { predicate: 'depends', args: ['cart', 'database'] }, sync);
}

async function knows(service: ServiceProcess, text: string): Promise<boolean> {
  return ((await (await post(service, '/ask', { text })).json()) as { count: number }).count > 0;
}

async function askAsAgent(service: ServiceProcess, given: object): Promise<void> {
  const headers = { Accept: 'application/json, text/event-stream' };
  const clientInfo = { name: 'Cursor', version: '4.2' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const opened = await post(
    service,
    '/mcp',
    { jsonrpc: '2.0', id: 0, method: 'initialize', params },
    headers,
  );
  const session = { ...headers, 'Mcp-Session-Id': opened.headers.get('mcp-session-id') ?? '' };
  const call = { name: 'ask', arguments: given };
  const told = await post(
    service,
    '/mcp',
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call },
    session,
  );
  await told.text();
}

function pane(page: Page) {
  return page.getByRole('region', { name: 'Detail' });
}

test('the history says who changed what with which consequences, compares, proves and takes back', async ({
  page,
  service,
}) => {
  await open(page, service, '/history');
  await expect(page.getByRole('heading', { name: 'Nothing has changed yet' })).toBeVisible();
  await prepare(service);
  await retract(service);
  await page.getByRole('button', { name: 'Show them' }).click();

  const list = page.getByRole('region', { name: 'Changes' });
  await expect(list.getByRole('heading', { name: /local · sync\/2\.0/ })).toContainText('4 changes');
  await expect(list.getByRole('listitem')).toHaveCount(6);
  await page.getByRole('textbox', { name: 'Entity' }).fill('disk');
  await expect(list.getByRole('listitem')).toHaveCount(1);
  await page.getByRole('button', { name: 'Clear', exact: true }).click();
  await list.getByRole('button').first().focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');

  await expect(pane(page).getByRole('heading', { name: 'Generation 6' })).toBeVisible();
  await expect(pane(page)).toContainText('from the register');
  await expect(pane(page).getByRole('button', { name: /^Proof of/ })).toHaveCount(4);

  await pane(page).getByRole('button', { name: 'Proof of needs(shop, disk)' }).click();
  const proof = page.getByRole('region', { name: 'Proof' });
  await expect(proof.getByRole('treeitem').first()).toContainText('needs(shop, disk)');
  await expect(page.getByRole('group', { name: 'Differences' })).toContainText('depends(cart, database)');
  await expectNothingGrave(page, 'a comparison');
  await page.getByRole('combobox', { name: 'From' }).fill('4');
  await page.getByRole('combobox', { name: 'From' }).press('Enter');
  await expect(page.getByRole('group', { name: 'Differences' })).toContainText('depends(database, disk)');
  await page.getByRole('button', { name: 'Take these back…' }).click();
  const ranged = page.getByRole('dialog', { name: 'Take back generations 5 to 6' });
  const tried = ranged.getByRole('region', { name: 'What it changes' });
  await expect(tried).toContainText('depends(database, disk)');
  await expect(tried).toContainText('depends(cart, database)');
  await ranged.getByRole('button', { name: 'Cancel' }).click();

  await page.getByRole('tab', { name: 'Changes' }).click();
  await pane(page).getByRole('button', { name: 'Take back…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Take back generation 6' });
  await expect(dialog.getByRole('region', { name: 'What it changes' })).toContainText(
    'depends(cart, database)',
  );
  expect(await knows(service, 'needs(shop, disk)')).toBe(false);
  await dialog.getByRole('button', { name: 'Take back', exact: true }).click();
  await expect(dialog).toBeHidden();
  expect(await knows(service, 'needs(shop, disk)')).toBe(true);
  await page.keyboard.press('ControlOrMeta+z');
  await expect.poll(() => knows(service, 'needs(shop, disk)')).toBe(false);
});

test('the workbench shows the past, read-only, and the proof of what an agent was told', async ({
  page,
  service,
}) => {
  await prepare(service);
  await askAsAgent(service, { predicate: 'needs', args: ['shop', 'disk'] });
  // The log of calls tells times in milliseconds: the next write is stamped with a later one.
  const asked = Date.now();
  await expect.poll(() => Date.now()).toBeGreaterThan(asked + 1);
  await retract(service);

  await open(page, service, '/facts?predicate=depends');
  const facts = rowsOf(page, 'Facts');
  await expect(facts).toHaveCount(2);
  await page.getByRole('button', { name: 'Moment: Now' }).click();
  const slider = page.getByRole('slider', { name: 'Change' });
  await slider.focus();
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  const band = page.getByRole('region', { name: 'The past is shown' });
  await expect(band).toContainText('generation 5');
  await expect(facts).toHaveCount(3);
  expect(page.url()).toContain('asKnown=5');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('button', { name: 'Moment: Past' })).toBeFocused();

  const add = page.getByRole('button', { name: 'Add facts' });
  await expect(add).toHaveAttribute('aria-disabled', 'true');
  await add.focus();
  await expect(page.getByRole('tooltip')).toContainText('The past cannot be changed');
  await facts
    .filter({ hasText: 'cart' })
    .filter({ hasText: 'database' })
    .getByRole('gridcell')
    .first()
    .click();
  await expect(pane(page)).toContainText('Ended or changed by local');
  await expectNothingGrave(page, 'facts of the past');
  await page.goto(`${service.url}/#/memory?asKnown=5`);
  await expect(page.getByText('Only of the present').first()).toBeVisible();
  await band.getByRole('button', { name: 'Back to now' }).click();
  await expect(band).toBeHidden();
  expect(page.url()).not.toContain('asKnown');

  await goTo(page, 'Agents');
  await rowsOf(page, 'Tool calls').first().getByRole('gridcell').first().click();
  await page.getByRole('link', { name: 'Why was this answered then' }).click();
  await expect(band).toContainText('generation 5');
  const proof = page.getByRole('region', { name: 'Proof' });
  await expect(proof.getByRole('treeitem').first()).toContainText('needs(shop, disk)');
  await band.getByRole('button', { name: 'Back to now' }).click();
  await expect(proof).toContainText('It does not hold');
});
