/**
 * The service without a window: takes a configuration and listens.
 *
 * It composes engine, HTTP and MCP and decides their order. It listens before the engine is open, so that health can be
 * queried while a large log is read; it is ready when the engine is. It ends within ten seconds: it accepts no new
 * calls, ends streams, lets running calls finish or cancels them, then closes the engine. The headless program and the
 * desktop app's thread both call `startService`.
 */
import type { AddressInfo } from 'node:net';
import type { DatabaseList, LogMoved, NodeStatus, Readiness } from '../../engine/contract/administration.ts';
import type { AgentSetup } from '../../engine/contract/agents.ts';
import { type OperationInput, type OperationName, operations } from '../../engine/contract/operations.ts';
import type { OperationSpec } from '../../engine/contract/operation-spec.ts';
import type { ReplicationStatus } from '../../engine/contract/replication.ts';
import {
  type Caller,
  type Clock,
  eitherOf,
  type Engine,
  EngineError,
  type ErasingRecord,
  openEngine,
  present,
  serving,
  type ThreadHost,
} from '../../engine/index.ts';
import type { A2aHost, McpHost } from '../base/agent-host.ts';
import { mountA2a } from '../a2a/mount.ts';
import { Authentication } from '../auth/authentication.ts';
import { createBridgeTest } from '../bridge/test-bridge.ts';
import { type Config, defaultAdminPassword, parseConfig, storagePlaceOf } from '../base/config.ts';
import {
  type CheckedInput,
  checkLongInput,
  checkParams,
  createDispatcher,
  type Dispatcher,
  insufficientRole,
  requirePermission,
  saysDryRun,
} from '../base/dispatch.ts';
import { reasoningFile, reasoningHost } from './reasoning-host.ts';
import { availableMemory, processMemory } from '../base/memory-gauge.ts';
import { removeEndpoint, writeEndpoint } from '../base/endpoint-file.ts';
import { limits } from '../http/limits.ts';
import { createHttpApp, type HttpApp } from '../http/app.ts';
import {
  callerFor,
  checkedSpace,
  databaseNotFound,
  namedSpace,
  requireCovered,
  requireOriginHeaders,
  requireSameSpace,
} from '../http/caller.ts';
import { bundlePath } from '../http/files.ts';
import type { NodeHost, ServicePhase } from '../http/host.ts';
import { NodeMessenger } from '../http/node-messages.ts';
import { isLoopbackAddress } from '../http/admission.ts';
import { findInstallation } from '../base/installation.ts';
import { createLanguage, type Language } from '../llm/language.ts';
import { createEmbeddings } from '../llm/embeddings.ts';
import { createLanguageModel, pause, type ProviderCall } from '../llm/language-model.ts';
import { KnownAgents } from '../mcp/agents.ts';
import { SessionStore } from '../mcp/session-store.ts';
import { knowledgeSurfaceWith, type McpSurface } from '../mcp/surface.ts';
import { mountMcp } from '../mcp/mount.ts';
import {
  defaultEndLimits,
  disconnect,
  disconnectSecure,
  type EndLimits,
  endsWithin,
  finishCalls,
  handOverMs,
} from './ending.ts';
import { BetweenNodes } from './between-nodes.ts';
import { LogMoves, moveDrainMs } from './log-moves.ts';
import { createHandlers, type ServiceState } from './handlers.ts';
import { FollowerLoop } from '../replication/following.ts';
import type { OpenedKeystore, SecurePort } from './secure-port.ts';
import { heldFolder, listenFailure, openFailure } from '../base/start-failure.ts';
import { StartRefusal } from '../base/start-refusal.ts';
import { createLogger, type Logger } from '../telemetry/logger.ts';
import { createMetrics, type Metrics } from '../telemetry/metrics.ts';
import { logLongTurns } from '../telemetry/long-turns.ts';
import { MetricsHistory } from '../telemetry/metrics-history.ts';
import { type Rehearsal, warmUp } from './warm-up.ts';

export { defaultQuietMs } from './warm-up.ts';

