/** Taking generations back, as steps of the undo list: a revert is a generation, which another revert takes back. */
import type { Act } from './history.ts';
import { noteGeneration } from './live.ts';
import type { WorkbenchSession } from './session.tsx';

/**
 * Returns the act that takes back one generation, with its rules, declarations and constraints if `rules`. Its inverse takes
 * back the revert.
 */
export function takingBack(session: Pick<WorkbenchSession, 'call'>, generation: number, rules: boolean): Act {
  return async () => {
    const reverted = await session.call('revert', { body: { generation, rules } }, { isWanted: true });
    noteGeneration(reverted.generation);
    return reverted.status === 'unchanged'
      ? 'there was nothing to take back'
      : takingBack(session, reverted.generation, rules);
  };
}
