/** The workbench in another language: a made-up one, whose letters no English text has. */
import { expect, type Page } from '@playwright/test';
import { catalogue } from '../scripts/texts.mjs';
import { forgive, open, test } from './workbench.ts';

/** The text with Greek letters in place of Latin ones, but for its places. */
function inOtherLetters(text: string): string {
  return text.replace(/\{\d+\}|[A-Za-z]/g, (found) =>
    found.length > 1 ? found : String.fromCodePoint((found.toLowerCase().codePointAt(0) ?? 97) - 97 + 0x3b1),
  );
}

const madeUp = Object.fromEntries(
  [...catalogue().keys()].map((text) => {
    const [one = '', many] = text.split('|');
    if (many === undefined) return [text, inOtherLetters(text)];
    return [text, { one: `{0} ${inOtherLetters(one)}`, other: `{0} ${inOtherLetters(many)}` }];
  }),
);

/** Views, with knowledge whose names have no Latin letters. */
const views = [
  '/start',
  '/facts?predicate=δ',
  '/rules',
  '/schema',
  '/ask?question=δ(α, ?β)&why=δ(α, γ)',
  '/why-not?goal=δ(γ, α)',
  '/what-if',
  '/trace',
  '/context',
  '/scopes',
  '/memory',
  '/history',
  '/agents',
  '/admin',
  '/admin/databases',
  '/admin/keys',
  '/settings',
];

/** Names of the product, of variables and of what is there from the beginning, ids, units, and times, which the browser writes. */
const same = /Corollary|\w\(\?|\b[A-Z]+_[A-Z]+\b|\bdefault\b|\b[\da-f]{32}\b|[KMG]iB|\b(?:ago|AM|PM)\b|\d{4}/;

/** Texts in Latin letters that are on the page, except those of code, which is the same in every language. */
function latinTexts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const element = node.parentElement;
      if (element === null || !element.checkVisibility()) continue;
      if (element.closest('code, kbd, pre, style, script, noscript, .mono, .monaco-editor')) continue;
      found.push(node.textContent ?? '');
    }
    for (const element of document.querySelectorAll(
      ':is([aria-label], [title], [placeholder]):not([aria-hidden])',
    ))
      for (const name of ['aria-label', 'title', 'placeholder']) found.push(element.getAttribute(name) ?? '');
    return [...new Set(found)].filter((text) => /[A-Za-z]{3}/.test(text));
  });
}

test('shows every text of its own in the chosen language, and what that lacks in English', async ({
  page,
  service,
}) => {
  const { 'There is no such view': _untranslated, ...texts } = madeUp;
  await page.route('**/texts/en-XA.json', (route) => route.fulfill({ json: { texts } }));
  await page.addInitScript(() => localStorage.setItem('language', 'en-XA'));
  // The samples are knowledge, and in English.
  await page.route('**/samples/index.json', (route) => route.fulfill({ json: [] }));
  const write = async (path: string, data: object) => {
    const response = await page.request.post(`${service.url}${path}`, {
      headers: { 'X-Tenant-ID': 'default' },
      data,
    });
    expect(response.ok(), `${path}: ${await response.text()}`).toBe(true);
  };
  await write('/assert/facts', {
    facts: [
      { predicate: 'β', args: ['α', 'ε'] },
      { predicate: 'β', args: ['ε', 'γ'] },
    ],
  });
  await write('/assert/rule', { text: 'δ(?α, ?β) :- β(?α, ?β).' });
  await write('/assert/rule', { text: 'δ(?α, ?γ) :- δ(?α, ?β), β(?β, ?γ).' });
  for (const view of views) {
    await open(page, service, view);
    await expect(page.getByRole('main'), view).toContainText(/[α-ω]{4}/);
    // What the service says of its storage comes after the first texts.
    if (view === '/admin') await expect(page.getByText(service.storageDir)).toBeVisible();
    await expect
      .poll(async () => (await latinTexts(page)).filter((text) => !same.test(text)), { message: view })
      .toEqual([]);
  }
  await expect(page.locator('html')).toHaveAttribute('lang', 'en-XA');
  await open(page, service, '/nowhere');
  await expect(page.getByText('There is no such view')).toBeVisible();
});

test('is shown in English, and says so, where the chosen language cannot be loaded', async ({
  page,
  service,
  watched,
}) => {
  await page.addInitScript(() => localStorage.setItem('language', 'x'));
  await open(page, service, '/settings');
  await expect(page.getByText('The workbench is shown in English')).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Appearance' })).toBeVisible();
  forgive(watched, /404/);
});
