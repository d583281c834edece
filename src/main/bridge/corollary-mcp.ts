#!/usr/bin/env node
/**
 * `corollary-mcp`: Corollary for MCP clients that start a program. Built into a single file that needs only Node.
 *
 * Standard output belongs to the protocol; messages for people go to standard error, in short lines.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { version } from '../../../package.json';
import { bridgeHelpText, readBridgeArguments, WrongUse } from './arguments.ts';
import { runBridge } from './run-bridge.ts';

/** Returns the exit code. */
async function main(): Promise<number> {
  const given = readBridgeArguments(process.argv.slice(2), process.env);
  if (given.action !== 'run') {
    process.stdout.write(given.action === 'help' ? bridgeHelpText : `${version}\n`);
    return 0;
  }
  const told = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => told.abort());
  await runBridge(given, {
    input: process.stdin,
    output: process.stdout,
    environment: process.env,
    program: serviceBeside(fileURLToPath(import.meta.url)),
    say: (line) => process.stderr.write(`corollary-mcp: ${line}\n`),
    told: told.signal,
  });
  // A bridge whose client has gone must end, whatever is still pending.
  return process.exit(0);
}

/** In an installation the service lies beside the bridge; in a bundle it does not. */
function serviceBeside(program: string): string | null {
  const service = join(dirname(program), '..', 'main', 'headless.js');
  return existsSync(service) ? service : null;
}

// The reader of standard error may be gone.
process.stderr.on('error', () => {});
process.exitCode = await main().catch((error: unknown) => {
  const isWrongUse = error instanceof WrongUse;
  const words =
    error instanceof Error ? (isWrongUse ? error.message : (error.stack ?? error.message)) : String(error);
  process.stderr.write(`corollary-mcp: ${words}\n${isWrongUse ? 'Try corollary-mcp --help.\n' : ''}`);
  return isWrongUse ? 2 : 1;
});
