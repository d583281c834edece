/** From a text to what is known: the search. */
import type { OperationSpec } from '../operation-spec.ts';
import { searchedSchema, searchInputSchema } from '../search.ts';
import { foundSchema } from '../tool-contents.ts';

export const searchOperations = {
  search: {
    method: 'POST',
    path: '/search',
    summary: 'Find facts, conclusions, rules, entities and predicates by words',
    description:
      'No language model is needed. `mentions` are the constants and predicates that the text names, however they ' +
      'are written. A hit is mentioned or shares words with the text (case, diacritics and the endings of English ' +
      'words do not count); nearness to the mentions in the graph of facts and salience only order. Conclusions are ' +
      'the answers to goals over the mentions. `why` gives the rank by each signal, and `score` is the sum of ' +
      '1 / (60 + rank). `matched: false`: nothing has these words.',
    tag: 'language',
    tenant: true,
    database: true,
    role: 'reader',
    kind: 'read',
    counts: 'question',
    body: searchInputSchema,
    output: searchedSchema,
    problems: ['InferenceLimitExceeded'],
    tool: {
      name: 'search',
      title: 'Search by words',
      description: 'Find facts, rules and names by plain words, when you do not know the predicate.',
      output: foundSchema,
      example: { text: 'where carol lives' },
      destructive: false,
      idempotent: true,
    },
    example: {
      body: { text: 'Who is the parent of Carol?', limit: 1, kinds: ['fact'] },
      answer: {
        hits: [
          {
            kind: 'fact',
            atom: 'parent(bob, carol)',
            id: 'f2-0',
            score: 0.0656,
            why: [
              { signal: 'mention', rank: 1, detail: 'carol, parent' },
              { signal: 'words', rank: 1, detail: 'parent carol' },
              { signal: 'graph', rank: 1, detail: '0.375' },
              { signal: 'salience', rank: 1, detail: '0.9989' },
            ],
            scope: null,
            salience: 0.9989,
          },
        ],
        mentions: [
          { start: 11, end: 17, text: 'parent', constants: [], predicates: ['parent'] },
          { start: 21, end: 26, text: 'Carol', constants: ['carol'], predicates: [] },
        ],
        matched: true,
        elapsedMs: 1.2,
      },
    },
  },
} as const satisfies Record<string, OperationSpec>;
