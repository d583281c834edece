/** Declarations of predicates, and what violates them. */
import {
  declarationInputSchema,
  declarationOutcomeSchema,
  declaredParams,
  predicateDetailSchema,
  withdrawnSchema,
} from '../declarations.ts';
import { predicateGraphQuerySchema, predicateGraphSchema } from '../predicate-graph.ts';
import type { OperationSpec } from '../operation-spec.ts';

const common = { tag: 'shape', tenant: true, tenantDefaults: true, database: true } as const;

/** The declaration of the examples. */
const declared = {
  name: 'lives_in',
  arity: 2,
  description: 'where somebody lives',
  arguments: [
    { name: 'person', description: null, type: 'entity' },
    { name: 'city', description: null, type: 'entity' },
  ],
  key: ['person'],
  onConflict: 'supersede',
  check: 'warn',
};

const relation = { arity: 2, negated: false, stratum: 0, recursive: false };
const livesIn = { name: 'lives_in', ...relation };
const neighbours = { name: 'neighbours', ...relation };

const path = '/predicates/:name/:arity';
const params = { name: declared.name, arity: String(declared.arity) };

export const declarationOperations = {
  predicateGraph: {
    ...common,
    role: 'reader',
    kind: 'read',
    method: 'GET',
    path: '/predicates/graph',
    summary: 'How predicates depend on each other',
    description:
      'Predicates, constraints and declared arguments as nodes. Rules lead from what they read to what they conclude, with ' +
      'the arguments that their variables join; constraints are read from predicates; predicates meet at arguments of one ' +
      'name and type. Facts are counted in the view; rules, constraints and declarations are those of the database.',
    query: predicateGraphQuerySchema,
    output: predicateGraphSchema,
    problems: ['HistoryGone'],
    example: {
      query: { predicate: 'lives_in' },
      answer: {
        nodes: [
          {
            kind: 'predicate',
            id: 'lives_in/2',
            ...livesIn,
            facts: 2,
            rules: 0,
            declared: true,
            key: ['person'],
          },
          {
            kind: 'predicate',
            id: 'neighbours/2',
            ...neighbours,
            facts: 0,
            rules: 1,
            declared: false,
            key: [],
          },
          { kind: 'argument', id: 'city: entity', name: 'city', type: 'entity' },
          { kind: 'argument', id: 'person: entity', name: 'person', type: 'entity' },
        ],
        edges: [
          {
            kind: 'rule',
            from: 'lives_in/2',
            to: 'neighbours/2',
            completes: false,
            rules: ['r3'],
            positions: [
              { from: 0, to: 0 },
              { from: 0, to: 1 },
            ],
          },
          { kind: 'argument', from: 'lives_in/2', to: 'city: entity', position: 1, inKey: false },
          { kind: 'argument', from: 'lives_in/2', to: 'person: entity', position: 0, inKey: true },
        ],
        total: 4,
        truncated: false,
      },
    },
  },
  declarePredicate: {
    ...common,
    role: 'writer',
    kind: 'write',
    method: 'PUT',
    path,
    summary: 'Declare a predicate',
    description:
      'Names, types and descriptions of its arguments, a key, and what happens to facts at odds with them; replaces an ' +
      'earlier declaration as a whole. Only stored facts are judged, never conclusions. Declaring is never refused for what ' +
      'is stored: `GET /violations` lists it. Scope merges and forks leave declarations alone.',
    transaction: 'write',
    changesRules: true,
    params: declaredParams,
    body: declarationInputSchema,
    output: declarationOutcomeSchema,
    problems: ['Conflict', 'StorageUnavailable'],
    example: {
      params,
      body: {
        description: declared.description,
        arguments: [
          { name: 'person', type: 'entity' },
          { name: 'city', type: 'entity' },
        ],
        key: ['person'],
        onConflict: 'supersede',
      },
      answer: { status: 'added', ...declared, generation: 12 },
    },
  },
  getPredicate: {
    ...common,
    role: 'reader',
    kind: 'read',
    method: 'GET',
    path,
    summary: 'One declared predicate, with counts, examples and violations',
    description: '404 if it is not declared. The counts are those of the tenant, in all its scopes.',
    params: declaredParams,
    output: predicateDetailSchema,
    problems: ['NotFound'],
    example: {
      params,
      answer: {
        ...declared,
        createdAt: 1782900000500,
        facts: 2,
        derived: 0,
        derivedComplete: true,
        rules: 0,
        scopes: [null],
        examples: ['lives_in(ann, york)', 'lives_in(bob, rome)'],
        violations: { key: 0, shape: 0 },
      },
    },
  },
  withdrawPredicate: {
    ...common,
    role: 'writer',
    kind: 'write',
    method: 'DELETE',
    path,
    summary: 'Withdraw a declaration',
    description: 'The facts stay as they are.',
    transaction: 'write',
    changesRules: true,
    params: declaredParams,
    output: withdrawnSchema,
    problems: ['NotFound', 'StorageUnavailable'],
    example: { params, answer: { status: 'withdrawn', name: 'lives_in', arity: 2, generation: 13 } },
  },
} as const satisfies Record<string, OperationSpec>;
