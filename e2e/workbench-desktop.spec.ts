/**
 * The workbench in the desktop application, which a stand-in in the page replaces: what it reports to the application,
 * and how it serves requests.
 */
import { expect } from '@playwright/test';
import { commandEntry, commandIds, type CommandState } from '../src/desktop-contract/commands.ts';
import { linkedRoutes, placeOfLink } from '../src/desktop-contract/places.ts';
import { expectNothingGraveIn } from './accessibility.ts';
import { firstSettings, lastOf, standInShell } from './shell-stand-in.ts';
import { goTo, open, openSample, test } from './workbench.ts';

test('every command of the table is in the palette under its name, and reported to the menu', async ({
  page,
  service,
}) => {
  const shell = await standInShell(page);
  await open(page, service, '/facts');
  const always = commandIds.filter((id) => commandEntry(id).needs === undefined);
  await expect
    .poll(() => (lastOf(shell, 'setCommands') as CommandState[] | undefined)?.map(({ id }) => id).toSorted())
    .toEqual(always.toSorted());
  const told = lastOf(shell, 'setCommands') as CommandState[];
  for (const { id, title } of told) expect(title).toBe(commandEntry(id).title);
  await page.keyboard.press('ControlOrMeta+k');
  for (const { title } of told.filter(({ id }) => id !== 'palette')) {
    await page.getByRole('combobox').fill(title);
    await expect(page.getByRole('option').filter({ hasText: title }).first()).toBeVisible();
  }
});

test('waiting commands, places and notices are handled, even those from before the page loaded', async ({
  page,
  service,
}) => {
  const shell = await standInShell(page);
  await open(page, service, '/facts');
  await expect(page).toHaveURL(/#\/facts/);
  await shell.wait({ kind: 'command', id: 'go.rules' });
  await expect(page).toHaveURL(/#\/rules/);
  await shell.wait({ kind: 'place', place: '/why-not?question=p(a)' }, { kind: 'notice', text: 'It moved.' });
  await expect(page).toHaveURL(/#\/why-not\?question=p/);
  await expect(page.getByText('It moved.')).toBeVisible();
});

test('a file opens the import dialog with its contents, and stores nothing by itself', async ({
  page,
  service,
}) => {
  const shell = await standInShell(page);
  await open(page, service, '/rules');
  await expect(page).toHaveURL(/#\/rules/);
  await shell.wait({ kind: 'file', name: 'family.dl', text: 'parent(ada, ben).\nparent(ben, cleo).\n' });
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('family.dl');
  await expect(dialog).toContainText('parent(ada, ben)');
  const stored = await fetch(`${service.url}/predicates`, { headers: { 'x-tenant-id': 'default' } });
  expect(await stored.json()).toEqual({ predicates: [] });
});

test('a file can be dropped onto any view', async ({ page, service }) => {
  await openSample(page, service);
  await goTo(page, 'Memory');
  const data = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(['p(a).\n'], 'dropped.dl'));
    return transfer;
  });
  await page.getByRole('main').locator('> *').first().dispatchEvent('drop', { dataTransfer: data });
  await expect(page.getByRole('dialog')).toContainText('dropped.dl');
});

test('every place that a link may open is a view', { tag: '@long' }, async ({ page, service }) => {
  await openSample(page, service);
  for (const route of linkedRoutes) {
    await open(page, service, route);
    await expect(page.getByRole('main')).not.toBeEmpty();
    await expect(page.getByText('There is no such view')).toHaveCount(0);
  }
});

test('a link fills in its question in every view, and computes nothing until the user says so', async ({
  page,
  service,
}) => {
  await openSample(page, service);
  const computed: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (/^\/(?:ask|query|explain|trace|whatIf|context\/optimize)$/.test(pathname)) computed.push(pathname);
  });
  const question = 'ancestor(agnes, ada)';
  const filled = async (link: string) => {
    const place = placeOfLink(link);
    expect(place).not.toBeNull();
    await page.evaluate((hash) => (window.location.hash = hash), place ?? '');
  };
  await filled(`corollary://proof?question=${question}`);
  await expect(page.getByLabel('Statement to prove')).toHaveValue(question);
  await filled(`corollary://trace?question=${question}`);
  await expect(page.getByLabel('Question to trace')).toHaveValue(question);
  await filled(`corollary://why-not?question=${question}`);
  await expect(page.getByRole('form', { name: 'What you expected' })).toContainText('agnes');
  await filled(`corollary://what-if?retract=parent(agnes, ada).`);
  await expect(page.getByRole('heading', { name: 'Try a change' })).toBeVisible();
  await filled(`corollary://context?goals=${question}`);
  await expect(page.getByText('A link has filled in the form')).toBeVisible();
  await filled(`corollary://ask?question=${question}`);
  await expect(page.getByRole('tab', { selected: true })).toContainText('agnes');
  expect(computed).toEqual([]);
  await filled(`corollary://proof?question=${question}`);
  await page.getByRole('button', { name: 'Prove it' }).click();
  await expect(page.getByRole('tree', { name: 'Proof' })).toContainText(question);
  expect(computed.length).toBeGreaterThan(0);
});

