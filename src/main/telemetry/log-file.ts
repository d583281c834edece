/** The log as a file that stays small: for a program without a terminal. */
import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Bytes of one file, and number of older files that are kept. */
const maxBytes = 5_000_000;
const keptFiles = 2;

/**
 * Appends lines to `path`. A file over 5 MB becomes `path.1`, and that one `path.2`; older lines are dropped.
 *
 * A file that cannot be written is reported once on standard error, where the same lines go anyway; the next line tries
 * again, since a disk may have room by then.
 */
export function logFileWriter(path: string): (lines: string) => void {
  let size = 0;
  let isReported = false;
  try {
    mkdirSync(dirname(path), { recursive: true });
    size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  } catch (error) {
    report(error);
  }
  function report(error: unknown): void {
    if (!isReported) process.stderr.write(`The log cannot be written to ${path}: ${String(error)}\n`);
    isReported = true;
  }
  return (lines) => {
    try {
      if (size > maxBytes) {
        for (let number = keptFiles; number > 0; number--)
          move(number === 1 ? path : `${path}.${number - 1}`, `${path}.${number}`);
        size = 0;
      }
      appendFileSync(path, lines, { mode: 0o600 });
      size += Buffer.byteLength(lines);
    } catch (error) {
      report(error);
    }
  };
}

function move(from: string, to: string): void {
  if (statSync(from, { throwIfNoEntry: false }) !== undefined) renameSync(from, to);
}
