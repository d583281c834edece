import { InMemoryTransport, Server } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { type Caller, systemOrigin } from '../../engine/index.ts';
import { ConnectedClient } from './client.ts';
import { McpSession, Sessions } from './sessions.ts';

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
  signal: new AbortController().signal,
};

async function openIn(
  sessions: Sessions<InMemoryTransport>,
  id: string,
  now: number,
  credential: string | null = null,
  unreadBytes = () => 0,
): Promise<McpSession> {
  const opener = { ...anybody, credential };
  await sessions.makeRoom(opener, now);
  const [transport] = InMemoryTransport.createLinkedPair();
  const server = new Server({ name: 'test', version: '1' }, { capabilities: {} });
  const client = new ConnectedClient({
    id,
    transport: 'streamable-http',
    binding: opener,
    connectedAt: now,
    info: () => server.getClientVersion(),
  });
  const session = new McpSession({ opener, transport, server, client, now, unreadBytes });
  server.onclose = () => sessions.remove(id);
  await server.connect(transport);
  sessions.add(id, session);
  return session;
}

describe('sessions', () => {
  it('end after an idle timeout', async () => {
    const sessions = new Sessions<InMemoryTransport>({ maxSessions: 10, maxSessionsOfOne: 10, idleMs: 1000 });
    await openIn(sessions, 'old', 0);
    const used = await openIn(sessions, 'used', 0);
    used.touch(500);
    await sessions.sweep(1000);
    expect(sessions.get('old')).toBeUndefined();
    expect(sessions.get('used')).toBe(used);
    await sessions.sweep(1500);
    expect(sessions.size).toBe(0);
  });

  it('end with the most unread bytes first, if all together have too many', async () => {
    const sessions = new Sessions<InMemoryTransport>({ maxSessions: 10, maxSessionsOfOne: 10, idleMs: 1000 });
    for (const bytes of [10, 40, 0, 30]) await openIn(sessions, `${bytes}`, 0, null, () => bytes);
    await sessions.endUnread(80);
    expect(sessions.size).toBe(4);
    await sessions.endUnread(20);
    expect(['10', '40', '0', '30'].filter((id) => sessions.get(id) !== undefined)).toEqual(['10', '0']);
  });

  it('are not idle while a call runs or a stream is open', async () => {
    const sessions = new Sessions<InMemoryTransport>({ maxSessions: 10, maxSessionsOfOne: 10, idleMs: 1000 });
    const session = await openIn(sessions, 'busy', 0);
    session.occupy(1, 0);
    await sessions.sweep(100_000);
    expect(sessions.size).toBe(1);
    session.occupy(-1, 100_000);
    await sessions.sweep(100_999);
    expect(sessions.size).toBe(1);
    await sessions.sweep(101_000);
    expect(sessions.size).toBe(0);
  });

  it('make room by ending the longest idle one', async () => {
    const sessions = new Sessions<InMemoryTransport>({ maxSessions: 2, maxSessionsOfOne: 2, idleMs: 1000 });
    await openIn(sessions, 'first', 0);
    await openIn(sessions, 'second', 1);
    sessions.get('first')?.touch(2);
    await openIn(sessions, 'third', 3);
    expect(sessions.get('second')).toBeUndefined();
    expect(sessions.get('first')).toBeDefined();
    expect(sessions.size).toBe(2);
  });

  it('are refused with RateLimited if all are in use', async () => {
    const sessions = new Sessions<InMemoryTransport>({ maxSessions: 1, maxSessionsOfOne: 1, idleMs: 1000 });
    (await openIn(sessions, 'busy', 0)).occupy(1, 0);
    await expect(openIn(sessions, 'more', 5)).rejects.toMatchObject({ code: 'RateLimited' });
    await sessions.closeAll();
    expect(sessions.size).toBe(0);
  });

  it('of one credential take no room from others: its own idle one ends, or it is refused', async () => {
    const sessions = new Sessions<InMemoryTransport>({ maxSessions: 10, maxSessionsOfOne: 2, idleMs: 1000 });
    await openIn(sessions, 'of another', 0, 'another');
    for (const [at, id] of ['first', 'second', 'third'].entries())
      await openIn(sessions, id, at + 1, 'greedy');
    expect(['of another', 'first', 'second', 'third'].filter((id) => sessions.get(id) !== undefined)).toEqual(
      ['of another', 'second', 'third'],
    );
    for (const id of ['second', 'third']) sessions.get(id)?.occupy(1, 5);
    await expect(openIn(sessions, 'more', 6, 'greedy')).rejects.toMatchObject({ code: 'RateLimited' });
    await openIn(sessions, 'more', 6, 'another');
    expect(sessions.size).toBe(4);
  });
});
