import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { WriteGate } from './write-gate.ts';

function answer(closed: boolean): EventEmitter & { closed: boolean } {
  return Object.assign(new EventEmitter(), { closed });
}

it('waits for the writes that are answered here, and holds later ones back meanwhile', async () => {
  const gate = new WriteGate();
  const first = answer(false);
  gate.count('d', first);
  const order: string[] = [];
  const held = gate.hold(60_000, 'd', async () => void order.push('moved'));
  const later = gate.open('d').then(() => order.push('later'));
  order.push('first');
  first.emit('close');
  await Promise.all([held, later]);
  expect(order).toEqual(['first', 'moved', 'later']);
});

it('does not wait for a write whose client hung up before it was counted', async () => {
  const gate = new WriteGate();
  gate.count('d', answer(true));
  expect(await gate.hold(1, 'd', async () => 'moved')).toBe('moved');
});

it('refuses if a write takes too long, and another move meanwhile', async () => {
  const gate = new WriteGate();
  const slow = answer(false);
  gate.count('d', slow);
  const refused = gate.hold(1, 'd', async () => 'moved');
  await expect(gate.hold(1, 'd', async () => 'moved')).rejects.toMatchObject({ code: 'Conflict' });
  await expect(refused).rejects.toMatchObject({ code: 'Conflict' });
  await gate.open('d');
  slow.emit('close');
  expect(await gate.hold(1, 'd', async () => 'moved')).toBe('moved');
});

it('a move of one database waits for its writes alone, and holds back no others', async () => {
  const gate = new WriteGate();
  gate.count('other', answer(false));
  const moved = gate.hold(60_000, 'd', async () => {
    await gate.open('other');
    return 'moved';
  });
  expect(await moved).toBe('moved');
  await expect(gate.hold(1, 'other', async () => 'moved')).rejects.toMatchObject({ code: 'Conflict' });
});
