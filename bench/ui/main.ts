/**
 * `npm run bench -- ui`: how long a user waits for the workbench, in headless Chromium, with the production bundle.
 *
 * The built service runs as a process of its own, in a folder that is removed at the end. Times are wall clock, medians
 * over the rounds: content counts as shown when its frame is painted. On a busy machine frames are late for other
 * reasons, so the table also shows the CPU time of the page's main thread, and how late frames are while idle. It
 * reports whether each target was met, and fails for none.
 */
import { type Browser, type CDPSession, chromium, type Page } from '@playwright/test';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { browserArguments, findChromium } from '../../scripts/chromium.mjs';
import type { Server } from '../http/server.ts';
import { measureEditing } from './editing.ts';
import { type Figure, line, median, tableHead } from './figure.ts';
import { proofTenant, startWorkbench, storeChain, storeMany } from './knowledge.ts';
import { type Work, workOf } from './main-thread.ts';
import {
  dragThrough,
  type Frames,
  showByHash,
  showByScroll,
  shown,
  sinceAnswer,
  watchClicks,
  watchFrames,
  watchKeys,
  watchPainting,
} from './watch.ts';

const help = `npm run bench -- ui [options]          after npm run build
  --facts N             facts on the server (1000000)
  --steps N             steps of the proof (10000)
  --rules N             rules taught, and rules written (1000)
  --rounds N            how often each is measured (5)
  --help`;

const gridCell = '[role="grid"][aria-label="Facts"] [role="gridcell"] .mono';
const grid = '[role="grid"][aria-label="Facts"]';
const railLink = 'nav a[href*="facts"]';
const paletteOption = '[role="dialog"] [role="option"]';
const treeItem = '[role="tree"][aria-label="Proof"] [role="treeitem"]';
const diagramBox = '[role="tree"][aria-label="Proof diagram"] [role="treeitem"]';
const mebibyte = 1024 * 1024;

interface Opened {
  readonly page: Page;
  readonly session: CDPSession;
}

/** A page of a browser with empty caches. */
async function freshPage(browser: Browser): Promise<Opened> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  await context.addInitScript(watchPainting);
  const page = await context.newPage();
  return { page, session: await context.newCDPSession(page) };
}

async function open(page: Page, server: Server, hash: string): Promise<void> {
  await page.goto(`${server.address}/#${hash}`);
  await page.evaluate(shown, { selector: railLink });
}

async function repeated(rounds: number, step: () => Promise<number>): Promise<number[]> {
  const values: number[] = [];
  for (let round = 0; round < rounds; round += 1) values.push(await step());
  return values;
}

/** From an empty cache until the tools can be used, and what was downloaded for it. */
async function measureFirstLoad(browser: Browser, server: Server, rounds: number): Promise<Figure[]> {
  const times: number[] = [];
  let [bytes, files] = [0, 0];
  for (let round = 0; round < rounds; round += 1) {
    const { page, session } = await freshPage(browser);
    await session.send('Network.enable');
    [bytes, files] = [0, 0];
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
      files += 1;
    });
    const startedAt = performance.now();
    await open(page, server, '/settings');
    times.push(performance.now() - startedAt);
    await page.context().close();
  }
  return [
    { name: 'first load, nothing cached', values: times, unit: 'ms', target: 2500 },
    {
      name: 'what it transfers',
      values: [bytes / 1024],
      unit: 'KiB',
      target: null,
      note: `${files} files and answers`,
    },
  ];
}

const factsHash = '/facts?predicate=measured';

/** From a click to the rows, each time on a service that has just started and never listed anything. */
async function measureColdRows(browser: Browser, folder: string, rounds: number): Promise<Figure> {
  const values = await repeated(rounds, async () => {
    const server = await startWorkbench(folder);
    const { page } = await freshPage(browser);
    await open(page, server, '/settings');
    // The code of the view is loaded, as for a user who has seen any predicate before.
    await page.evaluate(showByHash, { hash: '/facts?predicate=none', selector: '[aria-label="Facts"]' });
    await page.evaluate(showByHash, { hash: '/settings', selector: 'main h1' });
    const took = await page.evaluate(showByHash, { hash: factsHash, selector: gridCell });
    await page.context().close();
    await server.stop();
    return took;
  });
  return { name: 'first rows, the service just started', values, unit: 'ms', target: 300 };
}

async function measureFirstRows(page: Page, rounds: number): Promise<Figure> {
  await page.evaluate(showByHash, { hash: factsHash, selector: gridCell });
  const values = await repeated(rounds, async () => {
    await page.evaluate(showByHash, { hash: '/settings', selector: 'main h1' });
    return page.evaluate(showByHash, { hash: factsHash, selector: gridCell });
  });
  return { name: 'first rows, later', values, unit: 'ms', target: 300 };
}

