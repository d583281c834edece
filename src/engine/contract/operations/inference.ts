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
import { type OperationSpec } from '../operation-spec.ts';

export const inferenceOperations = {
  ask: {
    method: 'POST',
    path: '/ask',
    aliases: ['/infer'],
    summary: 'Answer a question by inference, optionally with its proof',
    tag: 'inference',
    tenant: true,
    database: true,
    role: 'reader',
    kind: 'read',
    transaction: 'read',
    body: askInputSchema,
    queryFlags: { proof: 'withProof' },
    quick: plainQuestion,
    output: answerSchema,
    problems: ['InferenceLimitExceeded', 'RuleException'],
    tool: {
      name: 'ask',
      title: 'Ask a question',
      description:
        'What follows from the facts and rules, with proofs; ask before you answer from memory. Arguments that ' +
        'start with ? are variables, all others constants. Text can join conditions: parent(?x, ?y), not ' +
        'employed(?y). No answer means that it does not follow; whyNot: true says what is missing. For an ' +
        'overview use recall.',
      example: { predicate: 'grandparent', args: ['alice', '?who'] },
      destructive: false,
      idempotent: true,
    },
  },
  explain: {
    method: 'POST',
    path: '/explain',
    summary: 'Explain why something is true, or why it is not',
    tag: 'inference',
    tenant: true,
    database: true,
    role: 'reader',
    kind: 'read',
    body: explainInputSchema,
    output: explanationSchema,
    problems: ['InferenceLimitExceeded'],
  },
  whatIf: {
    method: 'POST',
    path: '/whatIf',
    summary: 'Preview what would follow from other facts and rules; changes nothing',
    tag: 'inference',
    tenant: true,
    database: true,
    role: 'reader',
    kind: 'read',
    body: whatIfInputSchema,
    output: whatIfResultSchema,
    problems: ['InferenceLimitExceeded', 'RuleException', 'RuleNotFound'],
  },
  trace: {
    method: 'POST',
    path: '/trace',
    summary: 'Trace the inference for a question, with timings',
    tag: 'inference',
    tenant: true,
    database: true,
    role: 'reader',
    kind: 'read',
    body: traceInputSchema,
    output: traceSchema,
    problems: ['InferenceLimitExceeded', 'RuleException'],
  },
} as const satisfies Record<string, OperationSpec>;
