/** Completion at the beginning of a test or of one of its statements. */
import type { completionsAt } from './completion.ts';

const words = {
  test: { detail: 'what must come out', insert: 'test "${1:name}" {\n  expect ${2:goal}.\n\\}' },
  given: { detail: 'facts to suppose', insert: 'given ' },
  expect: { detail: 'what must follow', insert: 'expect ' },
} as const;

/**
 * What can begin at the offset of a text of tests; null: something goes on there. Nothing before the first letter, so that
 * Enter breaks the line.
 */
export function testCompletionsAt(text: string, offset: number): ReturnType<typeof completionsAt> | null {
  const [, before = '', word = ''] = /^([\s\S]*?)([a-z]*)$/.exec(text.slice(0, offset)) ?? [];
  const last = /(?:^|[.{}])\s*$/.exec(before.replaceAll(/^\s*[%#].*$/gm, ''))?.[0].trim();
  if (last === undefined) return null;
  const names = last === '' || last === '}' ? (['test'] as const) : (['given', 'expect'] as const);
  const suggestions =
    word === '' ? [] : names.map((label) => ({ kind: 'keyword' as const, label, ...words[label] }));
  return { from: offset - word.length, suggestions };
}
