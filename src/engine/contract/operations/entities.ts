/** Entities: a page for each constant. */
import type { OperationSpec } from '../operation-spec.ts';
import { entityInputSchema, entityPageSchema, entityParams, entityQuerySchema } from '../entities.ts';

const read = {
  tag: 'entities',
  tenant: true,
  database: true,
  role: 'reader',
  kind: 'read',
  counts: 'question',
} as const;

const page = {
  entity: 'bob',
  aliases: [],
  asArgument: [
    { predicate: 'grandparent', arity: 2, position: 1, name: null, count: 0, derived: 1 },
    { predicate: 'parent', arity: 2, position: 1, name: null, count: 1, derived: 0 },
  ],
  facts: [
    {
      id: 'f1-0',
      predicate: 'parent',
      args: ['alice', 'bob'],
      truthVal: true,
      scope: null,
      validFrom: null,
      validUntil: null,
      metadata: {},
      createdAt: 1782900000300,
      updatedAt: 1782900000300,
      importId: null,
      salience: 0.9983,
      derived: false,
      provenance: null,
    },
  ],
  conclusions: [
    {
      atom: 'grandparent(zoe, bob)',
      predicate: 'grandparent',
      args: ['zoe', 'bob'],
      truthVal: true,
    },
  ],
  conclusionsComplete: true,
  neighbours: [
    { entity: 'alice', via: 'parent', count: 1 },
    { entity: 'zoe', via: 'grandparent', count: 1 },
  ],
  mentionsInRules: [],
  history: [
    {
      time: 1782900000300,
      generation: 1,
      requestId: 'd435e509-5afb-4d2d-973b-afaddf95b34d',
      change: 'asserted',
      id: 'f1-0',
      atom: 'parent(alice, bob)',
    },
  ],
  totals: { facts: 1, conclusions: 1, neighbours: 2, mentionsInRules: 0 },
  nextOffset: null,
  generation: 3,
};

export const entityOperations = {
  entity: {
    ...read,
    method: 'GET',
    path: '/entities/:constant',
    summary: 'What is known about a constant',
    description:
      'Facts, conclusions, neighbours, rules that name it, and the changes of its facts; `limit` and `offset` page all ' +
      'lists alike. Without `infer=true`, `conclusions` are those derived so far, and reading derives nothing. An ' +
      'unknown constant has empty lists. Percent-encode the constant; `POST /entities` also takes those that no path ' +
      'can hold: the empty one, `.`, `..`, and long ones.',
    params: entityParams,
    query: entityQuerySchema,
    output: entityPageSchema,
    problems: ['InferenceLimitExceeded'],
    example: { params: { constant: 'bob' }, query: { infer: 'true' }, answer: page },
  },
  describeEntity: {
    ...read,
    method: 'POST',
    path: '/entities',
    summary: 'What is known about any constant',
    description: 'Like `GET /entities/:constant`, for every constant.',
    body: entityInputSchema,
    output: entityPageSchema,
    problems: ['InferenceLimitExceeded'],
    example: { body: { constant: 'bob', infer: true }, answer: page },
  },
} as const satisfies Record<string, OperationSpec>;
