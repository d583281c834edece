/** Facts: assert, retract, browse, and query without inference. */
import { aggregateInputSchema, aggregateResultSchema } from '../aggregation.ts';
import {
  factDetailSchema,
  factInputSchema,
  plainFactInput,
  plainQuery,
  factListSchema,
  factOutcomeSchema,
  factsInputSchema,
  factsList,
  factsOutcomeSchema,
  listFactsQuerySchema,
  predicateListSchema,
  queryInputSchema,
  queryResultSchema,
  retractInputSchema,
  retractOutcomeSchema,
  retractPatternInputSchema,
  retractPatternOutcomeSchema,
} from '../facts.ts';
import { idParams, type OperationSpec } from '../operation-spec.ts';
import { forgottenSchema, slimPredicateListSchema, toldSchema } from '../tool-contents.ts';
import { forgetInputSchema, tellInputSchema } from '../tool-inputs.ts';
import { momentQuerySchema } from '../moments.ts';

const read = { tag: 'facts', tenant: true, database: true, role: 'reader', kind: 'read' } as const;
const write = { tag: 'facts', tenant: true, database: true, role: 'writer', kind: 'write' } as const;

/** The fact of the examples. */
const fact = {
  id: 'f1-0',
  predicate: 'parent',
  args: ['alice', 'bob'],
  truthVal: true,
  scope: null,
  validFrom: null,
  validUntil: null,
  metadata: { source: 'the register' },
  createdAt: 1782900000300,
  updatedAt: 1782900000300,
  importId: null,
  salience: 0.9983,
  derived: false,
  provenance: null,
};

/** The answer to its retraction. */
const retracted = {
  atom: 'parent(alice, bob)',
  status: 'retracted',
  retracted: 1,
  dependents: [],
  dependentsCount: 0,
  dependentsComplete: true,
  generation: 24,
};

