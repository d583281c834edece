/** Entities: a page for each constant, aliases, and merging two that are one. */
import type { OperationSpec } from '../operation-spec.ts';
import {
  aliasAddedSchema,
  aliasInputSchema,
  aliasRemovedSchema,
  entitiesMergedSchema,
  entityInputSchema,
  entityPageSchema,
  entityParams,
  entityQuerySchema,
  mergeEntitiesInputSchema,
} from '../entities.ts';

const read = {
  tag: 'entities',
  tenant: true,
  database: true,
  role: 'reader',
  kind: 'read',
  counts: 'question',
} as const;

const write = { tag: 'entities', tenant: true, database: true, role: 'writer', kind: 'write' } as const;

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
  addAlias: {
    ...write,
    method: 'POST',
    path: '/entities/alias',
    summary: 'Give an entity another name',
    description:
      'Aliases belong to the tenant. The search, mentions in texts, extraction and the pages of entities take an alias ' +
      'for its entity; tells, questions and rules match by text. An alias is 409 if it is another entity’s, has aliases ' +
      'itself, is given to an alias, or if facts have it: merge the two entities then.',
    transaction: 'write',
    body: aliasInputSchema,
    output: aliasAddedSchema,
    problems: ['Conflict', 'StorageUnavailable'],
    example: {
      body: { entity: 'bob', alias: 'Robert' },
      answer: { status: 'added', entity: 'bob', alias: 'Robert', generation: 4 },
    },
  },
  removeAlias: {
    ...write,
    method: 'DELETE',
    path: '/entities/alias',
    summary: 'Take an alias away',
    description: 'Answers `absent` if it is none of the entity.',
    transaction: 'write',
    body: aliasInputSchema,
    output: aliasRemovedSchema,
    problems: ['StorageUnavailable'],
    example: {
      body: { entity: 'bob', alias: 'Robert' },
      answer: { status: 'removed', entity: 'bob', alias: 'Robert', generation: 5 },
    },
  },
  mergeEntities: {
    ...write,
    isJudged: true,
    method: 'POST',
    path: '/entities/merge',
    summary: 'Make one entity of two',
    description:
      'Rewrites every fact of `from`, in every scope of the tenant, to `into`, and keeps `from` and its aliases as ' +
      'aliases of `into`; all in one transaction. Facts that become equal are joined: both metadata, the differing ' +
      'values of `from` under `_source`, and the widest validity. Rules are not rewritten. The facts get new ids. ' +
      '`rewritten` is what an undo needs.',
    dryRun: 'body',
    body: mergeEntitiesInputSchema,
    output: entitiesMergedSchema,
    problems: ['Conflict', 'KeyConflict', 'StorageUnavailable', 'QuotaExceeded'],
    example: {
      body: { from: 'bobby', into: 'bob', dryRun: true },
      answer: {
        from: 'bobby',
        into: 'bob',
        facts: 1,
        joined: 0,
        aliases: ['Robert', 'bobby'],
        gained: 1,
        lost: 1,
        rulesMentioning: [],
        rewritten: [
          {
            before: {
              predicate: 'parent',
              args: ['bobby', 'dora'],
              truthVal: true,
              scope: null,
              validFrom: null,
              validUntil: null,
              metadata: {},
            },
            after: {
              predicate: 'parent',
              args: ['bob', 'dora'],
              truthVal: true,
              scope: null,
              validFrom: null,
              validUntil: null,
              metadata: {},
            },
            joined: null,
          },
        ],
        generation: 5,
        dryRun: true,
      },
    },
  },
} as const satisfies Record<string, OperationSpec>;
