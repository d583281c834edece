import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './prepare.mjs';

/** The page that says which flows of the desktop application passed in a real Electron, made from a run of its tests. */

/** The files of the tests in a real Electron. */
export const desktopSpecs = ['e2e/desktop.spec.ts', 'e2e/desktop-platform.spec.ts'];

/** The page. */
export const flowsPage = 'docs/desktop-flows.md';

/** @typedef {{title: string, outcome: string}} Flow */

/**
 * The titles of the tests, as the files have them.
 * @returns {string[]}
 */
export function desktopTitles() {
  return desktopSpecs.flatMap((path) =>
    [...readFileSync(join(root, path), 'utf8').matchAll(/^test\(\s*(?:'([^']+)'|"([^"]+)")/gm)].map(
      ([, single, double]) => single ?? double ?? '',
    ),
  );
}

/**
 * The flows of Playwright's report in JSON: passed, failed, or skipped with its reason.
 * @param {string} report the path of the report
 * @returns {Flow[]}
 */
export function flowsOf(report) {
  /** @typedef {{title: string, tests: {status: string, annotations: {type: string, description?: string}[]}[]}} Spec */
  /** @typedef {{specs?: Spec[], suites?: Suite[]}} Suite */
  /** @param {Suite} suite @returns {Spec[]} */
  const specsOf = ({ specs = [], suites = [] }) => [...specs, ...suites.flatMap(specsOf)];
  /** @type {{suites: Suite[]}} */
  const { suites } = JSON.parse(readFileSync(report, 'utf8'));
  return suites.flatMap(specsOf).map(({ title, tests: [run] }) => {
    const reason = run?.annotations.find(({ type }) => type === 'skip')?.description;
    if (run?.status === 'skipped') return { title, outcome: `skip: ${reason ?? 'no reason given'}` };
    return { title, outcome: run?.status === 'unexpected' ? 'fail' : 'pass' };
  });
}

/**
 * The text of the page.
 * @param {readonly Flow[]} flows
 * @param {{electron: string, platform: string, version: string}} about
 */
export function flowsText(flows, { electron, platform, version }) {
  return `# Flows of the desktop application

What a person does with the application, tried in a real Electron with its sandbox on. \`npm run test:desktop -- --record\`
tries them and writes this page. Last: Corollary ${version} in Electron ${electron} on ${platform}.

| flow | result |
|---|---|
${flows.map(({ title, outcome }) => `| ${title} | ${outcome} |`).join('\n')}

[How it is tested](testing.md) says what Electron 25 cannot show, and what a stand-in of Electron covers.
`;
}

/**
 * Writes the page from a report.
 * @param {string} report
 * @param {{electron: string, platform: string}} about
 */
export function recordFlows(report, about) {
  /** @type {{version: string}} */
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const order = desktopTitles();
  const flows = flowsOf(report).toSorted(
    (one, other) => order.indexOf(one.title) - order.indexOf(other.title),
  );
  writeFileSync(join(root, flowsPage), flowsText(flows, { ...about, version }));
}
