/** Constraints: what must not be true, and what of it is. */
import {
  constraintInputSchema,
  constraintListSchema,
  constraintOutcomeSchema,
  constraintRemovedSchema,
  constraintUpdateSchema,
} from '../constraints.ts';
import { violationListSchema, violationsQuerySchema } from '../violations.ts';
import { idParams, type OperationSpec } from '../operation-spec.ts';

const read = { tag: 'constraints', tenant: true, database: true, role: 'reader', kind: 'read' } as const;
const write = { tag: 'constraints', tenant: true, database: true, role: 'writer', kind: 'write' } as const;

/** The constraint of the examples, and a violation of it. */
const constraint = {
  id: 'c5',
  text: '!- adult(?x), age(?x, ?a), ?a < 18',
  body: [
    { predicate: 'adult', args: ['?x'], negated: false, naf: false },
    { predicate: 'age', args: ['?x', '?a'], negated: false, naf: false },
    { predicate: '<', args: ['?a', '18'], negated: false, naf: false },
  ],
  name: 'of age',
  description: 'an adult is 18 or older',
  mode: 'warn',
  scope: null,
  createdAt: 1782900000500,
} as const;
const instance = 'adult(ann), age(ann, 12), 12 < 18';
const stored = { kind: 'fact', rule: null, ruleId: null, premises: [], scope: null } as const;
const violation = {
  kind: 'constraint',
  constraint: 'c5',
  name: 'of age',
  mode: 'warn',
  scope: null,
  bindings: { x: 'ann', a: '12' },
  instance,
  proof: {
    roots: [3],
    steps: [
      { id: 0, atom: 'adult(ann)', ...stored, factId: 'f1-0' },
      { id: 1, atom: 'age(ann, 12)', ...stored, factId: 'f2-0' },
      { id: 2, atom: '12 < 18', ...stored, kind: 'builtin' },
      { id: 3, atom: instance, ...stored, kind: 'rule', premises: [0, 1, 2] },
    ],
  },
} as const;

/** What is at odds with a declared key. */
const double = {
  kind: 'key',
  predicate: 'age',
  arity: 2,
  scope: null,
  bindings: { person: 'ann' },
  message: '2 facts of age/2 have the key person ann at the same time',
  facts: [
    { id: 'f2-0', atom: 'age(ann, 12)', validFrom: null, validUntil: null },
    { id: 'f4-0', atom: 'age(ann, 13)', validFrom: null, validUntil: null },
  ],
  proof: {
    roots: [0, 1],
    steps: [
      { id: 0, atom: 'age(ann, 12)', ...stored, factId: 'f2-0' },
      { id: 1, atom: 'age(ann, 13)', ...stored, factId: 'f4-0' },
    ],
  },
} as const;

export const constraintOperations = {
  addConstraint: {
    ...write,
    isJudged: true,
    method: 'POST',
    path: '/constraints',
    summary: 'Forbid what a body says',
    description:
      'A constraint is `!- body`: the body must have no answer, in the unscoped view and in the view of each scope, or in ' +
      'that of `scope` only. With `reject` a write that begins a violation is 422 `ConstraintViolated`, and so is the ' +
      "constraint itself if the caller's tenant violates it already; `dryRun` tells what does. The same constraint (text " +
      'and scope) is stored once: added again, it takes the given name, description and mode. A transaction adds it once, and ' +
      'tries none alone: `dryRun` is for the commit.',
    transaction: 'write',
    changesRules: true,
    dryRun: 'body',
    body: constraintInputSchema,
    output: constraintOutcomeSchema,
    problems: ['Conflict', 'RuleException', 'StorageUnavailable'],
    example: {
      body: { text: `${constraint.text} "${constraint.description}"`, name: constraint.name, mode: 'warn' },
      answer: { status: 'asserted', id: 'c5', constraint: constraint.text, generation: 5 },
    },
  },
  listConstraints: {
    ...read,
    method: 'GET',
    path: '/constraints',
    summary: 'All constraints of the database',
    description: 'Oldest first.',
    output: constraintListSchema,
    problems: [],
    example: { answer: { constraints: [constraint] } },
  },
  updateConstraint: {
    ...write,
    isJudged: true,
    method: 'PUT',
    path: '/constraints/:id',
    summary: 'Change a constraint',
    description:
      'Takes any of `text`, `name`, `description` and `mode`. What is violated already when `mode` becomes `reject` stays ' +
      'as it is and refuses nothing.',
    transaction: 'write',
    changesRules: true,
    dryRun: 'body',
    params: idParams,
    body: constraintUpdateSchema,
    output: constraintOutcomeSchema,
    problems: ['NotFound', 'Conflict', 'RuleException', 'StorageUnavailable'],
    example: {
      params: { id: 'c5' },
      body: { mode: 'reject' },
      answer: { status: 'updated', id: 'c5', constraint: constraint.text, generation: 6 },
    },
  },
  deleteConstraint: {
    ...write,
    method: 'DELETE',
    path: '/constraints/:id',
    summary: 'Delete a constraint',
    description: 'Its violations are no longer listed.',
    transaction: 'write',
    changesRules: true,
    params: idParams,
    output: constraintRemovedSchema,
    problems: ['NotFound', 'StorageUnavailable'],
    example: { params: { id: 'c5' }, answer: { status: 'retracted', id: 'c5', generation: 27 } },
  },
  listViolations: {
    ...read,
    method: 'GET',
    path: '/violations',
    summary: 'What violates the declarations and the constraints',
    description:
      'Values of keys that several facts of one scope have at one instant, then facts with arguments of another type, by ' +
      'predicate and arity and in order of assertion; then what violates constraints of both modes, each with the values ' +
      'of its variables and its proof. A violation of a constraint is identified by the constraint, the view and the ' +
      'values of the variables that atoms of the body bind. `total` counts all.',
    counts: 'question',
    query: violationsQuerySchema,
    output: violationListSchema,
    problems: ['NotFound', 'InferenceLimitExceeded'],
    example: {
      query: { predicate: 'age' },
      answer: { violations: [double, violation], total: 2, truncated: false, generation: 12 },
    },
  },
} as const satisfies Record<string, OperationSpec>;
