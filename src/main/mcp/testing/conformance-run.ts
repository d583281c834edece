/**
 * Runs the official conformance suite against an address, as its authors' own command line does, and reads its results.
 *
 * The command line cannot send a key. So it uses a gateway that adds one, as a reverse proxy would, and passes on
 * everything else unchanged: Host and Origin too, which the suite forges to test their checks.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** The suite's sets of requirements for servers, one for each revision. */
export const revisions = ['2025-11-25', '2026-07-28'] as const;
export type Revision = (typeof revisions)[number];

/** One check of a scenario. */
export interface Check {
  readonly scenario: string;
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly errorMessage?: string;
}

const require = createRequire(import.meta.url);
const packageFolder = dirname(require.resolve('@modelcontextprotocol/conformance/package.json'));

/** The time limit of one run, which takes a few seconds. */
const limitMs = 120_000;

/** Scenarios for servers that the revision requires, by the suite's frozen list. */
export function requiredScenarios(revision: Revision): string[] {
  const list = readFileSync(join(packageFolder, 'requirements', `${revision}.yaml`), 'utf8');
  const [, section = ''] = /^server:\n((?: {2}- .*\n)+)/m.exec(list) ?? [];
  return [...section.matchAll(/- (\S+)/g)].map(([, name = '']) => name);
}

/**
 * All checks of the scenarios that the revision requires, and of optional ones that the suite also runs. `node` is the
 * program that runs the suite.
 */
export async function runConformance(
  address: string,
  revision: Revision,
  node: string = process.execPath,
): Promise<Check[]> {
  const folder = mkdtempSync(join(tmpdir(), 'corollary-conformance-'));
  const program = join(packageFolder, 'dist/index.js');
  const options = ['--url', address, '--requirements', revision, '--output-dir', folder];
  try {
    const output = await runToEnd(node, [...needed(node), program, 'server', ...options]);
    const checks = readdirSync(folder).flatMap((name) => checksIn(folder, name));
    if (checks.length === 0) throw new Error(`the conformance suite checked nothing:\n${output}`);
    return checks;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The output of a program, whatever its exit code: failures are in the files it writes. */
function runToEnd(program: string, argumentList: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(program, argumentList, { timeout: limitMs, maxBuffer: 2 ** 26 }, (_error, stdout, stderr) =>
      resolve(`${stdout}${stderr}`),
    );
  });
}

/** A scenario's folder is named `server-<scenario>-<time>`. */
function checksIn(folder: string, name: string): Check[] {
  const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(name)?.[1];
  if (scenario === undefined) throw new Error(`an unknown folder of results: ${name}`);
  const checks = JSON.parse(readFileSync(join(folder, name, 'checks.json'), 'utf8')) as Omit<
    Check,
    'scenario'
  >[];
  return checks.map((check) => ({ ...check, scenario }));
}

/**
 * The suite imports one function that Node has since 22, for a command that is not run here. This Node may be older:
 * then it gets a stub that throws.
 */
function needed(node: string): string[] {
  if (node !== process.execPath || Number(process.versions.node.split('.')[0]) >= 22) return [];
  const wrapped = `export * from 'node:fs'; export { default } from 'node:fs';
    export function globSync() { throw new Error('this Node has no globSync'); }`;
  const hooks = `
    export const resolve = (specifier, context, next) =>
      specifier === 'fs' && context.parentURL?.includes('/conformance/')
        ? { url: 'wrapped:fs', shortCircuit: true }
        : next(specifier, context);
    export const load = (url, context, next) =>
      url === 'wrapped:fs'
        ? { format: 'module', shortCircuit: true, source: ${JSON.stringify(wrapped)} }
        : next(url, context);`;
  const start = `import { register } from 'node:module'; register(${JSON.stringify(moduleUrl(hooks))});`;
  return ['--import', moduleUrl(start)];
}

function moduleUrl(source: string): string {
  return `data:text/javascript,${encodeURIComponent(source)}`;
}

export interface Gateway {
  readonly address: string;
  close(): Promise<void>;
}

/** Forwards requests to the service at `port` of this machine, with these headers beside their own. */
export async function openGateway(port: number, headers: Readonly<Record<string, string>>): Promise<Gateway> {
  const gateway = createServer((received, reply) => {
    const { method, url: path, headers: own } = received;
    const passed = request(
      { port, host: '127.0.0.1', method, path, headers: { ...own, ...headers } },
      (answer) => {
        reply.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(reply);
      },
    );
    // If either side closes, so does the other.
    passed.on('error', () => reply.destroy());
    reply.on('close', () => passed.destroy());
    received.pipe(passed);
  });
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
  return {
    address: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        gateway.close(() => resolve());
        gateway.closeAllConnections();
      }),
  };
}
