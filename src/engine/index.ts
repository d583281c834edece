/** The engine's front door: what the service and the command line may use of it, beside the contract. */
export {
  type Caller,
  type Cancellation,
  CancellationSource,
  eitherOf,
  type Idempotency,
  signalOf,
} from './base/caller.ts';
export type { Clock } from './base/clock.ts';
export { assert, present } from './base/assert.ts';
export { EngineError, invalid, notLeader } from './base/errors.ts';
export { keyReused } from './idempotency.ts';
export { Slices } from './base/slices.ts';
export type { Backup } from './backups.ts';
export type { Change } from './change-feed.ts';
export type { Engine } from './engine.ts';
export type { EngineCounters, EngineFigures } from './live-state.ts';
export type { TransactionWrites } from './transactions.ts';
export type { KeptKey } from './key-store.ts';
export type { ExportedFact, ExportedRule } from './export-knowledge.ts';
export type { Import, KeptImport } from './importing.ts';
export { isFollowersFolder, openEngine } from './open-engine.ts';
export { Follower, type FollowerStatus, type LeaderConnection } from './replication/follower.ts';
export { ReplicationError } from './replication/replication-error.ts';
export { asRolledBack, rollsBack } from './rolled-back.ts';
export { type Contents, folderTask, inLockedFolder } from './locked-folder.ts';
export { convertFolder } from './convert-folder.ts';
export { openBackup, type VerifiedBackup } from './restore-backup.ts';
export { repairFolder, type Repaired } from './repair-folder.ts';
export { verifyFolder, type Verified } from './verify-folder.ts';
export type { Journal, JournalName } from './storage/journal.ts';
export { openFileBackend } from './storage/file-backend.ts';
export { compareText } from './base/text-order.ts';
export { canonicalName, wordRuns } from './context/mentions.ts';
export type { Learned, LearnedFact } from './learn.ts';
export type { ViewFields } from './browse.ts';
export type { VocabularyEntry } from './vocabulary.ts';
export { ruleIdentity } from './logic/identity.ts';
export {
  parseAtom,
  parseBody,
  parseFreeTextLine,
  parseFreeTextQuestion,
  parseProgram,
  parseRule,
  programSteps,
  type Statement,
} from './logic/parse.ts';
export { renderAtom, renderRule } from './logic/print.ts';
export { StartupError } from './storage/startup-error.ts';
