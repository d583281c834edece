/**
 * What axe finds in the page as it stands, and whether what is clicked can be hit: all rules of axe in the light, and in
 * the dark and in high contrast again those that a theme can change. Roles, names and structure are the same in all
 * three, so that looking at them thrice would only cost time.
 */
import AxeBuilder from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** The rules of axe that look at colours. */
const colourRules = ['color-contrast', 'link-in-text-block'];

const alike = 'data-alike';

/**
 * Marks of rows that differ in nothing but their words all but the first two: what axe finds in one it finds in all, and
 * looking at the colours of a hundred cells takes it as long as all else. Takes the marks away again afterwards.
 */
function markAlike(page: Page, isMarked: boolean): Promise<void> {
  return page.evaluate(
    ([mark, wanted]) => {
      if (!wanted) {
        for (const element of document.querySelectorAll(`[${mark}]`)) element.removeAttribute(mark);
        return;
      }
      const ofWords =
        /^(id|style|title|href|for|value|data-index|data-key|aria-(label|labelledby|describedby|controls|rowindex|posinset|setsize|valuenow|valuetext))$/;
      const looksOf = (element: Element): string =>
        [...element.attributes]
          .map(({ name, value }) => (ofWords.test(name) ? name : `${name}=${value}`))
          .join(' ');
      const seen = new Map<string, number>();
      for (const row of document.querySelectorAll('[role="row"], tr, [role="option"], [role="treeitem"]')) {
        const looks = [row, ...row.querySelectorAll('*')]
          .map((each) => `${each.tagName} ${looksOf(each)}`)
          .join();
        const times = (seen.get(looks) ?? 0) + 1;
        seen.set(looks, times);
        if (times > 2) row.setAttribute(mark, '');
      }
    },
    [alike, isMarked] as const,
  );
}

/**
 * What the rules of `runOnly` find. Without the blank page in which axe would put results of several frames together: there
 * is one. Options come in one call: a second would take back the choice of rules.
 */
async function gravesOf(
  page: Page,
  runOnly: { readonly type: 'tag' | 'rule'; readonly values: string[] },
): Promise<unknown[]> {
  await markAlike(page, true);
  const { violations } = await new AxeBuilder({ page })
    .exclude(`[${alike}]`)
    .setLegacyMode()
    .options({ resultTypes: ['violations'], runOnly })
    .analyze();
  await markAlike(page, false);
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, help, nodes }) => ({ id, help, places: nodes.map((node) => node.html) }));
}

export type Look = 'light' | 'dark' | 'contrast';

/** Resolves when the page follows the scheme: a page that is looked at while it changes has the colours of both. */
export async function showIn(page: Page, look: Look): Promise<void> {
  const colorScheme = look === 'light' ? 'light' : 'dark';
  const contrast = look === 'contrast' ? 'more' : 'no-preference';
  // A page behind another draws no frames.
  await page.bringToFront();
  await page.emulateMedia({ colorScheme, contrast, reducedMotion: 'reduce' });
  await expect(page.locator('html')).toHaveAttribute('data-theme', look);
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', colorScheme);
  // A colour that is on its way, however briefly, is the old one until the next frame has been drawn.
  await page.evaluate(
    () => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))),
  );
  const underWay = () =>
    page.evaluate(() => document.getAnimations().filter((each) => each instanceof CSSTransition).length);
  await expect.poll(underWay).toBe(0);
}

const leastTarget = 24;

/**
 * What is clicked and smaller than that each way, with its size. Left to their own: links in a sentence, as WCAG 2.2 has
 * it; separators, which can be caught beside themselves; what stands inside an editor.
 */
function smallTargets(page: Page): Promise<string[]> {
  return page.evaluate((least) => {
    const clicked =
      'button, a[href], input, select, textarea, summary, [role="button"], [role="tab"], [role="option"], [role="menuitem"], [role="treeitem"], [role="slider"], [role="switch"]';
    /** What the pointer meets in place of a control that is not seen itself. */
    const around = 'label, .mantine-PillsInput-input, .mantine-MultiSelect-input, .mantine-TagsInput-input';
    const isInSentence = (element: Element): boolean => {
      if (element.tagName !== 'A' || getComputedStyle(element).display !== 'inline') return false;
      const own = element.textContent;
      return element.closest('p, li, dd') !== null && (element.parentElement?.textContent ?? '') !== own;
    };
    const sizeOf = (element: Element): [number, number] => {
      const { width, height } = element.getBoundingClientRect();
      const after = getComputedStyle(element, '::after');
      if (after.content === 'none' || after.position !== 'absolute') return [width, height];
      return [
        Math.max(width, Number.parseFloat(after.width) || 0),
        Math.max(height, Number.parseFloat(after.height) || 0),
      ];
    };
    const found = new Set<string>();
    for (const element of document.querySelectorAll(clicked)) {
      if (!element.checkVisibility({ visibilityProperty: true }) || isInSentence(element)) continue;
      if (element.closest('.monaco-editor, .visually-hidden, [aria-hidden="true"], svg') !== null) continue;
      let [width, height] = sizeOf(element);
      const holder = element.matches('input') ? element.closest(around) : null;
      if (holder !== null) [width, height] = sizeOf(holder);
      if (element.matches('[type="radio"], [type="checkbox"]')) {
        // The label beside it is clicked as well.
        const label = element instanceof HTMLInputElement ? element.labels?.[0] : undefined;
        const [labelWidth, labelHeight] = label === undefined ? [0, 0] : sizeOf(label);
        [width, height] = [width + labelWidth, Math.max(height, labelHeight)];
      }
      if (width === 0 || height === 0) continue;
      if (Math.min(width, height) < least - 0.5) {
        const name = element.getAttribute('aria-label') ?? element.textContent;
        found.add(
          `${element.tagName} ${name.trim().slice(0, 40)}: ${width.toFixed(1)} x ${height.toFixed(1)}`,
        );
      }
    }
    return [...found];
  }, leastTarget);
}

/** High contrast has colours that theme.test.ts holds against each other, so that axe looks at it in long runs alone. */
const isLong = process.env['LONG'] === '1';

/**
 * Fails where something serious or critical is found in `view`, or where something that is clicked is too small; leaves it
 * in the light. The dark look and high contrast of what is not a view of its own, in long runs.
 */
export async function expectNothingGrave(page: Page, view: string): Promise<void> {
  await expectNothingGraveIn(page, view, isLong ? ['dark', 'contrast'] : []);
}

/** The same in the light and in these looks, whose colours alone are looked at. */
export async function expectNothingGraveIn(
  page: Page,
  view: string,
  looks: readonly Exclude<Look, 'light'>[],
): Promise<void> {
  await showIn(page, 'light');
  expect(await smallTargets(page), `targets in ${view}`).toEqual([]);
  expect(await gravesOf(page, { type: 'tag', values: tags }), `findings in ${view}`).toEqual([]);
  for (const look of looks) {
    await showIn(page, look);
    const found = await gravesOf(page, { type: 'rule', values: colourRules });
    expect(found, `findings in ${view}, ${look}`).toEqual([]);
  }
  await showIn(page, 'light');
}
