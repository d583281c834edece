/**
 * The workbench inside the desktop application, whose side of the channels' table is a stand-in of the page: what it says
 * to the application, and what it does for it.
 */
import { AxeBuilder } from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';
import { channelNames, type DesktopSettings } from '../src/desktop-contract/channels.ts';
import { commandEntry, commandIds, type CommandState } from '../src/desktop-contract/commands.ts';
import { linkedRoutes } from '../src/desktop-contract/places.ts';
import { goTo, open, openSample, test } from './workbench.ts';

const atFirst: DesktopSettings = {
  folder: '/home/ada/.config/Corollary/data',
  isFolderFixed: false,
  port: null,
  isPortFixed: false,
  isAttached: false,
  opensAtLogin: false,
  departure: 'ask',
  asksForReleases: false,
  release: { kind: 'unknown' },
  secrets: 'kept',
  providers: { anthropic: 'none', openai: 'kept', google: 'environment' },
  needsRestart: false,
};

interface StandIn {
  /** What was asked, in order. */
  readonly asked: { name: string; argument: unknown }[];
  /** Puts something before the page. */
  wait(...requests: unknown[]): Promise<void>;
}

/** Puts `window.corollary` into the page before it is loaded. `key`: what the application keeps for this service. */
async function standIn(
  page: Page,
  { settings = {}, key = null }: { settings?: Partial<DesktopSettings>; key?: string | null } = {},
): Promise<StandIn> {
  const asked: StandIn['asked'] = [];
  const waiting: unknown[] = [];
  const kept: { key: string | null; settings: Record<string, unknown> } = {
    key,
    settings: { ...atFirst, ...settings },
  };
  const answers: Record<string, (argument: unknown) => unknown> = {
    takeRequests: () => waiting.splice(0),
    readKey: () => ({ key: kept.key, place: 'kept' }),
    keepKey: (next) => {
      kept.key = next as string | null;
      return 'kept';
    },
    readSettings: () => kept.settings,
    chooseFolder: () => {
      kept.settings = { ...kept.settings, folder: '/elsewhere', needsRestart: true };
      return kept.settings;
    },
    checkReleases: () => {
      kept.settings = { ...kept.settings, release: { kind: 'newer', version: '9.0.0' } };
      return kept.settings;
    },
    changeSettings: (change) => {
      const { kind, value, port, provider, key: secret } = change as Record<string, unknown>;
      const providers = kept.settings['providers'] as Record<string, unknown>;
      if (kind === 'port') kept.settings = { ...kept.settings, port, needsRestart: true };
      else if (kind === 'provider')
        kept.settings = {
          ...kept.settings,
          providers: { ...providers, [String(provider)]: secret === null ? 'none' : 'kept' },
          needsRestart: true,
        };
      else kept.settings = { ...kept.settings, [String(kind)]: value };
      return kept.settings;
    },
  };
  await page.exposeFunction('askStandIn', (name: string, argument: unknown) => {
    asked.push({ name, argument });
    return answers[name]?.(argument) ?? null;
  });
  await page.addInitScript((names) => {
    const page = globalThis as unknown as {
      askStandIn(name: string, argument: unknown): Promise<unknown>;
      heard: () => void;
      corollary: object;
    };
    // Nothing arrives here as null.
    const ask = async (name: string, argument: unknown) =>
      (await page.askStandIn(name, argument)) ?? undefined;
    const channels = names.map((name) => [name, (argument: unknown) => ask(name, argument)]);
    page.heard = () => undefined;
    page.corollary = {
      ...Object.fromEntries(channels),
      takeRequests: async () =>
        ((await page.askStandIn('takeRequests', undefined)) as { text?: string }[]).map((request) =>
          request.text === undefined
            ? request
            : { ...request, bytes: new TextEncoder().encode(request.text) },
        ),
      onWaiting: (listener: () => void) => {
        page.heard = listener;
        return () => undefined;
      },
    };
  }, channelNames);
  return {
    asked,
    wait: async (...requests) => {
      waiting.push(...requests);
      await page.evaluate(() => (globalThis as unknown as { heard(): void }).heard());
    },
  };
}

