/**
 * The structured content of the tools: the answer of an operation without what an agent does not need.
 *
 * Many clients give the model the structured content in place of the text, and every token costs. So an atom is a text,
 * absent values are left out, and the text beside it (`tool-text.ts`) has everything too.
 *
 * Content is kept within a size that clients can take. An answer that is too large is cut to a page: the first results
 * that fit, each with its whole proof, and `truncated: true`, which in the contract says that there is more. Nothing is
 * cut in the middle. Other outputs are refused with advice on how to get less.
 */
import type { Answer, ProofStep } from '../../engine/contract/inference.ts';
import type { OperationOutput, ToolContents, ToolOperation } from '../../engine/contract/operations.ts';
import type {
  Answered,
  SlimEntry,
  SlimGoal,
  SlimStep,
  SlimWhyNot,
} from '../../engine/contract/tool-contents.ts';
import { EngineError, renderAtom, renderDeclaration, serving } from '../../engine/index.ts';
import { maxPremiseCharacters } from '../../proof/proof-text.ts';
import { partOf } from '../../proof/proof-tree.ts';
import { isLarge, jsonLength } from '../base/json-slices.ts';
import { cutArguments } from './cut-arguments.ts';

type Projection<Name extends ToolOperation> = (output: OperationOutput<Name>) => ToolContents[Name];

/** The remaining hints of an operation, and anything else it says about its answer as a whole. */
const hintsOf = (output: object): { hints?: string[] } =>
  'hints' in output && Array.isArray(output.hints) ? { hints: output.hints as string[] } : {};

function slimGoal({ goal, status, needs }: OperationOutput<'optimizeContext'>['goals'][number]): SlimGoal {
  if (status === 'proved' || needs === null) return { goal, status };
  return { goal, status, facts: needs.facts, chars: needs.chars };
}

/** Projects an operation's answer to the content of its tool. */
export const projections: { readonly [Name in ToolOperation]: Projection<Name> } = {
  assertFact: (output) => output,
  assertRule: ({ etag: _, ...output }) => output,
  retractPattern: (output) => output,
  ask: slimAnswer,
  recall: (output) => ({
    ...(output.facts === undefined ? {} : { facts: output.facts.map((entry) => slimEntry(entry)) }),
    ...named({ text: output.text, arguments: argumentsOf(output.facts) }),
    returned: output.returned,
    totalFacts: output.totalFacts,
    ...hintsOf(output),
  }),
  search: ({ hits, mentions, matched, goalsLeftOut }) => ({
    hits: hits.map(({ kind, atom, rule, entity, predicate, id, score, scope }) => ({
      kind,
      text: atom ?? rule ?? entity ?? predicate ?? '',
      ...named({ id, scope }),
      score: Math.round(score * 1e4) / 1e4,
    })),
    mentions: [...new Set(mentions.flatMap(({ constants, predicates }) => [...constants, ...predicates]))],
    matched,
    ...named({ goalsLeftOut }),
  }),
  optimizeContext: (output) => ({
    ...(output.entries === undefined
      ? {}
      : { entries: output.entries.map((entry) => ({ ...slimEntry(entry), category: entry.category })) }),
    ...named({ text: output.text, arguments: argumentsOf(output.entries) }),
    ...(output.goals.length === 0 ? {} : { goals: output.goals.map(slimGoal) }),
    relevantRules: output.relevantRules,
    ...(output.contradictions.length === 0
      ? {}
      : { contradictions: output.contradictions.map((atom) => renderAtom({ ...atom, negated: false })) }),
    ...(output.omitted === undefined
      ? {}
      : { omitted: output.omitted.map(({ atom, reason }) => ({ atom, reason })) }),
    totalFactsIncluded: output.totalFactsIncluded,
    totalFactsAvailable: output.totalFactsAvailable,
    knowledgeGeneration: output.knowledgeGeneration,
    ...hintsOf(output),
  }),
  consolidate: ({ skipped, summaries, ...output }) => ({
    ...output,
    summaries: summaries.map(({ atom, support, scope }) => ({ atom, support, ...named({ scope }) })),
    ...(skipped.length === 0 ? {} : { skipped: skipped.map(({ atom, reason }) => ({ atom, reason })) }),
  }),
  decay: (output) => output,
  listPredicates: (output) => ({
    predicates: output.predicates.map(({ name, arity, facts, rules, example, scopes, declaration }) => {
      const inScopes = scopes.filter((scope) => scope !== null);
      return {
        name,
        arity,
        facts,
        rules,
        ...named({ example }),
        ...(inScopes.length === 0 ? {} : { scopes: inScopes }),
        ...(declaration === undefined ? {} : { declared: renderDeclaration(declaration) }),
      };
    }),
    ...(output.constraints === undefined
      ? {}
      : {
          constraints: output.constraints.map(({ name, constraint, mode, scope }) => {
            const where = scope === null ? '' : ` in the scope ${scope}`;
            const what = mode === 'reject' ? 'refuses writes' : 'only warns';
            return `${constraint} (${name}; ${what}${where})`;
          }),
        }),
    ...hintsOf(output),
  }),
};

/** The fields that are not empty. */
function named<Fields extends Readonly<Record<string, unknown>>>(
  fields: Fields,
): { [Name in keyof Fields]?: NonNullable<Fields[Name]> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(entries) as { [Name in keyof Fields]?: NonNullable<Fields[Name]> };
}

const isoOf = (time: number | null): string | null => (time === null ? null : new Date(time).toISOString());

type Entry = NonNullable<OperationOutput<'recall'>['facts']>[number];

