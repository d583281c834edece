/** Undo, redo and the list of steps, as commands: each says what it is about to take back. */
import { IconArrowBackUp, IconArrowForwardUp, IconHistory } from '@tabler/icons-react';
import { named } from '../../../desktop-contract/commands.ts';
import type { HistoryDirection } from '../../api/history.ts';
import { useHistory } from '../../api/use-history.ts';
import type { AppCommand } from '../../ui/command.ts';
import { notifyFailure, notifyHint } from '../../ui/notify.tsx';

const small = { size: 16, stroke: 1.6, 'aria-hidden': true } as const;

export function useHistoryCommands(onShow: () => void): AppCommand[] {
  const { next, running, take } = useHistory();

  async function run(way: HistoryDirection): Promise<void> {
    // While a step is under way the next one waits for it: whether there is any shows then.
    if (next[way] === null && running === null) {
      notifyHint(way === 'undo' ? 'There is nothing to undo.' : 'There is nothing to do again.');
      return;
    }
    const failure = await take(way);
    if (failure !== null) notifyFailure(failure);
  }

  return [
    {
      ...named('history.undo'),
      title: next.undo === null ? named('history.undo').title : `Undo: ${next.undo.label}`,
      icon: <IconArrowBackUp {...small} />,
      keys: 'Mod+Z',
      isOfView: true,
      run: () => void run('undo'),
    },
    {
      ...named('history.redo'),
      title: next.redo === null ? named('history.redo').title : `Redo: ${next.redo.label}`,
      icon: <IconArrowForwardUp {...small} />,
      keys: 'Mod+Y',
      alsoKeys: 'Mod+Shift+Z',
      isOfView: true,
      run: () => void run('redo'),
    },
    { ...named('history.show'), icon: <IconHistory {...small} />, run: onShow },
  ];
}
