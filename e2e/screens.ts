/**
 * Every view on a fixed sample, for pictures: its address, preparation, and sign of completion.
 *
 * Values that differ between runs (times, durations, machine figures) are replaced by fixed ones before a picture is
 * taken, so that the picture looks like the real view; only drawings of such figures are masked. Views open in one
 * page, one after the other; views that keep a draft use their own tenant.
 */
import { expect, type Locator, type Page } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ServiceProcess } from './service.ts';
import { open, write } from './workbench.ts';

export interface Screen {
  readonly name: string;
  readonly address: string;
  /** Visible once the view is complete. */
  readonly ready: (page: Page) => Locator;
  /** Actions in the view before the picture. */
  readonly prepare?: (page: Page) => Promise<void>;
  /** Leaves the view so that the next one can open. */
  readonly leave?: (page: Page) => Promise<void>;
  /** All figures differ between runs, not only times. */
  readonly hasFigures?: true;
  readonly masks?: (page: Page) => Locator[];
}

const tree = (page: Page) => page.getByRole('tree').getByRole('treeitem').first();
const row = (grid: string) => (page: Page) =>
  page.getByRole('grid', { name: grid }).getByRole('gridcell').first();
const heading = (name: string | RegExp) => (page: Page) => page.getByRole('heading', { name }).first();
const dialog = (name: string | RegExp) => (page: Page) => page.getByRole('dialog', { name });
const escape = (page: Page) => page.keyboard.press('Escape');

const knowledge: readonly Screen[] = [
  {
    name: 'start',
    address: '/start',
    ready: (page) => page.getByRole('button', { name: /^Open the sample/ }).first(),
  },
  { name: 'facts', address: '/facts?predicate=mother', ready: row('Facts') },
  {
    name: 'facts-detail',
    address: '/facts?predicate=ancestor&derived=true',
    prepare: async (page) => {
      await row('Facts')(page).click();
    },
    ready: (page) => page.getByRole('region', { name: 'Detail' }),
  },
  {
    name: 'facts-staged',
    address: '/facts?database=towns&predicate=road',
    prepare: async (page) => {
      const grid = page.getByRole('grid', { name: 'Facts' });
      const cells = grid.getByRole('row').filter({ has: page.getByRole('gridcell') });
      await cells.nth(1).getByRole('gridcell').nth(1).click();
      await grid.focus();
      await page.keyboard.press('F2');
      await grid.locator('input').fill('harbour');
      await page.keyboard.press('Enter');
      await cells.nth(2).getByRole('gridcell').first().click();
      await grid.focus();
      await page.keyboard.press('Delete');
    },
    ready: (page) => page.getByRole('region', { name: 'Staged edits' }).getByText(/^Would/),
  },
  {
    name: 'import',
    address: '/facts?predicate=mother&transfer=import',
    prepare: async (page) => {
      const buffer = Buffer.from(
        'child;year;parent\nbob;1970;alice\ncarol;1971;bob\ndave;1972\neve;1973;bob\n',
      );
      await page
        .getByLabel('File to import')
        .setInputFiles({ name: 'family.csv', mimeType: 'text/csv', buffer });
    },
    ready: (page) => page.getByRole('region', { name: 'The first rows' }),
    leave: escape,
  },
  { name: 'rules', address: '/rules', ready: row('Rules') },
  {
    name: 'rule-graph',
    address: '/rules?view=graph',
    ready: (page) => page.getByRole('group', { name: 'Graph of relations' }).getByRole('button').first(),
  },
  {
    name: 'rules-try',
    address: '/rules?database=towns',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Try', exact: true }).click();
      await write(page, 'New rules and facts', 'road(?y, ?x) :- road(?x, ?y).');
    },
    ready: row('What would change'),
  },
];

const questions: readonly Screen[] = [
  { name: 'ask', address: '/ask?question=ancestor(?who, ada)', ready: row('Answers') },
  { name: 'ask-why', address: '/ask?question=ancestor(?who, ada)&why=ancestor(agnes, ada)', ready: tree },
  { name: 'proof', address: '/proof?question=ancestor(agnes, ada)', ready: tree },
  {
    name: 'proof-diagram',
    address: '/proof?question=ancestor(agnes, ada)&look=diagram',
    ready: (page) => page.getByRole('tree', { name: 'Proof diagram' }).getByRole('treeitem').first(),
  },
  {
    name: 'why-not',
    address: '/why-not?question=cousin(nina, ada)',
    ready: (page) => page.getByRole('heading', { level: 3 }).first(),
  },
  {
    name: 'trace',
    address: '/trace?question=ancestor(agnes, ada)',
    ready: (page) => page.getByRole('grid').first(),
  },
  {
    name: 'what-if',
    address: '/what-if?retract=mother(agnes, ruth)&goals=ancestor(agnes, ?who)',
    ready: (page) => page.getByText('ancestor(agnes, ruth)').first(),
  },
  {
    name: 'context',
    address: '/context?goals=grandparent(agnes, ?who)&facts=12',
    ready: (page) => page.getByRole('grid').getByRole('gridcell').first(),
  },
];