async function framesSoFar(page: Page): Promise<Frames> {
  return page.evaluate(() => (window as unknown as { framesSoFar: () => Frames }).framesSoFar());
}

/** The longest frame of each round, and the main thread's work for all of them. */
function frameFigure(name: string, rounds: readonly { frames: Frames; work: Work }[]): Figure {
  const sum = (of: (round: { frames: Frames; work: Work }) => number) =>
    rounds.reduce((total, round) => total + of(round), 0);
  const count = sum(({ frames }) => frames.count);
  const over = sum(({ frames }) => frames.over50);
  const cpu = sum(({ work }) => work.cpu) / count;
  const longest = rounds.map(({ work }) => work.longest);
  return {
    name,
    values: rounds.map(({ frames }) => frames.longest),
    unit: 'ms',
    target: 50,
    note:
      `${over} of ${count} frames over 50 ms; CPU ${cpu.toFixed(1)} ms a frame, longest task ` +
      `${median(longest).toFixed(0)} ms (${Math.max(...longest).toFixed(0)})`,
  };
}

/** The frames during an action, and its cost on the page's main thread, round by round. */
async function measureFrames(
  { page, session }: Opened,
  rounds: number,
  name: string,
  act: () => Promise<unknown>,
): Promise<Figure> {
  const measured: { frames: Frames; work: Work }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    let frames: Frames | null = null;
    const work = await workOf(session, async () => {
      await framesSoFar(page);
      await act();
      frames = await framesSoFar(page);
    });
    if (frames !== null) measured.push({ frames, work });
  }
  return frameFigure(name, measured);
}

async function measureScrolling(opened: Opened, rounds: number): Promise<Figure[]> {
  const { page } = opened;
  await page.evaluate(watchFrames);
  await page.locator(grid).hover();
  const still = await measureFrames(opened, rounds, 'longest frame, nothing done', () =>
    page.waitForTimeout(4_000),
  );
  const wheel = await measureFrames(opened, rounds, 'longest frame, scrolling by the wheel', async () => {
    for (let turn = 0; turn < 120; turn += 1) await page.mouse.wheel(0, 240);
  });
  const drag = await measureFrames(opened, rounds, 'longest frame, dragging through all rows and back', () =>
    page.evaluate(dragThrough, { selector: grid, frames: 240 }),
  );
  return [{ ...still, target: null }, wheel, drag];
}

async function measureEnds(page: Page, facts: number, rounds: number): Promise<Figure> {
  const last = `${grid} [role="row"][aria-rowindex="${facts + 1}"] .mono`;
  await page.evaluate(watchKeys, { selector: last });
  await page.locator(grid).focus();
  const values = await repeated(rounds, async () => {
    await page.keyboard.press('Control+Home');
    await page.evaluate(shown, { selector: `${grid} [role="row"][aria-rowindex="2"] .mono` });
    await page.keyboard.press('Control+End');
    return keyToPaint(page);
  });
  return { name: 'Ctrl+End until the last row is there', values, unit: 'ms', target: 300 };
}

/** A jump to the middle, each round to another row, none of which was loaded before. */
async function measureMiddle(page: Page, rounds: number): Promise<Figure> {
  let round = 0;
  const values = await repeated(rounds, async () => {
    round += 1;
    await page.evaluate(showByScroll, {
      scrolled: grid,
      part: 0,
      selector: `${grid} [aria-rowindex="2"] .mono`,
    });
    // The time between two jumps must not count.
    await page.waitForTimeout(300);
    return page.evaluate(showByScroll, {
      scrolled: grid,
      part: 0.5 + round / 1000,
      selector: `${grid}:not(:has([aria-rowindex="2"])) .mono`,
    });
  });
  return { name: 'a leap into the middle until its rows are there', values, unit: 'ms', target: 300 };
}

function keyToPaint(page: Page): Promise<number> {
  return page.evaluate(() => (window as unknown as { keyToPaint: () => Promise<number> }).keyToPaint());
}

async function measurePalette({ page, session }: Opened, rounds: number): Promise<Figure> {
  await page.evaluate(watchKeys, { selector: paletteOption });
  const longest: number[] = [];
  const values = await repeated(rounds, async () => {
    let took = 0;
    const work = await workOf(session, async () => {
      await page.keyboard.press('Control+k');
      took = await keyToPaint(page);
    });
    longest.push(work.longest);
    await page.keyboard.press('Escape');
    await page.locator('[role="dialog"]').waitFor({ state: 'detached' });
    return took;
  });
  const note = `longest task ${median(longest).toFixed(0)} ms CPU`;
  return { name: 'palette, from the key to its list', values, unit: 'ms', target: 50, note };
}

