/**
 * The network between the nodes of a benchmark, in a process of its own: TCP relays that pass on what they read after a delay, in
 * both directions.
 *
 * Order and bandwidth stay; only the connecting itself is not delayed. Timers of Node count whole milliseconds, so while
 * anything waits it sleeps for 0.1 ms at most between two looks at its sockets, and passes things on late by about as much.
 */
import { once } from 'node:events';
import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';

/** What the parent asks for: a new port, or where a port leads; connections wait for that. */
export type RelayCommand =
  | { readonly kind: 'listen' }
  | { readonly kind: 'aim'; readonly port: number; readonly target: number };

/** Answers `listen`. */
export interface RelayPort {
  readonly port: number;
}

const SLEEP_MS = 0.1;
const delayMs = Number(process.argv[2]);

/** What is under way, in the order in which it came, which is that in which it is due. */
let waiting: { readonly due: number; readonly pass: () => void }[] = [];
let isTurning = false;
const cell = new Int32Array(new SharedArrayBuffer(4));

function later(pass: () => void): void {
  waiting.push({ due: performance.now() + delayMs, pass });
  if (isTurning) return;
  isTurning = true;
  setImmediate(turn);
}

/** Passes on what is due, sleeps if nothing is, and comes again once the sockets were looked at. */
function turn(): void {
  const now = performance.now();
  const isLate = waiting.findIndex(({ due }) => due > now);
  const due = waiting.splice(0, isLate === -1 ? waiting.length : isLate);
  for (const { pass } of due) pass();
  const [next] = waiting;
  isTurning = next !== undefined;
  if (next === undefined) return;
  if (due.length === 0) Atomics.wait(cell, 0, 0, Math.min(SLEEP_MS, next.due - now));
  setImmediate(turn);
}

/** A port, and where it leads once that is known. */
interface Way {
  readonly server: Server;
  readonly target: Promise<number>;
  readonly aim: (target: number) => void;
}

const ways = new Map<number, Way>();

async function listen(): Promise<number> {
  let aim: (target: number) => void = () => {};
  const target = new Promise<number>((resolve) => {
    aim = resolve;
  });
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true, noDelay: true }, (near) => {
    // It may break while it waits.
    near.on('error', () => {});
    void target.then((port) => join(near, port, server));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  ways.set(port, { server, target, aim });
  return port;
}

function join(near: Socket, port: number, server: Server): void {
  const far = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  far.on('error', (error) => {
    // Its process is gone, so connections are refused here too.
    if ('code' in error && error.code === 'ECONNREFUSED') server.close();
  });
  passOn(near, far);
  passOn(far, near);
  near.resume();
}

function passOn(from: Socket, to: Socket): void {
  from.on('data', (bytes: Buffer) => later(() => void to.write(bytes)));
  from.on('end', () => later(() => void to.end()));
  from.on('close', (isBroken) => {
    if (isBroken) later(() => void to.destroy());
  });
}

process.on('message', (command: RelayCommand) => {
  if (command.kind === 'aim') ways.get(command.port)?.aim(command.target);
  else void listen().then((port) => process.send?.({ port } satisfies RelayPort));
});
process.on('disconnect', () => process.exit());
