/**
 * Natural language in and out: what is read, what is stored of it, and what is answered.
 *
 * Each request stores everything in one write, after everything has been read and checked: a failing provider, a rule
 * that may not be taught or a client that disconnects earlier leaves nothing behind. A request repeated with its
 * idempotency key after a restart is answered from what was read the first time, which the write has stored.
 */
import {
  defaultSession,
  type Extracted,
  type ExtractInput,
  type Ingested,
  type IngestInput,
  type ProviderName,
  type SynthesizeInput,
  type TurnsAnswer,
  type TurnsInput,
} from '../../engine/contract/extraction.ts';
import {
  type Caller,
  type Engine,
  EngineError,
  invalid,
  type Learned,
  type LearnedFact,
  renderAtom,
  renderRule,
  type SaidTurns,
  signalOf,
  serving,
  Slices,
  type ViewFields,
} from '../../engine/index.ts';
import { optimizeInputSchema } from '../../engine/contract/context.ts';
import { maxFactsPerRequest } from '../../engine/contract/facts.ts';
import { type RuleInput, ruleInputSchema } from '../../engine/contract/rules.ts';
import { requireRuleChange } from '../base/dispatch.ts';
import { type Discarded, findFacts, type FoundFact, shortened } from './extraction.ts';
import { type FreeText, readFreeText, type RuleStatement } from './free-text.ts';
import type { LanguageModel } from './language-model.ts';
import { synthesize } from './synthesis.ts';
import { saidTexts } from './said-turns.ts';
import { contextFor, hasProse } from './turns.ts';
import { Vocabulary } from './vocabulary.ts';

interface LanguageParts {
  readonly engine: () => Engine;
  /** null: no provider is configured. */
  readonly model: LanguageModel | null;
  /** Whether text may be sent to the provider. */
  readonly isEnabled: boolean;
}

/** Natural language in and out: text that becomes facts, and proved facts that become words. */
export type Language = ReturnType<typeof createLanguage>;

/** Creates the operations on natural language. */
export function createLanguage(parts: LanguageParts) {
  const { engine } = parts;
  return {
    contextOfTurns: async (caller: Caller, input: TurnsInput) =>
      contextOfTurns(engine(), parts, caller, input),
    ingest: async (caller: Caller, input: IngestInput) => ingest(engine(), parts, caller, input),
    extract: async (caller: Caller, input: ExtractInput) => extract(engine(), parts, caller, input),
    synthesize: async (caller: Caller, input: SynthesizeInput) =>
      synthesize(engine(), requireModel(parts), caller, input),
  };
}

function allowedModel({ model, isEnabled }: LanguageParts): LanguageModel | null {
  return isEnabled ? model : null;
}

/** The model. Refuses with LlmUnavailable if there is none, or it may not be used. */
function requireModel({ model, isEnabled }: LanguageParts): LanguageModel {
  if (model === null) throw new EngineError('LlmUnavailable', 'LLM provider not configured');
  if (!isEnabled) throw new EngineError('LlmUnavailable', 'LLM extraction is disabled');
  return model;
}

async function contextOfTurns(
  engine: Engine,
  parts: LanguageParts,
  caller: Caller,
  input: TurnsInput,
): Promise<TurnsAnswer> {
  type Note = Pick<TurnsAnswer, 'extraction' | 'warning' | 'remembered'>;
  const model = allowedModel(parts);
  const turns = input.remember ? turnsToRemember(input) : null;
  const earlier = earlierWrite<Note>(engine, caller);
  const stored = earlier ?? (await readAndStore());
  const { learned, note } = stored;
  return {
    ...(await contextFor(engine, caller, input, turns)),
    newFactsExtracted: (learned?.asserted ?? 0) - (note.remembered?.count ?? 0),
    ...note,
    ...generationOf(learned),
  };

  async function readAndStore(): Promise<Stored<Note>> {
    const text = input.turns.join('\n\n');
    const free = await readStatements(engine, caller, text, 'turns');
    if (free.rules.length > 0) requireRuleChange(caller);
    const read = await readText(engine, model, caller, free, textOf(text, input));
    const extraction = read.provider === 'statements' ? 'statements' : 'llm';
    const isLeftAlone =
      model === null &&
      free.prose.some(({ start, end }) => hasProse(text.slice(start, end), engine.argumentNames(caller)));
    const note = (first: number | null): Note => ({
      ...(turns === null
        ? {}
        : { remembered: { sessionId: turns.session, first, count: turns.texts.length } }),
      extraction,
      ...(isLeftAlone ? { warning: leftAlone(parts) } : {}),
    });
    return store(engine, caller, input, { ...read, rules: read.statedRules, turns }, note);
  }
}

function turnsToRemember({ turns, sessionId, scope }: TurnsInput): SaidTurns {
  return { session: sessionId ?? defaultSession, texts: saidTexts(turns), scope };
}

