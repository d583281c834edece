/** Shared fixtures of log tests: records, reproducible options, and reading everything. */
import { Prng } from './prng.ts';
import type { LogRecord } from '../log/codec.ts';
import type { Log, LogOptions } from '../log/log.ts';
import type { SnapshotPart } from '../log/snapshot-writer.ts';

export interface TestLogOptions extends LogOptions {
  /** The log's warnings, in order. */
  readonly warnings: string[];
}

/** Options with a stopped clock, salts from a seed, and recorded warnings. */
export function logOptions(changes: Partial<LogOptions> = {}, seed = 1): TestLogOptions {
  const prng = new Prng(seed);
  const warnings: string[] = [];
  return {
    fsync: 'always',
    now: () => 1_700_000_000_000,
    random: (bytes) => Uint8Array.from({ length: bytes }, () => prng.below(256)),
    onWarn: (message) => void warnings.push(message),
    warnings,
    ...changes,
  };
}

export function logRecord(
  sequence: number,
  operation: unknown = { note: `operation ${sequence}` },
): LogRecord {
  return {
    sequence,
    time: 1_700_000_000_000 + sequence,
    requestId: `request-${sequence}`,
    actor: null,
    database: 'default',
    generation: sequence,
    version: 1,
    operation,
  };
}

/** This many records from the log's next sequence on. */
export function nextRecords(log: Log, count: number): LogRecord[] {
  return Array.from({ length: count }, (_, index) => logRecord(log.nextSequence + index));
}

export async function allRecords(log: Log, after = 0): Promise<LogRecord[]> {
  const records: LogRecord[] = [];
  for await (const record of log.read(after)) records.push(record);
  return records;
}

export function sequences(records: readonly LogRecord[]): number[] {
  return records.map((record) => record.sequence);
}

/** 1 to `last`. */
export function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}

/** The only part of a snapshot of the records 1 to `last`: their sequences as JSON. */
export async function* sequencesPart(last: number): AsyncGenerator<SnapshotPart> {
  yield { section: 'state', bytes: new TextEncoder().encode(JSON.stringify(upTo(last))) };
}

/** The sequences in the snapshot of `sequencesPart` (none: no snapshot), and the records after it. */
export async function covered(log: Log): Promise<{ before: number[]; records: LogRecord[] }> {
  const snapshot = log.snapshot();
  if (snapshot === null) return { before: [], records: await allRecords(log) };
  const bytes: number[] = [];
  for await (const piece of log.readSnapshot('state')) bytes.push(...piece);
  const before = JSON.parse(new TextDecoder().decode(Uint8Array.from(bytes))) as number[];
  return { before, records: await allRecords(log, snapshot.sequence) };
}
