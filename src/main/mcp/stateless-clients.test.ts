import { beforeEach, describe, expect, it } from 'vitest';
import { type Caller, systemOrigin } from '../../engine/index.ts';
import { clientIds } from './client.ts';
import { StatelessClients, type Visit } from './stateless.ts';

const anybody: Caller = {
  credential: null,
  role: 'admin',
  databases: [],
  tenants: [],
  database: 'default',
  tenant: 'default',
  client: null,
  transaction: null,
  idempotency: null,
  requestId: 'r',
  origin: systemOrigin,
  peer: '127.0.0.1',
  signal: new AbortController().signal,
};

const minute = 60_000;
let now = 0;
let clients: StatelessClients;

beforeEach(() => {
  now = 1_000_000;
  clients = new StatelessClients(clientIds(), () => now);
});

function arrive(name: string, changes: Partial<Caller> = {}, version = '1'): Visit {
  const visit = clients.visit({ ...anybody, ...changes }, { name, version });
  visit.accepted();
  return visit;
}

const names = () => clients.list(() => true).map(({ name }) => name);

describe('a client without a session', () => {
  it('is listed from its first request, with all its calls, until five minutes after its last', () => {
    const first = arrive('agent');
    first.called();
    first.end();
    now += 4 * minute;
    const second = arrive('agent');
    second.called();
    now += 10 * minute;
    expect(clients.list(() => true)).toEqual([
      {
        id: '1',
        name: 'agent',
        version: '1',
        transport: 'stateless',
        database: 'default',
        tenant: 'default',
        connectedAt: 1_000_000,
        calls: 2,
      },
    ]);
    second.end();
    now += 5 * minute;
    expect(names()).toEqual(['agent']);
    now += 1;
    expect(names()).toEqual([]);
  });

  it('is counted with a call that was cancelled because it disconnected', () => {
    const visit = arrive('agent');
    visit.end();
    visit.called();
    visit.end();
    visit.accepted();
    expect(clients.list(() => true)).toMatchObject([{ calls: 1 }]);
    now += 5 * minute + 1;
    expect(names()).toEqual([]);
  });

  it('is not listed for a refused request', () => {
    const visit = clients.visit(anybody, { name: 'wrong' });
    visit.called();
    visit.end();
    expect(names()).toEqual([]);
  });

  it('is distinguished by name, version, credential, address, database and tenant', () => {
    arrive('agent').end();
    arrive('agent', {}, '2').end();
    arrive('other').end();
    for (const changes of [{ credential: 'k' }, { peer: '::1' }, { database: 'd' }, { tenant: 't' }])
      arrive('agent', changes).end();
    arrive('agent').end();
    expect(clients.list(() => true)).toHaveLength(7);
    expect(clients.list(({ credential }) => credential === 'k')).toHaveLength(1);
  });

  it('is listed without a name if it gives none', () => {
    clients.visit(anybody, {}).accepted();
    expect(clients.list(() => true)).toMatchObject([{ name: null, version: null }]);
  });

  it("makes room for others, its owner's first: at most 100 of one owner and 1,000 in all, never one with a running call", () => {
    arrive('of another', { credential: 'another' }).end();
    const busy = arrive('busy', { credential: 'greedy' });
    for (let index = 0; index < 500; index++) arrive(`name ${index}`, { credential: 'greedy' }).end();
    expect(names()).toHaveLength(101);
    expect(names()).toEqual(expect.arrayContaining(['of another', 'busy', 'name 499', 'name 401']));
    busy.end();
    for (let index = 0; index < 2000; index++) arrive('many', { credential: `owner ${index}` }).end();
    expect(names()).toHaveLength(1000);
  });
});
