/**
 * The service's own test of its bridge: starts it as a client does, performs the handshake, lists the tools and ends
 * it.
 *
 * The started process has always ended when the answer is sent, and the number of concurrent tests is limited. A
 * failure is an answer in words, not a failed call.
 */
import { basename } from 'node:path';
import type { AgentSetup, BridgeTested, TestBridgeInput } from '../../engine/contract/agents.ts';
import { type Caller, EngineError, signalOf } from '../../engine/index.ts';
import { readEndpoint } from '../base/endpoint-file.ts';

export interface BridgeTestParts {
  /** How a client starts the bridge; null: it is not built. */
  readonly bridge: () => AgentSetup['bridge'];
  /** Address of the service under test. */
  readonly address: () => string;
  /** Where the bridge looks for the service; null: it is given the address. */
  readonly endpointFile: string | null;
  readonly version: string;
}

const maxAtOnce = 4;
const limitMs = 15_000;

/**
 * Creates a function that tests the bridge, with its own limit. It refuses with RateLimited if too many tests are
 * running.
 */
export function createBridgeTest(
  parts: BridgeTestParts,
): (caller: Caller, input: TestBridgeInput) => Promise<BridgeTested> {
  let underWay = 0;
  return async (caller, input) => {
    if (underWay >= maxAtOnce)
      throw new EngineError('RateLimited', `${underWay} bridges are being tested: try again in 2 s`, {
        retryAfterSeconds: 2,
      });
    underWay++;
    try {
      return await test(parts, input, signalOf(caller));
    } finally {
      underWay--;
    }
  };
}

async function test(
  parts: BridgeTestParts,
  input: TestBridgeInput,
  gone: AbortSignal,
): Promise<BridgeTested> {
  const startedAt = performance.now();
  const failed = (detail: string): BridgeTested => ({
    isConnected: false,
    server: null,
    revision: null,
    tools: 0,
    elapsedMs: performance.now() - startedAt,
    detail,
  });
  const bridge = parts.bridge();
  if (bridge === null) return failed('the bridge is not built: run npm run build');
  const elsewhere = await whereElse(parts);
  if (elsewhere !== null) return failed(elsewhere);
  const { Client } = await import('@modelcontextprotocol/client');
  const { ChildTransport } = await import('./child-transport.ts');
  const transport = new ChildTransport(startOf(parts, bridge, input));
  const client = new Client({ name: 'corollary-test', version: parts.version });
  const signal = AbortSignal.any([gone, AbortSignal.timeout(limitMs)]);
  try {
    await client.connect(transport, { signal, timeout: limitMs });
    const { tools } = await client.listTools({}, { signal, timeout: limitMs });
    const { name, version } = client.getServerVersion() ?? { name: '', version: '' };
    return {
      isConnected: true,
      server: `${name} ${version}`,
      revision: client.getNegotiatedProtocolVersion() ?? null,
      tools: tools.length,
      elapsedMs: performance.now() - startedAt,
      detail: null,
    };
  } catch (error) {
    if (gone.aborted) throw error;
    const { said } = transport;
    if (signal.aborted) return failed(`no answer within ${limitMs / 1000} s. ${said}`.trim());
    return failed(wordsOf(error, bridge.command, said));
  } finally {
    await transport.close();
  }
}

/** Why a bridge that looks for a service would not find this one; null if it would. */
async function whereElse({ endpointFile }: BridgeTestParts): Promise<string | null> {
  if (endpointFile === null) return null;
  const endpoint = await readEndpoint(endpointFile).catch(() => null);
  if (endpoint?.pid === process.pid) return null;
  return endpoint === null
    ? `the endpoint file ${basename(endpointFile)} is gone, so no bridge can find this service: restart it`
    : `the endpoint file names another service, at ${endpoint.url}, which a bridge would find instead`;
}

function startOf(
  { address, endpointFile }: BridgeTestParts,
  { command, args }: NonNullable<AgentSetup['bridge']>,
  { database, tenant, key }: TestBridgeInput,
) {
  const place = [`--database=${database}`, `--tenant=${tenant}`];
  const how = endpointFile === null ? [`--url=${address()}`] : [];
  return {
    command,
    // It must find this service and start no other.
    args: [...args, ...place, ...how, '--no-start', '--wait=5'],
    env: {
      ...inherited(),
      ...(endpointFile === null ? {} : { COROLLARY_ENDPOINT_FILE: endpointFile }),
      ...(key === null ? {} : { COROLLARY_API_KEY: key }),
    },
  };
}

/** The variables that any program needs to run, without those set for the service. */
function inherited(): Record<string, string> {
  const names = [
    'PATH',
    'HOME',
    'USERPROFILE',
    'SYSTEMROOT',
    'TEMP',
    'TMPDIR',
    'LOCALAPPDATA',
    'NODE_EXTRA_CA_CERTS',
  ];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function wordsOf(error: unknown, command: string, said: string): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return `${command} could not be started: is Node 20.19 or newer installed?`;
  return said === '' || said.includes(message) ? message : `${message} (${said})`;
}
