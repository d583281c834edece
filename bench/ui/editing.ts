/**
 * How long an error stays unreported while rules are written: from the key until the list of problems shows it,
 * painted.
 *
 * Once for one rule beside many taught ones, once for many in one text, which is completely reparsed after every key.
 */
import type { Browser, Page } from '@playwright/test';
import type { Server } from '../http/server.ts';
import type { Figure } from './figure.ts';
import { rulesTenant, storeRules, writtenRules } from './knowledge.ts';
import { longTasks, shown, watchKeys, watchLongTasks, watchPainting } from './watch.ts';

const problems = '[aria-label="Problems"] li';
const editor = '[aria-label="New rules and facts"]';
const slips = 12;

/** Writes an error at the end of the text, and removes it again, this many times. */
async function slipTimes(page: Page): Promise<number[]> {
  const values: number[] = [];
  for (let slip = 0; slip < slips; slip += 1) {
    await page.keyboard.press('(');
    values.push(
      await page.evaluate(() => (window as unknown as { keyToPaint: () => Promise<number> }).keyToPaint()),
    );
    await page.keyboard.press('Backspace');
    await page.locator(problems).first().waitFor({ state: 'detached' });
    // The service's diagnostics arrive half a second after the last key.
    await page.waitForTimeout(1_000);
  }
  return values;
}

async function measureText(browser: Browser, server: Server, name: string, text: string): Promise<Figure[]> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  await context.addInitScript(watchPainting);
  const page = await context.newPage();
  await page.addInitScript(({ key, draft }) => localStorage.setItem(key, JSON.stringify(draft)), {
    key: `corollary.draft.rules.default.${rulesTenant}`,
    draft: text,
  });
  await page.goto(`${server.address}/#/rules?tenant=${rulesTenant}`);
  await page.evaluate(shown, { selector: editor });
  await page.locator(`textarea${editor}, [role="textbox"]${editor}`).first().focus();
  await page.keyboard.press('ControlOrMeta+End');
  // The opening of the view is not measured: highlighting, folds, the service's diagnostics of the text.
  await page.waitForTimeout(3_000);
  await page.evaluate(watchKeys, { selector: problems });
  await page.evaluate(watchLongTasks);
  const values = await slipTimes(page);
  const longest = await page.evaluate(longTasks);
  await context.close();
  return [
    { name: `${name}: a slip, from the key to its problem`, values, unit: 'ms', target: 200 },
    { name: `${name}: longest task of the page meanwhile`, values: [longest], unit: 'ms', target: null },
  ];
}

/** `rules`: how many are taught, and how many are written. */
export async function measureEditing(browser: Browser, server: Server, rules: number): Promise<Figure[]> {
  await storeRules(server, rules);
  const count = rules.toLocaleString('en');
  return [
    ...(await measureText(browser, server, `a rule beside ${count} taught`, writtenRules('new', 1))),
    ...(await measureText(browser, server, `${count} rules written at once`, writtenRules('new', rules))),
  ];
}
