import { consolidate } from '../memory/consolidate.ts';
import { restore } from '../memory/restore.ts';
import type { LiveState } from '../session/live-state.ts';
import type { Windows } from '../window/windows.ts';
import type { Databases } from '../write/databases.ts';
import { revertImport } from '../write/importing.ts';
import { deleteScope, diffScopes, forkScope, listScopes, mergeScopes } from '../write/scopes.ts';
import type { Transactions } from '../write/transactions.ts';
import {
  backup,
  close,
  counters,
  databases,
  figures,
  hasDatabase,
  journal,
  position,
  remembers,
  snapshot,
  storage,
  storageState,
  tellOfToolCall,
  tenants,
} from './administration.ts';
import { EngineContext, type EngineParts } from './engine-context.ts';
import { fact, facts, forget, forgetById, forgetPattern, predicates, query, tell, tellAll } from './facts.ts';
import { clearContextSession, decayMemory, recallFacts, statsOfMemory, summarizeContext } from './memory.ts';
import {
  aggregateOf,
  askQuestion,
  compareWhatIf,
  constantsIn,
  explainAtom,
  factsAbout,
  traceQuestion,
  vocabulary,
} from './questions.ts';
import { forgetRule, refusalsOfRules, rule, rules, teach, updateRule, validateRules } from './rules.ts';
import { beginTransaction, commitTransaction } from './transactions.ts';
import { beginImporting, exportFacts, keptImport, learned, learnText } from './transfer.ts';

/** What can be asked of an engine, by name: each is a function of the engine's context, the caller and the input. */
const operations = {
  tell,
  tellAll,
  forget,
  forgetPattern,
  forgetById,
  query,
  facts,
  fact,
  predicates,
  teach,
  updateRule,
  forgetRule,
  rules,
  rule,
  validateRules,
  ruleRefusals: refusalsOfRules,
  ask: askQuestion,
  aggregate: aggregateOf,
  explain: explainAtom,
  whatIf: compareWhatIf,
  trace: traceQuestion,
  vocabulary,
  factsAbout,
  constantsIn,
  begin: beginTransaction,
  /** Where writes become part of the transaction that the caller names. */
  within: ({ transactions }: EngineContext, ...input: Parameters<Transactions['within']>) =>
    transactions.within(...input),
  /**
   * Rolls back the transaction that the caller names, since a write in it was refused before it came here. False where
   * it is not open, not the caller's, or being committed.
   */
  abandon: ({ transactions }: EngineContext, ...input: Parameters<Transactions['abandon']>) =>
    transactions.abandon(...input),
  commit: commitTransaction,
  rollback: ({ transactions }: EngineContext, ...input: Parameters<Transactions['rollback']>) =>
    transactions.rollback(...input),
  scopes: listScopes,
  fork: forkScope,
  diff: diffScopes,
  merge: mergeScopes,
  deleteScope,
  recall: recallFacts,
  memoryStats: statsOfMemory,
  consolidate,
  restore,
  decay: decayMemory,
  /** A window of facts; being in it is no use of them. */
  optimizeContext: ({ windows }: EngineContext, ...input: Parameters<Windows['optimize']>) =>
    windows.optimize(...input),
  diffContext: ({ windows }: EngineContext, ...input: Parameters<Windows['diff']>) => windows.diff(...input),
  summarizeContext,
  clearContextSession,
  learn: learnText,
  learned,
  import: beginImporting,
  undoImport: revertImport,
  keptImport,
  export: exportFacts,
  databases,
  createDatabase: ({ databases }: EngineContext, ...input: Parameters<Databases['create']>) =>
    databases.create(...input),
  deleteDatabase: ({ databases }: EngineContext, ...input: Parameters<Databases['delete']>) =>
    databases.delete(...input),
  nukeDatabase: ({ databases }: EngineContext, ...input: Parameters<Databases['nuke']>) =>
    databases.nuke(...input),
  tenants,
  createTenant: ({ databases }: EngineContext, ...input: Parameters<Databases['createTenant']>) =>
    databases.createTenant(...input),
  deleteTenant: ({ databases }: EngineContext, ...input: Parameters<Databases['deleteTenant']>) =>
    databases.deleteTenant(...input),
  nukeTenant: ({ databases }: EngineContext, ...input: Parameters<Databases['nukeTenant']>) =>
    databases.nukeTenant(...input),
  position,
  snapshot,
  backup,
  storageState,
  storage,
  remembers,
  hasDatabase,
  /**
   * Changes of the caller's database and tenant from now on, or after `lastEventId` if those are still remembered;
   * otherwise the first change is a `reset`. Ends with the caller's signal. A subscriber that falls too far behind gets a
   * `reset` and loses what it missed.
   */
  changes: ({ live }: EngineContext, ...input: Parameters<LiveState['changes']>) => live.changes(...input),
  tellOfToolCall,
  /** Calls `listener` synchronously for every change of every database; returns how to stop. */
  subscribe: ({ live }: EngineContext, ...input: Parameters<LiveState['subscribe']>) =>
    live.subscribe(...input),
  counters,
  figures,
  journal,
  close,
};

type Bound<Operation> = Operation extends (engine: EngineContext, ...input: infer Input) => infer Output
  ? (...input: Input) => Output
  : never;

/**
 * The engine: knowledge that is durable, asked with inference. Operations take the caller, and refuse with an EngineError;
 * a write resolves once it is durable. All times are epoch milliseconds. Questions see the writes of the transaction that
 * the caller names; writes to it go to `within`.
 */
export type Engine = {
  [Name in keyof typeof operations]: Bound<(typeof operations)[Name]>;
} & Pick<EngineContext, 'keys' | 'leader' | 'replica'>;

/** The engine of a log that was read and the state that it amounts to. */
export function createEngine(parts: EngineParts): Engine {
  const context = new EngineContext(parts);
  const bound = Object.entries<(engine: EngineContext, ...input: never[]) => unknown>(operations).map(
    ([name, operation]) => [name, operation.bind(null, context)],
  );
  const { keys, leader, replica } = context;
  return { ...Object.fromEntries(bound), keys, leader, replica } as Engine;
}
