/**
 * The handlers of the operations table, one line an operation.
 *
 * An operation without a handler, a handler without an operation and a misspelt field do not compile. Handlers
 * get input that was validated and a caller that was checked; what they refuse, the engine refuses.
 */
import type { DatabaseList, LogMoved, Readiness } from '../../engine/contract/administration.ts';
import type { agentOperations } from '../../engine/contract/operations/agents.ts';
import { type OperationName, operations } from '../../engine/contract/operations.ts';
import type { OperationSpec } from '../../engine/contract/operation-spec.ts';
import type { authenticationOperations } from '../../engine/contract/operations/authentication.ts';
import type { databaseOperations } from '../../engine/contract/operations/databases.ts';
import type { entityOperations } from '../../engine/contract/operations/entities.ts';
import type { historyOperations } from '../../engine/contract/operations/history.ts';
import type { packageOperations } from '../../engine/contract/operations/packages.ts';
import type { testOperations } from '../../engine/contract/operations/tests.ts';
import type { replicationOperations } from '../../engine/contract/operations/replication.ts';
import type { serviceOperations } from '../../engine/contract/operations/service.ts';
import { type ReplicationStatus, replicationType } from '../../engine/contract/replication.ts';
import type { KnownAgents } from '../mcp/agents.ts';
import type { Authentication } from '../auth/authentication.ts';
import type { Download, Upload } from '../base/streams.ts';
import { backupDownload, exportDownload } from '../transfer/export-knowledge.ts';
import { importKnowledge } from '../transfer/import-knowledge.ts';
import { inFormat } from '../base/facts-text.ts';
import type { Language } from '../llm/language.ts';
import {
  asRolledBack,
  type Caller,
  declarationToStore,
  type Engine,
  EngineError,
  JsonText,
  namesToDelete,
  type TransactionWrites,
} from '../../engine/index.ts';
import { type CheckedInput, type Handlers, requireRuleChange } from '../base/dispatch.ts';

/** What handlers can ask of the service; `engine` refuses with NotReady while there is none. */
export interface ServiceState {
  readonly engine: Engine;
  /** Who may call. */
  readonly authentication: Authentication;
  /** Natural language, in and out. */
  readonly language: Language;
  /** Who is connected over MCP. */
  readonly agents: KnownAgents;
  readonly version: string;
  uptimeMs(): number;
  readiness(): Readiness;
  replicationStatus(): ReplicationStatus;
  /** Where the log is, as `StorageState` has it. */
  readonly storagePlace: string | null;
  /** The databases that the caller can reach, those of other nodes too. */
  databases(caller: Caller): Promise<DatabaseList>;
  /** Lets another node store the writes, or those to one database, while later ones wait. */
  moveLog(to: string, database: string | null): Promise<LogMoved>;
}

type ShapeHandlers = Pick<
  Handlers,
  | 'listPredicates'
  | 'predicateGraph'
  | 'declarePredicate'
  | 'getPredicate'
  | 'withdrawPredicate'
  | 'listViolations'
>;

function shapeHandlers(
  service: ServiceState,
  within: (caller: Caller) => TransactionWrites | null,
): ShapeHandlers {
  return {
    listPredicates: (caller) => service.engine.predicates(caller),
    predicateGraph: (caller, { query }) => service.engine.predicateGraph(caller, query),
    declarePredicate: (caller, { params, body }) => {
      const declared = { ...params, ...body };
      return within(caller)?.shape(declarationToStore(declared)) ?? service.engine.declare(caller, declared);
    },
    getPredicate: (caller, { params }) => service.engine.predicate(caller, params),
    withdrawPredicate: (caller, { params }) =>
      within(caller)?.shape({ kind: 'withdraw', ...params }) ?? service.engine.withdraw(caller, params),
    listViolations: (caller, { query }) => service.engine.violations(caller, query),
  };
}

function testHandlers(
  service: ServiceState,
  within: (caller: Caller) => TransactionWrites | null,
): Pick<Handlers, keyof typeof testOperations> {
  return {
    storeTests: (caller, { body }) =>
      within(caller)?.storeTests(body) ?? service.engine.storeTests(caller, body),
    listTests: (caller, { query }) => service.engine.listTests(caller, query),
    runTests: (caller, { body }) => service.engine.testRun(caller, body),
    deleteTests: (caller, { query, body }) => {
      const deleted = { names: namesToDelete(query.name, body), dryRun: query.dryRun };
      return within(caller)?.deleteTests(deleted) ?? service.engine.deleteTests(caller, deleted);
    },
  };
}

