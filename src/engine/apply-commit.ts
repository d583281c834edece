import type { Prepared } from './apply-slices.ts';
import type { Commit } from './operation.ts';
import type { Draft } from './report.ts';
import type { DatabaseState } from './state.ts';
import type { LogRecord } from './storage/codec.ts';

/** All that a transaction wrote, in one generation: seen by everybody or by nobody. */
export function* applyCommit(
  _database: DatabaseState,
  _operation: Commit,
  _record: LogRecord,
  _draft: Draft,
): Prepared<void> {
  yield 'more';
  throw new Error('to be written');
}
