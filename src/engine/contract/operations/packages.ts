/** Packages: knowledge from files, applied under a name and taken away again. */
import type { OperationSpec } from '../operation-spec.ts';
import {
  packageDetailSchema,
  packageInputSchema,
  packageListSchema,
  packageOutcomeSchema,
  packageParams,
  packageQuerySchema,
  packageRemovalSchema,
} from '../packages.ts';

const read = { tag: 'transfer', tenant: true, database: true, role: 'reader', kind: 'read' } as const;
const write = { tag: 'transfer', tenant: true, database: true, role: 'writer', kind: 'write' } as const;

const noChanges = {
  added: 0,
  removed: 0,
  changed: 0,
  kept: 0,
  listed: { added: [], removed: [], changed: [] },
};

const family = {
  name: 'family',
  scope: null,
  appliedAt: 1782900003000,
  appliedBy: { id: 'local', name: null },
  generation: 14,
  counts: { facts: 1, rules: 1, declarations: 0, constraints: 0 },
};

export const packageOperations = {
  listPackages: {
    ...read,
    method: 'GET',
    path: '/packages',
    summary: 'List the packages of this tenant',
    description: 'Packages are what `PUT /packages/:name` applied.',
    output: packageListSchema,
    problems: [],
    example: { answer: { packages: [family] } },
  },
  getPackage: {
    ...read,
    method: 'GET',
    path: '/packages/:name',
    summary: 'What a package brought',
    description:
      'Everything that applying the package brought, and whether somebody changed it since. Facts are paged by `limit` and ' +
      '`offset`.',
    params: packageParams,
    query: packageQuerySchema,
    output: packageDetailSchema,
    problems: ['NotFound'],
    example: {
      params: { name: 'family' },
      query: { limit: '100' },
      answer: {
        ...family,
        facts: [
          {
            atom: 'parent(carl, dora)',
            predicate: 'parent',
            args: ['carl', 'dora'],
            truthVal: true,
            scope: null,
            id: 'f14-0',
            state: 'held',
          },
        ],
        nextOffset: null,
        rules: [
          {
            id: 'r14',
            text: 'ancestor(?x, ?y) :- parent(?x, ?y)',
            scope: null,
            state: 'held',
          },
        ],
        declarations: [],
        constraints: [],
      },
    },
  },
  applyPackage: {
    ...write,
    isJudged: true,
    method: 'PUT',
    path: '/packages/:name',
    summary: 'Make the knowledge what a package states',
    description:
      'One transaction stores what the text states and is not stored, and takes away what an earlier apply of this name ' +
      'brought and the text no longer states. What somebody changed since, or another package holds too, stays, and ' +
      '`kept` says why. What was stored before the package came is not the package’s: it is never taken away. A ' +
      'declaration or a reason of a constraint that the text states otherwise is replaced. Two facts of the text with ' +
      'one value of a key that refuses or supersedes are 409 `KeyConflict`. A package with rules, declarations or ' +
      'constraints needs a credential that may change rules. New constraints have the mode `warn`.',
    dryRun: 'body',
    params: packageParams,
    body: packageInputSchema,
    output: packageOutcomeSchema,
    problems: [
      'Conflict',
      'KeyConflict',
      'ShapeViolation',
      'RuleException',
      'StorageUnavailable',
      'QuotaExceeded',
    ],
    example: {
      params: { name: 'family' },
      body: { text: 'parent(carl, dora).\nancestor(?x, ?y) :- parent(?x, ?y).', dryRun: true },
      answer: {
        name: 'family',
        scope: null,
        status: 'applied',
        facts: {
          ...noChanges,
          added: 1,
          listed: { added: ['parent(carl, dora)'], removed: [], changed: [] },
        },
        rules: {
          ...noChanges,
          added: 1,
          listed: { added: ['ancestor(?x, ?y) :- parent(?x, ?y)'], removed: [], changed: [] },
        },
        declarations: noChanges,
        constraints: noChanges,
        kept: [],
        keptCount: 0,
        gained: 3,
        lost: 0,
        conclusions: {
          gained: ['ancestor(ann, bob)', 'ancestor(bob, carl)', 'ancestor(carl, dora)'],
          lost: [],
        },
        generation: 13,
        dryRun: true,
      },
    },
  },
  deletePackage: {
    ...write,
    isJudged: true,
    method: 'DELETE',
    path: '/packages/:name',
    summary: 'Take away what a package brought',
    description:
      'Like applying an empty package, and the package is no longer listed. What somebody changed since stays.',
    dryRun: 'query',
    params: packageParams,
    query: packageRemovalSchema,
    output: packageOutcomeSchema,
    problems: ['NotFound', 'StorageUnavailable'],
    example: {
      params: { name: 'family' },
      query: { timeoutMs: '5000' },
      answer: {
        name: 'family',
        scope: null,
        status: 'deleted',
        facts: {
          ...noChanges,
          removed: 1,
          listed: { added: [], removed: ['parent(carl, dora)'], changed: [] },
        },
        rules: {
          ...noChanges,
          removed: 1,
          listed: { added: [], removed: ['ancestor(?x, ?y) :- parent(?x, ?y)'], changed: [] },
        },
        declarations: noChanges,
        constraints: noChanges,
        kept: [],
        keptCount: 0,
        gained: 0,
        lost: 3,
        conclusions: {
          gained: [],
          lost: ['ancestor(ann, bob)', 'ancestor(bob, carl)', 'ancestor(carl, dora)'],
        },
        generation: 15,
      },
    },
  },
} as const satisfies Record<string, OperationSpec>;
