/**
 * Loaded into a server before its own program: on a signal it collects all garbage and writes to a file how many bytes
 * are then in use, so that memory can be compared.
 */
import { renameSync, writeFileSync } from 'node:fs';

const file = process.env['BENCH_MEMORY_FILE'];

process.on('SIGUSR2', () => {
  if (file === undefined) throw new Error('BENCH_MEMORY_FILE names the file');
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  // Written atomically for the process that waits for it.
  writeFileSync(`${file}.part`, String(heapUsed + external));
  renameSync(`${file}.part`, file);
});
