/** Our own engine through its public interface, in a Node process of its own, log in memory, proofs on. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { corollaryRule } from '../program.ts';
import { complete, type Contestant, readReport } from './contestant.ts';
import { writeTask } from './rows.ts';

/** The engine among the contestants. */
export const engineName = 'Corollary';

/** `program`: the built corollary-child; its name contains a hash of its contents, so it is a version of the whole. */
export function corollary(program: string): Contestant {
  return {
    name: engineName,
    version: () => createHash('sha256').update(readFileSync(program)).digest('hex').slice(0, 12),
    declines: () => null,
    async run(task) {
      writeTask(task, task.rules.map(corollaryRule));
      const args = ['--expose-gc', program, task.folder];
      return readReport(await complete(process.execPath, args, { timeoutMs: task.timeoutMs }));
    },
  };
}
