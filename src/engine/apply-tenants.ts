import type { Draft } from './report.ts';
import type { DatabaseState, State } from './state.ts';
import type { LogRecord } from './storage/codec.ts';

/** What operations on whole databases and tenants do. */

export function createTenant(_database: DatabaseState, _tenant: string, _record: LogRecord): void {
  throw new Error('to be written');
}

export function deleteTenant(
  _database: DatabaseState,
  _tenant: string,
  _record: LogRecord,
  _draft: Draft,
): void {
  throw new Error('to be written');
}

export function nukeTenant(
  _database: DatabaseState,
  _tenant: string,
  _record: LogRecord,
  _draft: Draft,
): void {
  throw new Error('to be written');
}

export function deleteDatabase(
  _state: State,
  _database: DatabaseState,
  _record: LogRecord,
  _draft: Draft,
): void {
  throw new Error('to be written');
}

export function nukeDatabase(_database: DatabaseState, _record: LogRecord, _draft: Draft): void {
  throw new Error('to be written');
}
