/** Every view at 900 px and at 200%: the page does not scroll, no control is covered or cut off, and the focus is seen. */
import { expect, type Page } from '@playwright/test';
import { expectWithinBounds, openScreen, prepareKnowledge, type Screen, screens } from './screens.ts';
import { test } from './workbench.ts';

const step = (page: Page) => page.getByRole('tree', { name: 'Plan' }).getByRole('treeitem').first();
const asked = '/ask?question=older(?who, ?than)';

/** Views that have no picture. */
const others: readonly Screen[] = [
  { name: 'history', address: '/history', ready: (page) => page.getByText('1 fact added').first() },
  { name: 'entity', address: '/entity/agnes', ready: (page) => page.getByRole('heading').first() },
  { name: 'plan', address: '/ask?question=cousin(?who, ada)&plan=true', ready: step },
  {
    name: 'calls along the time',
    address: '/agents?as=time',
    ready: (page) => page.getByRole('grid').first(),
  },
  {
    name: 'rested on it',
    address: '/agents?as=answers&client=Cursor',
    ready: (page) => page.getByRole('heading').first(),
  },
  { name: 'nodes', address: '/admin/nodes', ready: (page) => page.getByRole('heading').first() },
  {
    name: 'compose',
    address: '/ask?question=ancestor(?who, ada), ?n = count { ?x : mother(?who, ?x) }, ?m = ?n * 2',
    prepare: async (page) => {
      const compose = page.getByRole('button', { name: 'Compose' });
      if ((await compose.getAttribute('aria-pressed')) !== 'true') await compose.click();
    },
    ready: (page) => page.getByRole('region', { name: 'Compose' }),
  },
  { name: 'chart', address: `${asked}&as=chart`, ready: (page) => page.getByRole('img').first() },
  {
    name: 'pivot',
    address: `${asked}&as=pivot`,
    ready: (page) => page.getByRole('group', { name: 'Settings' }),
  },
  { name: 'graph', address: `${asked}&as=graph`, ready: (page) => page.getByRole('group').first() },
];

/** Controls that something covers, or that are cut off where no scrolling reaches them; in words. */
function controlFaults(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const faults = new Set<string>();
    const dialog = document.querySelector('[role="dialog"]');
    const controls = (dialog ?? document).querySelectorAll(
      'button, a[href], input, select, textarea, [role="tab"], [role="separator"], [role="slider"]',
    );
    for (const control of controls) {
      // Editors and grids have parts of their own; the visible part of a switch is its label.
      if (control.closest('.monaco-editor, [role="grid"], [role="tree"], svg, [aria-hidden="true"]'))
        continue;
      const box = control.getBoundingClientRect();
      const style = getComputedStyle(control);
      if (box.width < 3 || box.height < 3 || style.visibility === 'hidden' || style.opacity === '0') continue;
      const name = `${control.getAttribute('aria-label') ?? (control.textContent.trim() || control.tagName)}`;
      let [left, top, right, bottom] = [0, 0, innerWidth, innerHeight];
      let isReached = false;
      for (let around = control.parentElement; around !== null; around = around.parentElement) {
        const { overflowX, overflowY } = getComputedStyle(around);
        if (overflowX === 'visible' && overflowY === 'visible') continue;
        const edge = around.getBoundingClientRect();
        if (/auto|scroll/.test(overflowX + overflowY)) isReached = true;
        left = Math.max(left, edge.left);
        top = Math.max(top, edge.top);
        right = Math.min(right, edge.right);
        bottom = Math.min(bottom, edge.bottom);
      }
      const isCut =
        box.left < left - 1 || box.right > right + 1 || box.top < top - 1 || box.bottom > bottom + 1;
      if (isCut) {
        if (!isReached) faults.add(`${name} is cut off`);
        continue;
      }
      const hit = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
      const isHit =
        hit !== null && (control.contains(hit) || hit.contains(control) || hit.closest('label') !== null);
      if (!isHit) faults.add(`${name} lies under ${hit?.tagName} ${hit?.className ?? ''}`);
    }
    return [...faults];
  });
}

/** Presses Tab, and says where the focus cannot be seen. */
async function focusFaults(page: Page, stops: number): Promise<string[]> {
  const faults = new Set<string>();
  for (let stop = 0; stop < stops; stop++) {
    await page.keyboard.press('Tab');
    const fault = await page.evaluate(() => {
      const focused = document.activeElement;
      if (focused === null || focused === document.body || focused.closest('.monaco-editor') !== null)
        return null;
      const name =
        focused.getAttribute('aria-label') ?? (focused.textContent.trim().slice(0, 40) || focused.tagName);
      const box = focused.getBoundingClientRect();
      const isWithin = box.right > 0 && box.bottom > 0 && box.left < innerWidth && box.top < innerHeight;
      if (!isWithin) return `${name} has the focus outside of the window`;
      // A text field shows its cursor.
      if (focused.matches('input:not([type]), input[type="text"], input[type="search"], textarea'))
        return null;
      // A ring around it or a part of it, such as the row of a list that is at the cursor; a separator gets wider.
      const isMarked = (each: Element) => {
        const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(each);
        return (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow.includes('inset');
      };
      const around = [focused.nextElementSibling, focused.parentElement].filter((each) => each !== null);
      const after = getComputedStyle(focused, '::after');
      const isWider = focused.matches('[role="separator"]') && after.backgroundColor !== 'rgba(0, 0, 0, 0)';
      const hasMark = isWider || [focused, ...focused.querySelectorAll('*'), ...around].some(isMarked);
      return hasMark ? null : `${name} does not show the focus`;
    });
    if (fault !== null) faults.add(fault);
  }
  return [...faults];
}

test('at 900 px and at 200% no view scrolls sideways, covers a control or hides the focus', {
  tag: '@long',
}, async ({ page, service }) => {
  test.setTimeout(900_000);
  await prepareKnowledge(page, service);
  for (const [width, height] of [
    [900, 700],
    // A window of 1440 by 900 at 200%.
    [720, 450],
  ] as const) {
    await page.setViewportSize({ width, height });
    for (const screen of [...others, ...screens]) {
      // The tour is taken once; Try stays open, so that its button would close it.
      if (width !== 900 && (screen.name === 'tour' || screen.name === 'rules-try')) continue;
      await openScreen(page, service, screen);
      const where = `${screen.name} at ${width} px`;
      await expectWithinBounds(page, where);
      expect.soft(await controlFaults(page), where).toEqual([]);
      if (width === 900) expect.soft(await focusFaults(page, 30), `focus: ${where}`).toEqual([]);
      await screen.leave?.(page);
    }
  }
});
