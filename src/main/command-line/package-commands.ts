/**
 * The commands on the files of a package: `test`, `check` and `format`. They need no service.
 *
 * Exit codes: 0; 1 if a test fails, a file has an error or, with `--check`, would change; 2 if the package cannot be read.
 */
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { formatKnowledgeText } from '../../engine/index.ts';
import { checkPackage, type PackageDiagnostic } from '../packages/check-package.ts';
import { PackageFailure } from '../packages/package-failure.ts';
import { type KnowledgePackage, readPackage } from '../packages/read-package.ts';
import { notWritten, replaced } from '../packages/replace-file.ts';
import { type PackageTestRun, RefusedItem, testPackage } from '../packages/test-package.ts';
import { watchPackage } from '../packages/watch-package.ts';
import { type PackageCommand, type ParsedCommand, UsageError } from './arguments.ts';
import { junitXml } from './junit.ts';
import { coverageLines, testLines, visible } from './test-report.ts';
import type { Terminal } from './transfer.ts';

/** What the commands need of the process. */
interface PackageContext {
  readonly terminal: Pick<Terminal, 'print' | 'complain'>;
  /** Ends `--watch`, and a run. */
  readonly signal: AbortSignal;
}

type Run = (folder: string, command: ParsedCommand, context: PackageContext) => Promise<number>;

const runs: Readonly<Record<PackageCommand, Run>> = { test, check, format };

/** Runs one command and returns the exit code of the process. */
export async function runPackageCommand(
  name: PackageCommand,
  command: ParsedCommand,
  context: PackageContext,
): Promise<number> {
  const [folder = '.', ...more] = command.words;
  if (more.length > 0) throw new UsageError(`${name} takes one folder`);
  if (command.scope !== null)
    throw new UsageError(`${name} has no --scope: corollary.toml names that of a package`);
  try {
    return await runs[name](folder, command, context);
  } catch (error) {
    if (!(error instanceof PackageFailure)) throw error;
    context.terminal.complain(error.message);
    return 2;
  }
}

async function test(folder: string, command: ParsedCommand, context: PackageContext): Promise<number> {
  const { signal, terminal } = context;
  if (!command.watch) return testOnce(folder, command, context);
  let status = 0;
  await watchPackage(folder, signal, async () => {
    try {
      status = await testOnce(folder, command, context);
    } catch (error) {
      if (!(error instanceof PackageFailure)) throw error;
      terminal.complain(error.message);
      status = 2;
    }
    if (!command.json) terminal.print('Waiting for changes. Ctrl+C ends it.');
  });
  return status;
}

async function testOnce(
  folder: string,
  command: ParsedCommand,
  { terminal, signal }: PackageContext,
): Promise<number> {
  const knowledge = await readPackage(folder);
  const errors = checkPackage(knowledge).filter(({ severity }) => severity === 'error');
  if (errors.length > 0) return reportErrors(errors, command, terminal);
  let run: PackageTestRun;
  try {
    run = await testPackage(knowledge, { coverage: command.coverage, signal });
  } catch (error) {
    if (!(error instanceof RefusedItem)) throw error;
    const { path, line: startLine, column: startColumn, message } = error;
    return reportErrors([{ path, startLine, startColumn, message }], command, terminal);
  }
  if (command.junit !== null) await written(command.junit, junitXml(run));
  if (command.json) terminal.print(JSON.stringify(run, null, 2));
  else {
    for (const line of testLines(run)) terminal.print(line);
    if (run.coverage !== null) for (const line of coverageLines(run.coverage)) terminal.print(line);
  }
  return run.failed > 0 ? 1 : 0;
}

type PlacedError = Pick<PackageDiagnostic, 'path' | 'startLine' | 'startColumn' | 'message'>;

function reportErrors(
  errors: readonly PlacedError[],
  command: ParsedCommand,
  { print }: PackageContext['terminal'],
): 1 {
  if (command.json)
    print(
      JSON.stringify(
        {
          errors: errors.map(({ path, startLine: line, startColumn: column, message }) => ({
            path,
            line,
            column,
            message,
          })),
        },
        null,
        2,
      ),
    );
  else {
    for (const each of errors) print(visible(`${placeOf(each)}: error: ${each.message}`));
    print('No test was run.');
  }
  return 1;
}

function placeOf({ path, startLine, startColumn }: PlacedError): string {
  return `${path}:${startLine}:${startColumn}`;
}

async function check(folder: string, command: ParsedCommand, { terminal }: PackageContext): Promise<number> {
  const knowledge = await readPackage(folder);
  const diagnostics = checkPackage(knowledge);
  const count = (severity: string): number => diagnostics.filter((each) => each.severity === severity).length;
  const [errors, warnings] = [count('error'), count('warning')];
  if (command.json)
    terminal.print(JSON.stringify({ name: knowledge.name, errors, warnings, diagnostics }, null, 2));
  else {
    for (const each of diagnostics)
      terminal.print(visible(`${placeOf(each)}: ${each.severity}: ${each.message}`));
    const files = counted(knowledge.files.length, 'file');
    terminal.print(`${files}: ${counted(errors, 'error')}, ${counted(warnings, 'warning')}`);
  }
  return errors > 0 ? 1 : 0;
}

function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

async function format(folder: string, command: ParsedCommand, { terminal }: PackageContext): Promise<number> {
  const knowledge = await readPackage(folder);
  const changed: string[] = [];
  for (const { path, laidOut } of laidOutFiles(knowledge)) {
    changed.push(path);
    if (!command.check) await replaced(join(resolve(folder), path), laidOut);
    if (!command.json) terminal.print(visible(path));
  }
  if (command.json) terminal.print(JSON.stringify({ name: knowledge.name, changed }, null, 2));
  return command.check && changed.length > 0 ? 1 : 0;
}

/** The files that formatting changes. One that is not UTF-8 stays as it is: its end is unknown. */
function laidOutFiles({ files }: KnowledgePackage): { path: string; laidOut: string }[] {
  return files.flatMap(({ path, text, hasByteOrderMark, isUtf8 }) => {
    const laidOut = isUtf8 ? formatKnowledgeText(text) : text;
    return laidOut === text && !(isUtf8 && hasByteOrderMark) ? [] : [{ path, laidOut }];
  });
}

async function written(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (error) {
    throw notWritten(file, error);
  }
}
