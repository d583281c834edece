import { expect, it } from 'vitest';
import { type ClientInfo, clientIds, clientName, clientVersion, ConnectedClient } from './client.ts';

it("reduces a client's name to one line of bounded length", () => {
  expect(clientName('claude-code')).toBe('claude-code');
  expect(clientName('Ein Name mit Ümläuten, 数 and 😀')).toBe('Ein Name mit Ümläuten, 数 and 😀');
  expect(clientName(' a\nb\u0000\u001b[31mc\u2028d\u202ee ')).toBe('a b  [31mc d e');
  expect(clientName('\ud800x\udc00')).toBe('x');
  expect(clientName('😀'.repeat(9_000))).toBe('😀'.repeat(128));
  expect(clientName(`a${'😀'.repeat(9_000)}`)).toBe(`a${'😀'.repeat(127)}`);
  for (const nothing of [undefined, '', ' \n ', '\u0000']) expect(clientName(nothing)).toBeNull();
  expect(clientVersion('9'.repeat(1000))).toBe('9'.repeat(64));
});

it('lists a client with its identity and its tool calls so far', () => {
  const nextId = clientIds();
  expect(nextId()).toBe('1');
  const said: { info?: ClientInfo } = {};
  const client = new ConnectedClient({
    id: nextId(),
    transport: 'sse',
    binding: { database: 'd', tenant: 't' },
    connectedAt: 7,
    info: () => said.info,
  });
  const listed = { id: '2', transport: 'sse', database: 'd', tenant: 't', connectedAt: 7 };
  expect(client.view()).toEqual({ ...listed, name: null, version: null, calls: 0 });
  said.info = { name: 'agent', version: '1' };
  client.called();
  expect(client.view()).toEqual({ ...listed, name: 'agent', version: '1', calls: 1 });
});
