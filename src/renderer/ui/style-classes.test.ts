import { expect, test } from 'vitest';

const sources = import.meta.glob<string>('../**/*.{ts,tsx}', {
  query: '?raw',
  import: 'default',
  eager: true,
});
const sheets = import.meta.glob<string>('../**/*.module.css', {
  query: '?raw',
  import: 'default',
  eager: true,
});

const here = 'file:///renderer/ui/';
const sheetOf = new Map(Object.entries(sheets).map(([path, text]) => [new URL(path, here).pathname, text]));

/** The style sheet that a file imports. */
function imported(path: string, text: string): string | undefined {
  const from = /import styles from '([^']+\.module\.css)'/.exec(text)?.[1];
  if (from === undefined) return undefined;
  return new URL(from, new URL(path, here)).pathname;
}

test('every class that a view takes from its style sheet is there', () => {
  const missing: string[] = [];
  let count = 0;
  for (const [path, text] of Object.entries(sources)) {
    const sheet = imported(path, text);
    if (sheet === undefined) continue;
    const rules = sheetOf.get(sheet) ?? '';
    for (const [, name = ''] of text.matchAll(/\bstyles\.(\w+)/g)) {
      count += 1;
      if (!new RegExp(`\\.${name}(?!\\w)`).test(rules)) missing.push(`${path}: ${name}`);
    }
  }
  expect(count).toBeGreaterThan(100);
  expect([...new Set(missing)]).toEqual([]);
});
