/** Scopes: list, fork, diff, merge and delete. */
import {
  diffInputSchema,
  forkedSchema,
  forkInputSchema,
  mergedSchema,
  mergeInputSchema,
  resolutionsList,
  scopeDeletedSchema,
  scopeDiffSchema,
  scopeListSchema,
  scopeParams,
} from '../scopes.ts';
import { type OperationSpec } from '../operation-spec.ts';
import { momentQuerySchema } from '../moments.ts';

const read = { tag: 'scopes', tenant: true, database: true, role: 'reader', kind: 'read' } as const;
const write = { tag: 'scopes', tenant: true, database: true, role: 'writer', kind: 'write' } as const;

/** A fact of the example of a comparison. */
const guest = {
  id: 'f7-0',
  predicate: 'guest',
  args: ['ann'],
  truthVal: true,
  scope: 'plan',
  validFrom: null,
  validUntil: null,
  metadata: {},
};

export const scopeOperations = {
  listScopes: {
    ...read,
    method: 'GET',
    path: '/scopes',
    summary: 'List the scopes',
    description:
      'Scopes with a fact of the tenant or a rule, and forks that were not deleted. `forkedAt` is the ' +
      'generation of the fork.',
    query: momentQuerySchema,
    output: scopeListSchema,
    problems: ['HistoryGone'],
    example: {
      query: { asKnown: '9' },
      answer: {
        knowledgeGeneration: 9,
        scopes: [
          { name: 'plan', facts: 3, rules: 0, createdAt: 1782900002600, forkedFrom: null, forkedAt: null },
          { name: 'plan-b', facts: 2, rules: 0, createdAt: 1782900002600, forkedFrom: 'plan', forkedAt: 9 },
        ],
        count: 2,
      },
    },
  },
  forkScope: {
    ...write,
    method: 'POST',
    path: '/scope/fork',
    summary: 'Copy a scope with its facts and rules',
    description:
      'Copies the facts with validity and metadata, and the rules of the scope. A target that has facts ' +
      'is 409. The fork remembers its source as it was: the base of later merges between the two.',
    body: forkInputSchema,
    output: forkedSchema,
    problems: ['ScopeNotFound', 'Conflict', 'RuleException', 'StorageUnavailable', 'QuotaExceeded'],
    example: {
      body: { source: 'plan', target: 'plan-b' },
      answer: { source: 'plan', target: 'plan-b', facts: 2, rules: 0, generation: 9 },
    },
  },
  diffScopes: {
    ...read,
    method: 'POST',
    path: '/scope/diff',
    summary: 'The differences between two scopes',
    description:
      'Compares facts by identity; the remaining ones with the same predicate and arguments on both ' +
      'sides are modified pairs. With `asMerge`, each difference says which side a merge takes, or that ' +
      'it is a conflict.',
    body: diffInputSchema,
    output: scopeDiffSchema,
    problems: ['HistoryGone', 'ScopeNotFound'],
    example: {
      body: { source: 'plan-b', target: 'plan' },
      answer: {
        source: 'plan-b',
        target: 'plan',
        added: [{ ...guest, id: 'f10-0', args: ['carl'], scope: 'plan-b' }],
        removed: [guest],
        modified: [],
        unchanged: 1,
        truncated: false,
      },
    },
  },
  mergeScopes: {
    ...write,
    isJudged: true,
    runsTests: true,
    method: 'POST',
    path: '/scope/merge',
    summary: 'Merge the facts of one scope into another',
    description:
      '`resolutions` settle single conflicts, `strategy` the others. With a base, only what both sides ' +
      'changed is a conflict, and what the source deleted is deleted from the target. `base` defaults to ' +
      '"fork" if the two have one: the facts of the fork\'s source at the fork, or of the source at their ' +
      'last merge. Adding a fact whose opposite is in the target is a conflict. The source does not ' +
      'change, and rules are not merged.',
    dryRun: 'body',
    body: mergeInputSchema,
    longList: resolutionsList,
    output: mergedSchema,
    problems: ['ScopeNotFound', 'Conflict', 'StorageUnavailable', 'QuotaExceeded'],
    example: {
      body: { source: 'plan-b', target: 'plan', strategy: 'SOURCE_WINS' },
      answer: {
        strategy: 'SOURCE_WINS',
        base: 'fork',
        ancestor: { scope: 'plan', generation: 9, time: 1782900002600 },
        added: 1,
        updated: 0,
        deleted: 0,
        kept: 0,
        conflicts: [],
        resolved: 0,
        gained: 1,
        lost: 0,
        generation: 12,
      },
    },
  },
  deleteScope: {
    ...write,
    isJudged: true,
    method: 'DELETE',
    path: '/scope/:name',
    summary: 'Delete a scope with its facts and rules',
    description: "Deletes the tenant's facts, and the rules if no other tenant has facts in the scope.",
    params: scopeParams,
    output: scopeDeletedSchema,
    problems: ['ScopeNotFound', 'StorageUnavailable'],
    example: { params: { name: 'plan-b' }, answer: { scope: 'plan-b', facts: 2, rules: 0, generation: 13 } },
  },
} as const satisfies Record<string, OperationSpec>;