const upkeep: readonly Screen[] = [
  { name: 'scopes', address: '/scopes?tenant=plans&source=draft&target=main', ready: row('Differences') },
  {
    name: 'scopes-conflict',
    address: '/scopes?tenant=plans&source=draft&target=main&kind=conflicting&fact=grade(cyd)',
    ready: row('Differences'),
  },
  { name: 'agents-log', address: '/agents', ready: row('Tool calls') },
  {
    name: 'agents-connect',
    address: '/agents?part=connect&program=vs-code',
    ready: (page) => page.getByLabel('Configuration', { exact: true }),
  },
  {
    name: 'agents-try',
    address: '/agents?part=try&trying=ask',
    ready: (page) => page.getByRole('button', { name: 'Run' }),
  },
  {
    name: 'dashboard',
    address: '/admin',
    ready: (page) => page.getByRole('img').first(),
    hasFigures: true,
    masks: (page) => [page.getByRole('img')],
  },
  { name: 'databases', address: '/admin/databases', ready: (page) => page.getByRole('grid').first() },
  { name: 'keys', address: '/admin/keys', ready: heading(/./) },
  { name: 'replication', address: '/admin/replication', ready: heading(/./), hasFigures: true },
  { name: 'settings', address: '/settings', ready: heading('Settings') },
  {
    name: 'schema',
    address: '/schema?database=shop&predicate=lead_time/3',
    ready: (page) => page.getByText(/^Read from all/),
  },
  {
    name: 'schema-constraints',
    address: '/schema?database=shop&part=constraints',
    ready: row('Constraints'),
  },
  {
    name: 'schema-violations',
    address: '/schema?database=shop&part=violations',
    ready: (page) => page.getByRole('region', { name: 'List of violations' }),
  },
  {
    name: 'palette',
    address: '/facts?predicate=mother',
    prepare: async (page) => {
      await row('Facts')(page).waitFor();
      await page.keyboard.press('ControlOrMeta+k');
      await page.getByPlaceholder('Commands, predicates, rules').fill('par');
    },
    ready: (page) => page.getByRole('option').first(),
    leave: escape,
  },
  {
    name: 'shortcuts',
    address: '/facts?predicate=mother',
    prepare: async (page) => {
      await row('Facts')(page).waitFor();
      await page.getByRole('grid', { name: 'Facts' }).focus();
      await page.keyboard.press('?');
    },
    ready: dialog('Keyboard shortcuts'),
    leave: escape,
  },
  {
    name: 'tour',
    address: '/start?tenant=newcomer',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Take the tour' }).press('Enter');
      await page
        .getByRole('complementary', { name: 'Tour' })
        .getByRole('button', { name: /^(Take me there|Open )/ })
        .press('Enter');
    },
    ready: (page) => page.getByRole('complementary', { name: 'Tour' }),
    leave: async (page) => {
      await page
        .getByRole('complementary', { name: 'Tour' })
        .getByRole('button', { name: 'Leave the tour' })
        .press('Enter');
    },
  },
];

/** Its facts fade while other pictures are taken, so it comes first. */
const memory: Screen = { name: 'memory', address: '/memory', ready: heading('Memory') };

export const screens: readonly Screen[] = [memory, ...knowledge, ...questions, ...upkeep];

/** Views also taken in high contrast. */
export const contrastScreens: ReadonlySet<string> = new Set(['facts', 'rules', 'proof-diagram', 'context']);

interface Sample {
  readonly declarations: readonly { readonly name: string; readonly arity: number }[];
  readonly facts: readonly object[];
  readonly rules: readonly { readonly text: string; readonly name?: string }[];
  readonly constraints: readonly object[];
}

function sample(name: string): Sample {
  const file = fileURLToPath(new URL(`../resources/samples/${name}.json`, import.meta.url));
  return JSON.parse(readFileSync(file, 'utf8')) as ReturnType<typeof sample>;
}

