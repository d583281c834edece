import { expect, test } from 'vitest';
import type { WithdrawnConclusions } from '../base/service-messages.ts';
import { WithdrawnTally } from './withdrawn-tally.ts';

function gathering(namesAtoms: boolean) {
  const sent: (readonly WithdrawnConclusions[])[] = [];
  const waiting: (() => void)[] = [];
  const tally = new WithdrawnTally({
    namesAtoms,
    send: (withdrawn) => sent.push(withdrawn),
    after: (_ms, run) => waiting.push(run),
  });
  const note = (atom: string, database = 'default', kind = 'conclusion.withdrawn' as const) =>
    tally.note({
      kind,
      database,
      tenant: 'default',
      data: { generation: 1, time: 0, requestId: null, atom },
    });
  return { sent, waiting, note, tally };
}

test('sends one message for all conclusions that were withdrawn meanwhile, by database', () => {
  const { sent, waiting, note } = gathering(true);
  note('p(a)');
  note('p(b)');
  note('q(c)', 'ships');
  expect(waiting).toHaveLength(1);
  expect(sent).toEqual([]);
  waiting.shift()?.();
  expect(sent).toEqual([
    [
      { database: 'default', tenant: 'default', count: 2, atom: 'p(a)' },
      { database: 'ships', tenant: 'default', count: 1, atom: 'q(c)' },
    ],
  ]);
  note('p(d)');
  waiting.shift()?.();
  expect(sent[1]).toEqual([{ database: 'default', tenant: 'default', count: 1, atom: 'p(d)' }]);
});

test('does not name conclusions of a service that requires keys', () => {
  const { sent, waiting, note } = gathering(false);
  note('salary(ada, 5)');
  waiting.shift()?.();
  expect(sent).toEqual([[{ database: 'default', tenant: 'default', count: 1, atom: null }]]);
});

test('ignores every other change', () => {
  const { waiting, tally } = gathering(true);
  const data = { generation: 1, time: 0, requestId: null };
  tally.note({ kind: 'fact.retracted', database: 'default', tenant: 'default', data });
  tally.note({ kind: 'reset', database: 'default', tenant: null, data });
  expect(waiting).toEqual([]);
});
