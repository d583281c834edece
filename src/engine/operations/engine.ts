import type { Caller } from '../base/caller.ts';
import type { SendPart } from '../read/export-text.ts';
import { JsonText } from '../base/json-text.ts';
import type { ContextWindow, DiffAnswer, OptimizeInput, WindowDiffInput } from '../contract/context.ts';
import { windowTimeoutMs } from '../contract/fields.ts';
import type { ContextEntry, Decayed, DecayInput, MemoryStatsQuery } from '../contract/memory.ts';
import type { EntityInput } from '../contract/entities.ts';
import type { PackageQuery } from '../contract/packages.ts';
import { consolidate } from '../memory/consolidate.ts';
import { decay } from '../memory/decay.ts';
import { memoryStats, summarize } from '../memory/memory-stats.ts';
import { type AboutInput, entitiesNamed, mentionedConstants, mentionedFacts } from '../memory/mentions.ts';
import { firstEntries, type ListLimits } from '../memory/fact-lines.ts';
import { restore } from '../memory/restore.ts';
import { factDetail, requireFact, vocabularyOf } from '../read/describe.ts';
import { entityLimits, entityPage } from '../read/entity.ts';
import { predicateDetail } from '../read/predicate-detail.ts';
import { declare, withdraw } from '../write/declarations.ts';
import { atLeast, tokenOf } from './consistency.ts';
import { historyDiff } from '../read/history-diff.ts';
import { listPackages, packageDetail } from '../read/packages.ts';
import { listViolations, storedConstraint } from '../read/violations.ts';
import { defaultLimits } from '../session/read-limits.ts';
import { scopeChoice, type ViewFields } from '../session/read-context.ts';
import { withoutCancellation, type Writer } from '../session/writer.ts';
import { addConstraint, deleteConstraint, updateConstraint } from '../write/constraints.ts';
import { deleteTests, listTests, storeTests } from '../write/stored-tests.ts';
import { testRun } from '../write/test-runs.ts';
import { addAlias, mergeEntities, removeAlias } from '../write/entities.ts';
import { beginImport, revertImport } from '../write/importing.ts';
import { learn, learned } from '../write/learn.ts';
import { applyPackage, deletePackage } from '../write/packages.ts';
import { forget, forgetById, forgetPattern } from '../write/retract.ts';
import { forgetRule, ruleRefusals, teach, updateRule } from '../write/rules.ts';
import { deleteScope, forkScope, mergeScopes } from '../write/scopes.ts';
import { tell, tellAll } from '../write/tell.ts';
import type { LeftOutFacts } from '../window/window.ts';
import { type ReadingEngine, EngineContext, type EngineParts } from './engine-context.ts';
import type { Leader } from '../replication/leader.ts';
import { forgetEntity } from '../history/erasures.ts';
import { factLives, history, revert } from './history.ts';
import { argumentNames, resolveRequest } from './named-arguments.ts';
import { asObject, rule, validateRules } from './questions.ts';
import { momentWindowReads, windowForText, windowReads } from './windowing.ts';
import { anyConclusion, asking, movesWithThePast, reading, readings } from './readings.ts';

