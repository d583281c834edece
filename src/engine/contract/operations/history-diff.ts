/** The comparison of two moments of knowledge. */
import { historyDiffInputSchema, historyDiffSchema } from '../history-diff.ts';
import type { OperationSpec } from '../operation-spec.ts';

export const historyDiffOperations = {
  historyDiff: {
    method: 'POST',
    path: '/history/diff',
    summary: 'Compare the knowledge of two moments, with the conclusions that flipped',
    description:
      '`from` and `to` are moments of knowledge, in either order: generations, or instants. Facts and rules are ' +
      'compared by what was written. `flips` are the conclusions that were true at one of the moments only, each ' +
      'judged at the instant of its own: of `goals`, or of everything that rules conclude. `by: "validity"`: the ' +
      'time that passed made the difference, whatever was written. With `withProof` each is proved on the side ' +
      'where it was true. `complete: false`: a list is longer than `limit`, or a goal took too long.',
    tag: 'inference',
    tenant: true,
    database: true,
    role: 'reader',
    kind: 'read',
    counts: 'question',
    body: historyDiffInputSchema,
    output: historyDiffSchema,
    problems: ['HistoryGone', 'InferenceLimitExceeded'],
    example: {
      body: { from: 3, to: 4, goals: [{ predicate: 'grandparent', args: ['alice', '?who'] }] },
      answer: {
        from: { generation: 3, time: 1782900000500 },
        to: { generation: 4, time: 1782900000900 },
        facts: {
          added: [],
          removed: [
            { atom: 'parent(bob, carol)', scope: null, validFrom: null, validUntil: null, metadata: {} },
          ],
          changed: [],
        },
        rules: { added: [], removed: [], changed: [] },
        flips: [
          {
            goal: 'grandparent(alice, ?who)',
            atom: 'grandparent(alice, carol)',
            held: 'from',
            by: 'change',
          },
        ],
        complete: true,
      },
    },
  },
} as const satisfies Record<string, OperationSpec>;
