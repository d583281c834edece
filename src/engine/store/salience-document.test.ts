import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { breakdown, type Uses, used } from './salience.ts';

const units: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000 };
const now = Date.UTC(2024, 0, 1);

/** Parses `30 d, 1 h` or `now` to times. */
function timesOf(text: string): number[] {
  return text.split(', ').map((each) => {
    const [count = '', unit = ''] = each.split(' ');
    const length = units[unit];
    if (each !== 'now' && length === undefined) throw new Error(`no time: ${each}`);
    return each === 'now' ? now : now - Number(count) * (length ?? 0);
  });
}

function usesAt([first = now, ...others]: readonly number[]): Uses {
  return others.reduce(used, { count: 1, first, latest: [first] });
}

test('computes the examples in the document by the formula', () => {
  const text = readFileSync(new URL('../../../docs/salience.md', import.meta.url), 'utf8');
  const rows = [...text.matchAll(/^\| ((?:now|\d).*) \|$/gm)].map(([, row = '']) =>
    row.split('|').map((cell) => cell.trim()),
  );
  expect(rows).toHaveLength(14);
  for (const [ago = '', importance = '', confidence = '', activation, salience] of rows) {
    const metadata = {
      ...(importance === '' ? {} : { importance: Number(importance) }),
      ...(confidence === '' ? {} : { confidence: Number(confidence) }),
    };
    const shown = breakdown(usesAt(timesOf(ago)), metadata, now);
    expect([shown.activation.toFixed(4), shown.salience.toFixed(4)], ago).toEqual([activation, salience]);
  }
});
