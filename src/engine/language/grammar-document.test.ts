import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ruleProblems } from './check.ts';
import { parseProgram } from './parse.ts';

test('parses the examples of the grammar document, which are safe', () => {
  const text = readFileSync(new URL('../../../docs/grammar.md', import.meta.url), 'utf8');
  const example = /```datalog\n([\s\S]*?)```/.exec(text)?.[1] ?? '';
  const { statements, errors } = parseProgram(example, { allowsConstraints: true });
  expect(errors).toEqual([]);
  expect(statements).toHaveLength(12);
  for (const statement of statements)
    if (statement.kind === 'rule') expect(ruleProblems(statement.rule)).toEqual([]);
});
