/**
 * The service without a window: configuration in, a listening service out.
 *
 * It composes engine, HTTP and MCP and decides their order. It listens before the engine is open, so that health
 * can be asked while a large log is read; it is ready when the engine is; and it ends within ten seconds: no new
 * calls, streams ended, running calls finished or cancelled, then the engine. The headless program and the
 * desktop app's thread both start this very function.
 */
import type { AddressInfo } from 'node:net';
import { constrainedMemory } from 'node:process';
import { totalmem } from 'node:os';
import type { Readiness } from '../engine/contract/administration.ts';
import { operations } from '../engine/contract/operations.ts';
import type { OperationSpec } from '../engine/contract/operation-spec.ts';
import { type Engine, EngineError, openEngine, present } from '../engine/index.ts';
import { Authentication } from './auth/authentication.ts';
import { type Config, defaultAdminPassword } from './config.ts';
import {
  checkInput,
  createDispatcher,
  type Dispatcher,
  insufficientRole,
  requirePermission,
  saysDryRun,
} from './dispatch.ts';
import { removeEndpoint, writeEndpoint } from './endpoint-file.ts';
import type { Activity } from './http/activity.ts';
import { createHttpApp, type HttpApp } from './http/app.ts';
import { callerFor, checkedPlace, databaseNotFound, namedPlace, requireCovered } from './http/caller.ts';
import type { ServicePhase } from './http/host.ts';
import { isLoopbackAddress } from './http/origin.ts';
import { findInstallation } from './installation.ts';
import type { McpHost } from './mcp-host.ts';
import { createLanguage } from './llm/create-language.ts';
import { createLanguageModel, type ProviderCall } from './llm/create-language-model.ts';
import type { Language } from './llm/language.ts';
import { pause } from './llm/pause.ts';
import { mountMcp } from './mcp/mount.ts';
import { createHandlers, type ServiceState } from './operations.ts';
import { listenFailure, openFailure } from './start-failure.ts';
import type { Logger } from './telemetry/logger.ts';
import { createMetrics, type Metrics } from './telemetry/metrics.ts';

export interface Service {
  /** Where this machine reaches it: `http://127.0.0.1:9300`. */
  readonly address: string;
  readonly port: number;
  readonly engine: Engine;
  /** Ends it within ten seconds. May be called again. */
  close(): Promise<void>;
}

export interface ServiceOptions {
  readonly log: Logger;
  /** Checks every answer against its schema. For tests. */
  readonly checkOutputs?: boolean;
}

/** Running calls may finish for so long before they are cancelled, and then so long to notice. */
const finishMs = 5000;
const cancelMs = 1500;
/** Connections that do not end by themselves are cut after this. */
const disconnectMs = 1000;
/** So long after the end has begun, a last snapshot that is not written is given up: the log has all it would hold. */
const lastSnapshotByMs = 8500;

