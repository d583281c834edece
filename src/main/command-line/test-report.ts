/** The outcome of tests as text for people. */
import type { TestFailure } from '../../engine/contract/tests.ts';
import { proofOutline, withFoldedText } from '../../proof/proof-text.ts';
import type { PackageCoverage, PackageTestRun } from '../packages/test-package.ts';

/** Lines of one list of answers, and of attempts, that are shown. */
const maxShown = 20;

/** The tests that failed with what was found, a line for each file without failures, and the totals. */
export function testLines({ files, passed, failed, elapsedMs }: PackageTestRun): string[] {
  const lines: string[] = [];
  for (const { path, tests } of files) {
    const bad = tests.filter((test) => !test.passed);
    if (bad.length === 0) lines.push(`ok    ${path}: ${tests.length} passed`);
    for (const { name, line, failures } of bad) {
      lines.push(`FAIL  ${path}:${line}: ${name}`);
      for (const failure of failures)
        lines.push(...failureLines(path, failure).map((each) => `      ${each}`));
    }
    for (const { name, line, hints = [] } of tests)
      for (const hint of hints) lines.push(`hint  ${path}:${line}: ${name}: ${hint}`);
  }
  const total = passed + failed;
  lines.push(
    `${total} ${total === 1 ? 'test' : 'tests'}: ${passed} passed, ${failed} failed (${elapsedMs} ms)`,
  );
  return lines.map(visible);
}

/** The line without control characters: names in a file must not steer a terminal. */
export function visible(line: string): string {
  // eslint-disable-next-line no-control-regex
  return line.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (each) => {
    return `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** What one expectation found instead, beside what was expected. */
export function failureLines(path: string, failure: TestFailure): string[] {
  const { expectation, line, column, message, hints = [] } = failure;
  return [
    `${path}:${line}:${column}: expect ${expectation.replace(/\s+/g, ' ')}`,
    `  ${message}`,
    ...listed('expected', failure.expected),
    ...listed('found', failure.found),
    ...listed('missing', failure.missing),
    ...listed('unexpected', failure.unexpected),
    ...attemptLines(failure.attempts ?? []),
    ...(failure.blockedBy ?? []).slice(0, maxShown).map(({ detail }) => `  ${detail}`),
    ...(failure.proof === undefined || failure.proof.steps.length === 0
      ? []
      : [
          '  proof of what was not expected:',
          ...proofOutline(withFoldedText(failure.proof)).map((each) => `    ${each}`),
        ]),
    ...hints.map((hint) => `  hint: ${hint}`),
  ];
}

function listed(title: string, answers: readonly string[] | undefined): string[] {
  if (answers === undefined) return [];
  const shown = answers.slice(0, maxShown);
  const more = answers.length > shown.length ? [`… and ${answers.length - shown.length} more`] : [];
  const all = shown.length === 0 ? ['nothing'] : [...shown, ...more];
  return all.map((answer, at) => `  ${(at === 0 ? title : '').padEnd(12)}${answer}`);
}

function attemptLines(attempts: NonNullable<TestFailure['attempts']>): string[] {
  if (attempts.length === 0) return [];
  const lines = attempts
    .slice(0, maxShown)
    .flatMap(({ rule, satisfied, missing }) => [
      `    ${rule}`,
      ...satisfied.map((literal) => `      true     ${literal}`),
      ...missing.map((literal) => `      missing  ${literal}`),
    ]);
  return ['  why not:', ...lines];
}

/** How much of the rules the tests exercised, and what they did not, with its place. */
export function coverageLines(coverage: PackageCoverage): string[] {
  const { rules, rulesExercised, literals, literalsExercised, complete, uncovered } = coverage;
  const rows = uncovered.flatMap(({ path, line, rule, exercised, literals: open }) => [
    ...(exercised ? [] : [[`${path}:${line}`, 'rule', rule]]),
    ...open.map((each) => [
      `${path}:${each.line}:${each.column}`,
      'literal',
      each.literal.replace(/\s+/g, ' '),
    ]),
  ]);
  const width = rows.reduce((most, [place = '']) => Math.max(most, place.length), 0);
  return [
    `Coverage: ${rulesExercised} of ${rules} rules, ${literalsExercised} of ${literals} literals${complete ? '' : ' (at least)'}`,
    ...(rows.length === 0 ? [] : ['Not exercised:']),
    ...rows.map(([place = '', kind = '', text = '']) =>
      visible(`  ${place.padEnd(width)}  ${kind.padEnd(7)}  ${text}`),
    ),
  ];
}
