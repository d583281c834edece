import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { desktopTitles, flowsOf, flowsPage, flowsText } from './desktop-flows.mjs';
import { root } from './prepare.mjs';

it('the page has every flow that is tested in a real Electron, and no other', () => {
  const page = readFileSync(join(root, flowsPage), 'utf8');
  const listed = [...page.matchAll(/^\| (.*) \| (?:pass|skip: .*) \|$/gm)].map(([, title]) => title);
  expect(desktopTitles().length).toBeGreaterThan(20);
  expect(listed).toEqual(desktopTitles());
});

it('a report becomes flows with their outcome and the reason of a skip', () => {
  const folder = mkdtempSync(join(tmpdir(), 'corollary-flows-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const report = join(folder, 'report.json');
  const spec = (/** @type {string} */ title, /** @type {string} */ status, annotations = [{}]) => ({
    title,
    tests: [{ status, annotations }],
  });
  const skip = [{ type: 'skip', description: 'only root can try' }];
  writeFileSync(
    report,
    JSON.stringify({
      suites: [
        { specs: [spec('opens', 'expected')], suites: [{ specs: [spec('closes', 'unexpected')] }] },
        { specs: [spec('asks', 'flaky'), spec('refuses', 'skipped', skip)] },
      ],
    }),
  );
  const flows = flowsOf(report);
  expect(flows).toEqual([
    { title: 'opens', outcome: 'pass' },
    { title: 'closes', outcome: 'fail' },
    { title: 'asks', outcome: 'pass' },
    { title: 'refuses', outcome: 'skip: only root can try' },
  ]);
  expect(flowsText(flows, { electron: '25', platform: 'linux', version: '1.0.0' })).toContain(
    '| refuses | skip: only root can try |',
  );
});
