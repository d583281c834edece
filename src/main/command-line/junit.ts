/** The outcome of tests as JUnit XML, which build servers show. */
import type { PackageTestRun } from '../packages/test-package.ts';
import { failureLines } from './test-report.ts';

/** Returns an XML 1.0 document: a suite for each file, a case for each test. */
export function junitXml({ name, passed, failed, elapsedMs, files }: PackageTestRun): string {
  const suites = files.map(({ path, tests }) => {
    const failures = tests.filter((test) => !test.passed).length;
    const time = tests.reduce((sum, test) => sum + test.elapsedMs, 0);
    const cases = tests.map((test) => {
      const opening = `    <testcase name=${quoted(test.name)} classname=${quoted(path)} file=${quoted(path)} line="${test.line}" time="${seconds(test.elapsedMs)}"`;
      if (test.passed) return `${opening}/>`;
      const failed = test.failures.map(
        (failure) =>
          `      <failure message=${quoted(`${failure.expectation}: ${failure.message}`)} type="expectation">${escaped(failureLines(path, failure).join('\n'))}</failure>`,
      );
      return [`${opening}>`, ...failed, '    </testcase>'].join('\n');
    });
    const totals = `tests="${tests.length}" failures="${failures}" errors="0" skipped="0" time="${seconds(time)}"`;
    return [`  <testsuite name=${quoted(path)} ${totals}>`, ...cases, '  </testsuite>'].join('\n');
  });
  const totals = `tests="${passed + failed}" failures="${failed}" errors="0" time="${seconds(elapsedMs)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name=${quoted(name)} ${totals}>`,
    ...suites,
    '</testsuites>',
    '',
  ].join('\n');
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(3);
}

/** Characters that XML 1.0 does not have, not even escaped, and halves of surrogate pairs. */
// eslint-disable-next-line no-control-regex
const noCharacter = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  // Otherwise a reader makes spaces of them in an attribute, and of CR a line feed anywhere.
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

function quoted(text: string): string {
  return `"${text.replace(noCharacter, '\ufffd').replace(/[&<>"\t\n\r]/g, (each) => entities[each] ?? each)}"`;
}

function escaped(text: string): string {
  return text.replace(noCharacter, '\ufffd').replace(/[&<>\r]/g, (each) => entities[each] ?? each);
}
