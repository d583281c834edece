import { expect, test } from 'vitest';
import { WindowSessions } from './windows.ts';

const owner = { database: 'default', tenant: 'a' };

function snapshot(windowId: string, atoms: string[] = []) {
  return { windowId, parameters: {}, atoms, scopes: atoms.map(() => null) };
}

test('evicts the least recently used of many sessions first', () => {
  const sessions = new WindowSessions(2);
  sessions.keep(owner, 'one', snapshot('1'));
  sessions.keep(owner, 'two', snapshot('2'));
  expect(sessions.find(owner, 'one')?.windowId).toBe('1');
  sessions.keep(owner, 'three', snapshot('3'));
  expect(sessions.find(owner, 'two')).toBeNull();
  expect(sessions.find(owner, 'one')?.windowId).toBe('1');
  expect(sessions.size).toBe(2);
});

test('bounds the memory of sessions, and always keeps the last one', () => {
  const sessions = new WindowSessions(1000, 10_000);
  for (let at = 0; at < 50; at++) sessions.keep(owner, `s${at}`, snapshot(`${at}`, ['p(a)']));
  expect(sessions.size).toBeGreaterThan(5);
  expect(sessions.size).toBeLessThan(25);
  sessions.keep(owner, 'large', snapshot('large', ['p'.repeat(20_000)]));
  expect(sessions.size).toBe(1);
  expect(sessions.find(owner, 'large')?.windowId).toBe('large');
});

test('replaces the previous window of a session', () => {
  const sessions = new WindowSessions(10, 3000);
  for (let at = 0; at < 100; at++) sessions.keep(owner, 's', snapshot(`${at}`));
  sessions.keep(owner, 't', snapshot('other'));
  expect(sessions.find(owner, 's')?.windowId).toBe('99');
});

test('scopes sessions to database and tenant, and drops them with either', () => {
  const sessions = new WindowSessions();
  const others = [
    { database: 'default', tenant: 'b' },
    { database: 'other', tenant: 'a' },
  ];
  for (const each of [owner, ...others]) sessions.keep(each, 's', snapshot(JSON.stringify(each)));
  for (const each of [owner, ...others])
    expect(sessions.find(each, 's')?.windowId).toBe(JSON.stringify(each));
  sessions.forget('default', (tenant) => tenant === 'a');
  expect(sessions.find(owner, 's')).toBeNull();
  expect(sessions.size).toBe(2);
  sessions.drop({ database: 'other', tenant: 'a' }, 's');
  expect(sessions.size).toBe(1);
});
