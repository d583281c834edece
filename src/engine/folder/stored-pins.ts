import { EngineError } from '../base/errors.ts';
import { type MemoryGauge, nearestMark } from '../commit/high-water-mark.ts';
import type { FrameStore } from '../log/frame-store.ts';
import { openLogOver } from '../log/open-log.ts';
import { type PinnedState, pinState, stateOf } from '../state/state-snapshot.ts';
import { talliesOf } from './folder-tasks.ts';

interface Opening {
  readonly open: (id: number) => Promise<FrameStore>;
  readonly pause: () => Promise<void>;
}

/**
 * The states of databases as their logs have them, each as of a moment of its own. What is read stays in memory until the pins
 * are released. Rejects like `open`, or with Conflict if memory is too short for them beside the `present` databases.
 */
export async function storedPins(
  logs: readonly { readonly id: number; readonly bytes: number }[],
  present: number,
  gauge: MemoryGauge | null,
  { open, pause }: Opening,
): Promise<PinnedState[]> {
  const bytes = logs.reduce((sum, log) => sum + log.bytes, 0);
  const { used, allowed } = nearestMark(gauge?.read());
  if (used + bytes > allowed)
    throw new EngineError(
      'Conflict',
      `this node has ${present} of ${present + logs.length} databases, and no memory for the others: ` +
        "back the store up with PostgreSQL's tools",
    );
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