type ConstraintHandlers = Pick<
  Handlers,
  'addConstraint' | 'listConstraints' | 'updateConstraint' | 'deleteConstraint'
>;

function constraintHandlers(
  service: ServiceState,
  within: (caller: Caller) => TransactionWrites | null,
): ConstraintHandlers {
  return {
    addConstraint: (caller, { body }) =>
      within(caller)?.addConstraint(body) ?? service.engine.addConstraint(caller, body),
    listConstraints: async (caller) => ({ constraints: await service.engine.constraints(caller) }),
    updateConstraint: (caller, { params, body }) =>
      within(caller)?.updateConstraint(params.id, body) ??
      service.engine.updateConstraint(caller, params.id, body),
    deleteConstraint: (caller, { params }) =>
      within(caller)?.deleteConstraint(params.id) ?? service.engine.deleteConstraint(caller, params.id),
  };
}

/** The handlers of all operations, over the service and its engine. Arguments by name are put in order before them. */
export function createHandlers(service: ServiceState): Handlers {
  const handlers = handlersOf(service);
  const inOrder = (caller: Caller, operation: OperationName, body: unknown, isWrite: boolean): void => {
    try {
      service.engine.resolveRequest(caller, operation, body);
    } catch (error) {
      if (!(error instanceof EngineError) || !isWrite || !service.engine.abandon(caller)) throw error;
      throw asRolledBack(error);
    }
  };
  for (const [name, { body, database, transaction }] of Object.entries<OperationSpec>(operations)) {
    if (body === undefined || !database) continue;
    const operation = name as OperationName;
    const handle = handlers[operation] as Handle;
    Object.assign(handlers, {
      [operation]: (caller: Caller, input: CheckedInput, upload?: Upload) => {
        inOrder(caller, operation, input.body, transaction === 'write');
        return handle(caller, input, upload);
      },
    });
  }
  return handlers;
}

type Handle = (caller: Caller, input: CheckedInput, upload?: Upload) => unknown;

