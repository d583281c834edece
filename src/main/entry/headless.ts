#!/usr/bin/env node
/**
 * The program without a window: `serve`, the commands that talk to a running service, and those on files of knowledge.
 *
 * `serve` runs in the foreground and ends cleanly on SIGTERM and SIGINT. If it cannot start, it prints the reason in
 * plain lines, never a stack, with its own exit code. Imports nothing of Electron.
 */
import {
  commandHelpText,
  type FolderCommand,
  helpText,
  isCommandName,
  isFolderCommand,
  type PackageCommand,
  type PackageServiceCommand,
  parseArguments,
  type ParsedCommand,
  UsageError,
} from '../command-line/arguments.ts';
import { asksNode } from '../command-line/nodes.ts';
import { clientCommandOf, runCommand } from '../command-line/run.ts';
import {
  type Config,
  describeVariables,
  type Environment,
  endpointFileOf,
  parseConfig,
  storagePlaceOf,
} from '../base/config.ts';
import { findInstallation } from '../base/installation.ts';
import type { Service } from '../service/service.ts';
import { recordStart } from '../base/start-record.ts';
import { StartRefusal } from '../base/start-refusal.ts';
import { commandLineFolder } from '../base/storage-folder.ts';
import { createLogger, type Logger, standardErrorWriter } from '../telemetry/logger.ts';

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function complain(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Shown only on a terminal: stored output must not repeat lines. */
function progress(line: string | null): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${line ?? ''}`);
}

/** Returns the exit code. */
async function main(): Promise<number> {
  const command = parseArguments(process.argv.slice(2));
  switch (command.name) {
    case 'help':
      print(help(command.words));
      return 0;
    case 'version':
      print(findInstallation().version);
      return 0;
    case 'serve':
      // A service that has ended must exit, whatever is still pending.
      return process.exit(await serve());
    case 'lsp':
      return serveEditor();
    case 'store':
      return asksNode(command.words) ? talk(command) : moveStore(command);
    case 'test':
    case 'check':
    case 'format':
      return workOnPackage(command.name, command);
    case 'diff':
    case 'apply':
    case 'pull':
      return workWithService(command.name, command);
    default:
      return isFolderCommand(command.name) ? workOnFolder(command.name, command.words) : talk(command);
  }
}

/** The editor ends it. */
async function serveEditor(): Promise<never> {
  const { serveLanguage } = await import('../language-server/language-server.ts');
  serveLanguage(process.stdin, process.stdout, findInstallation().version);
  return new Promise(() => {});
}

function help([about]: readonly string[]): string {
  if (about !== undefined && isCommandName(about)) return commandHelpText(about);
  return helpText(findInstallation().version, describeVariables());
}

function talk(command: ParsedCommand): Promise<number> {
  return runCommand(clientCommandOf(command), command, {
    terminal: { print, complain, progress, input: process.stdin, output: process.stdout },
    endpointFile: endpointFileOf(process.env),
    apiKey: process.env['API_KEY'] || null,
  });
}

/** The environment, from which keys of the storage are removed: Node's crash reports show it. */
function takeEnvironment(): Environment {
  const environment = { ...process.env };
  for (const name of ['ENCRYPTION_KEY', 'NEW_ENCRYPTION_KEY', 'STORE_URL']) delete process.env[name];
  return environment;
}

/** Ends with the first signal: `--watch` cleanly, a run at once. */
async function workOnPackage(name: PackageCommand, command: ParsedCommand): Promise<number> {
  const { runPackageCommand } = await import('../command-line/package-commands.ts');
  const ending = new AbortController();
  if (command.watch) void nextSignal().then(() => ending.abort());
  return runPackageCommand(name, command, { terminal: { print, complain }, signal: ending.signal });
}

async function workWithService(name: PackageServiceCommand, command: ParsedCommand): Promise<number> {
  const { runPackageServiceCommand } = await import('../command-line/package-service.ts');
  return runPackageServiceCommand(name, command, {
    terminal: { print, complain },
    endpointFile: endpointFileOf(process.env),
    apiKey: process.env['API_KEY'] || null,
  });
}

async function workOnFolder(name: FolderCommand, [file = '']: readonly string[]): Promise<number> {
  const config = configOf(takeEnvironment());
  const log = loggerFor(config);
  const { runFolderCommand } = await import('../command-line/folder-commands.ts');
  const onWarn = (message: string): void => log.warn(message);
  const { lines, exitCode } = await runFolderCommand(name, config, file, onWarn);
  for (const line of lines) print(line);
  return exitCode;
}

async function moveStore(command: ParsedCommand): Promise<number> {
  const config = configOf(takeEnvironment());
  const log = loggerFor(config);
  const { runStoreCommand } = await import('../command-line/store-commands.ts');
  for (const line of await runStoreCommand(command, config, (message) => log.warn(message))) print(line);
  return 0;
}

function configOf(environment: Environment): Config {
  return parseConfig(environment, { storageDir: commandLineFolder(environment) });
}

let isServing = false;

/** Runs the service until it is told to end; returns the exit code. */
async function serve(): Promise<number> {
  isServing = true;
  const environment = takeEnvironment();
  const config = configOf(environment);
  const log = loggerFor(config);
  const told = nextSignal();
  const { startService, defaultQuietMs } = await import('../service/service.ts');
  const service = await Promise.race([
    startService(config, { log, ...(config.warmUp ? { warmUpAfterMs: defaultQuietMs } : {}) }),
    told.then(() => null),
  ]);
  // Told to end while starting: nothing has been answered, so there is nothing to finish.
  if (service === null) return 0;
  await keepStart(config, environment, service, log);
  print(`Workbench: ${service.address}/`);
  print(`Data: ${storagePlaceOf(config) ?? ''}`);
  const { address, secureAddress } = service;
  if (secureAddress !== null) print(`HTTPS: ${secureAddress}/`);
  log.info(
    { address, ...(secureAddress === null ? {} : { secureAddress }), version: findInstallation().version },
    config.replicationMode === 'FOLLOWER' ? 'listening; ready when the leader was caught up with' : 'ready',
  );
  const signal = await told;
  log.info({ signal }, 'shutting down');
  await stop(service, log);
  log.info('stopped');
  return 0;
}

/** For `corollary-mcp`, which starts the service again on demand. */
async function keepStart(
  config: Config,
  environment: Environment,
  { port }: Service,
  log: Logger,
): Promise<void> {
  try {
    await recordStart(config, environment, port);
  } catch (error) {
    log.warn(
      { err: error },
      'how to start the service again could not be recorded: corollary-mcp cannot start it',
    );
  }
}

async function stop(service: Service, log: Logger): Promise<void> {
  // A second signal means now: what was answered is durable, so nothing is lost.
  void nextSignal().then((signal) => {
    log.warn({ signal }, 'told again: ending at once');
    process.exit(1);
  });
  await service.close();
  // An ordinary exit would wait for the thread that waits for the disk.
  if (service.isDiskStuck) process.kill(process.pid, 'SIGKILL');
}

function loggerFor(config: Config): Logger {
  const format = config.logFormat ?? (process.stderr.isTTY ? 'plain' : 'json');
  return createLogger({ level: config.logLevel, format, write: standardErrorWriter() });
}

function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const take = (signal: NodeJS.Signals): void => {
      process.off('SIGINT', take).off('SIGTERM', take);
      resolve(signal);
    };
    process.on('SIGINT', take).on('SIGTERM', take);
  });
}

/** Reports what made `main` fail, and returns the exit code. */
function fail(error: unknown): number {
  if (error instanceof StartRefusal) {
    complain(isServing ? `Corollary cannot start.\n${error.message}` : error.message);
    return error.exitCode;
  }
  if (error instanceof UsageError) {
    complain(`${error.message}\nTry corollary --help.`);
    return 2;
  }
  complain(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return 1;
}

// A reader of the output may stop early, such as `head` or a closed terminal. A command then has nobody to write to,
// and ends; a running service goes on.
process.stdout.on('error', () => {
  if (!isServing) process.exit(0);
});
process.exitCode = await main().catch(fail);
