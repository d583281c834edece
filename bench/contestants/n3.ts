/** N3.js: its store and its rule reasoner, in a Node process of their own. */
import { fitsN3, n3Rule } from '../program.ts';
import { complete, type Contestant, readReport } from './contestant.ts';
import { writeTask } from './rows.ts';

/** Workloads at which N3.js 2.13 finds fewer answers than all others, which agree. */
const incomplete = ['university', 'five-path'];

/** `program`: the built n3-child. `version`: that of the package, or null if it is not installed. */
export function n3(program: string, version: string | null): Contestant {
  return {
    name: 'N3.js',
    version: () => version,
    declines: ({ name, needsDemand, kind, goal }, rules) => {
      if (incomplete.includes(name)) return 'finds too few';
      if (needsDemand) return 'derives the whole closure';
      if (kind === 'change') return 'no way to withdraw conclusions';
      if (kind === 'proof') return 'tells no proof';
      if (kind === 'reads') return 'no questions with a key';
      return goal.length === 3 && rules.every(fitsN3) ? null : 'no such rules in it';
    },
    async run(task) {
      writeTask(task, task.rules.map(n3Rule));
      const args = ['--expose-gc', '--max-old-space-size=8192', program, task.folder];
      return readReport(await complete(process.execPath, args, { timeoutMs: task.timeoutMs }));
    },
  };
}
