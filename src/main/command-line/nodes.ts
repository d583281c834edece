/** `store nodes` and `store move`: the nodes of a store, and where its databases are, through a node that runs. */
import type { LogMoved, NodeList } from '../../engine/contract/administration.ts';
import { type ParsedCommand, UsageError } from './arguments.ts';
import type { Client } from './client.ts';
import type { Terminal } from './transfer.ts';

/** Whether the words after `store` are for a running node, not for the store itself. */
export function asksNode([what]: readonly string[]): boolean {
  return what === 'nodes' || what === 'move';
}

/** Runs `store nodes` or `store move [DATABASE] --to NODE`. Throws a UsageError. */
export async function nodesCommand(
  client: Client,
  command: ParsedCommand,
  terminal: Terminal,
): Promise<number> {
  const [what, database, ...more] = command.words;
  const { to, from, at, as, json } = command;
  if (from !== null || at !== null || as !== null || more.length > 0)
    throw new UsageError('store nodes takes nothing, and store move takes "[DATABASE] --to NODE"');
  const list = (await client.get('/admin/nodes')) as NodeList;
  if (what === 'nodes') {
    if (database !== undefined || to !== null) throw new UsageError('store nodes takes nothing');
    for (const line of json ? [JSON.stringify(list, null, 2)] : told(list)) terminal.print(line);
    return 0;
  }
  if (to === null)
    throw new UsageError('store move takes "[DATABASE] --to NODE": store nodes lists the nodes');
  const moved = (await client.post('/admin/nodes/move', {
    to: nodeNamed(list, to),
    database: database ?? null,
  })) as LogMoved;
  terminal.print(
    json
      ? JSON.stringify(moved, null, 2)
      : `${moved.address} stores the writes${database === undefined ? '' : ` to ${database}`} now. They waited ${moved.heldMs} ms.`,
  );
  return 0;
}

/** The id of the node with this id, beginning of an id, or address. Throws a UsageError. */
function nodeNamed({ nodes }: NodeList, name: string): string {
  const plain = name.replace(/\/$/, '');
  const living = nodes.filter(({ alive }) => alive);
  const exact = living.filter(({ id, address }) => id === name || address.replace(/\/$/, '') === plain);
  const found = exact.length > 0 ? exact : living.filter(({ id }) => id.startsWith(name));
  const [only] = found;
  if (only !== undefined && found.length === 1) return only.id;
  const what = found.length === 0 ? 'there is no living node' : 'there are several nodes';
  throw new UsageError(`--to: ${what} "${name}"; store nodes lists them`);
}

function told({ log, databases, nodes }: NodeList): string[] {
  if (log === null) return ['This service keeps its knowledge by itself: it belongs to no store.'];
  const nameOf = (id: string): string => {
    const node = nodes.find((each) => each.id === id);
    return node === undefined || node.address === '' ? id.slice(0, 8) : node.address;
  };
  const namesOf = (ids: readonly string[]): string =>
    ids.length === 0 ? 'none' : ids.map(nameOf).join(', ');
  return [
    ...nodes.map(({ id, address, alive, owned, copies, usedBytes, memoryBytes, problem }) => {
      const memory = usedBytes === null ? '' : `, ${mebibytes(usedBytes)} of ${mebibytes(memoryBytes)}`;
      const state = alive ? `owns ${owned}, has copies of ${copies}${memory}` : 'gone';
      const trouble = problem === null ? '' : ` (${problem})`;
      return `node ${id.slice(0, 8)}  ${address}: ${state}${trouble}`;
    }),
    `catalogue: owner ${log.owner === null ? 'none' : nameOf(log.owner)}`,
    ...databases.map(
      ({ name, owner, copies, bytes }) =>
        `database ${name}: owner ${owner === null ? 'none' : nameOf(owner)}, copies ${namesOf(copies)}, about ${mebibytes(bytes)}`,
    ),
  ];
}

function mebibytes(bytes: number | null): string {
  return bytes === null ? 'no limit' : `${(bytes / 1024 / 1024).toFixed(bytes < 10_000_000 ? 1 : 0)} MiB`;
}