function handlersOf(service: ServiceState): Handlers {
  /** The transaction that a write is to become part of; null where the caller names none. */
  const within = (caller: Caller): TransactionWrites | null =>
    caller.transaction === null ? null : service.engine.within(caller);
  return {
    assertFact: (caller, { body }) => within(caller)?.tell(body) ?? service.engine.tell(caller, body),
    assertFacts: (caller, { body }) =>
      within(caller)?.tellAll(body.facts) ?? service.engine.tellAll(caller, body.facts),
    retract: (caller, { body }) => within(caller)?.forget(body) ?? service.engine.forget(caller, body),
    retractPattern: (caller, { body }) =>
      within(caller)?.forget(body) ?? service.engine.forgetPattern(caller, body),
    query: (caller, { body }) => service.engine.queryForText(caller, body),
    listFacts: (caller, { query }) => service.engine.facts(caller, query),
    getFact: (caller, { params }) => service.engine.fact(caller, params.id),
    deleteFact: (caller, { params }) =>
      within(caller)?.forgetById(params.id) ?? service.engine.forgetById(caller, params.id),
    ...shapeHandlers(service, within),
    assertRule: (caller, { body }) => within(caller)?.teach(body) ?? service.engine.teach(caller, body),
    validateRules: (caller, { body }) => service.engine.validateRules(caller, body.text),
    listRules: async (caller) => ({ rules: await service.engine.rules(caller) }),
    getRule: (caller, { params }) => service.engine.rule(caller, params.id),
    updateRule: (caller, { params, body }) =>
      within(caller)?.updateRule(params.id, body) ?? service.engine.updateRule(caller, params.id, body),
    deleteRule: (caller, { params, query }) =>
      within(caller)?.forgetRule(params.id, query.runTests) ??
      service.engine.forgetRule(caller, params.id, query.runTests),
    ...constraintHandlers(service, within),
    ...testHandlers(service, within),
    ...questionHandlers(service),
    beginTransaction: (caller) => service.engine.begin(caller),
    commitTransaction: (caller, { params, body }) =>
      service.engine.commit(caller, params.id, body.dryRun, body.timeoutMs, body.runTests),
    rollbackTransaction: (caller, { params }) => service.engine.rollback(caller, params.id),
    listScopes: (caller) => service.engine.scopes(caller),
    forkScope: (caller, { body }) => service.engine.fork(caller, body),
    diffScopes: (caller, { body }) => service.engine.diff(caller, body),
    mergeScopes: (caller, { body }) => service.engine.merge(caller, body),
    deleteScope: (caller, { params }) => service.engine.deleteScope(caller, params.name),
    browseMemory: async (caller, { query }) =>
      inFormat(caller, query, await service.engine.recall(caller, query), 'facts'),
    recall: async (caller, { body }) =>
      inFormat(caller, body, await service.engine.recall(caller, body), 'facts'),
    search: (caller, { body }) => service.engine.search(caller, body),
    memoryStats: (caller, { query }) => service.engine.memoryStats(caller, query),
    consolidate: (caller, { body }) => service.engine.consolidate(caller, body),
    restore: (caller, { body }) => service.engine.restore(caller, body),
    decay: (caller, { body }) => service.engine.decayForText(caller, body),
    optimizeContext: async (caller, { body }) => {
      const window = await service.engine.optimizeContextForText(caller, body);
      return window instanceof JsonText ? window : inFormat(caller, body, window, 'entries');
    },
    diffContext: (caller, { body }) => service.engine.diffContext(caller, body),
    summarizeContext: (caller, { body }) => service.engine.summarizeContext(caller, body),
    clearContextSession: (caller, { body }) => service.engine.clearContextSession(caller, body),
    contextOfTurns: (caller, { body }) => service.language.contextOfTurns(caller, body),
    ingest: (caller, { body }) => service.language.ingest(caller, body),
    extract: (caller, { body }) => service.language.extract(caller, body),
    synthesize: (caller, { body }) => service.language.synthesize(caller, body),
    importKnowledge: (caller, { query }, upload) => importKnowledge(service.engine, caller, query, upload),
    undoImport: (caller, { params }) => service.engine.undoImport(caller, params.id),
    exportKnowledge: (caller, { query }) => exportDownload(service.engine, caller, query),
    ...entityHandlers(service, within),
    ...historyHandlers(service),
    ...packageHandlers(service),
    ...databaseHandlers(service),
    ...authenticationHandlers(service),
    ...agentHandlers(service),
    ...replicationHandlers(service),
    ...serviceHandlers(service),
  };
}

type QuestionHandlers = Pick<
  Handlers,
  'ask' | 'aggregate' | 'explain' | 'whatIf' | 'plan' | 'trace' | 'historyDiff'
>;

function questionHandlers(service: ServiceState): QuestionHandlers {
  return {
    ask: (caller, { body }) => service.engine.askForText(caller, body),
    aggregate: (caller, { body }) => service.engine.aggregateForText(caller, body),
    explain: (caller, { body }) => service.engine.explainForText(caller, body),
    whatIf: (caller, { body }) => service.engine.whatIfForText(caller, body),
    plan: (caller, { body }) => service.engine.planForText(caller, body),
    trace: (caller, { body }) => service.engine.traceForText(caller, body),
    historyDiff: (caller, { body }) => service.engine.historyDiff(caller, body),
  };
}

function entityHandlers(
  service: ServiceState,
  within: (caller: Caller) => TransactionWrites | null,
): Pick<Handlers, keyof typeof entityOperations> {
  return {
    entity: (caller, { params, query }) => service.engine.entity(caller, { ...params, ...query }),
    describeEntity: (caller, { body }) => service.engine.entity(caller, body),
    addAlias: (caller, { body }) => within(caller)?.addAlias(body) ?? service.engine.addAlias(caller, body),
    removeAlias: (caller, { body }) =>
      within(caller)?.removeAlias(body) ?? service.engine.removeAlias(caller, body),
    mergeEntities: (caller, { body }) => service.engine.mergeEntities(caller, body),
  };
}

function historyHandlers(service: ServiceState): Pick<Handlers, keyof typeof historyOperations> {
  return {
    history: (caller, { query }) => service.engine.history(caller, query),
    factHistory: (caller, { params }) => service.engine.factLives(caller, params.id),
    revert: async (caller, { body }) => {
      if (body.rules) requireRuleChange(caller);
      return service.engine.revert(caller, body);
    },
  };
}