/** Resolves when the service is ready. Refuses with a StartRefusal that says what is in the way. */
export async function startService(config: Config, options: ServiceOptions): Promise<Service> {
  const running = new RunningService(config, options);
  try {
    await running.listen();
    await running.open();
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
  readonly authentication: Authentication;
  readonly language: Language;
  readonly #hasLanguageModel: boolean;
  readonly #dispatcher: Dispatcher;
  #http: HttpApp | null = null;
  #engine: Engine | null = null;
  #phase: ServicePhase = 'starting';
  #closing: Promise<void> | null = null;
  address = '';
  port = 0;

  constructor(config: Config, { log, checkOutputs = false }: ServiceOptions) {
    this.#config = config;
    this.#log = log;
    this.authentication = new Authentication({
      settings: config,
      keys: () => this.engine.keys,
      isLoopback: isLoopbackAddress,
      now: () => performance.now(),
    });
    const specs: OperationSpec[] = Object.values(operations);
    this.#metrics = createMetrics(
      {
        counters: () => this.#engine?.counters() ?? null,
        isStorageReady: () => this.#engine?.storage() === 'ready',
        uptimeMs: () => this.uptimeMs(),
      },
      specs.flatMap(({ tool }) => (tool === undefined ? [] : [tool.name])),
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
    this.#dispatcher = createDispatcher(createHandlers(this), {
      checkOutputs,
      onCall: (name, elapsedMs) => {
        if (name === 'ask') this.#metrics.inferenceDone(elapsedMs);
      },
    });
  }

  get version(): string {
    return this.#installation.version;
  }

  get engine(): Engine {
    if (this.#engine === null) throw new EngineError('NotReady', 'the service is starting: try again soon');
    return this.#engine;
  }

  uptimeMs(): number {
    return Date.now() - this.#startedAt;
  }

  readiness(): Readiness {
    const isOpen = this.#phase === 'ready';
    const storage = this.#engine === null ? 'off' : this.#engine.storage();
    return {
      status: isOpen && storage === 'ready' ? 'ready' : 'not_ready',
      subsystems: {
        engine: isOpen ? 'ready' : 'off',
        storage,
        replication: 'off',
        mcp: isOpen ? 'ready' : 'off',
        llm: this.#hasLanguageModel ? 'ready' : 'off',
      },
    };
  }

  /** Listens; every call but health and metrics is refused until the engine is open. */
  async listen(): Promise<void> {
    const { host, port } = this.#config;
    this.#http = await createHttpApp(
      {
        version: this.version,
        log: this.#log,
        settings: this.#config,
        dispatcher: this.#dispatcher,
        metrics: this.#metrics,
        workbenchFolder: this.#installation.workbenchFolder,
        samplesFolder: this.#installation.samplesFolder,
        phase: () => this.#phase,
        hasDatabase: (name) => this.engine.hasDatabase(name),
        remembers: (caller) => this.engine.remembers(caller),
        keptImport: (caller, key) => this.engine.keptImport(caller, key),
        abandon: (caller) => this.engine.abandon(caller),
        authenticate: (headers) => this.authentication.authenticate(headers),
        holds: (caller) => this.authentication.holds(caller),
        admitTry: (address) => this.authentication.admitTry(address),
      },
      [(app) => mountMcp(app, this.#mcpHost())],
    );
    const { app } = this.#http;
    try {
      await app.listen({ host, port });
    } catch (error) {
      throw listenFailure(error, host, port);
    }
    const bound = app.server.address() as AddressInfo;
    this.port = bound.port;
    this.address = `http://${reachableHost(bound.address)}:${bound.port}`;
    if (!isLoopbackAddress(bound.address)) this.#warnOfOpenness(bound.address);
  }

  /** The service listens beyond this machine. */
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
    const { storageDir, fsync, snapshotIntervalMs, memoryBudgetBytes, endpointFile } = this.#config;
    const { memoryDecayIntervalMs: decayIntervalMs } = this.#config;
    try {
      this.#engine = await openEngine({
        storageDir,
        fsync,
        snapshotIntervalMs,
        decayIntervalMs,
        memoryBudgetBytes: memoryBudgetBytes ?? Math.floor(availableMemory() / 4),
        address: this.address,
        onWarn: (message) => this.#log.warn(message),
        onBug: (error) => this.#log.error({ err: error }, 'a bug: upkeep in the background failed inside'),
      });
    } catch (error) {
      throw openFailure(error, storageDir);
    }
    this.#phase = 'ready';
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

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    const startedAt = performance.now();
    this.#phase = 'closing';
    if (this.#config.endpointFile !== null) await removeEndpoint(this.#config.endpointFile);
    if (this.#http !== null) {
      await finishCalls(this.#http.activity);
      await disconnect(this.#http.app);
    }
    await this.#engine?.close(Math.max(0, lastSnapshotByMs - (performance.now() - startedAt)));
  }

  #providerCalled({ tokens, elapsedMs, ...call }: ProviderCall): void {
    const { input, output } = tokens;
    this.#metrics.llmCallDone(call.provider, elapsedMs, input + output);
    this.#log.info(
      { ...call, inputTokens: input, outputTokens: output, elapsedMs: Math.round(elapsedMs) },
      'language model called',
    );
  }

  #mcpHost(): McpHost {
    return {
      version: this.version,
      logger: this.#log,
      callerOf: (request, bound) => {
        const named = bound ?? namedPlace(request);
        const { database, tenant } = named;
        const identity = present(request.identity, 'the credential was looked at');
        requireCovered(identity, { database, tenant: tenant ?? 'default' });
        const place = checkedPlace(named, false);
        if (!this.engine.hasDatabase(place.database)) throw databaseNotFound(place.database);
        return callerFor(request, place, neverAborted);
      },
      perform: async (name, caller, body) => {
        const spec: OperationSpec = operations[name];
        if (requirePermission(caller, spec) === 'dryRun' && !saysDryRun(spec, { body }))
          throw insufficientRole(caller, spec);
        if (this.#phase !== 'ready' || this.#http === null)
          throw new EngineError('NotReady', 'the service is shutting down');
        const input = checkInput(name, { body });
        const task = this.#http.activity.startCall();
        try {
          const signal = AbortSignal.any([caller.signal, task.signal]);
          return await this.#dispatcher.run(name, { ...caller, signal }, input);
        } finally {
          task.done();
        }
      },
      holds: (credential, binding) => this.authentication.holds({ credential, ...binding }),
      onToolCall: ({ requestId, tool, client, outcome, elapsedMs }) => {
        this.#metrics.toolCallDone(tool, outcome, elapsedMs);
        this.#log.info({ requestId, tool, client, outcome, elapsedMs: Math.round(elapsedMs) }, 'tool call');
      },
      onSubscribers: (change) => this.#metrics.mcpSubscribers(change),
    };
  }
}

/** MCP gives each tool call a signal of its own. */
const neverAborted = new AbortController().signal;

async function finishCalls(activity: Activity): Promise<void> {
  activity.endStreams();
  if (await activity.idle(finishMs)) return;
  activity.cancelCalls();
  await activity.idle(cancelMs);
}

/** Closes the listening socket and the connections; those that are stuck are cut. */
async function disconnect(app: HttpApp['app']): Promise<void> {
  const timer = setTimeout(() => app.server.closeAllConnections(), disconnectMs);
  await app.close();
  clearTimeout(timer);
}

/** The address a program on this machine uses for what listens on `address`. */
function reachableHost(address: string): string {
  if (address === '0.0.0.0' || address === '::') return '127.0.0.1';
  return address.includes(':') ? `[${address}]` : address;
}

/** Bytes this process may use: of the machine, or of the container it is in. */
function availableMemory(): number {
  const limit = constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