/** The other operations by name: each is a function of the engine's context, the caller and the input. */
const operations = {
  argumentNames,
  resolveRequest,
  tell,
  tellAll,
  forget,
  forgetPattern,
  forgetById,
  /** One stored fact with its history; FactNotFound if there is none. */
  fact: reading(
    async (context, id: string) => factDetail(context, requireFact(context, id)),
    undefined,
    anyConclusion,
  ),
  factLives,
  history,
  revert,
  forgetEntity,
  /** What is known about a constant. */
  entity: asking(entityPage, ({ timeoutMs }: EntityInput) => entityLimits(timeoutMs), anyConclusion),
  addAlias,
  removeAlias,
  mergeEntities,
  declare,
  withdraw,
  /** One declared predicate with counts, examples and violations; NotFound if it is not declared. */
  predicate: reading(predicateDetail, () => ({ ...defaultLimits, isAside: true }), anyConclusion),
  teach,
  updateRule,
  forgetRule,
  addConstraint,
  updateConstraint,
  deleteConstraint,
  /** The constraints of a database, oldest first. */
  constraints: async ({ live }: EngineContext, caller: Caller) => {
    live.refuseClosed();
    return live.database(caller).constraints.all().map(storedConstraint);
  },
  storeTests,
  listTests,
  testRun,
  deleteTests,
  /** What violates the declarations and the constraints now. */
  violations: asking(listViolations, undefined, anyConclusion),
  rule,
  validateRules,
  ruleRefusals,
  /** The relations that can be said and asked of in a view, those with the most facts first. */
  vocabulary: reading((context, view: ViewFields) => vocabularyOf(context, scopeChoice(view))),
  /** The stored facts that a text is about, by the names in it, those of highest salience first. */
  factsAbout: reading((context, input: AboutInput) =>
    mentionedFacts(context, scopeChoice(input), input.text, input.maxFacts),
  ),
  /** The constants of the tenant's facts that a text mentions, by code point. */
  constantsIn: reading(mentionedConstants),
  /** The entity of each of these names, which may be aliases. */
  entitiesNamed: reading(entitiesNamed),
  /** The first of these entries that fit a number of facts and of tokens, each atom once. */
  firstEntries: reading(
    (context, { entries, ...limits }: { entries: readonly ContextEntry[] } & ListLimits) =>
      firstEntries(context, entries, limits),
  ),
  fork: forkScope,
  merge: mergeScopes,
  deleteScope,
  /** Counts of facts and conclusions, a histogram of salience, what expires soon and what fades. */
  memoryStats: reading(
    memoryStats,
    (_: MemoryStatsQuery) => ({ ...defaultLimits, isAside: true }),
    anyConclusion,
  ),
  /** The differences between two moments of knowledge. */
  historyDiff,
  consolidate,
  restore,
  /** Evicts faded facts; a dry run lists them. */
  decay: asObject(decayForText),
  /** The same; a long answer is text. */
  decayForText,
  /** Totals of a tenant's knowledge, its contradictions and its most salient facts. */
  summarizeContext: reading(summarize),
  learn,
  learned,
  applyPackage,
  deletePackage,
  /** The applied packages of a tenant. */
  packages: reading((context, _: null) => listPackages(context)),
  /** What one of them brought. */
  packageDetail: reading((context, input: PackageQuery & { readonly name: string }) =>
    packageDetail(context, input),
  ),
  import: beginImport,
  undoImport: revertImport,
};

function decayForText(writer: Writer, caller: Caller, input: DecayInput): Promise<Decayed | JsonText> {
  return decay(writer, input.dryRun ? caller : withoutCancellation(caller), input);
}

/** The operation, for any caller: one that names a moment is answered from what was known or true then. */
function atItsMoment(
  context: EngineContext,
  name: string,
  operation: (engine: ReadingEngine, caller: Caller, ...input: never[]) => unknown,
) {
  const atMoment = async (caller: Caller, ...input: never[]): Promise<unknown> => {
    const timeoutMs = timeoutOf(input[0]);
    const send = name === 'export' ? (input[1] as unknown as SendPart) : null;
    const elsewhere = movesWithThePast(name)
      ? await context.atMomentElsewhere(caller, timeoutMs, name, input[0], send)
      : null;
    if (elsewhere !== null) {
      const { result } = elsewhere;
      return result instanceof JsonText && !name.endsWith('ForText') ? result.value() : result;
    }
    return context.atMoment(caller, timeoutMs, (asked) =>
      Promise.resolve(operation(asked, caller, ...input)),
    );
  };
  return (caller: Caller, ...input: never[]): unknown =>
    caller.moment === undefined ? operation(context, caller, ...input) : atMoment(caller, ...input);
}

function timeoutOf(input: { readonly timeoutMs?: number | null } | undefined): number {
  const { timeoutMs } = input ?? {};
  return timeoutMs === null ? windowTimeoutMs : (timeoutMs ?? Number.POSITIVE_INFINITY);
}

type Bound<Operation> = Operation extends (engine: never, ...input: infer Input) => infer Output
  ? (...input: Input) => Output
  : never;

/** The methods of this name, as functions. */
function methods<Part extends object, Name extends keyof Part>(
  part: Part,
  ...names: Name[]
): Pick<Part, Name> {
  const bound = names.map((name) => [name, (part[name] as (...input: never[]) => unknown).bind(part)]);
  return Object.fromEntries(bound) as Pick<Part, Name>;
}

