/**
 * The input schemas that `tools/list` shows unless MCP_TOOLS=all: the fields that agents use, in few words.
 *
 * A tool takes every field of its body all the same. Clients stop a call that their copy of the schema refuses, before
 * our answer could say how to mend it: so nothing is required here, and other fields are not ruled out. Each schema
 * converts to the strict mode of OpenAI: no open objects, no references, no alternatives but types.
 */
import type { JsonSchema } from '../../engine/contract/json-schema.ts';
import type { ToolOperation } from './tool-operation.ts';

const text = (description: string): JsonSchema => ({ type: 'string', description });
const flag = (description: string): JsonSchema => ({ type: 'boolean', description });
const whole = (description: string): JsonSchema => ({ type: 'integer', description });
const texts: JsonSchema = { type: 'array', items: { type: 'string' } };

const predicate: JsonSchema = { type: 'string' };
const args: JsonSchema = { type: 'array', items: { type: ['string', 'number', 'boolean'] } };
const scope = text('Named part; default all');
const dryRun = flag('Only preview');
const falseFact = flag('false: not so');

export const publishedFields: Readonly<Record<ToolOperation, Readonly<Record<string, JsonSchema>>>> = {
  assertFact: {
    text: text('Statements, each with a full stop'),
    predicate,
    args,
    truthVal: falseFact,
    validUntil: text('ISO 8601'),
    facts: {
      type: 'array',
      items: { type: 'object', properties: { predicate, args, truthVal: { type: 'boolean' } } },
      description: 'Several, all or none',
    },
    scope,
  },
  ask: {
    text: text('Such as grandparent(alice, ?who)'),
    predicate,
    args,
    negated: flag('Ask what is known to be false'),
    whyNot: flag('Say why there is no answer'),
    limit: whole('Answers at most'),
    scope,
  },
  assertRule: { text: text('head :- conditions, with commas for and'), name: text('For people'), scope },
  retractPattern: {
    text: text('Facts, patterns or rules'),
    predicate,
    args,
    ruleId: text('Of a rule'),
    dryRun,
    scope,
  },
  recall: { predicates: texts, maxFacts: whole('Default 100'), scope },
  optimizeContext: {
    goals: {
      type: 'array',
      items: { type: 'object', properties: { predicate, args, negated: { type: 'boolean' } } },
      description: 'What has to be decided',
    },
    maxFacts: whole('Default 100'),
    maxChars: whole('Of all facts together'),
    predicates: texts,
    scope,
  },
  consolidate: { predicates: texts, minOccurrences: whole('Default 3'), dryRun, scope },
  decay: { threshold: { type: 'number', description: 'Default 0.05' }, dryRun, scope },
  listPredicates: {},
};
