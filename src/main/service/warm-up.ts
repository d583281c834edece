/**
 * Warms up a service before its first questions. V8 runs code slowly until it has been called often, so the first
 * questions after a start cost a multiple of later ones. The most frequent requests are therefore made in advance, to a
 * second, silent service of the same build that is all in memory and is dropped afterwards.
 *
 * Nobody waits for it: each request is short, and none is made while the service itself is working or was a moment ago.
 * It leaves nothing behind but compiled code.
 */
import { type IncomingHttpHeaders, request, type Server } from 'node:http';
import { duplexPair } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';

/** Milliseconds between two requests, in which other work runs. */
const betweenMs = 1;
/** Milliseconds without a call before warming up begins: a user who has just started the service asks first. */
export const defaultQuietMs = 1000;
/** Milliseconds after which it is given up: a service that is busy all the time warms up by itself. */
const maxMs = 300_000;

/** What tells whether the service may be disturbed. */
interface Warming {
  /** Number of running calls, and of all calls so far. */
  readonly activity: { readonly running: number; readonly started: number };
  /** Aborts when the service ends. */
  readonly signal: AbortSignal;
  /** Milliseconds without a call before a request is made. */
  readonly quietMs: number;
}

/** A service that nobody else can reach. */
export interface Rehearsal {
  /** Does not listen, but accepts connections. */
  readonly server: Server;
  close(): Promise<void>;
}

/**
 * Resolves with true when done, with false if it was given up. Rejects if a request is not answered as expected: a bug.
 */
export async function warmUp(
  { activity, signal, quietMs }: Warming,
  open: () => Promise<Rehearsal>,
): Promise<boolean> {
  const until = performance.now() + maxMs;
  let started = -1;
  const mayGoOn = async (): Promise<boolean> => {
    await pause(betweenMs);
    while (!signal.aborted && performance.now() < until) {
      if (activity.running === 0 && activity.started === started) return true;
      ({ started } = activity);
      // Ends early with the service; the loop checks that next.
      await pause(quietMs, null, { signal }).catch(() => null);
    }
    return false;
  };
  if (!(await mayGoOn())) return false;
  const rehearsal = await open();
  try {
    let session: string | null = null;
    for (const { path, body } of warmUpRequests()) {
      if (!(await mayGoOn())) return false;
      const headers = session === null ? {} : { 'mcp-session-id': session };
      const answer = await postInMemory(rehearsal.server, path, headers, body);
      // A limit of time, on a machine that stood still.
      if (answer.status === 422) return false;
      if (answer.status >= 300) throw new Error(`warming up: ${path} was answered with ${answer.status}`);
      const { 'mcp-session-id': given } = answer.headers;
      if (typeof given === 'string') session = given;
    }
    return true;
  } finally {
    await rehearsal.close();
  }
}

/** The status and headers of an answer. */

interface MemoryAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Sends a request to a server of this process without a socket; both sides read and write as over the network. Resolves
 * with the end of the answer. Rejects if the server closes the connection instead.
 */
function postInMemory(
  server: Server,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: object,
): Promise<MemoryAnswer> {
  const sent = JSON.stringify(body);
  const [mine, theirs] = duplexPair();
  server.emit('connection', theirs);
  return new Promise((resolve, reject) => {
    const asked = request({
      method: 'POST',
      path,
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(sent),
        'x-tenant-id': 'default',
        ...headers,
      },
      createConnection: () => mine,
    });
    asked.on('error', reject).on('response', (answer) => {
      text(answer).then(() => {
        mine.destroy();
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers });
      }, reject);
    });
    asked.end(sent);
  });
}

/** A request that warms up the service. */

interface WarmUpRequest {
  readonly path: string;
  readonly body: object;
}

const rounds = 8;
const people = 24;

const rules = [
  'ancestor(?x, ?y) :- parent(?x, ?y)',
  'ancestor(?x, ?z) :- parent(?x, ?y), ancestor(?y, ?z)',
  'sibling(?x, ?y) :- parent(?z, ?x), parent(?z, ?y), ?x != ?y',
  'childless(?x) :- person(?x), not parent(?x, ?_)',
  'children(?x, ?n) :- person(?x), ?n = count { ?y : parent(?x, ?y) }',
];

/**
 * The requests: a small knowledge base with each kind of rule, told, asked, proved and retracted.
 *
 * Which requests, and how many, was measured: more take longer than they save.
 */
export function* warmUpRequests(): Generator<WarmUpRequest> {
  yield { path: '/assert/facts', body: { facts: family() } };
  for (const text of rules) yield { path: '/teach', body: { text } };
  const clientInfo = { name: 'warm-up', version: '1' };
  const opening = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  yield { path: '/mcp', body: { jsonrpc: '2.0', id: 0, method: 'initialize', params: opening } };
  yield { path: '/mcp', body: { jsonrpc: '2.0', method: 'notifications/initialized' } };
  yield { path: '/mcp', body: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} } };
  // The table of tokens is read for the first window.
  yield { path: '/context/optimize', body: { goals: [{ predicate: 'ancestor', args: [nameOf(1), '?x'] }] } };
  for (let round = 0; round < rounds; round++) yield* roundOf(round);
}

/** The facts of a family tree: persons and their children. */
function family(): object[] {
  const numbers = Array.from({ length: people }, (_, at) => at + 1);
  return numbers.flatMap((number) => [
    { predicate: 'person', args: [nameOf(number)] },
    { predicate: 'parent', args: [nameOf(number), nameOf(2 * number)] },
    { predicate: 'parent', args: [nameOf(number), nameOf(2 * number + 1)] },
  ]);
}

function nameOf(number: number): string {
  return `p${number}`;
}

function* roundOf(round: number): Generator<WarmUpRequest> {
  const who = nameOf(1 + (round % people));
  const late = { predicate: 'parent', args: [who, `late${round}`] };
  yield { path: '/tell', body: late };
  yield { path: '/query', body: { predicate: 'parent', args: [who, '?x'] } };
  yield { path: '/ask', body: { predicate: 'ancestor', args: [who, '?x'] } };
  yield { path: '/ask', body: { predicate: 'ancestor', args: [who, '?x'], withProof: true } };
  yield { path: '/ask', body: { predicate: 'ancestor', args: ['?x', '?y'] } };
  yield { path: '/ask', body: { predicate: 'sibling', args: [who, '?x'] } };
  yield { path: '/ask', body: { predicate: 'childless', args: ['?x'] } };
  yield { path: '/ask', body: { predicate: 'children', args: [who, '?n'] } };
  yield toolCall(2 * round + 2, 'ask', { predicate: 'ancestor', args: [who, '?x'] });
  yield toolCall(2 * round + 3, 'tell', { predicate: 'met', args: [who, `late${round}`] });
  yield { path: '/retract', body: late };
}

function toolCall(id: number, name: string, given: object): WarmUpRequest {
  const params = { name, arguments: given };
  return { path: '/mcp', body: { jsonrpc: '2.0', id, method: 'tools/call', params } };
}
