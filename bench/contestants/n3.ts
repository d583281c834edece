/** N3.js: its store and its rule reasoner, in a Node process of their own. */
import { n3Rule } from '../program.ts';
import { complete, type Contestant, readReport } from './contestant.ts';
import { writeTask } from './rows.ts';

/** `program`: the built n3-child. `version`: that of the package, or null where it is not there. */
export function n3(program: string, version: string | null): Contestant {
  return {
    name: 'N3.js',
    version: () => version,
    declines: (workload) => {
      if (workload.needsDemand) return 'derives the whole closure';
      if (workload.kind === 'change') return 'no way to withdraw conclusions';
      return null;
    },
    async run(task) {
      writeTask(task, task.workload.rules.map(n3Rule));
      const args = ['--expose-gc', '--max-old-space-size=8192', program, task.folder];
      return readReport(await complete(process.execPath, args, { timeoutMs: task.timeoutMs }));
    },
  };
}