export const factOperations = {
  assertFact: {
    ...write,
    isJudged: true,
    method: 'POST',
    path: '/assert/fact',
    aliases: ['/tell'],
    summary: 'Assert a fact',
    description:
      'Predicate, arguments, truth value and scope identify a fact. Asserting it again answers ' +
      '`unchanged`, or `updated` if validity or metadata are given and differ. With `ifGeneration`, the ' +
      'write is 409 if the fact has changed since.',
    transaction: 'write',
    body: factInputSchema,
    quick: plainFactInput,
    output: factOutcomeSchema,
    problems: ['Conflict', 'KeyConflict', 'ShapeViolation', 'StorageUnavailable', 'QuotaExceeded'],
    tool: {
      name: 'tell',
      title: 'Tell facts',
      description:
        'Store facts you learn and want to keep, as text (- marks a fact as false) or as predicate and args. ' +
        'Reuse the names that predicates lists. For general statements use teach.',
      input: tellInputSchema,
      output: toldSchema,
      example: { text: 'parent(alice, bob). -parent(bob, alice).' },
      destructive: false,
      idempotent: true,
    },
    example: {
      body: { predicate: 'parent', args: ['alice', 'bob'], metadata: { source: 'the register' } },
      answer: { status: 'asserted', atom: 'parent(alice, bob)', id: 'f1-0', generation: 1 },
    },
  },
  assertFacts: {
    ...write,
    isJudged: true,
    method: 'POST',
    path: '/assert/facts',
    summary: 'Assert many facts, all or nothing',
    description: '1 to 100,000 facts, all or none. One bad fact is 400; `errors` gives its index.',
    transaction: 'write',
    body: factsInputSchema,
    longList: factsList,
    output: factsOutcomeSchema,
    problems: ['KeyConflict', 'ShapeViolation', 'StorageUnavailable', 'QuotaExceeded'],
    example: {
      body: {
        facts: [
          { predicate: 'parent', args: ['bob', 'carol'] },
          { predicate: 'parent', args: ['bob', 'dora'] },
        ],
      },
      answer: { status: 'asserted', asserted: 2, updated: 0, unchanged: 0, generation: 2 },
    },
  },
  retract: {
    ...write,
    isJudged: true,
    method: 'POST',
    path: '/retract',
    aliases: ['/forget'],
    summary: 'Retract a fact, and with it every conclusion that depends on it',
    description:
      'Without `scope`, from every scope; without `truthVal`, both truth values. `dependents` lists the ' +
      'conclusions that are no longer true: those already known or, with `dependents: "all"`, every one.',
    dryRun: 'body',
    transaction: 'write',
    body: retractInputSchema,
    output: retractOutcomeSchema,
    problems: ['Conflict', 'StorageUnavailable'],
    example: { body: { predicate: 'parent', args: ['alice', 'bob'] }, answer: retracted },
  },
  retractPattern: {
    ...write,
    isJudged: true,
    method: 'POST',
    path: '/retract/pattern',
    summary: 'Retract every fact that matches a pattern',
    description: 'Like `/retract`, for every stored fact that matches.',
    dryRun: 'body',
    transaction: 'write',
    body: retractPatternInputSchema,
    output: retractPatternOutcomeSchema,
    problems: ['Conflict', 'StorageUnavailable'],
    tool: {
      name: 'forget',
      title: 'Forget facts or a rule',
      description:
        'Retract stored facts that are no longer true (?x matches anything), or a rule by its text or ruleId. ' +
        'Lists the conclusions that go too; to remove a conclusion, retract its premises. Use dryRun: true to ' +
        'preview.',
      input: forgetInputSchema,
      output: forgottenSchema,
      example: { predicate: 'parent', args: ['alice', '?child'] },
      destructive: true,
      idempotent: true,
    },
    example: {
      body: { predicate: 'parent', args: ['bob', '?child'], dryRun: true },
      answer: {
        status: 'retracted',
        retracted: 2,
        dependents: ['grandparent(alice, carol)', 'grandparent(alice, dora)'],
        dependentsCount: 2,
        dependentsComplete: true,
        generation: 4,
        dryRun: true,
      },
    },
  },
  query: {
    ...read,
    method: 'POST',
    path: '/query',
    summary: 'Query stored facts by pattern, without inference',
    description:
      'Stored facts that are visible now, without duplicates and without rules; both truth values unless ' +
      '`truthVal` is given.',
    transaction: 'read',
    body: queryInputSchema,
    quick: plainQuery,
    output: queryResultSchema,
    counts: 'question',
    problems: ['HistoryGone'],
    example: {
      body: { predicate: 'parent', args: ['bob', '?child'] },
      answer: [
        { predicate: 'parent', args: ['bob', 'carol'], truthVal: true },
        { predicate: 'parent', args: ['bob', 'dora'], truthVal: true },
      ],
    },
  },
  listFacts: {
    ...read,
    method: 'GET',
    path: '/facts',
    summary: 'List facts, page by page',
    description:
      'Stored facts with everything kept about them; `derived=true`, which needs `predicate`, adds ' +
      'conclusions. `nextCursor` is a position in the order, so facts that come and go between two pages ' +
      'cause no gap and no repeat; `offset` jumps to a position by number. Only the conclusions on the ' +
      'page are proved. Sorting by `createdAt`, `updatedAt`, `salience` or `validUntil` needs the proof ' +
      'of every conclusion: if that takes more than 10 seconds, the answer is 422. `sort=predicate` and ' +
      '`sort=argN` work for any number.',
    query: listFactsQuerySchema,
    output: factListSchema,
    problems: ['HistoryGone', 'InferenceLimitExceeded'],
    example: {
      query: { predicate: 'parent', sort: 'createdAt', order: 'desc', limit: '20' },
      answer: { facts: [fact], total: 1, nextCursor: null },
    },
  },
  getFact: {
    ...read,
    method: 'GET',
    path: '/facts/:id',
    summary: 'One fact with its dependents, salience and history',
    description:
      '`dependents` are the known conclusions whose proofs use the fact, `history` its last 10 changes.',
    params: idParams,
    output: factDetailSchema,
    problems: ['FactNotFound'],
    example: {
      params: { id: 'f1-0' },
      answer: {
        ...fact,
        dependents: ['grandparent(alice, carol)', 'grandparent(alice, dora)'],
        salienceBreakdown: {
          uses: 2,
          lastUsedAt: 1782900000800,
          activation: 0.9983,
          importance: 0.5,
          confidence: 1,
          salience: 0.9983,
        },
        history: [
          {
            time: 1782900000300,
            generation: 1,
            requestId: 'd435e509-5afb-4d2d-973b-afaddf95b34d',
            change: 'asserted',
          },
        ],
      },
    },
  },
  deleteFact: {
    ...write,
    isJudged: true,
    method: 'DELETE',
    path: '/facts/:id',
    summary: 'Retract one fact by its id',
    description: 'Like `/retract`, for one fact.',
    transaction: 'write',
    params: idParams,
    output: retractOutcomeSchema,
    problems: ['FactNotFound', 'StorageUnavailable'],
    example: { params: { id: 'f1-0' }, answer: { ...retracted, generation: 26 } },
  },
  listPredicates: {
    ...read,
    method: 'GET',
    path: '/predicates',
    summary: 'List every predicate with its arity and counts',
    description: 'Look here first, and reuse these names to assert and ask.',
    query: momentQuerySchema,
    output: predicateListSchema,
    problems: ['HistoryGone'],
    tool: {
      name: 'predicates',
      title: 'List predicates',
      description:
        'The vocabulary: each predicate with its number of arguments, facts, rules and an example. Look here ' +
        'first, and when an answer is unexpectedly empty.',
      output: slimPredicateListSchema,
      example: {},
      destructive: false,
      idempotent: true,
    },
    example: {
      query: { asOf: '2026-07-01T10:00:00Z' },
      answer: {
        knowledgeGeneration: 5,
        predicates: [
          {
            name: 'grandparent',
            arity: 2,
            facts: 0,
            derived: 2,
            derivedComplete: true,
            rules: 1,
            scopes: [null],
            example: 'grandparent(alice, dora)',
          },
          {
            name: 'parent',
            arity: 2,
            facts: 3,
            derived: 0,
            derivedComplete: true,
            rules: 0,
            scopes: [null],
            example: 'parent(alice, bob)',
          },
        ],
      },
    },
  },
  aggregate: {
    ...read,
    method: 'POST',
    path: '/aggregate',
    summary: 'Count, sum, minimum, maximum or mean over facts, with or without inference',
    description:
      'COUNT, SUM, MIN, MAX or AVG over the true facts that match: in total and, with `groupBy`, for ' +
      'each group; with `infer`, over conclusions too. Sums and means are exact, rounded once.',
    body: aggregateInputSchema,
    output: aggregateResultSchema,
    counts: 'question',
    problems: ['HistoryGone', 'InferenceLimitExceeded'],
    example: {
      body: { operation: 'COUNT', predicate: 'parent', args: ['?parent', '?child'], groupBy: ['parent'] },
      answer: {
        operation: 'COUNT',
        result: 3,
        matchedFacts: 3,
        groups: [
          { key: { parent: 'alice' }, result: 1, matchedFacts: 1 },
          { key: { parent: 'bob' }, result: 2, matchedFacts: 2 },
        ],
      },
    },
  },
} as const satisfies Record<string, OperationSpec>;
