/** Rules: teach, check, list, change and retract. */
import {
  forgetRuleQuerySchema,
  teachInputSchema,
  ruleListSchema,
  ruleOutcomeSchema,
  ruleRetractedSchema,
  ruleUpdateSchema,
  storedRuleSchema,
  validateInputSchema,
  validateResultSchema,
} from '../rules.ts';
import { idParams, type OperationSpec } from '../operation-spec.ts';
import { taughtSchema } from '../tool-contents.ts';
import { momentQuerySchema } from '../moments.ts';

const read = { tag: 'rules', tenant: true, database: true, role: 'reader', kind: 'read' } as const;
const write = { tag: 'rules', tenant: true, database: true, role: 'writer', kind: 'write' } as const;

/** The rule of the examples. */
const rule = {
  id: 'r3',
  text: 'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)',
  head: { predicate: 'grandparent', args: ['?x', '?z'], negated: false },
  body: [
    { predicate: 'parent', args: ['?x', '?y'], negated: false, naf: false },
    { predicate: 'parent', args: ['?y', '?z'], negated: false, naf: false },
  ],
  scope: null,
  name: 'grandparents',
  description: null,
  enabled: true,
  createdAt: 1782900000500,
  etag: '"r3-3"',
  fired: 2,
};

export const ruleOperations = {
  assertRule: {
    ...write,
    isJudged: true,
    runsTests: true,
    method: 'POST',
    path: '/assert/rule',
    aliases: ['/teach'],
    summary: 'Teach a rule',
    description:
      'As `text`, or as `head` and `body`. The same rule (up to variable names, in the same scope) is ' +
      'stored once. A rule that is unsafe, or cannot be stratified with the others, is 422 with the ' +
      'reason.',
    transaction: 'write',
    changesRules: true,
    etag: true,
    body: teachInputSchema,
    output: ruleOutcomeSchema,
    problems: ['RuleException', 'StorageUnavailable', 'QuotaExceeded'],
    tool: {
      name: 'teach',
      title: 'Teach a rule',
      description:
        'Store a rule for what is true in general; for facts use tell. Conditions: atoms, not p(?x) (does not follow), -p(?x) (known to be false), ' +
        '?a < ?b, ?c = ?a + ?b, ?n = count { ?y : p(?x, ?y) }. The body binds every variable of the head.',
      output: taughtSchema,
      example: { text: rule.text },
      destructive: false,
      idempotent: true,
    },
    example: {
      body: { text: rule.text, name: rule.name },
      answer: { status: 'asserted', rule: rule.text, id: 'r3', etag: rule.etag, generation: 3 },
    },
  },
  validateRules: {
    ...read,
    method: 'POST',
    path: '/rules/validate',
    summary: 'Check statements without storing them',
    description:
      'For editors: syntax errors, unsafe variables, cycles through negation, and warnings such as an ' +
      'unknown predicate. Nothing is stored.',
    body: validateInputSchema,
    output: validateResultSchema,
    problems: [],
    example: {
      body: { text: 'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?w).' },
      answer: {
        valid: false,
        diagnostics: [
          {
            severity: 'error',
            code: 'unsafe_variable',
            message: 'nothing binds ?z of the head: mention it in an atom of the body that is not under not',
            startLine: 1,
            startColumn: 17,
            endLine: 1,
            endColumn: 19,
          },
          {
            severity: 'warning',
            code: 'singleton_variable',
            message:
              '?w occurs only once in this rule: write ?_ if it may be anything, or check its spelling',
            startLine: 1,
            startColumn: 51,
            endLine: 1,
            endColumn: 53,
          },
        ],
        rules: 1,
        facts: 0,
        constraints: 0,
      },
    },
  },
  listRules: {
    ...read,
    method: 'GET',
    path: '/rules',
    summary: 'All rules of the database',
    description: 'Oldest first. `fired` counts how often a rule was used to draw a conclusion.',
    query: momentQuerySchema,
    output: ruleListSchema,
    problems: ['HistoryGone'],
    example: { query: { asKnown: '3' }, answer: { rules: [rule], knowledgeGeneration: 3 } },
  },
  getRule: {
    ...read,
    method: 'GET',
    path: '/rules/:id',
    summary: 'One rule',
    description: 'With its entity tag, for `If-Match`.',
    etag: true,
    params: idParams,
    output: storedRuleSchema,
    problems: ['RuleNotFound'],
    example: { params: { id: 'r3' }, answer: rule },
  },
  updateRule: {
    ...write,
    isJudged: true,
    runsTests: true,
    method: 'PUT',
    path: '/rules/:id',
    summary: 'Replace a rule, or change only its enabled flag, name or description',
    description:
      'Takes a whole rule, or any of `enabled`, `name` and `description`. Changing a rule into another ' +
      'stored rule is 409.',
    transaction: 'write',
    changesRules: true,
    etag: true,
    ifMatch: true,
    params: idParams,
    body: ruleUpdateSchema,
    output: ruleOutcomeSchema,
    problems: ['RuleNotFound', 'Conflict', 'PreconditionFailed', 'RuleException', 'StorageUnavailable'],
    example: {
      params: { id: 'r3' },
      body: { description: 'two generations apart' },
      answer: { status: 'updated', rule: rule.text, id: 'r3', etag: '"r3-4"', generation: 4 },
    },
  },
  deleteRule: {
    ...write,
    isJudged: true,
    runsTests: true,
    method: 'DELETE',
    path: '/rules/:id',
    summary: 'Retract a rule',
    description: 'Its conclusions are no longer true unless something else supports them.',
    transaction: 'write',
    changesRules: true,
    ifMatch: true,
    params: idParams,
    query: forgetRuleQuerySchema,
    output: ruleRetractedSchema,
    problems: ['RuleNotFound', 'PreconditionFailed', 'StorageUnavailable'],
    example: {
      params: { id: 'r3' },
      query: { runTests: 'true' },
      answer: { status: 'retracted', dependentsCount: 0, tests: { passed: 4, failed: 0 }, generation: 27 },
    },
  },
} as const satisfies Record<string, OperationSpec>;
