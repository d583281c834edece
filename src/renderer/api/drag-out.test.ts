import { expect, test } from 'vitest';
import { draggedName } from './drag-out.ts';

test('a dragged file has a name that every system takes', () => {
  expect(draggedName('ancestor(agnes, ada)', 'txt')).toBe('ancestor(agnes, ada).txt');
  expect(draggedName('p("a/b", ?x) < 3\n', 'tsv')).toBe('p(_a_b_, _x) _ 3_.tsv');
  expect(draggedName('../etc', 'dl')).toBe('_etc.dl');
  expect(draggedName('', 'dl')).toBe('corollary.dl');
  expect(draggedName('x'.repeat(500), 'dl')).toHaveLength(103);
});
