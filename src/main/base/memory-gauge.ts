import { totalmem } from 'node:os';
import { constrainedMemory, memoryUsage } from 'node:process';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { MemoryGauge } from '../../engine/index.ts';

/**
 * Shares of the memory that knowledge may fill: the rest is for questions, bodies and what V8 needs. The heap has more to
 * spare, because a body is parsed in it before anything is decided about it.
 */
const residentShare = 0.8;
const heapShare = 0.75;

/** Bytes that this process may use: of the machine, or of its container. */
export function availableMemory(): number {
  const limit = constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** Measures this process. `limitBytes` is MEMORY_LIMIT_BYTES; null: a share of the memory there is. */
export function processMemory(limitBytes: number | null): MemoryGauge {
  const residentMark = limitBytes ?? Math.floor(availableMemory() * residentShare);
  let collectGarbage: (() => void) | null = null;
  return {
    read() {
      // All pages of the heap: memory lost to fragmentation cannot be used for anything else.
      const { total_heap_size: heap, heap_size_limit: heapLimit } = getHeapStatistics();
      return { resident: memoryUsage.rss(), residentMark, heap, heapMark: Math.floor(heapLimit * heapShare) };
    },
    heapShare() {
      const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
      return used / limit;
    },
    collect() {
      if (collectGarbage === null) {
        setFlagsFromString('--expose-gc');
        collectGarbage = runInNewContext('gc') as () => void;
      }
      collectGarbage();
    },
    now: () => performance.now(),
  };
}
