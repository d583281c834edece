import { expect, it } from 'vitest';
import type { EntitiesMerged, RewrittenFact } from '../../../engine/contract/entities.ts';
import { undoOfMerge } from './undo-merge.ts';

const fact = (name: string, fields: Partial<RewrittenFact> = {}): RewrittenFact => ({
  predicate: 'p',
  args: [name],
  truthVal: true,
  scope: null,
  validFrom: null,
  validUntil: null,
  metadata: {},
  ...fields,
});

function merged(rewritten: EntitiesMerged['rewritten']): EntitiesMerged {
  const counts = { facts: rewritten.length, joined: 0, gained: 0, lost: 0 };
  return { from: 'b', into: 'a', ...counts, aliases: ['b'], rulesMentioning: [], rewritten, generation: 7 };
}

const shown = (writes: ReturnType<typeof undoOfMerge>): unknown[] =>
  writes.map(({ operation, input: { body } }) => [operation, body]);

it('retracts what the merge made, once, and brings back what it rewrote', () => {
  const after = fact('a', { scope: 's' });
  const writes = undoOfMerge(
    merged([
      { before: fact('b', { scope: 's', validFrom: 5, metadata: { m: 1 } }), after, joined: null },
      { before: fact('c', { scope: 's' }), after, joined: null },
    ]),
    7,
    100,
  );
  const at = { scope: 's', predicate: 'p', truthVal: true, ifGeneration: 7 };
  expect(shown(writes)).toEqual([
    ['retract', { ...at, args: ['a'] }],
    ['assertFact', { ...at, args: ['b'], validFrom: 5, validUntil: 'never', metadata: { m: 1 } }],
    ['assertFact', { ...at, args: ['c'], validFrom: 'always', validUntil: 'never', metadata: {} }],
  ]);
});

it('returns a joined fact to what it was, and leaves out what has ended since', () => {
  const writes = undoOfMerge(
    merged([
      {
        before: fact('b', { validUntil: 90 }),
        after: fact('a', { metadata: { m: 1, _source: { m: 2 } } }),
        joined: fact('a', { metadata: { m: 1 } }),
      },
    ]),
    7,
    100,
  );
  expect(shown(writes)).toEqual([
    [
      'assertFact',
      {
        predicate: 'p',
        args: ['a'],
        truthVal: true,
        unscoped: true,
        validFrom: 'always',
        validUntil: 'never',
        metadata: { m: 1 },
        ifGeneration: 7,
      },
    ],
  ]);
});
