import type { Prepared } from './apply-slices.ts';
import type { ForkScope, MergeScopes, Operation } from './operation.ts';
import type { Draft } from './report.ts';
import type { DatabaseState } from './state.ts';
import type { LogRecord } from './storage/codec.ts';

/** What operations on whole scopes do. */

export function* forkScope(
  _database: DatabaseState,
  _operation: ForkScope,
  _record: LogRecord,
  _draft: Draft,
): Prepared<void> {
  yield 'more';
  throw new Error('to be written');
}

export function* mergeScopes(
  _database: DatabaseState,
  _operation: MergeScopes,
  _record: LogRecord,
  _draft: Draft,
): Prepared<void> {
  yield 'more';
  throw new Error('to be written');
}

export function* deleteScope(
  _database: DatabaseState,
  _operation: Extract<Operation, { kind: 'deleteScope' }>,
  _record: LogRecord,
  _draft: Draft,
): Prepared<void> {
  yield 'more';
  throw new Error('to be written');
}