test('a link or a file waits while a dialog is open, and opens on demand', async ({ page, service }) => {
  const shell = await standInShell(page);
  await open(page, service, '/facts?transfer=import');
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('Drop a file here');
  await shell.wait({ kind: 'place', place: '/rules' }, { kind: 'file', name: 'family.dl', text: 'p(a).' });
  await expect(page.getByText('A link waits to be opened.')).toBeVisible();
  await expect(page.getByText('family.dl waits to be imported.')).toBeVisible();
  await expect(dialog).not.toContainText('family.dl');
  await expect(page).toHaveURL(/#\/facts\?transfer=import/);
  await page
    .getByRole('alert')
    .filter({ hasText: 'family.dl' })
    .getByRole('button', { name: 'Open' })
    .click();
  await expect(dialog).toContainText('family.dl');
});

test('the page reports what it shows and what it would lose, and offers to close one of several tabs @long', async ({
  page,
  service,
}) => {
  const shell = await standInShell(page);
  await open(page, service, '/ask?question=p(%3Fx)&tab=7');
  await expect
    .poll(() => lastOf(shell, 'setPage'))
    .toEqual({
      place: '/ask?question=p%28%3Fx%29',
      title: 'Ask – Corollary',
      database: 'default',
      unsaved: [],
    });
  const closing = () => (lastOf(shell, 'setCommands') as CommandState[]).find(({ id }) => id === 'tab.close');
  expect(closing()).toBeUndefined();
  await page.getByRole('button', { name: 'New tab' }).click();
  await expect.poll(closing).toEqual({ id: 'tab.close', title: 'Close the tab' });
  await shell.wait({ kind: 'command', id: 'tab.close' });
  await expect(page.getByRole('tab')).toHaveCount(1);
  await goTo(page, 'Facts');
  await page.getByRole('button', { name: 'Add facts' }).first().click();
  await page.getByRole('tab', { name: 'Form' }).click();
  await page.getByRole('dialog').getByLabel('Predicate').fill('parent');
  const unsaved = () => (lastOf(shell, 'setPage') as { unsaved: string[] }).unsaved;
  await expect.poll(unsaved).toEqual(['The fact in the form Add facts is neither asserted nor staged.']);
});

test('F6 moves the focus from pane to pane, both ways', async ({ page, service }) => {
  await openSample(page, service);
  await goTo(page, 'Facts');
  const where = () =>
    page.evaluate(() => {
      const at = document.activeElement;
      return at?.closest('nav[aria-label="Tools"]')
        ? 'tools'
        : at?.closest('header')
          ? 'title'
          : at?.closest('main')
            ? 'view'
            : '';
    });
  const seen: string[] = [];
  for (let press = 0; press < 4; press++) {
    await page.keyboard.press('F6');
    seen.push(await where());
  }
  // From the tool that was clicked, over the two panes of the view.
  expect(seen).toEqual(['view', 'view', 'title', 'tools']);
  await page.keyboard.press('Shift+F6');
  expect(await where()).toBe('title');
});

test('menus and frames follow the theme', async ({ page, service }) => {
  const shell = await standInShell(page);
  await open(page, service, '/settings');
  await page.getByRole('radiogroup', { name: 'Theme' }).getByText('Dark', { exact: true }).click();
  await expect.poll(() => lastOf(shell, 'setTheme')).toBe('dark');
  await page.getByRole('radiogroup', { name: 'Theme' }).getByText('High contrast').click();
  await expect.poll(() => lastOf(shell, 'setTheme')).toBe('dark');
  await page.getByRole('radiogroup', { name: 'Theme' }).getByText('System').click();
  await expect.poll(() => lastOf(shell, 'setTheme')).toBe('system');
});

test('a browser has no desktop settings', async ({ page, service }) => {
  await open(page, service, '/settings');
  await expect(page.getByRole('heading', { name: 'Service' })).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Application' })).toHaveCount(0);
});

test('the settings of the application are shown and changed, and a key is never shown again', async ({
  page,
  service,
}) => {
  const shell = await standInShell(page);
  await open(page, service, '/settings');
  await expect(page.getByText(firstSettings.folder)).toBeVisible();
  await page.getByRole('switch', { name: 'Start at login' }).press('Space');
  await expect.poll(() => lastOf(shell, 'changeSettings')).toEqual({ kind: 'opensAtLogin', value: true });
  await expect(page.getByRole('switch', { name: 'Start at login' })).toBeChecked();

  await page.getByRole('switch', { name: 'Check for new versions' }).press('Space');
  await expect(page.getByText('Version 9.0.0 is available.')).toBeVisible();

  await page.getByRole('textbox', { name: 'Port' }).fill('9400');
  await page.getByRole('button', { name: 'Set', exact: true }).click();
  await expect.poll(() => lastOf(shell, 'changeSettings')).toEqual({ kind: 'port', port: 9400 });
  await expect(page.getByRole('button', { name: 'Restart the service' })).toBeVisible();

  await page.getByLabel('Key of Anthropic', { exact: true }).fill('sk-secret');
  await page.keyboard.press('Enter');
  await expect
    .poll(() => lastOf(shell, 'changeSettings'))
    .toEqual({ kind: 'provider', provider: 'anthropic', key: 'sk-secret' });
  await expect(page.getByLabel('Key of Anthropic', { exact: true })).toHaveValue('');
  await expect(page.getByLabel('Key of Google', { exact: true })).toBeDisabled();
  await page.getByRole('button', { name: 'Forget the key of OpenAI' }).click();
  await expect
    .poll(() => lastOf(shell, 'changeSettings'))
    .toEqual({ kind: 'provider', provider: 'openai', key: null });

  await page.getByRole('button', { name: 'Choose…' }).click();
  await expect(page.getByText('/elsewhere')).toBeVisible();
  await page.getByRole('button', { name: 'Restart the service' }).click();
  await expect.poll(() => shell.asked.map(({ name }) => name)).toContain('restartService');
});

test('the settings of the application are accessible in light and dark', async ({ page, service }) => {
  await standInShell(page, {
    settings: { needsRestart: true, secrets: 'session', release: { kind: 'newer', version: '9.0.0' } },
  });
  await open(page, service, '/settings');
  await page.getByRole('heading', { name: 'Keys of language models' }).scrollIntoViewIfNeeded();
  await expectNothingGraveIn(page, 'the settings of the application', ['dark']);
});

test('a shown proof can be printed, and saved as a PDF by the application @long', async ({
  page,
  service,
}) => {
  const shell = await standInShell(page);
  await page.addInitScript(() => {
    const prints: string[] = [];
    Object.assign(globalThis, { prints });
    window.print = () => {
      prints.push(document.title);
      window.dispatchEvent(new Event('afterprint'));
    };
  });
  await openSample(page, service);
  const offered = () => (lastOf(shell, 'setCommands') as CommandState[]).map(({ id }) => id);
  await expect.poll(offered).not.toContain('proof.print');
  await page.evaluate(() => {
    window.location.hash = '/proof?question=ancestor(agnes, ada)';
  });
  await expect.poll(offered).toEqual(expect.arrayContaining(['proof.print', 'proof.pdf']));
  await page.keyboard.press('ControlOrMeta+p');
  const prints = () => page.evaluate(() => (globalThis as unknown as { prints: string[] }).prints);
  expect(await prints()).toEqual(['Proof of ancestor(agnes, ada)']);
  await shell.wait({ kind: 'command', id: 'proof.pdf' });
  await expect(page.getByText('Saved as PDF')).toBeVisible();
  expect(lastOf(shell, 'savePdf')).toBe('proof-ancestor-agnes-ada.pdf');
  await expect(page.getByRole('heading', { name: 'Proof of ancestor(agnes, ada)' })).toHaveCount(0);
  await goTo(page, 'Facts');
  await expect.poll(offered).not.toContain('proof.pdf');
});

test('the settings of the application switch notifications', async ({ page, service }) => {
  const shell = await standInShell(page);
  await open(page, service, '/settings');
  const notifies = page.getByRole('switch', { name: 'Notify me when conclusions are withdrawn' });
  await expect(notifies).toBeChecked();
  await notifies.press('Space');
  await expect(notifies).not.toBeChecked();
  expect(lastOf(shell, 'changeSettings')).toEqual({ kind: 'notifiesOfWithdrawn', value: false });
});