function packageHandlers(service: ServiceState): Pick<Handlers, keyof typeof packageOperations> {
  return {
    listPackages: (caller) => service.engine.packages(caller, null),
    getPackage: (caller, { params, query }) => service.engine.packageDetail(caller, { ...params, ...query }),
    applyPackage: (caller, { params, body }) => service.engine.applyPackage(caller, { ...params, ...body }),
    deletePackage: (caller, { params, query }) =>
      service.engine.deletePackage(caller, { ...params, ...query }),
  };
}

function databaseHandlers(service: ServiceState): Pick<Handlers, keyof typeof databaseOperations> {
  return {
    listDatabases: (caller) => service.databases(caller),
    createDatabase: (caller, { body }) => service.engine.createDatabase(caller, body.name),
    deleteDatabase: (caller, { params }) => service.engine.deleteDatabase(caller, params.name),
    nukeDatabase: (caller, { params }) => service.engine.nukeDatabase(caller, params.name),
    listTenants: (caller, { params }) => service.engine.tenants(caller, params.name),
    createTenant: (caller, { params, body }) => service.engine.createTenant(caller, params.name, body.name),
    deleteTenant: (caller, { params }) => service.engine.deleteTenant(caller, params.name, params.id),
    nukeTenant: (caller, { params }) => service.engine.nukeTenant(caller, params.name, params.id),
    forgetEntity: (caller, { body }) => service.engine.forgetEntity(caller, body),
    databaseQuota: (caller, { params }) => service.engine.quota(caller, params.name, null),
    setDatabaseQuota: (caller, { params, body }) => service.engine.setQuota(caller, params.name, null, body),
    tenantQuota: (caller, { params }) => service.engine.quota(caller, params.name, params.id),
    setTenantQuota: (caller, { params, body }) =>
      service.engine.setQuota(caller, params.name, params.id, body),
  };
}

function serviceHandlers(service: ServiceState): Pick<Handlers, keyof typeof serviceOperations> {
  return {
    takeSnapshot: () => service.engine.snapshot(),
    takeBackup: () => backupDownload(service.engine),
    storageState: () => ({ place: service.storagePlace, ...service.engine.storageState() }),
    listNodes: () => service.engine.nodes(),
    moveLog: (_caller, { body }) => service.moveLog(body.to, body.database),
    health: () => ({ status: 'ok', version: service.version, uptimeMs: service.uptimeMs() }),
    ready: () => service.readiness(),
    events: (caller, lastEventId) => service.engine.changes(caller, lastEventId),
  };
}

function authenticationHandlers(
  service: ServiceState,
): Pick<Handlers, keyof typeof authenticationOperations> {
  return {
    authenticationStatus: () => service.authentication.status(),
    bootstrap: (caller, { body }) => service.authentication.bootstrap(caller, body),
    createKey: (caller, { body }) => service.authentication.createKey(caller, body),
    listKeys: (caller) => service.authentication.listKeys(caller),
    updateKey: (caller, { params, body }) => service.authentication.updateKey(caller, params.id, body),
    revokeKey: (caller, { params }) => service.authentication.revokeKey(caller, params.id),
    whoami: (caller) => service.authentication.whoami(caller),
  };
}

function agentHandlers(service: ServiceState): Pick<Handlers, keyof typeof agentOperations> {
  return {
    listMcpCalls: (caller, { query }) => service.agents.calls(caller, query),
    listMcpClients: (caller) => service.agents.clients(caller),
    agentSetup: () => service.agents.setup(),
    testBridge: (caller, { body }) => service.agents.testBridge(caller, body),
  };
}

function replicationHandlers(service: ServiceState): Pick<Handlers, keyof typeof replicationOperations> {
  return {
    replicationSnapshot: ({ peer }, { query }) =>
      toFollower(service.engine.leader.snapshot({ id: query.follower, address: peer ?? null })),
    replicationWal: ({ peer }, { query }) =>
      toFollower(service.engine.leader.records(query.after, { id: query.follower, address: peer ?? null })),
    replicationStatus: () => service.replicationStatus(),
  };
}

/** An answer that a follower reads as it comes. */
function toFollower(pieces: AsyncIterable<Uint8Array>): Download {
  return {
    type: replicationType,
    fileName: null,
    bytes: null,
    run: async (send) => {
      for await (const piece of pieces) await send(piece);
      return { omitted: null };
    },
  };
}
