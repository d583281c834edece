/**
 * Transfers files from and to a running service as streams: neither side holds more than a piece of them.
 *
 * For each failed line it prints file and line on standard error, and the exit code is 1. An output file gets its name
 * only when it is complete.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { extname } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Problem } from '../../engine/contract/problems.ts';
import {
  type ExportFormat,
  exportFormats,
  type ImportDone,
  type ImportProgress,
  type ImportType,
} from '../../engine/contract/transfer.ts';
import { type ParsedCommand, UsageError } from './arguments.ts';
import { brokenOff, type Client, RefusedCall, Unreachable } from './client.ts';

type FormatName = ExportFormat | 'tsv' | 'turtle';

const typeOf: Readonly<Record<FormatName, ImportType>> = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  datalog: 'text/x-datalog',
  turtle: 'text/turtle',
  ntriples: 'application/n-triples',
};

const formatOf: Readonly<Record<string, FormatName>> = {
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.csv': 'csv',
  '.tsv': 'tsv',
  '.tab': 'tsv',
  '.dl': 'datalog',
  '.datalog': 'datalog',
  '.ttl': 'turtle',
  '.nt': 'ntriples',
};

/** Imports a file, or standard input. Returns the exit code: 1 if lines failed. */
export async function importFile(
  client: Client,
  command: ParsedCommand,
  terminal: Terminal,
): Promise<number> {
  const [file, ...more] = command.words;
  if (file === undefined || more.length > 0)
    throw new UsageError('import needs one file, or - to read it from standard input');
  const names = Object.keys(typeOf) as FormatName[];
  const format = chosen(names, command.format, file === '-' ? null : file);
  if (format === null) throw new UsageError(`name the format with --format: ${names.join(', ')}`);
  const { scope, predicate, dryRun } = command;
  const query = queryOf({ scope, predicate, dryRun: dryRun ? 'true' : null });
  const chunks = file === '-' ? terminal.input : await opened(file);
  const answer = await client.open(`/import${query}`, { type: typeOf[format], chunks });
  const done = await lastLine(answer, terminal);
  for (const { line, message } of done.errors) terminal.complain(`${file}:${line}: ${message}`);
  const unlisted = done.failed - done.errors.length;
  if (unlisted > 0) terminal.complain(`${unlisted} more lines failed.`);
  terminal.print(command.json ? JSON.stringify(done, null, 2) : summaryOf(done));
  return done.failed > 0 ? 1 : 0;
}

/** Exports the knowledge into a file, or to standard output. */
export async function exportFile(
  client: Client,
  command: ParsedCommand,
  terminal: Terminal,
): Promise<number> {
  const { scope, predicate, escape, output, words } = command;
  if (words.length > 0) throw new UsageError('export takes no arguments: --output names the file');
  const format = chosen(exportFormats, command.format, output) ?? 'ndjson';
  if (escape !== null && format !== 'csv') throw new UsageError('--escape is for the format csv');
  const answer = await client.open(`/export${queryOf({ format, scope, predicate, escape })}`);
  if (output === null) await poured(answer, terminal.output, terminal);
  else await written(answer, output, terminal);
  terminal.progress(null);
  const omitted = Number(answer.trailers['x-omitted'] ?? 0);
  if (omitted > 0)
    terminal.complain(`${omitted} facts and rules are left out: ${format} cannot represent them.`);
  return 0;
}

/** The format by its name, else by the name of the file; null if neither says it. */
function chosen<Name extends FormatName>(
  names: readonly Name[],
  given: string | null,
  file: string | null,
): Name | null {
  const wanted = given ?? formatOf[extname(file ?? '').toLowerCase()] ?? null;
  const found = names.find((name) => name === wanted);
  if (found === undefined && given !== null)
    throw new UsageError(`--format: there is no format ${given} here; there are ${names.join(', ')}`);
  return found ?? null;
}

function queryOf(fields: Readonly<Record<string, string | null>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value !== null) query.set(name, value);
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

async function opened(file: string): Promise<Readable> {
  const stream = createReadStream(file);
  await new Promise<void>((resolve, reject) => {
    stream.once('open', () => resolve());
    stream.once('error', (error) => {
      reject(new UsageError(`${file} cannot be read: ${error.message}`, { cause: error }));
    });
  });
  return stream;
}

/** The last line of an import; shows the lines before it as progress. */
async function lastLine(answer: IncomingMessage, terminal: Terminal): Promise<ImportDone> {
  type Told = ImportProgress | ImportDone | { readonly error: Problem };
  let done: ImportDone | null = null;
  try {
    for await (const line of linesOf(answer)) {
      const told = JSON.parse(line) as Told;
      if ('error' in told) throw new RefusedCall(told.error);
      if ('done' in told) done = told;
      else terminal.progress(`${told.processed} read, ${told.asserted} new, ${told.failed} failed`);
    }
  } catch (error) {
    throw error instanceof RefusedCall ? error : brokenOff(error);
  } finally {
    terminal.progress(null);
  }
  if (done === null) throw new Unreachable('the connection broke before the import had ended');
  return done;
}

async function* linesOf(answer: IncomingMessage): AsyncGenerator<string> {
  let rest = '';
  answer.setEncoding('utf8');
  for await (const chunk of answer as AsyncIterable<string>) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}

function summaryOf({ id, asserted, updated, unchanged, rules, failed, dryRun }: ImportDone): string {
  const taught = rules === 1 ? '1 rule' : `${rules} rules`;
  const counts = `${asserted} asserted, ${updated} updated, ${unchanged} unchanged, ${taught}, ${failed} failed`;
  return dryRun === true ? `${counts}; nothing was stored` : `${counts}; import ${id}`;
}

async function written(answer: IncomingMessage, file: string, terminal: Terminal): Promise<void> {
  const part = `${file}.part`;
  const stream = createWriteStream(part);
  try {
    await poured(answer, stream, terminal);
    stream.end();
    await finished(stream);
    await rename(part, file);
  } catch (error) {
    stream.destroy();
    await rm(part, { force: true });
    if (error instanceof Unreachable) throw error;
    throw new UsageError(`${file} cannot be written: ${String(error)}`, { cause: error });
  }
}

const mebibyte = 1024 * 1024;

/** Writes the answer as fast as `into` accepts it; leaves the stream open. */
async function poured(answer: IncomingMessage, into: Writable, terminal: Terminal): Promise<void> {
  let bytes = 0;
  let told = 0;
  let failed: Error | null = null;
  into.once('error', (error) => {
    failed = error;
    answer.destroy();
  });
  try {
    for await (const chunk of answer as AsyncIterable<Uint8Array>) {
      if (!into.write(chunk)) await drained(into);
      bytes += chunk.length;
      if (bytes - told < mebibyte) continue;
      told = bytes;
      terminal.progress(`${Math.round(bytes / mebibyte)} MiB`);
    }
  } catch (error) {
    throw failed ?? brokenOff(error);
  }
  if (failed !== null) throw failed;
}

function drained(into: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      into.off('drain', done).off('error', done).off('close', done);
      resolve();
    };
    into.on('drain', done).on('error', done).on('close', done);
  });
}

/** The inputs and outputs of a command: lines for people, and streams of any length. */
export interface Terminal {
  print(line: string): void;
  complain(line: string): void;
  /** Shows the progress in place of the previous line; null: removes it. */
  progress(line: string | null): void;
  /** Standard input. */
  readonly input: Readable;
  /** Standard output, for anything that is not a line. */
  readonly output: Writable;
}
