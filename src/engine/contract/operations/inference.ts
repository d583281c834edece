/** Questions answered by inference, and explanations of the answers. */
import {
  explainInputSchema,
  explanationSchema,
  traceInputSchema,
  traceSchema,
  whatIfInputSchema,
  whatIfResultSchema,
} from '../explanation.ts';
import { answerSchema, askInputSchema, plainQuestion } from '../inference.ts';
import { planSchema } from '../plan.ts';
import { type OperationSpec } from '../operation-spec.ts';
import { answeredSchema } from '../tool-contents.ts';
import { askToolInputSchema } from '../tool-inputs.ts';

const shared = { tag: 'inference', tenant: true, database: true, role: 'reader', kind: 'read' } as const;

export const inferenceOperations = {
  ask: {
    ...shared,
    method: 'POST',
    path: '/ask',
    aliases: ['/infer'],
    summary: 'Answer a question by inference, optionally with its proof',
    description:
      'Give `predicate` and `args`, `text` (the body of a rule), or `body` (a list of literals). The ' +
      'answer is complete, without duplicates, ordered by the arguments (by code point), and of one ' +
      '`generation`; no match is an empty list. `withProof` proves each result; `allProofs` adds the ' +
      'other derivations of each conclusion. `plan` evaluates the question afresh and adds its plan with ' +
      'the rows and the time of each step. If the client disconnects, the question is cancelled.',
    transaction: 'read',
    body: askInputSchema,
    queryFlags: { proof: 'withProof' },
    quick: plainQuestion,
    output: answerSchema,
    counts: 'question',
    problems: ['HistoryGone', 'InferenceLimitExceeded', 'RuleException'],
    tool: {
      name: 'ask',
      title: 'Ask a question',
      description:
        'What follows from the facts and rules, with proofs; ask before you answer from memory. Arguments that ' +
        'start with ? are variables, all others constants. Text can join conditions: parent(?x, ?y), not ' +
        'employed(?y). No answer means that it does not follow; whyNot: true says what is missing. For an ' +
        'overview use recall.',
      input: askToolInputSchema,
      output: answeredSchema,
      example: { predicate: 'grandparent', args: ['alice', '?who'] },
      destructive: false,
      idempotent: true,
    },
    example: {
      body: { predicate: 'grandparent', args: ['alice', '?who'], limit: 1, withProof: true },
      answer: {
        results: ['grandparent(alice, carol)'],
        bindings: [{ who: 'carol' }],
        count: 1,
        truncated: true,
        total: 2,
        generation: 3,
        elapsedMs: 11.5,
        proof: {
          roots: [2],
          steps: [
            {
              id: 0,
              atom: 'parent(alice, bob)',
              rule: null,
              ruleId: null,
              premises: [],
              kind: 'fact',
              scope: null,
              factId: 'f1-0',
              metadata: { source: 'the register' },
            },
            {
              id: 1,
              atom: 'parent(bob, carol)',
              rule: null,
              ruleId: null,
              premises: [],
              kind: 'fact',
              scope: null,
              factId: 'f2-0',
            },
            {
              id: 2,
              atom: 'grandparent(alice, carol)',
              kind: 'rule',
              rule: 'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)',
              ruleId: 'r3',
              premises: [0, 1],
              scope: null,
            },
          ],
        },
      },
    },
  },
  plan: {
    ...shared,
    method: 'POST',
    path: '/plan',
    summary: 'Show how a question would be evaluated, without evaluating it',
    description:
      'Takes what /ask takes. The answer is a tree of steps: the tables that the question demands, the rules ' +
      'that fill each, the order in which a rule joins its atoms, how it finds their rows, and how many it ' +
      'expects; `text` is the same tree as indented text. It is the plan for tables that are still empty. ' +
      '/ask with `plan: true` adds the rows and the time of each step.',
    body: askInputSchema,
    output: planSchema,
    counts: 'question',
    problems: ['HistoryGone', 'InferenceLimitExceeded', 'RuleException'],
    example: {
      body: { predicate: 'grandparent', args: ['alice', '?who'] },
      answer: {
        plan: {
          step: 'question',
          detail: 'grandparent(alice, ?who)',
          access: 'none',
          estimatedRows: 1,
          children: [
            {
              step: 'table',
              detail: 'grandparent(bound, ?)',
              relation: 'grandparent/2',
              access: 'key',
              columns: [0],
              estimatedRows: 1,
              strategy: 'rules',
              children: [
                {
                  step: 'rule',
                  detail: 'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)',
                  access: 'none',
                  estimatedRows: 1,
                  children: [],
                },
              ],
            },
          ],
        },
        text:
          'question grandparent(alice, ?who) (estimated 1)\n' +
          '  -> table grandparent(bound, ?) [key by argument 1] (estimated 1); rules\n' +
          '    -> rule grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z) (estimated 1)',
        truncated: false,
      },
    },
  },
  explain: {
    ...shared,
    method: 'POST',
    path: '/explain',
    summary: 'Explain why something is true, or why it is not',
    description:
      '`why` proves an atom that is true. `whyNot`, for a ground atom that is not, shows how far each ' +
      'rule that could conclude it gets, what is missing, and what blocks it.',
    body: explainInputSchema,
    output: explanationSchema,
    counts: 'question',
    problems: ['HistoryGone', 'InferenceLimitExceeded'],
    example: {
      body: { predicate: 'grandparent', args: ['bob', 'carol'], mode: 'whyNot' },
      answer: {
        atom: 'grandparent(bob, carol)',
        holds: false,
        attempts: [
          {
            rule: 'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)',
            ruleId: 'r3',
            bindings: { x: 'bob', z: 'carol', y: 'carol' },
            satisfied: ['parent(bob, carol)'],
            missing: ['parent(carol, carol)'],
          },
        ],
        blockedBy: [],
      },
    },
  },
  whatIf: {
    ...shared,
    method: 'POST',
    path: '/whatIf',
    summary: 'Preview what would follow from other facts and rules; changes nothing',
    description:
      'Removes `retract` and `withoutRules`, adds `assert` and `rules`, and answers the goals before and ' +
      'after. Without goals, the answer covers every predicate that the change can reach.',
    body: whatIfInputSchema,
    output: whatIfResultSchema,
    counts: 'question',
    problems: ['HistoryGone', 'InferenceLimitExceeded', 'RuleException', 'RuleNotFound'],
    example: {
      body: {
        assert: [{ predicate: 'parent', args: ['carol', 'emil'] }],
        goals: [{ predicate: 'grandparent', args: ['?x', '?y'] }],
      },
      answer: {
        goals: [
          {
            goal: 'grandparent(?x, ?y)',
            before: ['grandparent(alice, carol)', 'grandparent(alice, dora)'],
            after: ['grandparent(alice, carol)', 'grandparent(alice, dora)', 'grandparent(bob, emil)'],
            gained: ['grandparent(bob, emil)'],
            lost: [],
          },
        ],
      },
    },
  },
  trace: {
    ...shared,
    method: 'POST',
    path: '/trace',
    summary: 'Trace the inference for a question, with timings',
    description:
      'Evaluates the question afresh and reports what was tried, how often, and where the time went. Not ' +
      'a use of the facts.',
    body: traceInputSchema,
    output: traceSchema,
    counts: 'question',
    problems: ['HistoryGone', 'InferenceLimitExceeded', 'RuleException'],
    example: {
      body: { predicate: 'grandparent', args: ['alice', '?who'], maxEvents: 2 },
      answer: {
        answers: 2,
        elapsedMs: 2.2,
        rules: [
          {
            ruleId: 'r3',
            rule: 'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)',
            fired: 2,
            derived: 2,
            elapsedMs: 0.36,
          },
        ],
        subgoals: [{ goal: 'grandparent(alice, ?who)', calls: 1, answers: 2, scope: null }],
        events: [
          { seq: 1, port: 'call', depth: 0, atom: 'grandparent(alice, ?who)', ruleId: null, scope: null },
          { seq: 2, port: 'exit', depth: 0, atom: 'grandparent(alice, dora)', ruleId: 'r3', scope: null },
        ],
        truncated: true,
      },
    },
  },
} as const satisfies Record<string, OperationSpec>;