/** The hint about natural language that was not read. */
function leftAlone({ model }: LanguageParts): string {
  const why = model === null ? 'LLM provider not configured' : 'LLM extraction is disabled';
  return `${why}: natural language in the turns was left alone. Lines that are statements are read without one, as in parent(alice, bob)`;
}

async function ingest(
  engine: Engine,
  parts: LanguageParts,
  caller: Caller,
  input: IngestInput,
): Promise<Ingested> {
  type Note = Pick<Ingested, 'extracted' | 'extractionProvider' | 'discarded'>;
  const { learned, note } = earlierWrite<Note>(engine, caller) ?? (await readAndStore());
  const { goals, maxFacts, scope, unscoped, sessionId, autoResolveContradictions } = input;
  const wanted = { goals, maxFacts, scope, unscoped, sessionId, autoResolveContradictions };
  const context = await engine.optimizeContext(caller, optimizeInputSchema.parse(wanted));
  return { ...note, context, generation: learned?.generation ?? context.knowledgeGeneration };

  async function readAndStore(): Promise<Stored<Note>> {
    const free = await readStatements(engine, caller, input.text, 'text');
    if (free.rules.length > 0) requireRuleChange(caller);
    const model = free.prose.length === 0 ? null : requireModel(parts);
    const hint = input.contextHint ?? '';
    const read = await readText(engine, model, caller, free, textOf(input.text, input, hint));
    const extracted = read.facts.map(({ predicate, args, negated, confidence }) => {
      return { predicate, args, negated, confidence };
    });
    const discarded = [...read.discarded];
    const answer = { extracted, extractionProvider: read.provider, discarded };
    return store(engine, caller, input, { ...read, rules: read.statedRules }, () => answer);
  }
}

async function extract(
  engine: Engine,
  parts: LanguageParts,
  caller: Caller,
  input: ExtractInput,
): Promise<Extracted> {
  type Note = Omit<Extracted, 'asserted' | 'assertedCount' | 'generation'>;
  if (input.assert && input.rules) requireRuleChange(caller);
  const { learned, note } = earlierWrite<Note>(engine, caller) ?? (await readAndStore());
  return {
    ...note,
    asserted: input.assert,
    assertedCount: learned?.asserted ?? 0,
    ...generationOf(learned),
  };

  async function readAndStore(): Promise<Stored<Note>> {
    const model = requireModel(parts);
    const { text, context } = input;
    const free = await readStatements(engine, caller, text, 'text');
    const hint = { ...textOf(text, input, context ?? ''), wantsRules: input.rules };
    const read = await readText(engine, model, caller, free, hint);
    const { rules, discarded } = await teachable(engine, caller, input, read, free);
    const facts = read.facts.map(({ predicate, args, negated, confidence, source: { start, end } }) => {
      return { predicate, args, negated, confidence, source: { start, end } };
    });
    const answer: Note = {
      facts,
      ...(input.rules ? { rules } : {}),
      discarded,
      provider: read.provider,
      model: read.model,
    };
    if (!input.assert) return { learned: null, note: answer };
    return store(engine, caller, input, { facts: read.facts, rules }, () => answer);
  }
}

/** The rules of the text that can be taught, and everything that was discarded. */
async function teachable(
  engine: Engine,
  caller: Caller,
  input: ExtractInput,
  read: ReadText,
  free: FreeText,
): Promise<{ rules: string[]; discarded: Discarded[] }> {
  const discarded = [...read.discarded];
  if (!input.rules) {
    if (free.rules.length > 0)
      discarded.push({ what: `${free.rules.length} rules`, reason: 'rules were not asked for' });
    return { rules: [], discarded };
  }
  const proposed = [...read.statedRules, ...read.foundRules];
  const inputs = proposed.map((rule) => teaching(rule, input));
  const refusals = await engine.ruleRefusals(caller, inputs);
  const rules: string[] = [];
  for (const [at, rule] of proposed.entries()) {
    const reason = refusals[at] ?? null;
    if (reason === null) rules.push(rule);
    else discarded.push({ what: shortened(rule), reason: shortened(reason) });
  }
  return { rules, discarded };
}

function textOf(text: string, { scope, unscoped }: ViewFields, hint = '') {
  return { text, hint, wantsRules: false, scope, unscoped };
}

interface Stored<Note> {
  /** null: there was nothing to store. */
  readonly learned: Learned | null;
  /** What the answer says about the reading. */
  readonly note: Note;
}

/** What a text states, and the turns to remember. */
interface ToStore {
  readonly facts: readonly ReadFact[];
  readonly rules: readonly string[];
  readonly turns?: SaidTurns | null;
}

