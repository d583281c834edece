/**
 * `npm run bench -- desktop`: how long the desktop application takes to start, and how much memory it holds, beside a
 * plain Electron window in the same run.
 *
 * Both are started by the same driver from a cold process with a profile of its own, in turns, in the Electron of the
 * tests: the pinned one if its binary is there, else Electron 25 with the service in a child of Node, which is counted
 * too. Memory is PSS: what several processes share counts once.
 */
import type { ElectronApplication, Page } from '@playwright/test';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Desktop, isPinned, missing } from '../../e2e/desktop.ts';
import { fillWithFacts } from '../../e2e/many-facts.ts';
import { median } from '../ui/figure.ts';

const help = `npm run bench -- desktop [options]     after npm run build, with a display (xvfb-run)
  --facts N             facts of the large folder (1000000)
  --rounds N            how often each is started (5)
  --help`;

/** Milliseconds after the page can be used in which the processes settle before their memory is read. */
const settleMs = 5_000;

const plainWindow = `
const { app, BrowserWindow } = require('electron');
app.enableSandbox();
void app.whenReady().then(() => {
  const window = new BrowserWindow({ width: 1280, height: 800, show: false });
  window.once('ready-to-show', () => window.show());
  void window.loadURL('data:text/html,<title>Plain</title><nav aria-label="Tools">Plain</nav>');
});
app.on('window-all-closed', () => app.quit());
`;

interface Start {
  /** Milliseconds until the first window exists; until the workbench, or the plain page, can be used. */
  readonly windowMs: number;
  readonly usableMs: number;
  readonly memoryMb: number;
}

type Subject = 'plain window' | 'empty folder' | 'large folder';

/** The page with the tools: a large folder shows its progress first. */
async function usablePage(app: ElectronApplication): Promise<Page> {
  const isTool = (page: Page) => page.locator('nav[aria-label="Tools"]').isVisible();
  for (;;) {
    for (const page of app.windows()) {
      // A window of the progress closes meanwhile.
      const isUsable = await isTool(page).catch(() => false);
      if (isUsable) return page;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function measureStart(subject: Subject, large: string): Promise<Start> {
  const desktop = await Desktop.make();
  try {
    const plain = join(desktop.folder, 'plain.cjs');
    writeFileSync(plain, plainWindow);
    const storage = join(desktop.folder, 'data');
    if (subject === 'large folder') {
      cpSync(large, storage, { recursive: true });
      desktop.own(storage);
    }
    const environment =
      subject === 'plain window' ? { COROLLARY_TEST_MAIN: plain } : { STORAGE_DIR: storage };
    const started = performance.now();
    const app = await desktop.launch({ environment });
    await app.firstWindow();
    const windowMs = performance.now() - started;
    await usablePage(app);
    const usableMs = performance.now() - started;
    await new Promise((resolve) => setTimeout(resolve, settleMs));
    const memoryMb = pssBelow(app.process().pid ?? 0) / 1024;
    await app.close();
    return { windowMs, usableMs, memoryMb };
  } finally {
    desktop.remove();
  }
}

/** KiB of the process and all its descendants. */
function pssBelow(root: number): number {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each)))
    try {
      const status = readFileSync(`/proc/${name}/status`, 'utf8');
      parents.set(Number(name), Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]));
    } catch {
      // It has ended since the folder was listed.
      parents.delete(Number(name));
    }
  const isBelow = (pid: number): boolean => pid === root || (pid > 1 && isBelow(parents.get(pid) ?? 0));
  return [...parents.keys()].filter(isBelow).reduce((sum, pid) => sum + pssOf(pid), 0);
}

function pssOf(pid: number): number {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

const { values: given } = parseArgs({
  options: {
    facts: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '5' },
    help: { type: 'boolean', default: false },
  },
});

async function main(): Promise<void> {
  if (given.help) return void process.stdout.write(`${help}\n`);
  if (missing !== null) throw new Error(missing);
  const large = mkdtempSync(join(tmpdir(), 'corollary-bench-desktop-'));
  try {
    await fillWithFacts(large, Number(given.facts));
    const subjects: readonly Subject[] = ['plain window', 'empty folder', 'large folder'];
    const starts = new Map(subjects.map((subject) => [subject, [] as Start[]]));
    for (let round = 0; round < Number(given.rounds); round++)
      for (const subject of subjects) starts.get(subject)?.push(await measureStart(subject, large));
    const electron = isPinned ? 'the pinned Electron' : 'Electron 25.1.1, the service in a child of Node';
    process.stdout.write(`In ${electron}, medians of ${given.rounds} starts:\n\n`);
    process.stdout.write('| | first window, ms | usable, ms | memory (PSS), MB |\n|---|---|---|---|\n');
    for (const [subject, all] of starts) {
      const figures = (['windowMs', 'usableMs', 'memoryMb'] as const).map((name) =>
        Math.round(median(all.map((start) => start[name]))),
      );
      const named =
        subject === 'large folder'
          ? `Corollary, ${given.facts} facts`
          : subject === 'empty folder'
            ? 'Corollary, empty folder'
            : subject;
      process.stdout.write(`| ${named} | ${figures.join(' | ')} |\n`);
    }
  } finally {
    rmSync(large, { recursive: true, force: true });
  }
}

await main();