/** `where`: a tenant, or a database and its tenant. */
async function post(
  page: Page,
  service: ServiceProcess,
  where: string,
  path: string,
  data: object,
  method: 'POST' | 'PUT' = 'POST',
) {
  const [tenant = '', database = 'default'] = where.split(' of ');
  const headers = { 'X-Database': database, 'X-Tenant-ID': tenant };
  const response = await page.request.fetch(service.url + path, { method, headers, data });
  expect(response.ok(), await response.text()).toBe(true);
  return response;
}

/** A family; two scopes that disagree; towns and roads; a supply chain with its declarations; an agent's calls. */
export async function prepareKnowledge(page: Page, service: ServiceProcess): Promise<void> {
  const family = sample('family');
  await post(page, service, 'default', '/assert/facts', { facts: family.facts });
  for (const { text, name } of family.rules)
    await post(page, service, 'default', '/teach', { text, ...(name === undefined ? {} : { name }) });
  await preparePlans(page, service);
  await post(page, service, 'default', '/databases', { name: 'towns' });
  const roads = ['north', 'market', 'station', 'castle', 'mill', 'south'];
  const facts = roads
    .slice(1)
    .map((to, at) => ({ predicate: 'road', args: [roads[at], to], metadata: { source: 'map' } }));
  await post(page, service, 'default of towns', '/assert/facts', { facts });
  for (const text of ['reach(?x, ?y) :- road(?x, ?y)', 'reach(?x, ?z) :- road(?x, ?y), reach(?y, ?z)'])
    await post(page, service, 'default of towns', '/teach', { text });
  await post(page, service, 'default of towns', '/ask', { predicate: 'reach', args: ['?x', '?y'] });
  await prepareShop(page, service);
  await callTools(page, service);
}

/** The supply chain in a database of its own, with what violates its declarations and constraints. */
async function prepareShop(page: Page, service: ServiceProcess): Promise<void> {
  const { declarations, facts, rules, constraints } = sample('supply-chain');
  const shop = 'default of shop';
  await post(page, service, 'default', '/databases', { name: 'shop' });
  for (const { name, arity, ...body } of declarations)
    await post(page, service, shop, `/predicates/${name}/${arity}`, body, 'PUT');
  const second = { predicate: 'lead_time', args: ['nordlicht', 'battery_case', 'soon'] };
  await post(page, service, shop, '/assert/facts', { facts: [...facts, second] });
  for (const { text } of rules) await post(page, service, shop, '/teach', { text });
  for (const constraint of constraints) await post(page, service, shop, '/constraints', constraint);
}

async function preparePlans(page: Page, service: ServiceProcess): Promise<void> {
  const shared = ['ann', 'bob', 'cyd', 'dan'].map((who) => ({
    predicate: 'staff',
    args: [who],
    scope: 'main',
  }));
  const grade = { predicate: 'grade', args: ['cyd'], scope: 'main', metadata: { confidence: 0.5 } };
  await post(page, service, 'plans', '/assert/facts', { facts: [...shared, grade] });
  await post(page, service, 'plans', '/scope/fork', { source: 'main', target: 'draft' });
  const changed = [
    { predicate: 'staff', args: ['eve'] },
    { predicate: 'staff', args: ['bob'], truthVal: false },
    { predicate: 'badge', args: ['ann'], metadata: { confidence: 0.9 } },
    { predicate: 'grade', args: ['cyd'], metadata: { confidence: 0.9 } },
  ];
  await post(page, service, 'plans', '/assert/facts', {
    facts: [
      ...changed.map((fact) => ({ ...fact, scope: 'draft' })),
      // Changed on both sides since the fork.
      { ...grade, metadata: { confidence: 0.7 } },
    ],
  });
}

