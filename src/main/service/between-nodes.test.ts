/** What one node tells others, over a real connection. Two services that do: nodes.test.ts. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import type { NodeList, NodeStatus } from '../../engine/contract/administration.ts';
import type { ToolCallRecord } from '../../engine/contract/agents.ts';
import type { ToldUses } from '../../engine/index.ts';
import type { NodeMessage } from '../http/host.ts';
import { NodeMessenger } from '../http/node-messages.ts';
import { SessionStore } from '../mcp/session-store.ts';
import { BetweenNodes } from './between-nodes.ts';

const secret = 'a secret of at least 32 characters';
const call = { tool: 'ask', database: 'default', tenant: 'default' } as ToolCallRecord;

it('an owner tells other nodes to look once for all that it stored meanwhile, and new ones which sessions have ended', async () => {
  const other = await otherNode();
  const { between, sessions } = nodeWith('owner', other.address);
  await sessions.end('a session');
  expect(other.messages).toEqual([
    { kind: 'ended', sessions: ['a session'] },
    { kind: 'ended', sessions: ['a session'] },
  ]);
  for (let n = 0; n < 100; n++) between.stored();
  await expect.poll(() => other.messages.slice(2)).toEqual([{ kind: 'stored' }, { kind: 'stored' }]);
  expect(between.sendCall(call)).toBeNull();
  await between.receive({ kind: 'calls', calls: [call] });
});

it('a node that ends knows when other nodes have looked where its logs are', async () => {
  const { between, looks } = nodeWith('copy', '');
  const other = await otherNode((message) => between.receive(message));
  await nodeWith('owner', other.address).between.moved(['a', '']);
  expect(looks).toEqual(['a', undefined]);
});

it('a copy tells the owner what was used and called there, in messages of bounded size', async () => {
  const owner = await otherNode();
  const facts = Array.from({ length: 2500 }, (_, n) => [`f1-${n}`, 1, [0]] as const);
  const { between } = nodeWith('copy', owner.address, [{ database: 'default', tenant: 'default', facts }]);
  await between.tell();
  const told = owner.messages.flatMap((message) => (message.kind === 'uses' ? message.uses : []));
  expect(told.map((uses) => uses.facts.length)).toEqual([1000, 1000, 500]);
  expect(told.flatMap((uses) => uses.facts)).toEqual(facts);
  expect(await between.sendCall(call)).toBe(true);
  expect(owner.messages.at(-1)).toEqual({ kind: 'calls', calls: [call] });
  await expect(between.receive({ kind: 'calls', calls: [call] })).rejects.toMatchObject({
    code: 'NotLeader',
  });
});

it('a call that no owner takes stays', async () => {
  const { between } = nodeWith('copy', 'http://127.0.0.1:1');
  expect(await between.sendCall(call)).toBe(false);
});

it('a node that cannot ask the store hears from one that can who has a log, with one question for all', async () => {
  const fresh = { owner: 'owner', problem: null, staleMs: 10 };
  const { between: owner } = nodeWith('owner', '', [], fresh);
  const other = await otherNode((message) => owner.receive(message));
  const { between, heard } = nodeWith('copy', other.address);
  expect(await Promise.all([between.hear('a'), between.hear('a')])).toEqual([true, true]);
  expect([other.messages.length, heard]).toEqual([1, [['a', 'owner']]]);
  expect(await owner.receive({ kind: 'owner', database: 'a' })).toEqual({
    owner: { owner: 'owner', address: 'http://mine' },
    isFresh: true,
  });
  const { between: stale } = nodeWith('copy', 'http://owner', [], { ...fresh, staleMs: 5000 });
  const away = await otherNode((message) => stale.receive(message));
  const { between: alone, heard: nothing } = nodeWith('copy', away.address);
  expect([await alone.hear(null), nothing]).toEqual([false, []]);
});

function nodeWith(
  role: NodeStatus['role'],
  address: string,
  uses: ToldUses[] = [],
  status: Partial<NodeStatus> = {},
) {
  const sessions = new SessionStore();
  const taken = [[], uses];
  const looks: (string | undefined)[] = [];
  const heard: (string | null)[][] = [];
  const between = new BetweenNodes({
    engine: {
      node: () => ({ ...status, role, ownerAddress: role === 'copy' ? address : null }) as NodeStatus,
      nodes: async () =>
        ({ log: null, nodes: [{ id: 'other', address, alive: true, self: false }] }) as unknown as NodeList,
      look: async (database) => {
        await new Promise((resolve) => setImmediate(resolve));
        looks.push(database);
        return 0;
      },
      takeUses: () => taken.shift() ?? [],
      noteUses: () => {},
      databases: async () => ({ databases: [] }),
      databasesElsewhere: () => new Map(),
      others: () => [address, 'http://127.0.0.1:1'],
      heard: (database, { owner }) => void heard.push([database, owner]),
    },
    messenger: new NodeMessenger(secret),
    agents: { received: () => {}, eraseCalls: async () => {} },
    sessions,
    address: () => 'http://mine',
  });
  onTestFinished(() => between.close());
  return { between, sessions, looks, heard };
}

async function otherNode(receive: (message: NodeMessage) => Promise<unknown> = async () => {}) {
  const messages: NodeMessage[] = [];
  const server = createServer((request, response) => {
    void json(request).then(async (message) => {
      messages.push(message as NodeMessage);
      const answer = await receive(message as NodeMessage);
      response.writeHead(answer === undefined ? 204 : 200).end(JSON.stringify(answer));
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, messages };
}
