import type { FrameStore } from '../log/frame-store.ts';
import { openLogOver } from '../log/open-log.ts';
import { type PinnedState, pinState, stateOf } from '../state/state-snapshot.ts';
import { talliesOf } from './folder-tasks.ts';

/**
 * The states of databases as their logs have them, each as of a moment of its own. What is read stays in memory until the pins
 * are released. Rejects like `open`.
 */
export async function storedPins(
  logs: readonly { readonly id: number }[],
  open: (id: number) => Promise<FrameStore>,
  pause: () => Promise<void>,
): Promise<PinnedState[]> {
  const pins: PinnedState[] = [];
  for (const { id } of logs) {
    const log = openLogOver(await open(id));
    try {
      const restored = await stateOf(log, pause);
      if (restored.state.databases.size > 0) pins.push(pinState(restored.state, talliesOf(restored)));
    } finally {
      await log.close();
    }
  }
  return pins;
}
