import { describe, expect, test } from 'vitest';
import { corollaryRule } from '../program.ts';
import { rulesOf } from './workload.ts';
import { workloads } from './workloads.ts';

describe.each(workloads)('$name', (workload) => {
  test('has the same input every time it is built', () => {
    const first = workload.build('tiny');
    expect(workload.build('tiny')).toEqual(first);
    expect(workload.probes(workload.build('tiny'), 'tiny')).toEqual(workload.probes(first, 'tiny'));
  });

  test('has distinct rows of plain words and integers that need no quotes in any language', () => {
    for (const { rows } of workload.build('tiny')) {
      expect(new Set(rows.map((row) => row.join(' '))).size).toBe(rows.length);
      for (const term of rows.flat()) expect(term).toMatch(/^([a-z][a-z0-9_]*|\d+)$/);
    }
  });

  test('asks about relations that its rules or facts define', () => {
    const known = [
      ...rulesOf(workload, 'tiny').map(({ head }) => head[0]),
      ...workload.build('tiny').map(({ name }) => name),
    ];
    expect(known).toContain(workload.goal[0]);
    for (const each of rulesOf(workload, 'tiny').map(corollaryRule)) expect(each).toMatch(/^\w+\(.*\) :- /);
  });
});