/** An agent's calls over HTTP in its own session; one is refused. */
async function callTools(page: Page, service: ServiceProcess): Promise<void> {
  const headers = { Accept: 'application/json, text/event-stream' };
  const clientInfo = { name: 'Cursor', version: '4.2' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const opened = await page.request.post(`${service.url}/mcp`, {
    headers,
    data: { jsonrpc: '2.0', id: 0, method: 'initialize', params },
  });
  expect(opened.ok(), await opened.text()).toBe(true);
  const session = { ...headers, 'Mcp-Session-Id': opened.headers()['mcp-session-id'] ?? '' };
  const calls: [string, object][] = [
    ['predicates', {}],
    ['ask', { predicate: 'grandparent', args: ['agnes', '?who'] }],
    ['tell', { predicate: 'met', args: ['nina', 'ada'] }],
    ['tell', { predicate: 'met' }],
    ['teach', { text: 'met(?y, ?x) :- met(?x, ?y)' }],
    ['ask', { predicate: 'cousin', args: ['?who', 'ada'] }],
  ];
  for (const [index, [name, given]] of calls.entries()) {
    const data = { jsonrpc: '2.0', id: index + 1, method: 'tools/call', params: { name, arguments: given } };
    const called = await page.request.post(`${service.url}/mcp`, { headers: session, data });
    expect(called.ok(), await called.text()).toBe(true);
  }
}

/** Replaces times, durations and machine figures anywhere on the page by fixed values. */
async function steady(page: Page, hasFigures: boolean): Promise<void> {
  await page.evaluate((all) => {
    const values: [RegExp, string][] = [
      [/\b[A-Z][a-z]{2} \d{1,2}, \d{4}\b/g, 'Mar 14, 2026'],
      [/\b(?:1\.00|0\.9\d)\b/g, '0.99'],
      [/\b\d{1,2}:\d\d(?::\d\d)?(?:\.\d+)?\b/g, '09:26'],
      [/\d[\d.,]*(\s?(?:ms|µs|s|min|h|kB|MB|KiB|MiB))\b/g, '12$1'],
      [/\b(?:just now|\d+ [a-z]+\.? ago)\b/g, '1 min. ago'],
      [/127\.0\.0\.1:\d+/g, '127.0.0.1:9301'],
      [/^\/(?:tmp|var|private)\/\S+$/, '/var/lib/corollary'],
      [/(generation) \d+/gi, '$1 25'],
    ];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const before = node.nodeValue ?? '';
      let after = values.reduce((text, [pattern, value]) => text.replace(pattern, value), before);
      if (all && node.parentElement?.closest('dd, td, .number') !== null)
        after = after.replace(/^\d[\d.,]*(?![\d.,]*[a-z])/, '42');
      if (after !== before) node.nodeValue = after;
    }
  }, hasFigures);
}

/** Width of a line in the bundled fonts, proportional and monospaced, as the machine of the pictures draws them. */
const knownFonts = '[265,328]';

/** Returns this machine's widths if it draws the fonts otherwise than in the pictures; else null. */
export async function otherFonts(page: Page): Promise<string | null> {
  const widths = await page.evaluate(async () => {
    const families = ['"Inter Variable"', '"JetBrains Mono"'];
    await Promise.all(families.map((family) => document.fonts.load(`13px ${family}`)));
    const found = families.map((family) => {
      const context = document.createElement('canvas').getContext('2d');
      if (context === null) return 0;
      context.font = `13px ${family}`;
      return Math.round(context.measureText('Corollary: parent(alice, ?who), 0123456789').width);
    });
    return JSON.stringify(found);
  });
  return widths === knownFonts ? null : widths;
}

/** Fails if the page overflows. */
export async function expectWithinBounds(page: Page, name: string): Promise<void> {
  const { width, height } = await page.evaluate(() => ({
    width: document.documentElement.scrollWidth - window.innerWidth,
    height: document.documentElement.scrollHeight - window.innerHeight,
  }));
  expect({ name, width: Math.max(0, width), height: Math.max(0, height) }).toEqual({
    name,
    width: 0,
    height: 0,
  });
}

export async function openScreen(page: Page, service: ServiceProcess, screen: Screen): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light', contrast: 'no-preference', reducedMotion: 'reduce' });
  await open(page, service, screen.address);
  await screen.prepare?.(page);
  await expect.soft(screen.ready(page)).toBeVisible();
  await expect.soft(page.getByText('Looking who did it')).toHaveCount(0);
  await page.mouse.move(0, 0);
}

export type Look = 'light' | 'dark' | 'contrast';

/** Compares the page with its picture in each theme without reloading it. */
export async function compare(
  page: Page,
  { name, masks, hasFigures }: Pick<Screen, 'name' | 'masks' | 'hasFigures'>,
  looks: readonly Look[],
): Promise<void> {
  for (const look of looks) {
    const colorScheme = look === 'light' ? 'light' : 'dark';
    const contrast = look === 'contrast' ? 'more' : 'no-preference';
    await page.emulateMedia({ colorScheme, contrast, reducedMotion: 'reduce' });
    await expect(page.locator('html')).toHaveAttribute('data-theme', look);
    await steady(page, hasFigures === true);
    await expect.soft(page).toHaveScreenshot(`${name}-${look}.png`, {
      mask: masks?.(page) ?? [],
      maskColor: look === 'light' ? '#f2f4f7' : '#171a20',
      maxDiffPixelRatio: 0.01,
      animations: 'disabled',
      caret: 'hide',
      timeout: 60_000,
    });
  }
}
