/**
 * What axe finds in the page as it stands: all its rules in the light, and in the dark again those that a theme can
 * change. Roles, names and structure are the same in both, so that looking at them twice would only cost time.
 */
import AxeBuilder from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** The rules of axe that look at colours. */
const colourRules = ['color-contrast', 'link-in-text-block'];

/** Without the blank page in which axe would put results of several frames together: there is one. */
async function gravesOf(axe: AxeBuilder): Promise<unknown[]> {
  const { violations } = await axe
    .setLegacyMode()
    .options({ resultTypes: ['violations'] })
    .analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, help, nodes }) => ({ id, help, places: nodes.map((node) => node.html) }));
}

/** Resolves when the page follows the scheme: a page that is looked at while it changes has the colours of both. */
export async function showIn(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', colorScheme);
}

/** Fails where something serious or critical is found in `view`, in the light or in the dark; leaves it in the light. */
export async function expectNothingGrave(page: Page, view: string): Promise<void> {
  await showIn(page, 'light');
  expect(await gravesOf(new AxeBuilder({ page }).withTags(tags)), `findings in ${view}`).toEqual([]);
  await showIn(page, 'dark');
  const dark = await gravesOf(new AxeBuilder({ page }).withRules(colourRules));
  expect(dark, `findings in ${view}, in the dark`).toEqual([]);
  await showIn(page, 'light');
}
