/**
 * Every view in narrow windows and zoomed, and every row: title bar items neither overlap nor overflow, rows clip
 * nothing, and text is vertically centred, in both densities.
 */
import { expect, type Page } from '@playwright/test';
import { expectWithinBounds, openScreen, prepareKnowledge, screens } from './screens.ts';
import { open, test, write } from './workbench.ts';

/** 1440 is a desktop; 960 and 720 are a 1440 laptop at 150% and 200%. */
const widths = [1440, 1100, 960, 800, 720, 640];

/** Overlaps, overflows and too small targets in the title bar, in words. */
function titleBarFaults(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const bar = document.querySelector('header');
    if (bar === null) return ['there is no title bar'];
    const edge = bar.getBoundingClientRect();
    const parts = [...bar.querySelectorAll('button, a, img')]
      .filter((each) => each.parentElement?.closest('button, a') === null)
      .map((each) => ({
        name: each.getAttribute('aria-label') ?? (each.textContent.trim() || each.tagName),
        isPressed: each.tagName !== 'IMG',
        box: each.getBoundingClientRect(),
      }))
      .filter(({ box }) => box.width > 0);
    const faults: string[] = [];
    for (const { name, box, isPressed } of parts) {
      if (box.left < edge.left - 0.5 || box.right > edge.right + 0.5 || box.bottom > edge.bottom + 0.5)
        faults.push(`${name} runs over the edge`);
      if (isPressed && (box.width < 24 || box.height < 24)) faults.push(`${name} is too small`);
    }
    for (const [index, one] of parts.entries())
      for (const other of parts.slice(index + 1)) {
        const across = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
        const down = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
        if (across > 0.5 && down > 0.5) faults.push(`${one.name} lies over ${other.name}`);
      }
    return faults;
  });
}

/** Rows that clip their content, and text that is not centred in its row; in words, without duplicates. */
function rowFaults(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const faults = new Set<string>();
    const rows = document.querySelectorAll(
      '[role="row"]:has(> [role="gridcell"]), [role="listbox"] [role="option"]',
    );
    for (const row of rows) {
      const label = row.closest('[role="grid"], [role="listbox"]')?.getAttribute('aria-label') ?? 'list';
      const box = row.getBoundingClientRect();
      const cells = row.matches('[role="option"]') ? [row] : [...row.querySelectorAll('[role="gridcell"]')];
      for (const [index, cell] of cells.entries()) {
        const where = `${label}, column ${index + 1}`;
        if (cell.scrollHeight > cell.clientHeight)
          faults.add(`${where}: ${cell.scrollHeight} px in a cell of ${cell.clientHeight}`);
        for (const inner of cell.querySelectorAll('button, a, span, img, svg')) {
          const part = inner.getBoundingClientRect();
          if (
            part.width > 1 &&
            part.height > 1 &&
            (part.top < box.top - 0.5 || part.bottom > box.bottom + 0.5)
          )
            faults.add(
              `${where}: ${inner.tagName.toLowerCase()} ${part.height} px in a row of ${box.height}`,
            );
        }
        const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
        for (let text = walker.nextNode(); text !== null; text = walker.nextNode()) {
          if ((text.nodeValue ?? '').trim() === '' || text.parentElement?.closest('.visually-hidden'))
            continue;
          const range = document.createRange();
          range.selectNodeContents(text);
          const [line] = range.getClientRects();
          if (line === undefined || line.width <= 1) continue;
          const off = line.top + line.height / 2 - (box.top + box.height / 2);
          if (Math.abs(off) > 1) faults.add(`${where}: text ${off.toFixed(1)} px below the middle`);
        }
      }
    }
    return [...faults];
  });
}

test('title bar items never overlap, however narrow the window @long', async ({ page, service }) => {
  test.setTimeout(300_000);
  await prepareKnowledge(page, service);
  const longest = 'a-database-with-a-very-long-name-of-its-own';
  for (const address of ['/facts', `/facts?scope=n.${longest}`, '/rules', '/scopes', '/ask', '/admin']) {
    await open(page, service, address);
    await expect(page.getByRole('button', { name: /^Service: Live/ })).toBeVisible();
    for (const width of widths) {
      await page.setViewportSize({ width, height: 800 });
      expect.soft(await titleBarFaults(page), `${address} at ${width} px`).toEqual([]);
    }
    // A laptop at 200% is short as well.
    await page.setViewportSize({ width: 640, height: 360 });
    await expectWithinBounds(page, address);
  }
});

for (const density of ['normal', 'compact'] as const)
  test(`rows contain and centre their content, in ${density} density`, {
    tag: density === 'compact' ? '@long' : [],
  }, async ({ page, service }) => {
    test.setTimeout(600_000);
    await prepareKnowledge(page, service);
    await page.addInitScript((value) => localStorage.setItem('corollary.density', value), density);
    const withRows = new Set([
      'memory',
      'facts',
      'facts-staged',
      'rules',
      'rules-try',
      'ask',
      'trace',
      'context',
      'scopes',
      'agents-log',
      'databases',
      'keys',
      'palette',
    ]);
    for (const screen of screens.filter(({ name }) => withRows.has(name)))
      await test.step(screen.name, async () => {
        await openScreen(page, service, screen);
        expect.soft(await rowFaults(page), screen.name).toEqual([]);
        await screen.leave?.(page);
      });
  });

test('the editor of a question grows with its wrapped lines, and shrinks again', { tag: '@long' }, async ({
  page,
  service,
}) => {
  await prepareKnowledge(page, service);
  await open(page, service, '/ask?question=ancestor(?who, ada)');
  const pane = page.getByRole('region', { name: 'Question', exact: true });
  const height = async () => (await pane.boundingBox())?.height ?? 0;
  await expect(page.getByRole('grid', { name: 'Answers' })).toBeVisible();
  const before = await height();
  await write(page, 'Question', Array.from({ length: 30 }, (_, at) => `mother(?a${at}, ?b${at})`).join(', '));
  await expect.poll(height).toBeGreaterThan(before + 20);
  await write(page, 'Question', 'ancestor(?who, ada)');
  await expect.poll(height).toBe(before);
});