export interface Service {
  /** Its address on this machine, such as `http://127.0.0.1:9300`. */
  readonly address: string;
  /** Its HTTPS address, such as `https://127.0.0.1:9443`; null if TLS is off. */
  readonly secureAddress: string | null;
  readonly port: number;
  readonly engine: Engine;
  /** Number of MCP clients that are connected or were seen in the last minutes, without the workbench's own. */
  readonly connectedAgents: number;
  /** Resolves when warming up has ended, with true if it was completed; at once with false if there is none. */
  readonly warmedUp: Promise<boolean>;
  /** Ends the service within ten seconds. May be called again. */
  close(): Promise<void>;
  /** True if it has ended without waiting for a disk that does not answer: a thread of the process may hang in it. */
  readonly isDiskStuck: boolean;
}

export interface ServiceOptions {
  readonly log: Logger;
  /** Checks every answer against its schema. For tests. */
  readonly checkOutputs?: boolean;
  /** Milliseconds between two checks of the TLS key store. For tests. */
  readonly keystorePollMs?: number;
  /** Shorter for tests. */
  readonly endLimits?: EndLimits;
  /** The clock of the knowledge base, if not the system's. For tests. */
  readonly clock?: Clock;
  /** The MCP surface, if not the knowledge base. For tests. */
  readonly mcpSurface?: McpSurface;
  /** Receives how much of the stored knowledge has been read, in whole per cent. */
  readonly onOpening?: (percent: number) => void;
  /** The built program of a reasoning thread; default: the one beside this program, if it was built. */
  readonly reasoningFile?: string;
  /** Processor time that a question has on the serving thread if there are others, in milliseconds. For tests. */
  readonly reasoningAfterMs?: number;
  /** Warms up once the service is ready and has had no call for this many milliseconds; absent: never. */
  readonly warmUpAfterMs?: number;
}

const defaultKeystorePollMs = 5000;
const defaultPollIntervalMs = 5000;

/**
 * Resolves when the service is ready, or for a follower when it has begun to follow. Refuses with a StartRefusal that
 * says what is wrong.
 */
export async function startService(config: Config, options: ServiceOptions): Promise<Service> {
  const running = new RunningService(config, options);
  try {
    await running.listen();
    await running.open();
    if (options.warmUpAfterMs !== undefined) running.warmUp(options.warmUpAfterMs);
    return running;
  } catch (error) {
    await running.close();
    throw error;
  }
}

