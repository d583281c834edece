/**
 * The proof in a chat: the page as the service delivers it over MCP, in an official host with the content policy of
 * the extension's specification.
 */
import { fileURLToPath } from 'node:url';
import AxeBuilder from '@axe-core/playwright';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { McpUiHostContext } from '@modelcontextprotocol/ext-apps/app-bridge';
import { expect, type FrameLocator, type Page, test } from '@playwright/test';
import { build } from 'vite';
import type { ChatManner } from './proof-app/chat.ts';
import { ServiceProcess } from './service.ts';

const chatAddress = 'http://chat.test/';
const appAddress = 'http://app.test/';
const uri = 'ui://corollary/proof';

const hostile = '<img src=x onerror="document.title=`taken`"></script><b>bold</b>';

const rules = [
  'ancestor(?x, ?y) :- parent(?x, ?y)',
  'ancestor(?x, ?z) :- parent(?x, ?y), ancestor(?y, ?z)',
  'elder(?x) :- ancestor(?x, ?y), not orphan(?x), -retired(?x), ?n = count { ?z : parent(?x, ?z) }, ?n >= 1',
  'near(?x) :- ancestor(?x, cleo), parent(?x, ?y)',
  'line(?x) :- near(?x), ancestor(?x, cleo)',
  'quotes(?x, ?y) :- says(?x, ?y)',
  'reach(?x, ?y) :- road(?x, ?y)',
  'reach(?x, ?z) :- road(?x, ?y), reach(?y, ?z)',
];

/** A chain of roads: the proof of its whole length has twice as many steps. */
const chain = 1000;

/** The chat's program as one script. */
async function bundleChat(): Promise<string> {
  const made = await build({
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      target: 'es2023',
      modulePreload: false,
      rolldownOptions: { input: fileURLToPath(new URL('proof-app/chat.ts', import.meta.url)) },
    },
  });
  const [output] = Array.isArray(made) ? made : [made];
  if (output === undefined || !('output' in output)) throw new Error('the chat was not built');
  return output.output[0].code;
}

// One service for all tests.
test.describe.configure({ mode: 'default' });

let service: ServiceProcess;
let client: Client;
let chatCode: string;
/** The page, and the policy that hosts derive from its declaration. */
let app: { html: string; policy: string };