/** The names of the declared arguments of the listed predicates, in the order of the list; null: there are none. */
function argumentsOf(entries: readonly Entry[] | undefined): string[] | null {
  const said = new Set<string>();
  // Names that are whole numbers lose their order in an object.
  for (const { predicate, named: values } of entries ?? [])
    if (values !== undefined && !Object.keys(values).some((name) => /^\d+$/.test(name)))
      said.add(renderAtom({ predicate, args: Object.keys(values), negated: false }));
  return said.size === 0 ? null : [...said];
}

function slimEntry(entry: Entry): SlimEntry {
  const { predicate, args, negated, salience, scope, validFrom, validUntil, provenance } = entry;
  return {
    atom: renderAtom({ predicate, args, negated }),
    salience: Math.round(salience * 100) / 100,
    ...named({ scope, validFrom: isoOf(validFrom), validUntil: isoOf(validUntil) }),
    ...provenance,
  };
}

function slimAnswer(answer: Answer): Answered {
  const { results, bindings, named, count, truncated, generation: at, proof } = answer;
  const hasBindings = bindings.some((binding) => Object.keys(binding).length > 0);
  return {
    results,
    ...(hasBindings ? { bindings } : {}),
    ...(named === undefined || named.length === 0 ? {} : { named }),
    count,
    truncated,
    generation: at,
    ...(proof === undefined ? {} : { proof: { ...proof, steps: proof.steps.map(slimStep) } }),
    ...hintsOf(answer),
  };
}

/** Projects why an atom does not hold, which is nothing if it does. */
export function slimWhyNot(why: OperationOutput<'explain'>): SlimWhyNot {
  const { attempts, blockedBy } = 'attempts' in why ? why : { attempts: [], blockedBy: [] };
  return {
    atom: why.atom,
    attempts: attempts.map(({ rule, satisfied, missing }) => ({ rule, satisfied, missing })),
    blockedBy: blockedBy.map(({ detail }) => detail),
  };
}

function slimStep({ id, atom, kind, rule, premises, scope, metadata, alternatives }: ProofStep): SlimStep {
  return {
    id,
    atom,
    kind,
    ...named({ rule, scope }),
    ...(premises.length === 0 ? {} : { premises }),
    // Long metadata is truncated: a proof says who told a fact, not everything about it.
    ...(metadata === undefined || Object.keys(metadata).length === 0
      ? {}
      : { metadata: cutArguments(metadata).value as NonNullable<SlimStep['metadata']> }),
    ...(alternatives === undefined || alternatives.length === 0
      ? {}
      : { alternatives: alternatives.map(({ rule: by, premises: from }) => ({ rule: by, premises: from })) }),
  };
}

const pause = serving.resumeOf(null, 'write an answer');

/** Characters of JSON; the SDK's default maximum of one message. */
const maxContentCharacters = 4 * 1024 * 1024;

/**
 * The answer, or the longest page of it found to fit. A proof that does not fit alone is left out. Other work runs
 * between the parts of a long one.
 */
export async function fitAnswer(answer: Answered, limit = maxContentCharacters): Promise<Answered> {
  let size = (await sizeOf(answer)) + premisesIn(answer);
  let page = answer;
  while (size > limit && page.count > 1) {
    const share = Math.floor((page.count * limit) / size);
    page = firstResults(answer, Math.max(1, Math.min(share, Math.floor(page.count / 2))));
    await pause();
    size = (await sizeOf(page)) + premisesIn(page);
  }
  if (size <= limit) return page;
  const { proof: _, ...rest } = page;
  return rest;
}

/**
 * The size of the content. Refuses content that is too large and has no pages; if it is of a write, the refusal says
 * that the write was made.
 */
export async function requireFits(
  tool: string,
  content: unknown,
  isWritten: boolean,
  limit = maxContentCharacters,
): Promise<number> {
  const size = await sizeOf(content);
  if (size <= limit) return size;
  const done = isWritten ? 'the write was made; do not repeat it: ' : '';
  throw new EngineError(
    'PayloadTooLarge',
    `${done}the answer of ${tool} has ${size} characters, more than the limit of ${limit}: use the HTTP API for it`,
  );
}

/** Characters that premises take in the text, which writes each one out instead of its id. */
function premisesIn({ proof }: Answered): number {
  const lengths = new Map(proof?.steps.map(({ id, atom }) => [id, atom.length]));
  let characters = 0;
  for (const { premises = [] } of proof?.steps ?? [])
    for (const id of premises) characters += Math.min(lengths.get(id) ?? 0, maxPremiseCharacters);
  return characters;
}

/** Lets other work run if the content is long: each way of going over it is a turn. */
export async function pauseIfLong(content: unknown): Promise<void> {
  if (isLarge(content)) await pause();
}

/** Sizes already measured: an answer is measured when it is cut and again when it is checked. */
const sizes = new WeakMap<object, number>();

/** Characters of JSON. Content must not change after it was measured. */
async function sizeOf(content: unknown): Promise<number> {
  if (typeof content !== 'object' || content === null) return jsonLength(content, pause);
  let size = sizes.get(content);
  if (size === undefined) sizes.set(content, (size = await jsonLength(content, pause)));
  return size;
}

function firstResults(answer: Answered, count: number): Answered {
  const { proof, bindings, named, ...rest } = answer;
  return {
    ...rest,
    results: answer.results.slice(0, count),
    ...(bindings === undefined ? {} : { bindings: bindings.slice(0, count) }),
    ...(named === undefined ? {} : { named: named.slice(0, count) }),
    count,
    truncated: true,
    ...(proof === undefined ? {} : { proof: partOf(proof, proof.roots.slice(0, count)) }),
  };
}