/**
 * The engine: knowledge that is durable, asked with inference. Operations take the caller, and refuse with an EngineError;
 * a write resolves once it is durable. All times are epoch milliseconds. Questions see the writes of the transaction that
 * the caller names; writes to it go to `within`.
 */
export type Engine = ReturnType<typeof engineOver>;

/** Windows of the present, or of the moment that the caller names. */
function windowing(context: EngineContext) {
  const { windows } = context;
  const present = windowReads(context, context.newId);
  const optimizeContext = (
    caller: Caller,
    input: OptimizeInput,
    leftOut: LeftOutFacts | null = null,
  ): Promise<ContextWindow> => {
    const reads = caller.moment === undefined ? present : momentWindowReads(context);
    return windows.optimizeContext(reads, caller, input, leftOut);
  };
  return {
    optimizeContext,
    /** `optimizeContext`, of which a long one may be text where nothing else is done with it here. */
    async optimizeContextForText(caller: Caller, input: OptimizeInput): Promise<ContextWindow | JsonText> {
      const isKept = input.sessionId !== null || input.format === 'text' || caller.moment !== undefined;
      return isKept ? optimizeContext(caller, input) : windowForText(context, context.newId, caller, input);
    },
    diffContext: (caller: Caller, input: WindowDiffInput): Promise<DiffAnswer> =>
      windows.diffContext(present, caller, input),
  };
}

/** The engine of a log that was read and the state that it amounts to. */
export function createEngine(parts: EngineParts): Engine {
  return engineOver(new EngineContext(parts));
}

/** The operations on what the context has. */
export function engineOver(context: EngineContext) {
  const { transactions, windows, databases, live, keys, leader, replica } = context;
  const bound = Object.entries<(engine: EngineContext, ...input: never[]) => unknown>(operations).map(
    ([name, operation]) => [name, operation.bind(null, context)],
  );
  const asked = Object.entries<(engine: ReadingEngine, caller: Caller, ...input: never[]) => unknown>(
    readings,
  ).map(([name, operation]) => [name, atItsMoment(context, name, operation)]);
  /** A window of the present, or of the moment that the caller names. */
  return {
    ...(Object.fromEntries(bound) as {
      [Name in keyof typeof operations]: Bound<(typeof operations)[Name]>;
    }),
    ...(Object.fromEntries(asked) as {
      [Name in keyof typeof readings]: Bound<(typeof readings)[Name]>;
    }),
    ...methods(transactions, 'begin', 'within', 'abandon', 'commit', 'rollback'),
    ...windowing(context),
    ...methods(windows, 'clearContextSession'),
    ...methods(databases, 'databases', 'createDatabase', 'deleteDatabase', 'nukeDatabase'),
    ...methods(databases, 'quota', 'setQuota'),
    ...methods(databases, 'tenants', 'createTenant', 'deleteTenant', 'nukeTenant'),
    ...methods(live, 'changes', 'subscribe', 'tellOfToolCall'),
    ...methods(
      context,
      'position',
      'snapshot',
      'backup',
      'dropEnded',
      'storageState',
      'storage',
      'confirm',
      'node',
      'nodes',
      'handOver',
      'makeCopy',
      'copiesElsewhere',
      'databasesElsewhere',
      'successor',
      'look',
      'others',
      'heard',
      'takeUses',
      'noteUses',
      'remembers',
    ),
    /** This node ends: it takes no log any more; see `SharedTail.retire`. */
    retire: () => context.tail?.retire(),
    /** Gives up the log of the database, or the catalogue's if that is empty; see `SharedTail.release`. */
    release: async (_database: string) => context.tail?.release(),
    /** See `tokenOf` and `atLeast`. */
    token: (database: string) => tokenOf(context, database),
    atLeast: (database: string, token: string) => atLeast(context, database, token),
    /** Begins a question; the returned function ends it. Throws QuotaExceeded. */
    beginQuestion: (caller: Caller) => context.questions.begin(caller),
    ...methods(
      context,
      'hasDatabase',
      'keptImport',
      'counters',
      'figures',
      'clockOffsetMs',
      'embeddingsState',
      'journal',
      'whenErased',
      'close',
    ),
    keys,
    leader: leader as Pick<Leader, 'followers' | 'records' | 'snapshot'>,
    replica,
  };
}
