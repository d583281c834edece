import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { WriteGate } from './write-gate.ts';

function answer(closed: boolean): EventEmitter & { closed: boolean } {
  return Object.assign(new EventEmitter(), { closed });
}

it('waits for the writes that are answered here, and holds later ones back meanwhile', async () => {
  const gate = new WriteGate();
  const first = answer(false);
  gate.count(first);
  const order: string[] = [];
  const held = gate.hold(60_000, async () => void order.push('moved'));
  const later = gate.open().then(() => order.push('later'));
  order.push('first');
  first.emit('close');
  await Promise.all([held, later]);
  expect(order).toEqual(['first', 'moved', 'later']);
});

it('does not wait for a write whose client hung up before it was counted', async () => {
  const gate = new WriteGate();
  gate.count(answer(true));
  expect(await gate.hold(1, async () => 'moved')).toBe('moved');
});

it('refuses if a write takes too long, and another move meanwhile', async () => {
  const gate = new WriteGate();
  const slow = answer(false);
  gate.count(slow);
  const refused = gate.hold(1, async () => 'moved');
  await expect(gate.hold(1, async () => 'moved')).rejects.toMatchObject({ code: 'Conflict' });
  await expect(refused).rejects.toMatchObject({ code: 'Conflict' });
  await gate.open();
  slow.emit('close');
  expect(await gate.hold(1, async () => 'moved')).toBe('moved');
});
