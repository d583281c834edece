/**
 * A process that writes the log of a folder (argument 1) with 16 writers until it is killed, and prints the sequence of
 * every acknowledged record.
 */
import { randomBytes } from 'node:crypto';
import { openFileBackend } from '../log/file-backend.ts';
import type { FsyncMode } from '../log/log.ts';
import { openLog } from '../log/open-log.ts';
import { nextRecords } from './log-fixtures.ts';

const [, , folder = '', fsync = 'always'] = process.argv;
const { log } = await openLog(await openFileBackend(folder), {
  fsync: fsync as FsyncMode,
  now: Date.now,
  random: (bytes) => randomBytes(bytes),
  onWarn: (message) => process.stderr.write(`${message}\n`),
  segmentBytes: 100_000,
});
const write = async (): Promise<void> => {
  for (;;) {
    const records = nextRecords(log, 3);
    await log.append(records);
    process.stdout.write(`${records.at(-1)?.sequence}\n`);
  }
};
await Promise.all(Array.from({ length: 16 }, write));