class RunningService implements Service, ServiceState {
  readonly #config: Config;
  readonly #log: Logger;
  readonly #startedAt = Date.now();
  readonly #installation = findInstallation();
  readonly #metrics: Metrics;
  readonly #stopTurnLog: () => void;
  readonly authentication: Authentication;
  readonly language: Language;
  readonly agents: KnownAgents;
  readonly #hasLanguageModel: boolean;
  readonly #dispatcher: Dispatcher;
  readonly #keystorePollMs: number;
  readonly #endLimits: EndLimits;
  readonly #mcpSurface: { readonly surface: McpSurface };
  readonly #sessionStore = new SessionStore();
  readonly #metricsHistory = new MetricsHistory(() => this.#metrics.text());
  readonly #clock: { readonly clock?: Clock };
  readonly #onOpening: (percent: number) => void;
  readonly #reasoningFile: string | null;
  readonly #reasoningAfterMs: number | undefined;
  /** Told of what is erased, once there is an engine. */
  readonly #eraseElsewhere: ((erasure: ErasingRecord) => Promise<void>)[] = [];
  #http: HttpApp | null = null;
  #securePort: SecurePort | null = null;
  #engine: Engine | null = null;
  /** null: this is no node of a store, or not open, or the nodes share no secret. */
  #betweenNodes: BetweenNodes | null = null;
  readonly #moves = new LogMoves({
    engine: () => this.engine,
    holdWrites: (...held) => present(this.#http, 'it listens').holdWrites(...held),
    tellOthers: async (databases) => this.#betweenNodes?.moved(databases),
    onNotGiven: (error) =>
      this.#log.info({ err: error }, 'a log was not given to another node before the end'),
  });
  /** null: this service leads, or is starting. */
  #following: FollowerLoop | null = null;
  #phase: ServicePhase = 'starting';
  #closing: Promise<void> | null = null;
  readonly #ending = new AbortController();
  warmedUp: Promise<boolean> = Promise.resolve(false);
  isDiskStuck = false;
  address = '';
  secureAddress: string | null = null;
  port = 0;

  /** `isOfProcess`: it is the only service of the process, and measures the process too. */
  constructor(config: Config, options: ServiceOptions, isOfProcess = true) {
    const { log, checkOutputs = false, endLimits = defaultEndLimits } = options;
    const { keystorePollMs = defaultKeystorePollMs } = options;
    this.#config = config;
    this.#endLimits = endLimits;
    this.#mcpSurface = { surface: options.mcpSurface ?? knowledgeSurfaceWith(config.mcpTools) };
    this.#clock = options.clock === undefined ? {} : { clock: options.clock };
    this.#onOpening = options.onOpening ?? (() => undefined);
    this.#reasoningFile = options.reasoningFile ?? reasoningFile();
    this.#reasoningAfterMs = options.reasoningAfterMs;
    this.#log = log;
    this.#keystorePollMs = keystorePollMs;
    this.authentication = new Authentication({
      settings: config,
      keys: () => this.engine.keys,
      isLoopback: isLoopbackAddress,
      now: () => performance.now(),
    });
    const specs: OperationSpec[] = Object.values(operations);
    this.#metrics = createMetrics(
      this.#measured(),
      specs.flatMap(({ tool }) => (tool === undefined ? [] : [tool.name])),
      isOfProcess,
    );
    this.#stopTurnLog = logLongTurns(
      serving.turns,
      (turn) => log.info(turn, 'a long turn: meanwhile no other request was served'),
      () => performance.now(),
    );
    const model = createLanguageModel(config, {
      onCall: (call) => this.#providerCalled(call),
      now: Date.now,
      pause,
      random: Math.random,
    });
    this.#hasLanguageModel = model !== null && config.extractionEnabled;
    if (model !== null)
      log.info(
        { provider: model.provider, model: model.model, isEnabled: config.extractionEnabled },
        'a language model is configured',
      );
    this.language = createLanguage({
      engine: () => this.engine,
      model,
      isEnabled: config.extractionEnabled,
    });
    this.agents = new KnownAgents({
      tell: (place, id) => this.engine.tellOfToolCall(place, id),
      sendCall: (call) => this.#betweenNodes?.sendCall(call) ?? null,
      place: () => this.#agentPlace(),
      testBridge: createBridgeTest({
        bridge: () => this.#agentPlace().bridge,
        address: () => this.address,
        endpointFile: config.endpointFile,
        version: this.version,
      }),
    });
    this.#dispatcher = createDispatcher(createHandlers(this), {
      leaderUrl: this.#leaderUrl,
      checkOutputs,
      beginQuestion: (caller) => this.engine.beginQuestion(caller),
      onCall: (name, input, elapsedMs) => {
        if (isQuestion(name, input)) this.#metrics.inferenceDone(elapsedMs);
      },
    });
  }

  /** Where the metrics come from. */
  #measured(): Parameters<typeof createMetrics>[0] {
    return {
      counters: () => this.#engine?.counters() ?? null,
      figures: () => this.#engine?.figures() ?? null,
      traffic: () => this.#http?.traffic.totals ?? null,
      node: () => this.#engine?.node() ?? null,
      passedOn: () => this.#http?.passedOn ?? null,
      replication: () => (this.#engine === null ? null : this.replicationStatus()),
      scheduler: serving,
      isStorageReady: () => this.#engine?.storage() === 'ready',
      uptimeMs: () => this.uptimeMs(),
    };
  }

  get version(): string {
    return this.#installation.version;
  }

  get engine(): Engine {
    if (this.#engine === null) throw new EngineError('NotReady', 'the service is starting: try again soon');
    return this.#engine;
  }

  /** The address of the leader that this service follows; null: it leads. */
  get #leaderUrl(): string | null {
    const { replicationMode, leaderUrl } = this.#config;
    return replicationMode === 'FOLLOWER' ? leaderUrl : null;
  }

  get connectedAgents(): number {
    return this.agents.connectedCount;
  }

  uptimeMs(): number {
    return Date.now() - this.#startedAt;
  }

  readiness(): Readiness {
    const isOpen = this.#phase === 'ready';
    const storage = this.#storageReadiness();
    const replication = this.#replicationReadiness();
    const offsetMs = this.#engine?.clockOffsetMs() ?? 0;
    const embeddings = this.#engine?.embeddingsState() ?? 'off';
    const node = this.#engine?.node() ?? null;
    const store = node === null ? null : this.#storeReadiness(node);
    const isReady = isOpen && storage !== 'failed' && replication !== 'failed' && store !== 'failed';
    return {
      status: isReady ? 'ready' : 'not_ready',
      subsystems: {
        engine: isOpen ? 'ready' : 'off',
        storage,
        replication,
        mcp: isOpen ? 'ready' : 'off',
        llm: this.#hasLanguageModel ? 'ready' : 'off',
        ...(embeddings === 'off' ? {} : { embeddings }),
        ...(store === null ? {} : { store }),
      },
      ...(offsetMs === 0 ? {} : { clock: { offsetMs } }),
      ...(node === null
        ? {}
        : { node: { role: node.role, lagRecords: node.lagRecords, staleMs: node.staleMs } }),
    };
  }

  #storageReadiness(): Readiness['subsystems']['storage'] {
    const engine = this.#engine;
    if (engine === null) return 'off';
    const node = engine.node();
    return node === null ? engine.storage() : this.#storeReadiness(node);
  }

  /**
   * `stale`: the store cannot be reached, and reads go on. A node is ready then, else a load balancer would find none; when
   * it answers no reads any more, or its clock is off, it is not.
   */
  #storeReadiness({ staleMs, problem, clockSkewMs }: NodeStatus): 'ready' | 'stale' | 'failed' {
    if (staleMs > this.#config.staleReadsMs || Math.abs(clockSkewMs) > maxSkewMs) return 'failed';
    return this.engine.storage() === 'failed' || problem !== null || staleMs > freshMs ? 'stale' : 'ready';
  }

  #replicationReadiness(): Readiness['subsystems']['replication'] {
    const state = this.#following?.status().state ?? 'connecting';
    if (state === 'refused') return 'failed';
    if (this.#leaderUrl === null || this.#phase !== 'ready') return 'off';
    return state === 'streaming' ? 'ready' : 'stale';
  }

  replicationStatus(): ReplicationStatus {
    const engine = this.#engine;
    const leader = this.#leaderUrl;
    const { position, historyId, epoch } = engine?.position() ?? unknownPosition;
    const followers = engine?.leader.followers() ?? [];
    const mine = {
      mode: leader === null ? 'LEADER' : 'FOLLOWER',
      leader,
      position,
      historyId,
      epoch,
      followers,
    } as const;
    if (leader === null) return { ...mine, ...leading, leaderPosition: position };
    return { ...mine, ...(this.#following?.status() ?? connecting) };
  }

  moveLog(to: string, database: string | null): Promise<LogMoved> {
    return this.#moves.move(to, database);
  }

  get storagePlace(): ServiceState['storagePlace'] {
    return storagePlaceOf(this.#config);
  }

  databases(caller: Caller): Promise<DatabaseList> {
    return this.#betweenNodes?.databases(caller) ?? this.engine.databases(caller);
  }

  /** Runs the step while no write to the database is answered here. */
  #holdWrites<Result>(database: string, step: () => Promise<Result>): Promise<Result> {
    return present(this.#http, 'it listens').holdWrites(moveDrainMs, database, step);
  }

  /** Listens; every call except health and metrics is refused until the engine is open. */
  async listen(): Promise<void> {
    const keystore = await this.#openKeystore();
    const http = await this.#createHttp();
    const bound = await this.#listenPlain(http.app);
    this.port = bound.port;
    this.address = `http://${reachableHost(bound.address)}:${bound.port}`;
    let { address } = bound;
    if (keystore !== null) {
      this.#securePort = await keystore.listen(http);
      address = this.#securePort.host;
      this.secureAddress = `https://${reachableHost(address)}:${this.#securePort.port}`;
    }
    if (!isLoopbackAddress(address)) this.#warnOfOpenness(address);
  }

  async #createHttp(): Promise<HttpApp> {
    const mcp = this.#mcpHost();
    const http = await createHttpApp(
      {
        version: this.version,
        log: this.#log,
        settings: this.#config,
        needsCredential: this.authentication.mode !== 'disabled',
        dispatcher: this.#dispatcher,
        metrics: this.#metrics,
        metricsHistory: () => this.#metricsHistory.text(),
        workbenchFolder: this.#installation.workbenchFolder,
        samplesFolder: this.#installation.samplesFolder,
        bundleFile: this.#installation.bundleFile,
        phase: () => this.#phase,
        hasDatabase: (name) => this.engine.hasDatabase(name),
        token: (database) => this.#engine?.token(database) ?? null,
        atLeast: (database, token) => this.engine.atLeast(database, token),
        confirm: (database) => this.engine.confirm(database),
        nodes: this.#nodeHost(),
        remembers: (caller) => this.engine.remembers(caller),
        keptImport: (caller, key) => this.engine.keptImport(caller, key),
        whenErased: (erase) => void this.#eraseElsewhere.push(erase),
        abandon: (caller) => this.engine.abandon(caller),
        authenticate: (headers) => this.authentication.authenticate(headers),
        holds: (caller) => this.authentication.holds(caller),
        admitTry: (address) => this.authentication.admitTry(address),
      },
      [
        (app) => mountMcp(app, mcp, { store: this.#sessionStore, ...this.#mcpSurface }),
        (app, bodies) => mountA2a(app, this.#a2aHost(mcp), bodies),
      ],
    );
    this.#http = http;
    return http;
  }

  /** null: this process alone has its log. */
  #nodeHost(): NodeHost | null {
    const { storeUrl, nodeSecret: secret, staleReadsMs } = this.#config;
    if (storeUrl === null) return null;
    return {
      status: (database) => this.#engine?.node(database ?? undefined) ?? null,
      copies: (database) => this.#engine?.copiesElsewhere(database) ?? null,
      address: () => this.#config.nodeAddress ?? this.address,
      look: (database) => this.engine.look(database ?? undefined),
      hear: async (database) => (await this.#betweenNodes?.hear(database)) ?? false,
      secret,
      staleReadsMs,
      receive: async (message) => present(this.#betweenNodes, 'it is ready').receive(message),
    };
  }

  /** Begins to warm up; `warmedUp` resolves when that has ended. */
  warmUp(quietMs: number): void {
    const { activity } = present(this.#http, 'it listens');
    const { signal } = this.#ending;
    this.warmedUp = warmUp({ activity, signal, quietMs }, () => this.#rehearse()).catch((error: unknown) => {
      this.#log.error({ err: error }, 'a bug: warming up failed');
      return false;
    });
  }

  /** A second, silent service of the same build, all in memory, that nobody else can reach. */
  async #rehearse(): Promise<Rehearsal> {
    const alone = { storageDir: null, storeUrl: null, endpointFile: null, reasoningThreads: 0 };
    const config = { ...parseConfig({}), ...alone };
    const log = createLogger({ level: this.#config.logLevel, format: 'json', write: () => {} });
    const other = new RunningService(config, { log }, false);
    const { app } = await other.#createHttp();
    await other.open();
    return { server: app.server, close: () => other.close() };
  }

  /** null: TLS is off. */
  async #openKeystore(): Promise<OpenedKeystore | null> {
    const { tlsEnabled, tlsKeystorePath } = this.#config;
    if (!tlsEnabled || tlsKeystorePath === null) return null;
    // Loaded on demand: most services run without TLS.
    const { openSecurePort } = await import('./secure-port.ts');
    const settings = { ...this.#config, tlsKeystorePath };
    return openSecurePort({ settings, log: this.#log, pollMs: this.#keystorePollMs });
  }

  async #listenPlain(app: HttpApp['app']): Promise<AddressInfo> {
    const { host: asked, port, tlsEnabled } = this.#config;
    const host = tlsEnabled && !isLoopbackAddress(asked) ? '127.0.0.1' : asked;
    try {
      await app.listen({ host, port, backlog: limits.waitingConnections });
    } catch (error) {
      const failure = listenFailure(error, host, port, 'PORT');
      const isTaken = failure instanceof StartRefusal && failure.kind === 'port-taken';
      throw (isTaken ? await heldFolder(this.#config.storageDir) : null) ?? failure;
    }
    return app.server.address() as AddressInfo;
  }

  /** Warns if the service is reachable from other machines. */
  #warnOfOpenness(address: string): void {
    const { mode } = this.authentication;
    if (mode === 'disabled')
      this.#log.warn(
        { address },
        'authentication is off and the service listens beyond this machine: set AUTH_ENABLED or API_KEY, or HOST=127.0.0.1',
      );
    if (mode === 'rbac' && this.#config.serviceAdminPass === defaultAdminPassword)
      this.#log.warn(
        { address },
        'the bootstrap has the built-in password and the service listens beyond this machine: set SERVICE_ADMIN_PASS',
      );
  }

  async open(): Promise<void> {
    const { storageDir, storeUrl, encryptionKey, fsync, snapshotIntervalMs, historyDays, endpointFile } =
      this.#config;
    const { memoryDecayIntervalMs: decayIntervalMs, memoryBudgetBytes } = this.#config;
    const { memoryLimitBytes, questionMemoryBytes } = this.#config;
    try {
      this.#engine = await openEngine({
        storageDir,
        storeUrl,
        nodeAddress: this.#config.nodeAddress,
        // Without a secret nothing can be passed on: every node has everything, and owners stay.
        ...(this.#config.nodeSecret === null
          ? { copies: Number.MAX_SAFE_INTEGER, unevenMs: Number.POSITIVE_INFINITY }
          : { copies: this.#config.copies }),
        holdWrites: (database, step) => this.#holdWrites(database, step),
        tellGiven: async (address, database) => this.#betweenNodes?.given(address, database),
        whenUnused: (database) => present(this.#http, 'it listens').whenUnused(database),
        encryptionKey,
        fsync,
        snapshotIntervalMs,
        historyDays,
        decayIntervalMs,
        endedIntervalMs: 3_600_000,
        leaderUrl: this.#leaderUrl,
        memoryBudgetBytes: memoryBudgetBytes ?? Math.floor(availableMemory() / 4),
        memoryGauge: processMemory(memoryLimitBytes),
        ...(questionMemoryBytes === null ? {} : { questionMemoryBytes }),
        embeddings: createEmbeddings(this.#config, Date.now),
        threadHost: this.#threadHost(),
        address: this.address,
        ...this.#clock,
        onWarn: (message) => this.#log.warn(message),
        onSync: (elapsedMs) => this.#metrics.logSynced(elapsedMs),
        onAppend: (elapsedMs, records) => {
          this.#metrics.storeAppended(elapsedMs, records);
          this.#betweenNodes?.stored();
        },
        onOpening: this.#onOpening,
        onBug: (error) => this.#log.error({ err: error }, 'a bug: background maintenance failed'),
      });
    } catch (error) {
      throw openFailure(error, storageDir);
    }
    await this.#openJournals(this.#engine);
    this.#talkToNodes(this.#engine);
    await this.#engine.look();
    if (this.#leaderUrl === null) this.#phase = 'ready';
    else this.#follow(this.#engine, this.#leaderUrl);
    if (endpointFile === null) return;
    const { address: url, version } = this;
    try {
      await writeEndpoint(endpointFile, { url, pid: process.pid, version, startedAt: this.#startedAt });
    } catch (error) {
      this.#log.warn(
        { err: error },
        'the endpoint file could not be written: commands need --url to find the service',
      );
    }
  }

  /** null: no reasoning threads are wanted, or this program has none. */
  #threadHost(): ThreadHost | null {
    const { reasoningThreads: count, memoryBudgetBytes, questionMemoryBytes } = this.#config;
    const { storageDir, storeUrl, encryptionKey } = this.#config;
    const file = this.#reasoningFile;
    if (count === 0) return null;
    if (file === null) {
      this.#log.info('this program was not built: all questions are answered on the serving thread');
      return null;
    }
    const budget = memoryBudgetBytes ?? Math.floor(availableMemory() / 4);
    const questionBytes = questionMemoryBytes ?? Math.floor(budget / 4);
    const memoryBytes = Math.max(budget / 2, questionBytes);
    const log = storageDir === null || storeUrl !== null ? null : { folder: storageDir, encryptionKey };
    return reasoningHost(file, { count, afterMs: this.#reasoningAfterMs, memoryBytes, questionBytes, log });
  }

  #talkToNodes(engine: Engine): void {
    const { storeUrl, nodeSecret } = this.#config;
    if (storeUrl === null || nodeSecret === null) return;
    const [messenger, agents, sessions] = [new NodeMessenger(nodeSecret), this.agents, this.#sessionStore];
    const address = (): string => this.#config.nodeAddress ?? this.address;
    this.#betweenNodes = new BetweenNodes({ engine, messenger, agents, sessions, address });
  }

  /** Opens the journals that the service stores beside the log. */
  async #openJournals(engine: Engine): Promise<void> {
    await Promise.all([
      this.#sessionStore.open(engine, this.#config.nodeSecret),
      this.agents.open(engine),
      this.#metricsHistory.open(engine.journal('metrics-history')),
    ]);
    // What was called there goes with what was known there.
    this.#eraseElsewhere.push(({ database, tenant }) => this.agents.eraseCalls(database, tenant));
    engine.whenErased(async (erasure) => {
      const others = this.#betweenNodes?.erased(erasure) ?? Promise.resolve();
      await Promise.all([others, ...this.#eraseElsewhere.map((erase) => erase(erasure))]);
    });
  }

  /** Ready once there is something to serve. */
  #follow(engine: Engine, leaderUrl: string): void {
    const { replicationApiKey: apiKey, replicationPollIntervalMs } = this.#config;
    const pollIntervalMs = replicationPollIntervalMs ?? defaultPollIntervalMs;
    this.#following = new FollowerLoop(
      engine,
      { leaderUrl, apiKey, pollIntervalMs, port: this.port },
      {
        onWarn: (message) => this.#log.warn(message),
        onInfo: (message) => this.#log.info(message),
        onBug: (error) => this.#log.error({ err: error }, 'a bug: following the leader failed'),
        onServing: () => {
          if (this.#phase !== 'starting') return;
          this.#phase = 'ready';
          this.#log.info({ leader: leaderUrl }, 'ready: this follower has something to serve');
        },
      },
    );
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    const startedAt = performance.now();
    const { allMs, lastSnapshotByMs } = this.#endLimits;
    const left = (limitMs: number): number => Math.max(0, limitMs - (performance.now() - startedAt));
    if (this.#phase === 'ready') await endsWithin(handOverMs, this.#moves.giveAll());
    this.#phase = 'closing';
    this.#ending.abort();
    await this.#metricsHistory.close();
    this.#metrics.close();
    this.#stopTurnLog();
    if (this.#config.endpointFile !== null) await removeEndpoint(this.#config.endpointFile);
    if (this.#http !== null) {
      await finishCalls(this.#http.activity, this.#endLimits, performance.now() - startedAt);
      await endsWithin(left(allMs), this.#moves.toldOthers());
      const { disconnectMs } = this.#endLimits;
      await Promise.all([
        disconnect(this.#http.app, disconnectMs),
        disconnectSecure(this.#securePort, disconnectMs),
      ]);
    }
    await endsWithin(left(allMs), this.warmedUp);
    this.#betweenNodes?.close();
    if (this.#engine === null) return;
    await endsWithin(left(allMs), this.#following?.close() ?? Promise.resolve());
    this.isDiskStuck = !(await endsWithin(left(allMs), this.#engine.close(left(lastSnapshotByMs))));
    if (this.isDiskStuck)
      this.#log.warn('the disk does not answer: ending without waiting for it; what was answered is durable');
  }

  #providerCalled({ tokens, elapsedMs, ...call }: ProviderCall): void {
    const { input, output } = tokens;
    this.#metrics.llmCallDone(call.provider, elapsedMs, input + output);
    this.#log.info(
      { ...call, inputTokens: input, outputTokens: output, elapsedMs: Math.round(elapsedMs) },
      'language model called',
    );
  }

  /** A2A makes its calls as MCP does. */
  #a2aHost({ version, logger, callerOf, perform, argumentNames }: McpHost): A2aHost {
    return {
      version,
      logger,
      needsCredential: () => this.authentication.mode !== 'disabled',
      callerOf: (request) => {
        const caller = callerOf(request);
        return { ...caller, origin: { ...caller.origin, surface: 'a2a' } };
      },
      perform,
      argumentNames,
    };
  }

  /** The parts of the setup for a client on this machine that depend on where the service runs. */
  #agentPlace(): Pick<AgentSetup, 'address' | 'bridge' | 'bundle'> {
    const { bridgeFile, bundleFile } = this.#installation;
    return {
      address: this.address,
      bridge: bridgeFile === null ? null : { command: 'node', args: [bridgeFile] },
      bundle: bundleFile === null ? null : bundlePath,
    };
  }

  #mcpHost(): McpHost {
    return {
      version: this.version,
      logger: this.#log,
      proofAppFile: this.#installation.proofAppFile,
      workbenchOf: ({ peer }) => (peer !== undefined && isLoopbackAddress(peer) ? this.address : null),
      callerOf: (request, bound) => {
        const named = bound ?? namedSpace(request);
        const { database, tenant } = named;
        const identity = present(request.identity, 'the credential was looked at');
        requireCovered(identity, { database, tenant: tenant ?? 'default' });
        const place = checkedSpace(named, false);
        if (bound !== undefined) requireSameSpace(namedSpace(request), bound);
        if (!this.engine.hasDatabase(place.database)) throw databaseNotFound(place.database);
        requireOriginHeaders(request);
        const caller = callerFor(request, place, neverAborted);
        return { ...caller, origin: { ...caller.origin, surface: 'mcp' } };
      },
      requireAllowed,
      perform: async (name, caller, input) => {
        requireAllowed(name, caller, input);
        if (this.#phase !== 'ready' || this.#http === null)
          throw new EngineError('NotReady', 'the service is shutting down');
        const params = checkParams(name, input.params);
        const checked = { params, ...(await checkLongInput(name, input, caller)) };
        const task = this.#http.activity.startCall();
        try {
          const signal = eitherOf(caller.signal, task);
          return await this.#dispatcher.run(name, { ...caller, signal }, checked);
        } finally {
          task.done();
        }
      },
      argumentNames: (caller) => this.engine.argumentNames(caller),
      onChange: (listener) => this.engine.subscribe(listener),
      holds: (credential, binding) => this.authentication.holds({ credential, ...binding }),
      onToolCall: (call) => {
        const { caller, tool, isKnown, outcome, elapsedMs } = call;
        const { requestId, client } = caller;
        if (isKnown) this.#metrics.toolCallDone(tool, outcome, elapsedMs);
        const logged = { requestId, tool: isKnown ? tool : null, client, outcome };
        this.#log.info({ ...logged, elapsedMs: Math.round(elapsedMs) }, 'tool call');
        this.agents.called(call);
      },
      listClients: (connected) => this.agents.listFrom(connected),
      onSubscribers: (change) => this.#metrics.mcpSubscribers(change),
    };
  }
}

/** The status of a leader, except its position. */
const leading = { state: 'leader', lagRecords: 0, lagMs: 0, lastContactAt: null, lastError: null } as const;

/** The status of a follower before it is open. */
const connecting = {
  state: 'connecting',
  position: 0,
  leaderPosition: null,
  lagRecords: null,
  lagMs: null,
  lastContactAt: null,
  lastError: null,
} as const;

/** A node that shows nothing older is fresh. */
const freshMs = 2000;
/** A node whose clock is further off stores nothing. */
const maxSkewMs = 2000;
const unknownPosition = { position: 0, historyId: null, epoch: 0 };

/** Whether a call draws conclusions because a client asked for them. */
function isQuestion(name: OperationName, input: CheckedInput): boolean {
  if (name === 'aggregate') return (input.body as OperationInput<'aggregate'>['body']).infer;
  return questions.has(name);
}

const questions: ReadonlySet<OperationName> = new Set(['ask', 'plan', 'explain', 'whatIf', 'trace']);

const requireAllowed: McpHost['requireAllowed'] = (name, caller, input) => {
  const spec: OperationSpec = operations[name];
  if (requirePermission(caller, spec) === 'dryRun' && !saysDryRun(spec, input))
    throw insufficientRole(caller, spec);
};

/** MCP passes a separate signal with each tool call. */
const neverAborted = new AbortController().signal;

/** The host by which a program on this machine reaches a server that listens on `address`. */
function reachableHost(address: string): string {
  if (address === '0.0.0.0' || address === '::') return '127.0.0.1';
  return address.includes(':') ? `[${address}]` : address;
}
