/** The engine's public interface: what the service and the command line may import, beside the contract. */
export {
  type Caller,
  type Cancellation,
  CancellationSource,
  eitherOf,
  type Idempotency,
  signalOf,
  systemCaller,
} from './base/caller.ts';
export { systemOrigin, type WriteOrigin } from './base/origin.ts';
export type { Clock } from './base/clock.ts';
export { assert, present } from './base/assert.ts';
export { EngineError, invalid, notLeader } from './base/errors.ts';
export { answerGone, keyReused } from './state/idempotency.ts';
export type { ErasingRecord } from './state/redaction.ts';
export { JsonText } from './base/json-text.ts';
export { jsonPieceBytes, maxJsonFields, parseLongJson } from './base/long-json.ts';
export { namesPrototype } from './base/prototype-field.ts';
export { ReasoningThread } from './reasoning/reasoning-thread.ts';
export { pastReadings } from './operations/readings.ts';
export { retainedIn, type RetainedFolder } from './log/retained-folder.ts';
export type { FromReasoningThread, ToReasoningThread } from './reasoning/messages.ts';
export type { ThreadHost } from './reasoning/reasoning-threads.ts';
export { type Pause, runAtOnce, runInSlices, Slices } from './base/slices.ts';
export { heapOf, type MemoryGauge } from './commit/high-water-mark.ts';
export type { Owner, Scheduler } from './base/scheduler.ts';
export { polls, serving } from './base/serving.ts';
export type { Backup } from './commit/snapshots.ts';
export type { Change } from './session/change-feed.ts';
export { nameOfConstraint } from './write/constraints.ts';
export { declarationToStore } from './write/declarations.ts';
export { namesToDelete } from './write/stored-tests.ts';
export type { Engine } from './operations/engine.ts';
export type { EngineCounters, EngineFigures } from './operations/engine-figures.ts';
export type { TransactionWrites } from './write/transactions.ts';
export type { KeyRecord } from './state/key-store.ts';
export { textFormat } from './read/export-formats.ts';
export { type FactBlock, FactBlockBuilder, type Import, type StoredImport } from './write/importing.ts';
export { isFollowersFolder, openEngine } from './open-engine.ts';
export { Follower, type FollowerStatus, type LeaderConnection } from './replication/follower.ts';
export { ReplicationError } from './replication/wire.ts';
export type { ToldUses } from './replication/told-uses.ts';
export { asRolledBack, rollsBack } from './write/open-transactions.ts';
export { type Contents, folderTask, inLockedFolder } from './folder/folder-tasks.ts';
export { convertFolder } from './folder/folder-tasks.ts';
export { openBackup, type VerifiedBackup } from './folder/folder-tasks.ts';
export { exportStore, importFolder, type Moved, storeStatements } from './folder/move-store.ts';
export { restoreDatabase } from './folder/restore-database.ts';
export { repairFolder, type Repaired } from './folder/repair-folder.ts';
export { verifyFolder, type Verified } from './folder/folder-tasks.ts';
export type { Embedded, Embedder } from './search/meaning.ts';
export type { Journal, JournalName } from './log/journal.ts';
export { openFileBackend } from './log/file-backend.ts';
export { editDistance } from './base/edit-distance.ts';
export { compareText } from './base/text-order.ts';
export { ArgumentNames, argsInOrder } from './language/argument-names.ts';
export { type LinedEntry, linesOfFacts } from './memory/fact-lines.ts';
export { type LeftOutFacts, leavesOut } from './window/window.ts';
export { canonicalName, wordRuns } from './memory/mentions.ts';
export { type Learned, type LearnedFact, type SaidTurns, saidPredicate } from './write/learn.ts';
export type { ViewFields } from './session/read-context.ts';
export type { VocabularyEntry } from './read/describe.ts';
export { ruleIdentity } from './language/print.ts';
export {
  parseAtom,
  parseBody,
  freeTextLineSteps,
  parseFreeTextLine,
  parseFreeTextQuestion,
  parseProgram,
  parseRule,
  programSteps,
  refuseLongConstant,
} from './language/parse.ts';
export type { ConstraintStatement, Statement } from './language/parser.ts';
export {
  formatKnowledgeText,
  type KnowledgeItem,
  type KnowledgeText,
  knowledgeTextSteps,
  parseKnowledgeText,
} from './language/knowledge-text.ts';
export { answerVariables, type Expectation, type KnowledgeTest } from './language/test-text.ts';
export { isDeclarationLine, parseDeclaration, renderDeclaration } from './language/declaration-text.ts';
export { renderAtom, renderConstraint, renderRule } from './language/print.ts';
export { layOutConstraint, layOutRule } from './language/layout.ts';
export type { LiteralSource, Span } from './language/source.ts';
export { StartupError } from './log/startup-error.ts';
