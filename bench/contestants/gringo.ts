/**
 * gringo, the grounder of the Potassco suite: grounding alone answers a stratified program without choice. It has no
 * clock of its own, so a question costs what the whole process takes beyond reading the same facts. It derives the
 * whole program, whatever the question's constants, and prints every atom, which is part of its time.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BenchAtom, gringoRule } from '../program.ts';
import { complete, type Contestant, RunFailure, versionOf } from './contestant.ts';

/** How many printed atoms match the goal: one atom a line, `tc(n0,n1).` */
function countMatches(text: string, goal: BenchAtom): number {
  const [predicate, ...args] = goal;
  const pattern = args.map((arg) => (arg.startsWith('?') ? '[^,)]+' : arg)).join(',');
  let count = 0;
  for (const _ of text.matchAll(new RegExp(`^${predicate}\\(${pattern}\\)\\.$`, 'gm'))) count++;
  return count;
}

export const gringo: Contestant = {
  name: 'gringo',
  version: () => versionOf('gringo', ['--version']),
  declines: (workload) => {
    if (workload.kind !== 'ask') return 'no state to keep';
    return workload.needsDemand ? 'derives the whole closure' : null;
  },
  async run(task) {
    const { workload, rules, folder, relations, timeoutMs } = task;
    const facts = join(folder, 'facts.lp');
    const program = join(folder, 'rules.lp');
    const lines = relations.flatMap(({ name, rows }) => rows.map((row) => `${name}(${row.join(', ')}).`));
    writeFileSync(facts, `${lines.join('\n')}\n`);
    writeFileSync(program, `${rules.map(gringoRule).join('\n')}\n`);
    const reading = await complete('gringo', ['--text', facts], { timeoutMs });
    const whole = await complete('gringo', ['--text', facts, program], { timeoutMs });
    const answers = countMatches(whole.stdout, workload.goal);
    if (whole.cpu === null || reading.cpu === null) throw new RunFailure('no CPU times on this platform');
    return {
      answers,
      load: reading.cpu,
      solve: Math.max(0, whole.cpu - reading.cpu),
      peakBytes: whole.peakBytes,
    };
  },
};
