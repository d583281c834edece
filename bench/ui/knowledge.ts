/**
 * The knowledge for measuring the workbench: a service of its own, with many facts in one tenant and a long proof in
 * another.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Server, startServer } from '../http/server.ts';

/** The tenant with the facts, and that of the proof. */
export const manyTenant = 'default';
export const proofTenant = 'proof';
/** The tenant of the facts that rules are written about; rules themselves belong to all tenants. */
export const rulesTenant = 'rules';

const here = dirname(fileURLToPath(import.meta.url));
const batch = 50_000;

/** The built service with its files in `folder`; it serves the built workbench. */
export function startWorkbench(folder: string): Promise<Server> {
  const program = join(here, '..', 'main', 'headless.js');
  if (!existsSync(program)) throw new Error('the service is not built: npm run build');
  const environment = {
    HOST: '127.0.0.1',
    PORT: '0',
    STORAGE_DIR: join(folder, 'data'),
    COROLLARY_ENDPOINT_FILE: join(folder, 'endpoint.json'),
    LOG_LEVEL: 'ERROR',
  };
  return startServer(
    { name: 'workbench', command: process.execPath, args: [program, 'serve'], environment },
    folder,
  );
}

async function post(server: Server, tenant: string, path: string, body: unknown): Promise<void> {
  const response = await fetch(`${server.address}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-tenant-id': tenant },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text.slice(0, 500)}`);
}

/** This many facts of one predicate, two arguments each. */
export async function storeMany(server: Server, facts: number): Promise<void> {
  for (let from = 0; from < facts; from += batch) {
    const count = Math.min(batch, facts - from);
    await post(server, manyTenant, '/assert/facts', {
      facts: Array.from({ length: count }, (_, at) => ({
        predicate: 'measured',
        args: [`sensor${(from + at) % 997}`, `value${from + at}`],
      })),
    });
  }
}

/**
 * A chain, and a rule over it. The proof that its ends are connected has a step for each link and for each conclusion,
 * about `steps` in all. Returns the question.
 */
export async function storeChain(server: Server, steps: number): Promise<string> {
  const links = Math.ceil(steps / 2);
  const facts = Array.from({ length: links }, (_, at) => ({
    predicate: 'link',
    args: [`n${at}`, `n${at + 1}`],
  }));
  await post(server, proofTenant, '/assert/facts', { facts });
  for (const text of [
    'connected(?x, ?y) :- link(?x, ?y)',
    'connected(?x, ?z) :- link(?x, ?y), connected(?y, ?z)',
  ])
    await post(server, proofTenant, '/teach', { text });
  return `connected(n0, n${links})`;
}

/** This many rules over a few stored relations, a line each; `name` is the prefix of their conclusions. */
export function writtenRules(name: string, count: number): string {
  return Array.from(
    { length: count },
    (_, at) =>
      `${name}${at}(?x, ?z) :- ${name}${Math.max(0, at - 1)}(?x, ?y), edge${at % 97}(?y, ?z), not blocked(?x).\n`,
  ).join('');
}

/** The relations of such rules, and this many of the rules, taught. */
export async function storeRules(server: Server, count: number): Promise<void> {
  const edges = Array.from({ length: 97 }, (_, at) => ({ predicate: `edge${at}`, args: ['a', 'b'] }));
  await post(server, rulesTenant, '/assert/facts', {
    facts: [...edges, { predicate: 'blocked', args: ['nobody'] }],
  });
  for (const line of writtenRules('taught', count).trimEnd().split('\n'))
    await post(server, rulesTenant, '/teach', { text: line.slice(0, -1) });
}