async function store<Note>(
  engine: Engine,
  caller: Caller,
  view: ViewFields,
  { facts, rules, turns = null }: ToStore,
  noteOf: (firstTurn: number | null) => Note,
): Promise<Stored<Note>> {
  if (facts.length + rules.length + (turns?.texts.length ?? 0) === 0)
    return { learned: null, note: noteOf(null) };
  // A caller that has disconnected gets no answer and must find nothing stored; from here on it is stored.
  signalOf(caller).throwIfAborted();
  const learned = await engine.learn(caller, {
    facts: facts.map((fact) => factToLearn(fact, view.scope)),
    rules: rules.map((rule) => teaching(rule, view)),
    turns,
    note: caller.idempotency === null ? null : (firstTurn) => JSON.stringify(noteOf(firstTurn)),
  });
  const { note, firstTurn } = learned;
  return { learned, note: note === null ? noteOf(firstTurn) : (JSON.parse(note) as Note) };
}

function factToLearn(fact: ReadFact, scope: string | null): LearnedFact {
  const { predicate, args, negated, confidence, from } = fact;
  const metadata =
    from === 'statements' ? { source: from } : { source: 'extraction', provider: from, confidence };
  return { predicate, args, truthVal: !negated, scope, metadata };
}

function teaching(text: string, { scope, unscoped }: ViewFields): RuleInput {
  return ruleInputSchema.parse({ text, scope, unscoped });
}

/** The outcome of the first request with this key, if it stored something. */
function earlierWrite<Note>(engine: Engine, caller: Caller): Stored<Note> | null {
  const learned = engine.learned(caller);
  if (learned === null || learned.note === null) return null;
  // `store` wrote it for this very request: the key is looked up with the request's digest.
  return { learned, note: JSON.parse(learned.note) as Note };
}

function generationOf(learned: Learned | null): { generation?: number } {
  return learned === null ? {} : { generation: learned.generation };
}

/** A fact of a text; `from` says what read it. */
interface ReadFact extends FoundFact {
  readonly from: ProviderName | 'statements';
}

interface ReadText {
  /** In the order of the text, each once; statements take precedence over a model's findings. */
  readonly facts: readonly ReadFact[];
  /** Rendered, each once: first the statements, then what a model found. */
  readonly statedRules: readonly string[];
  readonly foundRules: readonly string[];
  readonly discarded: readonly Discarded[];
  /** `statements`: no model was called. */
  readonly provider: ProviderName | 'statements';
  readonly model: string | null;
}

interface TextWithHint extends ViewFields {
  readonly text: string;
  /** What the caller says the text is about. */
  readonly hint: string;
  readonly wantsRules: boolean;
}

/**
 * Separates statements and natural language. `path` is the field of the request; too many statements are refused with
 * 400.
 */
async function readStatements(engine: Engine, caller: Caller, text: string, path: string): Promise<FreeText> {
  const slices = new Slices(serving.pauseOf(caller, 'read a text'));
  const free = await readFreeText(text, path, () => slices.breathe(), engine.argumentNames(caller));
  if (free.facts.length > maxFactsPerRequest)
    throw invalid(path, `the text states ${free.facts.length} facts: send at most ${maxFactsPerRequest}`);
  return free;
}

/**
 * Reads a separated text: statements by the parser, natural language through the model. `model` null: natural language
 * is left alone. Stores nothing.
 */
async function readText(
  engine: Engine,
  model: LanguageModel | null,
  caller: Caller,
  free: FreeText,
  input: TextWithHint,
): Promise<ReadText> {
  const facts = new Map<string, ReadFact>();
  const slices = new Slices(serving.pauseOf(caller, 'read a text'));
  for (const { atom, span: source } of free.facts) {
    await slices.breathe();
    const key = renderAtom(atom);
    if (!facts.has(key)) facts.set(key, { ...atom, confidence: 1, source, from: 'statements' });
  }
  const statedRules = renderedOnce(free.rules);
  if (model === null || free.prose.length === 0) {
    const rest = { foundRules: [], discarded: [], provider: 'statements', model: null } as const;
    return { facts: [...facts.values()], statedRules, ...rest };
  }
  const vocabulary = new Vocabulary(await engine.vocabulary(caller, input));
  const { text, hint, wantsRules } = input;
  const { requestId } = caller;
  const told = { hint, wantsRules, requestId, owner: caller, signal: signalOf(caller) };
  const reading = { text, prose: free.prose, ...told };
  const found = await findFacts(model, vocabulary, reading);
  const entities = await engine.entitiesNamed(
    caller,
    found.facts.flatMap(({ args }) => args),
  );
  let at = 0;
  for (const fact of found.facts) {
    const named = { ...fact, args: fact.args.map(() => entities[at++] as string) };
    const key = renderAtom(named);
    if (!facts.has(key)) facts.set(key, { ...named, from: model.provider });
  }
  return {
    facts: [...facts.values()].sort((a, b) => a.source.start - b.source.start || a.source.end - b.source.end),
    statedRules,
    foundRules: found.rules.filter((rule) => !statedRules.includes(rule)),
    discarded: found.discarded,
    provider: model.provider,
    model: model.model,
  };
}

function renderedOnce(rules: readonly RuleStatement[]): string[] {
  return [...new Set(rules.map(({ rule }) => renderRule(rule)))];
}
