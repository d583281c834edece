/**
 * The service on its own thread: the same `startService` as in the headless program, started and ended by messages of
 * the program that runs the thread.
 *
 * It sends how far it has read, then exactly one message, ready or refused; after that which conclusions were withdrawn,
 * until it ends when told to close. Any other failure ends the thread with an error, which the runtime reports to its
 * owner.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { assert, present, StartupError } from '../../engine/index.ts';
import { parseConfig } from '../base/config.ts';
import {
  isThreadCommand,
  isThreadSettings,
  type Refusal,
  type ThreadMessage,
} from '../base/service-messages.ts';
import { type Service, startService, defaultQuietMs } from '../service/service.ts';
import { WithdrawnTally } from '../service/withdrawn-tally.ts';
import { recordStart } from '../base/start-record.ts';
import { StartRefusal } from '../base/start-refusal.ts';
import { logFileWriter } from '../telemetry/log-file.ts';
import { createLogger, inTurns, standardErrorWriter } from '../telemetry/logger.ts';

const owner = present(parentPort, 'this module is started as a thread');

function say(message: ThreadMessage): void {
  owner.postMessage(message);
}

async function start(): Promise<Service> {
  const settings: unknown = workerData;
  assert(isThreadSettings(settings), 'the thread is given its settings');
  const config = parseConfig(settings.environment, settings.defaults);
  const log = createLogger({
    level: config.logLevel,
    format: config.logFormat ?? 'plain',
    write: writer(settings.logFile),
  });
  const warmUp = config.warmUp ? { warmUpAfterMs: defaultQuietMs } : {};
  const onOpening = (percent: number) => say({ kind: 'opening', percent });
  const service = await startService(config, { log, onOpening, ...warmUp });
  const tally = new WithdrawnTally({
    namesAtoms: config.apiKey === null && !config.authEnabled,
    send: (withdrawn) => say({ kind: 'withdrawn', withdrawn }),
    after: (ms, run) => void setTimeout(run, ms).unref(),
  });
  service.engine.subscribe((change) => tally.note(change));
  try {
    await recordStart(config, settings.environment, service.port, settings.program);
  } catch (error) {
    log.warn(
      { err: error },
      'how to start the service again could not be recorded: corollary-mcp cannot start it',
    );
  }
  return service;
}

function writer(logFile: string | null): (line: string) => void {
  const toStandardError = standardErrorWriter();
  if (logFile === null) return toStandardError;
  const toFile = inTurns(logFileWriter(logFile));
  return (line) => {
    toStandardError(line);
    toFile(line);
  };
}

function refusalOf(error: StartRefusal): Refusal {
  const holder = error.cause instanceof StartupError ? error.cause.holder : null;
  return { reason: error.kind, message: error.message, owner: holder?.address ?? null };
}

async function closeOn(service: Service): Promise<void> {
  await service.close();
  say({ kind: 'closed' });
  // Nothing else keeps the thread alive.
  owner.close();
}

try {
  const service = await start();
  owner.on('message', (message: unknown) => {
    assert(isThreadCommand(message), 'the owner of the thread says only what it can');
    if (message.kind === 'count-agents') say({ kind: 'agents', count: service.connectedAgents });
    else void closeOn(service);
  });
  say({ kind: 'ready', address: service.address, port: service.port });
} catch (error) {
  if (!(error instanceof StartRefusal)) throw error;
  say({ kind: 'refused', refusal: refusalOf(error) });
  owner.close();
}
