/** Our own engine through its public interface, in a Node process of its own, log in memory, proofs on. */
import { corollaryRule } from '../program.ts';
import { complete, type Contestant, readReport } from './contestant.ts';
import { writeTask } from './rows.ts';

/** `program`: the built corollary-child. */
export function corollary(program: string): Contestant {
  return {
    name: 'Corollary',
    version: () => 'this tree',
    declines: () => null,
    async run(task) {
      writeTask(task, task.workload.rules.map(corollaryRule));
      const args = ['--expose-gc', program, task.folder];
      return readReport(await complete(process.execPath, args, { timeoutMs: task.timeoutMs }));
    },
  };
}