/** The heap of scripts after a collection, and the memory of the page's process. */
async function measureMemory(browser: Browser, session: CDPSession): Promise<Figure[]> {
  await session.send('HeapProfiler.collectGarbage');
  await session.send('Performance.enable');
  const { metrics } = await session.send('Performance.getMetrics');
  const heap = metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? Number.NaN;
  const whole = await browser.newBrowserCDPSession();
  const { processInfo } = await whole.send('SystemInfo.getProcessInfo');
  const resident = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => residentBytes(id));
  return [
    { name: 'heap of scripts', values: [heap / mebibyte], unit: 'MiB', target: null },
    {
      name: 'memory of the renderer, resident',
      values: [Math.max(...resident) / mebibyte],
      unit: 'MiB',
      target: 300,
    },
  ];
}

/** Available only on Linux; elsewhere unknown. */
function residentBytes(pid: number): number {
  if (process.platform !== 'linux') return Number.NaN;
  const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
  return Number(kib) * 1024;
}

async function measureProof(
  browser: Browser,
  server: Server,
  question: string,
  rounds: number,
): Promise<Figure[]> {
  const opened = await freshPage(browser);
  const { page } = opened;
  const space = `tenant=${proofTenant}`;
  const hash = `/proof?${space}&question=${encodeURIComponent(question)}`;
  const fromAnswer: number[] = [];
  await open(page, server, hash);
  await page.evaluate(shown, { selector: treeItem });
  const whole = await repeated(rounds, async () => {
    await page.evaluate(showByHash, { hash: `/settings?${space}`, selector: 'main h1' });
    await page.evaluate(() => performance.clearResourceTimings());
    const took = await page.evaluate(showByHash, { hash, selector: treeItem });
    fromAnswer.push(await page.evaluate(sinceAnswer, { ending: '/ask' }));
    return took;
  });
  const figures: Figure[] = [
    { name: 'proof, outline, from the answer', values: fromAnswer, unit: 'ms', target: 500 },
    { name: 'proof, outline, proving and transfer too', values: whole, unit: 'ms', target: null },
  ];
  await page.evaluate(watchFrames);
  figures.push(
    await measureFrames(opened, rounds, 'proof, longest frame: unfold all, to its ends, fold', async () => {
      await page.getByRole('button', { name: 'Unfold all' }).click();
      await page.getByRole('tree', { name: 'Proof' }).focus();
      for (const key of ['End', 'Home', 'End']) await page.keyboard.press(key);
      await page.evaluate(shown, { selector: treeItem });
      await page.getByRole('button', { name: 'Fold to the first level' }).click();
      await page.evaluate(shown, { selector: treeItem });
    }),
  );
  await page.getByRole('button', { name: 'Unfold all' }).click();
  figures.push(await measureDiagram(page, rounds));
  await page.context().close();
  return figures;
}

/** From selecting the diagram until boxes of it are painted; the layout is computed anew each time. */
async function measureDiagram(page: Page, rounds: number): Promise<Figure> {
  const views = page.getByRole('radiogroup', { name: 'How the proof is shown' });
  const values = await repeated(rounds, async () => {
    await views.getByText('Outline', { exact: true }).click();
    await page.evaluate(shown, { selector: treeItem });
    await page.evaluate(watchClicks, { selector: diagramBox });
    await views.getByText('Diagram', { exact: true }).click();
    return page.evaluate(() => (window as unknown as { clickToPaint: () => Promise<number> }).clickToPaint());
  });
  return { name: 'proof, all unfolded, diagram of what is visible', values, unit: 'ms', target: 1000 };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      facts: { type: 'string', default: '1000000' },
      steps: { type: 'string', default: '10000' },
      rules: { type: 'string', default: '1000' },
      rounds: { type: 'string', default: '5' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(help);
    return;
  }
  const [facts, rounds] = [Number(values.facts), Number(values.rounds)];
  const folder = mkdtempSync(join(tmpdir(), 'corollary-bench-ui-'));
  const executablePath = findChromium();
  const browser = await chromium.launch({
    args: browserArguments,
    ...(executablePath === null ? {} : { executablePath }),
  });
  let server = await startWorkbench(folder);
  try {
    await storeMany(server, facts);
    const question = await storeChain(server, Number(values.steps));
    await server.stop();
    console.log(tableHead);
    const print = (...figures: readonly Figure[]) => console.log(figures.map(line).join('\n'));
    print(await measureColdRows(browser, folder, rounds));
    server = await startWorkbench(folder);
    print(...(await measureFirstLoad(browser, server, rounds)));
    const opened = await freshPage(browser);
    const { page, session } = opened;
    await open(page, server, '/settings');
    print(await measureFirstRows(page, rounds));
    print(...(await measureScrolling(opened, rounds)));
    print(await measureEnds(page, facts, rounds), await measureMiddle(page, rounds));
    print(await measurePalette(opened, rounds));
    print(...(await measureMemory(browser, session)));
    await page.context().close();
    print(...(await measureProof(browser, server, question, rounds)));
    print(...(await measureEditing(browser, server, Number(values.rules))));
  } finally {
    await browser.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
