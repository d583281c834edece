import { expect, it } from 'vitest';
import { serving } from '../../engine/index.ts';
import { type LongTurn, logLongTurns } from './long-turns.ts';

it('warns of a long turn with its operation, and of the next ones with how many there were, every ten seconds', () => {
  const { turns } = serving;
  const warned: LongTurn[] = [];
  let now = 0;
  const stop = logLongTurns(
    turns,
    (turn) => void warned.push(turn),
    () => now,
  );
  turns.onLong('ask', 60.4);
  expect(warned).toEqual([{ operation: 'ask', turnMs: 60, othersSince: 0 }]);
  now = 9_999;
  turns.onLong('ask', 70);
  turns.onLong('import', 800);
  expect(warned).toHaveLength(1);
  now = 10_000;
  turns.onLong('apply assert', 90);
  expect(warned[1]).toEqual({ operation: 'apply assert', turnMs: 90, othersSince: 2 });
  stop();
  now = 1e9;
  turns.onLong('ask', 60);
  expect(warned).toHaveLength(2);
});
