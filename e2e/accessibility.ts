/**
 * Accessibility checks of the current page: axe, with all rules in the light theme and only colour rules in dark and
 * high contrast, since roles, names and structure are equal in all three; and the size of click targets.
 */
import AxeBuilder from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** axe rules about colours. */
const colourRules = ['color-contrast', 'link-in-text-block'];

const alike = 'data-alike';

/**
 * Marks all but the first two of rows that differ only in text, which axe skips: it would find the same in each, and
 * checking the colours of a hundred cells dominates the time. Removes the marks afterwards.
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
 * Returns the findings of the rules of `runOnly`. Without axe's blank page for merging frames, as there is one frame.
 * Options are passed in one call: a second call would reset the rules.
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

/** Resolves when the page has switched to the scheme: during the change it mixes the colours of both. */
export async function showIn(page: Page, look: Look): Promise<void> {
  const colorScheme = look === 'light' ? 'light' : 'dark';
  const contrast = look === 'contrast' ? 'more' : 'no-preference';
  // A page in the background draws no frames.
  await page.bringToFront();
  await page.emulateMedia({ colorScheme, contrast, reducedMotion: 'reduce' });
  await expect(page.locator('html')).toHaveAttribute('data-theme', look);
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', colorScheme);
  // A transitioning colour, however brief, has its old value until the next frame.
  await page.evaluate(
    () => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))),
  );
  const underWay = () =>
    page.evaluate(() => document.getAnimations().filter((each) => each instanceof CSSTransition).length);
  await expect.poll(underWay).toBe(0);
}

const leastTarget = 24;

/**
 * Returns targets smaller than the minimum, with their size. Exempt: links in a sentence, as in WCAG 2.2; separators,
 * which also react beside themselves; the content of editors.
 */
function smallTargets(page: Page): Promise<string[]> {
  return page.evaluate((least) => {
    const clicked =
      'button, a[href], input, select, textarea, summary, [role="button"], [role="tab"], [role="option"], [role="menuitem"], [role="treeitem"], [role="slider"], [role="switch"]';
    /** Visible elements that receive the pointer for invisible controls. */
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
        // The label beside it is clickable too.
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

/** theme.test.ts checks the contrasts of high contrast, so axe checks it in long runs only. */
const isLong = process.env['LONG'] === '1';

/**
 * Fails if axe finds something serious or critical in `view`, or if a target is too small; leaves the page in the
 * light theme. Dark and high contrast only in long runs, unless it is a view of its own.
 */
export async function expectNothingGrave(page: Page, view: string): Promise<void> {
  await expectNothingGraveIn(page, view, isLong ? ['dark', 'contrast'] : []);
}

/** The same in the light theme and, for colours only, in these looks. */
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
