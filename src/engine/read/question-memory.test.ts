import { expect, test } from 'vitest';
import { bundleProgram, startProgram } from '../testing/child-program.ts';

test('a process of 384 MB refuses questions that would explode, and answers the next', async () => {
  const program = await bundleProgram(new URL('../testing/explode.ts', import.meta.url));
  const child = startProgram(program, [], ['--max-old-space-size=384']);
  const lines: (string | null)[] = [];
  for (let line = await child.nextLine(); line !== null; line = await child.nextLine()) lines.push(line);
  expect(lines).toEqual(['422 memory', '422 memory', '422 memory', '1 answers']);
}, 120_000);