test.beforeAll(async () => {
  service = new ServiceProcess();
  [chatCode] = await Promise.all([bundleChat(), service.start()]);
  client = new Client({ name: 'chat', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', service.url)));
  app = await readApp();
  for (const text of rules) await call('teach', { text });
  await call('tell', { predicate: 'parent', args: ['ada', 'ben'], scope: 'family' });
  await call('tell', { predicate: 'parent', args: ['ben', 'cleo'], metadata: { note: 'from the register' } });
  await call('tell', { predicate: 'retired', args: ['ada'], truthVal: false });
  await call('tell', {
    predicate: 'says',
    args: ['mallory', hostile],
    scope: hostile,
    metadata: { note: hostile },
  });
  const facts = Array.from({ length: chain }, (_, at) => ({
    predicate: 'road',
    args: [`n${at}`, `n${at + 1}`],
  }));
  const stored = await fetch(`${service.url}/assert/facts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-tenant-id': 'default' },
    body: JSON.stringify({ facts }),
  });
  expect(stored.status).toBe(200);
});

test.afterAll(async () => {
  await client.close();
  await service.dispose();
});

async function call(name: string, given: Record<string, unknown>) {
  const result = await client.callTool({ name, arguments: given });
  expect(result.isError, JSON.stringify(result.content)).not.toBe(true);
  return result;
}

/** Fetches the page that the listing of `ask` names, with the policy the specification derives from its declaration. */
async function readApp() {
  const { tools } = await client.listTools();
  const ask = tools.find(({ name }) => name === 'ask');
  expect(ask?._meta).toMatchObject({ ui: { resourceUri: uri } });
  const { contents } = await client.readResource({ uri });
  const [content] = contents;
  if (content === undefined || !('text' in content)) throw new Error('the page is text');
  expect(content.mimeType).toBe('text/html;profile=mcp-app');
  const { csp } = (content._meta?.['ui'] ?? {}) as { csp?: Record<string, string[]> };
  const declared = (name: string, otherwise: string) => (csp?.[name] ?? []).join(' ') || otherwise;
  const loaded = declared('resourceDomains', '');
  const policy = [
    "default-src 'none'",
    `script-src 'self' 'unsafe-inline' ${loaded}`,
    `style-src 'self' 'unsafe-inline' ${loaded}`,
    `connect-src ${declared('connectDomains', "'none'")}`,
    `img-src 'self' data: ${loaded}`,
    `font-src 'self' ${loaded}`,
    `frame-src ${declared('frameDomains', "'none'")}`,
    "object-src 'none'",
    `base-uri ${declared('baseUriDomains', "'self'")}`,
  ].join('; ');
  return { html: content.text, policy };
}

interface Opened {
  readonly frame: FrameLocator;
  readonly sizes: { width: number; height: number }[];
  readonly links: string[];
  readonly calls: unknown[];
  /** Console messages other than plain ones, and requests besides the two pages. */
  readonly complaints: string[];
}

/** Opens a chat with the app, including the protocol's handshake. */
async function openChat(
  page: Page,
  context: McpUiHostContext = {},
  manner: Partial<ChatManner> = {},
): Promise<Opened> {
  const seen = {
    sizes: [] as Opened['sizes'],
    links: [] as string[],
    calls: [] as unknown[],
    complaints: [] as string[],
  };
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') seen.complaints.push(message.text());
  });
  page.on('pageerror', (error) => seen.complaints.push(String(error.stack ?? error)));
  await page.route('**/*', async (route) => {
    const address = route.request().url();
    if (address === chatAddress)
      return route.fulfill({
        contentType: 'text/html',
        body: `<!doctype html><html lang="en"><title>Chat</title><body style="margin: 0"><main><h1>Chat</h1></main><script type="module" src="chat.js"></script></body></html>`,
      });
    if (address === `${chatAddress}chat.js`)
      return route.fulfill({ contentType: 'text/javascript', body: chatCode });
    if (address === appAddress)
      return route.fulfill({
        contentType: 'text/html; charset=utf-8',
        headers: { 'content-security-policy': app.policy },
        body: app.html,
      });
    if (!address.endsWith('/favicon.ico')) seen.complaints.push(`asked for ${address}`);
    return route.abort();
  });
  await page.exposeFunction(
    'onCall',
    async (params: { name: string; arguments?: Record<string, unknown> }) => {
      seen.calls.push(params);
      return client.callTool(params);
    },
  );
  await page.exposeFunction('onLink', (url: string) => {
    seen.links.push(url);
    return !url.includes('refused');
  });
  await page.exposeFunction('onSize', (width: number, height: number) => {
    seen.sizes.push({ width, height });
  });
  await page.goto(chatAddress);
  await page.waitForFunction(() => 'chat' in window);
  // As text: the type of a context is too deep for Playwright's types.
  await page.evaluate(
    (text) => {
      const given = JSON.parse(text) as { context: McpUiHostContext; manner: ChatManner };
      return window.chat.open('http://app.test/', given.context, given.manner);
    },
    JSON.stringify({ context, manner: { isOpen: true, sandbox: 'allow-scripts', ...manner } }),
  );
  return { ...seen, frame: page.frameLocator('iframe') };
}

/** Asks the service, and passes call and result to the app as a chat does. */
async function ask(page: Page, given: Record<string, unknown>): Promise<void> {
  await page.evaluate((input) => window.chat.input(input), given);
  const result = await client.callTool({ name: 'ask', arguments: given });
  await page.evaluate((text) => window.chat.result(JSON.parse(text)), JSON.stringify(result));
}

/** Lines of the outline that contain `text`. */
function line(frame: FrameLocator, text: string | RegExp) {
  return frame.getByRole('treeitem').filter({ hasText: text });
}

/** The line under the cursor. */
function active(frame: FrameLocator) {
  return frame.locator('[role="treeitem"][aria-selected="true"]');
}

test('the page is one file of bounded size that loads nothing else', () => {
  expect(app.html.length).toBeLessThan(300 * 1024);
  expect(app.html).toMatch(/^<!doctype html>/);
  const markup = app.html.replaceAll(/(<(script|style)[^>]*>)[\s\S]*?<\/\2>/g, '$1');
  expect(markup).not.toMatch(/\b(src|href)=/);
});

test('shows a proof as an outline: each step with its kind and its rule, its premises below it', async ({
  page,
}) => {
  const { frame, sizes, complaints } = await openChat(page);
  await expect(frame.getByRole('status')).toHaveText('Waiting for the answer…');
  await ask(page, { predicate: 'elder', args: ['?who'] });
  await expect(frame.getByRole('heading')).toHaveText('1 answer to elder(?who)');
  const lines = frame.getByRole('treeitem');
  await expect(lines.first()).toContainText('elder(ada)derivedby elder(?x) :- ancestor(?x, ?y)');
  await expect(lines.first()).toHaveAttribute('aria-expanded', 'true');
  await expect(line(frame, 'ancestor(ada, ben)')).toContainText('by ancestor(?x, ?y) :- parent(?x, ?y)');
  await expect(line(frame, 'ancestor(ada, ben)')).toHaveAttribute('aria-level', '2');
  await expect(line(frame, /^parent\(ada, ben\)/).first()).toHaveAttribute('aria-level', '3');
  await expect(line(frame, /^parent\(ada, ben\)/).first()).toContainText('assertedin family');
  await expect(line(frame, 'not orphan(ada)')).toContainText('absent');
  await expect(line(frame, '-retired(ada)')).toContainText('asserted');
  await expect(line(frame, '1 >= 1')).toContainText('computed');
  await expect(line(frame, '1 = count {')).toContainText('computed');
  const step = frame.getByRole('region', { name: 'Step' });
  await expect(step).toContainText('?x = ada, ?y = ben, ?n = 1');
  await line(frame, 'not orphan(ada)').click();
  await expect(step).toContainText('Nothing matches it');
  // The chat gave the frame the height that the app requested.
  await expect.poll(() => sizes.at(-1)?.height).toBeGreaterThan(250);
  const height = await frame.locator('html').evaluate(({ scrollHeight }) => scrollHeight);
  expect(height).toBe(sizes.at(-1)?.height);
  expect(complaints).toEqual([]);
});

test('shows a step used twice once, and Enter leads to it from its reference', async ({ page }) => {
  const { frame } = await openChat(page);
  await ask(page, { predicate: 'line', args: ['ada'] });
  const again = line(frame, 'shown above');
  await expect(again).toHaveCount(1);
  await expect(again).toContainText('ancestor(ada, cleo)');
  await again.click();
  await frame.getByRole('tree').press('Enter');
  await expect(active(frame)).toContainText('ancestor(ada, cleo)derivedby');
  await expect(active(frame)).toHaveAttribute('aria-expanded', 'true');
  await expect(line(frame, 'parent(ben, cleo)')).toHaveCount(1);
  await line(frame, 'parent(ben, cleo)').click();
  await expect(frame.getByRole('region', { name: 'Step' })).toContainText('note: from the register');
});

test('the outline works by keyboard alone, with a visible cursor', async ({ page }) => {
  const { frame } = await openChat(page);
  await ask(page, { predicate: 'line', args: ['ada'] });
  const tree = frame.getByRole('tree', { name: 'Proof' });
  await expect(tree).toBeVisible();
  await frame.getByRole('button', { name: 'Unfold', exact: true }).press('Shift+Tab');
  for (let stops = 0; stops < 5; stops++) {
    await page.keyboard.press('Tab');
    if (await tree.evaluate((element) => element === document.activeElement)) break;
  }
  await expect(tree).toBeFocused();
  await expect(active(frame)).toHaveCSS('box-shadow', /rgb.* inset/);
  await page.keyboard.press('Enter');
  await expect(frame.getByRole('treeitem')).toHaveCount(1);
  await expect(active(frame)).toContainText('5 steps');
  await page.keyboard.press(' ');
  await expect(frame.getByRole('treeitem')).not.toHaveCount(1);
  await page.keyboard.press('ArrowRight');
  await expect(active(frame)).toContainText('near(ada)');
  await page.keyboard.press('ArrowLeft');
  await expect(active(frame)).toHaveAttribute('aria-expanded', 'false');
  await page.keyboard.press('ArrowLeft');
  await expect(active(frame)).toContainText('line(ada)');
  await page.keyboard.press('*');
  await page.keyboard.press('End');
  await expect(active(frame)).toContainText('shown above');
  const id = await active(frame).getAttribute('id');
  await expect(tree).toHaveAttribute('aria-activedescendant', id ?? '');
  // A theme change of the chat must not move the cursor.
  await page.evaluate(() => window.chat.look({ theme: 'dark', availableDisplayModes: ['fullscreen'] }));
  await expect(frame.getByRole('button', { name: 'Enlarge' })).toBeVisible();
  await expect(tree).toBeFocused();
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowUp');
  await expect(active(frame)).toContainText('line(ada)');
});

test('adopts theme, colours and fonts of the chat, and is readable in both themes', async ({ page }) => {
  const variables = { '--font-sans': 'serif', '--color-text-primary': 'rgb(255, 255, 255)' };
  const styles = {
    variables: variables as NonNullable<NonNullable<McpUiHostContext['styles']>['variables']>,
  };
  // axe examines only frames of the same origin.
  const { frame } = await openChat(
    page,
    { theme: 'light', styles },
    { sandbox: 'allow-scripts allow-same-origin' },
  );
  await ask(page, { predicate: 'elder', args: ['?who'] });
  const body = frame.locator('body');
  await expect(frame.getByRole('treeitem').first()).toBeVisible();
  await expect(body).toHaveCSS('font-family', 'serif');
  // White text would be invisible on our surface without the host's.
  await expect(body).toHaveCSS('color', 'rgb(28, 34, 43)');
  for (const theme of ['light', 'dark'] as const) {
    await page.evaluate((wanted) => window.chat.look({ theme: wanted }), theme);
    await expect(body).toHaveCSS(
      'background-color',
      theme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(27, 31, 38)',
    );
    await expect(async () => {
      const { violations, passes } = await new AxeBuilder({ page }).analyze();
      // axe skips a frame that responds slowly.
      expect(passes.flatMap(({ nodes }) => nodes).some(({ html }) => html.includes('treeitem'))).toBe(true);
      expect(violations.map(({ id, nodes }) => ({ id, places: nodes.map(({ html }) => html) }))).toEqual([]);
    }).toPass();
  }
  const whole = {
    '--color-background-primary': 'rgb(10, 20, 30)',
    '--color-text-primary': 'rgb(240, 240, 240)',
    '--color-text-secondary': 'rgb(200, 200, 200)',
  };
  await page.evaluate(
    (given) => window.chat.look({ theme: 'dark', styles: { variables: given as never } }),
    whole,
  );
  await expect(body).toHaveCSS('background-color', 'rgb(10, 20, 30)');
  await expect(body).toHaveCSS('color', 'rgb(240, 240, 240)');
});

test('shows stored data as text, whatever it looks like', async ({ page }) => {
  const { frame, complaints } = await openChat(page);
  await ask(page, { predicate: 'quotes', args: ['?who', '?what'] });
  await expect(line(frame, '<img src=x').first()).toContainText('</script><b>bold</b>');
  await line(frame, 'asserted').click();
  await expect(frame.getByRole('region', { name: 'Step' })).toContainText(`note: ${hostile}`);
  expect(await frame.locator('img, b').count()).toBe(0);
  expect(await frame.locator('html').evaluate(() => document.title)).toBe('Proof');
  expect(complaints).toEqual([]);
});

test('truncates long text, and stays responsive with a page full of it', async ({ page }) => {
  const { frame } = await openChat(page);
  await call('tell', {
    predicate: 'long',
    args: ['x, '.repeat(20_000)],
    metadata: { note: 'y'.repeat(50_000) },
  });
  await ask(page, { predicate: 'long', args: ['?x'] });
  await expect(line(frame, 'long(')).toContainText('…');
  await frame.getByRole('tree').press('ArrowDown');
  await expect(frame.getByRole('region', { name: 'Step' })).toContainText('note: yyy');
  expect(await frame.locator('main').evaluate(({ textContent }) => textContent.length)).toBeLessThan(15_000);
});

test('opens a proof of two thousand steps folded, unfolds it, and renders only visible lines', async ({
  page,
}) => {
  const { frame, complaints } = await openChat(page, { containerDimensions: { maxHeight: 400 } });
  await ask(page, { predicate: 'reach', args: ['n0', `n${chain}`] });
  await expect(frame.getByText('2,000 steps')).toBeVisible();
  const lines = frame.getByRole('treeitem');
  const folded = await lines.count();
  expect(folded).toBeLessThan(10);
  await frame.getByRole('button', { name: 'Unfold', exact: true }).click();
  await frame.getByRole('tree').press('End');
  await expect(line(frame, `road(n${chain - 1}, n${chain})`)).toBeVisible();
  await expect(active(frame)).toHaveAttribute('aria-level', String(chain + 1));
  expect(await lines.count()).toBeLessThan(60);
  await expect(page.locator('iframe')).toHaveCSS('height', '400px');
  await frame.getByRole('button', { name: 'Fold', exact: true }).click();
  await expect(lines).toHaveCount(1);
  expect(complaints).toEqual([]);
});

test('requests further answers through the chat if it permits calls', async ({ page }) => {
  const { frame, calls } = await openChat(page);
  await ask(page, { predicate: 'reach', args: ['n990', '?to'], limit: 4 });
  await expect(frame.getByRole('heading')).toHaveText('4 answers to reach(n990, ?to)');
  const more = frame.getByRole('button', { name: 'Show more' });
  await more.press('Enter');
  await expect(frame.getByRole('heading')).toHaveText('8 answers to reach(n990, ?to)');
  await expect(more).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(frame.getByRole('heading')).toHaveText('10 answers to reach(n990, ?to)');
  await expect(frame.getByRole('tree')).toBeFocused();
  await expect(frame.getByRole('button', { name: 'Show more' })).toHaveCount(0);
  expect(calls).toMatchObject([
    { name: 'ask', arguments: { offset: 4 } },
    { arguments: { offset: 8, limit: 4 } },
  ]);
  const shown = await frame.getByRole('treeitem').allTextContents();
  expect(new Set(shown).size).toBe(10);
});

test('makes no request if the chat permits none', async ({ page }) => {
  const { frame } = await openChat(page, {}, { isOpen: false });
  await ask(page, { predicate: 'reach', args: ['n990', '?to'], limit: 4 });
  await expect(frame.getByText('There are more answers: ask again with limit and offset.')).toBeVisible();
  await expect(frame.getByRole('button', { name: /Show more|Open|Enlarge/ })).toHaveCount(0);
});

test('opens the workbench at the proof of the answer under the cursor', async ({ page }) => {
  const { frame, links } = await openChat(page);
  await ask(page, { predicate: 'ancestor', args: ['ada', '?y'], scope: '' });
  await line(frame, 'ancestor(ada, cleo)').click();
  await frame.getByRole('button', { name: 'Open in Corollary' }).click();
  await expect.poll(() => links).toHaveLength(1);
  await page.unrouteAll();
  await page.goto(links[0] ?? '');
  await expect(page.getByRole('tree', { name: 'Proof' })).toContainText('ancestor(ada, cleo)');
});

test('explains a missing answer: nothing follows, a refusal, only text, an omitted proof', async ({
  page,
}) => {
  const { frame } = await openChat(page);
  await ask(page, { predicate: 'ancestor', args: ['cleo', '?y'] });
  await expect(frame.getByRole('heading')).toHaveText('No answer to ancestor(cleo, ?y)');
  await ask(page, { predicate: 'ancestor' });
  await expect(frame.getByRole('heading')).toContainText('The question was refused');
  await expect(frame.locator('main')).toContainText('give args beside predicate');
  await page.evaluate(() => window.chat.result({ content: [{ type: 'text', text: 'in words' }] }));
  await expect(frame.locator('main')).toContainText('in words');
  const { structuredContent } = await client.callTool({
    name: 'ask',
    arguments: { predicate: 'ancestor', args: ['ada', '?y'] },
  });
  const { proof: _, ...rest } = structuredContent as { proof: unknown };
  await page.evaluate(
    (content) => window.chat.result({ content: [], structuredContent: content }),
    rest as Record<string, unknown>,
  );
  await expect(frame.getByRole('treeitem')).toHaveCount(2);
  await expect(frame.getByRole('treeitem').first()).toContainText('without its proof');
  // A host may pass on only the structured content.
  await page.evaluate(
    (text) => window.chat.result(JSON.parse(text)),
    JSON.stringify({ structuredContent: { ...rest, results: ['alone(a)'] } }),
  );
  await expect(frame.getByRole('treeitem')).toContainText(['alone(a)']);
  await page.evaluate(() => window.chat.cancel('the user'));
  await expect(frame.getByRole('status')).toHaveText('The question was cancelled: the user');
  expect(await page.evaluate(() => window.chat.teardown())).toEqual({});
  await page.goto(appAddress);
  await expect(page.getByRole('status')).toContainText('This page shows proofs inside of a chat.');
});

test('can be enlarged if the chat has a larger view, and fills it', async ({ page }) => {
  const { frame } = await openChat(page, {
    displayMode: 'inline',
    availableDisplayModes: ['inline', 'fullscreen'],
  });
  await ask(page, { predicate: 'reach', args: ['n990', '?to'] });
  await frame.getByRole('button', { name: 'Enlarge' }).click();
  await expect(frame.getByRole('button', { name: 'Enlarge' })).toHaveCount(0);
  await expect(frame.locator('main')).toHaveCSS('height', '700px');
});