function lastOf({ asked }: StandIn, name: string): unknown {
  return asked.findLast((each) => each.name === name)?.argument;
}

test('every command of the table is in the palette under its name, and told to the menu', async ({
  page,
  service,
}) => {
  const shell = await standIn(page);
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

test('a command, a place and a notice that wait are done, also those from before the page was there', async ({
  page,
  service,
}) => {
  const shell = await standIn(page);
  await open(page, service, '/facts');
  await expect(page).toHaveURL(/#\/facts/);
  await shell.wait({ kind: 'command', id: 'go.rules' });
  await expect(page).toHaveURL(/#\/rules/);
  await shell.wait({ kind: 'place', place: '/why-not?question=p(a)' }, { kind: 'notice', text: 'It moved.' });
  await expect(page).toHaveURL(/#\/why-not\?question=p/);
  await expect(page.getByText('It moved.')).toBeVisible();
});

test('a file opens the import dialog with what is in it, and stores nothing by itself', async ({
  page,
  service,
}) => {
  const shell = await standIn(page);
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

test('every place that a link may open is a view', async ({ page, service }) => {
  await openSample(page, service);
  for (const route of linkedRoutes) {
    await open(page, service, route);
    await expect(page.getByRole('main')).not.toBeEmpty();
    await expect(page.getByText('There is no such view')).toHaveCount(0);
  }
});

test('menus and frames follow the theme', async ({ page, service }) => {
  const shell = await standIn(page);
  await open(page, service, '/settings');
  await page.getByRole('radiogroup', { name: 'Theme' }).getByText('Dark', { exact: true }).click();
  await expect.poll(() => lastOf(shell, 'setTheme')).toBe('dark');
  await page.getByRole('radiogroup', { name: 'Theme' }).getByText('High contrast').click();
  await expect.poll(() => lastOf(shell, 'setTheme')).toBe('dark');
  await page.getByRole('radiogroup', { name: 'Theme' }).getByText('System').click();
  await expect.poll(() => lastOf(shell, 'setTheme')).toBe('system');
});

test('a browser has no settings of a desktop', async ({ page, service }) => {
  await open(page, service, '/settings');
  await expect(page.getByRole('heading', { name: 'Service' })).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Application' })).toHaveCount(0);
});

test('the settings of the application are shown and changed, and a key is never shown again', async ({
  page,
  service,
}) => {
  const shell = await standIn(page);
  await open(page, service, '/settings');
  await expect(page.getByText(atFirst.folder)).toBeVisible();
  await page.getByRole('switch', { name: 'Start at login' }).press('Space');
  await expect.poll(() => lastOf(shell, 'changeSettings')).toEqual({ kind: 'opensAtLogin', value: true });
  await expect(page.getByRole('switch', { name: 'Start at login' })).toBeChecked();

  await page.getByRole('switch', { name: 'Tell of new versions' }).press('Space');
  await expect(page.getByText('Version 9.0.0 is there.')).toBeVisible();

  await page.getByRole('textbox', { name: 'Port' }).fill('9400');
  await page.getByRole('button', { name: 'Set', exact: true }).click();
  await expect.poll(() => lastOf(shell, 'changeSettings')).toEqual({ kind: 'port', port: 9400 });
  await expect(page.getByRole('button', { name: 'Start the service again' })).toBeVisible();

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
  await page.getByRole('button', { name: 'Start the service again' }).click();
  await expect.poll(() => shell.asked.map(({ name }) => name)).toContain('restartService');
});

for (const theme of ['light', 'dark'] as const)
  test(`the settings of the application are accessible in ${theme}`, async ({ page, service }, info) => {
    await page.emulateMedia({ colorScheme: theme });
    await standIn(page, { settings: { needsRestart: true, secrets: 'session' } });
    await open(page, service, '/settings');
    await page.getByRole('heading', { name: 'Keys of language models' }).scrollIntoViewIfNeeded();
    await info.attach('settings', {
      body: await page.screenshot({ path: `/tmp/settings-${theme}.png` }),
      contentType: 'image/png',
    });
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')).toEqual([]);
  });
