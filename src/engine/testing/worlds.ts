/**
 * Two engines with the same calls: one with a folder, which is closed, killed, opened again and snapshotted; and one in
 * memory, to which none of that happens. They must answer everything alike.
 */
import { cpSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { present } from '../base/assert.ts';
import type { Caller } from '../base/caller.ts';
import { ManualClock } from '../base/clock.ts';
import { EngineError } from '../base/errors.ts';
import type { Prng } from './prng.ts';
import { listFactsQuerySchema } from '../contract/facts.ts';
import type { Engine } from '../operations/engine.ts';
import { openEngine } from '../open-engine.ts';
import { askInput, day, hour, startTime, testCaller } from './engine-fixtures.ts';
import {
  type Call,
  type Known,
  type Place,
  randomQuestionCall,
  randomWrite,
  randomWriteWithin,
  worldDatabases,
  worldQuestions,
  worldTenants,
} from './world-calls.ts';

/** One of the two engines. */
interface Side {
  engine: Engine;
  /** Its ids of transactions, by their common names. */
  readonly transactions: Map<string, string>;
}

/** The call, its target, its key, and its transaction by name. */
interface Request {
  readonly call: Call;
  readonly place: Place;
  readonly key: string | null;
  readonly within: string | null;
}

/** A write with a key that both remember. */
interface Made {
  readonly request: Request;
  readonly answer: unknown;
}

interface Open {
  readonly name: string;
  readonly place: Place;
}

/** No question may reach its limit. */
const timeoutMs = 600_000;
const pastIdle = 6 * 60_000;
const listAll = listFactsQuerySchema.parse({ limit: '1000' });

export class Worlds {
  readonly #prng: Prng;
  /** Uses by questions do not survive a kill: if there is one, nothing that depends on them is compared. */
  readonly #mayKill: boolean;
  readonly #clock = new ManualClock(startTime);
  readonly #folders: string[] = [];
  #inFolder: Side | null = null;
  #inMemory: Side | null = null;
  #open: Open[] = [];
  readonly #made = new Map<string, Made>();
  #count = 0;
  /** Assigned ids, by database. */
  readonly #facts = new Map<string, string[]>();
  readonly #rules = new Map<string, string[]>();
  readonly #summaries = new Map<string, string[]>();
  /** The steps so far. */
  readonly done: string[] = [];

  constructor(prng: Prng, mayKill: boolean) {
    this.#prng = prng;
    this.#mayKill = mayKill;
  }

  async open(): Promise<void> {
    await this.#newFolder();
    this.#inFolder = { engine: await this.#opened(this.#folder), transactions: new Map() };
    this.#inMemory = { engine: await this.#opened(null), transactions: new Map() };
  }

  async close(): Promise<void> {
    await Promise.all([this.#inFolder?.engine.close(), this.#inMemory?.engine.close()]);
    for (const folder of this.#folders) await rm(folder, { recursive: true, force: true });
  }

  async step(): Promise<void> {
    const prng = this.#prng;
    const known = await this.#known();
    const choice = prng.below(100);
    if (choice < 8) this.#pass();
    else if (choice < 42) await this.#both(this.#request(randomWrite(prng, known.known), known.place));
    else if (choice < 52)
      await this.#both({ ...this.#request(randomQuestionCall(prng, known.known), known.place), key: null });
    else if (choice < 58) await this.#repeat();
    else if (choice < 78) await this.#transact();
    else if (choice < 84) await this.#burst('none');
    else if (choice < 86) await this.#burst('close');
    else if (choice < 88) await this.#take();
    else if (choice < 92) await this.#reopen();
    else if (this.#mayKill && choice < 94) await this.#kill();
    else if (this.#mayKill && choice < 97) await this.#burst('kill');
    else await this.compare();
  }

  get #folder(): string {
    return present(this.#folders.at(-1) ?? null, 'there is no folder');
  }

  get #sides(): readonly [Side, Side] {
    return [present(this.#inFolder, 'it is not open'), present(this.#inMemory, 'it is not open')];
  }

  async #newFolder(): Promise<void> {
    this.#folders.push(await mkdtemp(join(tmpdir(), 'corollary-worlds-')));
  }

  #opened(storageDir: string | null): Promise<Engine> {
    return openEngine({
      storageDir,
      fsync: 'never',
      segmentBytes: 4000,
      clock: this.#clock,
      onBug: (error) => {
        throw error;
      },
      onWarn: (message) => {
        if (!this.#mayKill || !message.startsWith('The end of the log was torn'))
          throw new Error(`warned: ${message}`);
      },
    });
  }

  #pass(): void {
    const prng = this.#prng;
    const by = prng.chance(0.1) ? prng.pick([pastIdle, 13 * hour, day, 25 * hour]) : prng.below(30);
    this.done.push(`${by} ms pass`);
    this.#clock.advance(by);
  }

  #place(): Place {
    const prng = this.#prng;
    return {
      database: prng.chance(0.6) ? 'default' : prng.pick(worldDatabases),
      tenant: prng.chance(0.6) ? 't' : prng.pick(worldTenants),
      credential: prng.pick([null, 'one', 'other']),
    };
  }

  /** A target, and possible subjects of calls there. */
  async #known(place: Place = this.#place()): Promise<{ place: Place; known: Known }> {
    const { database } = place;
    const [, { engine }] = this.#sides;
    const caller = callerAt(place);
    const generation = engine.hasDatabase(database)
      ? (await engine.ask(caller, askInput('nothing(?x)'))).generation
      : 0;
    const facts = this.#facts.get(database) ?? [];
    const rules = this.#rules.get(database) ?? [];
    const summaries = this.#summaries.get(database) ?? [];
    const hasUses = !this.#mayKill;
    return { place, known: { facts, rules, summaries, hasUses, time: this.#clock.now(), generation } };
  }

  #request(call: Call, place: Place): Request {
    const prng = this.#prng;
    const key = prng.chance(0.5) ? (prng.chance(0.03) ? 'key-1' : `key-${++this.#count}`) : null;
    return { call, place, key, within: null };
  }

  /** The engine's answer, in a form that can be compared. */
  async #sent(side: Side, { call, place, key, within }: Request): Promise<unknown> {
    const transaction =
      within === null ? null : present(side.transactions.get(within) ?? null, 'it was begun');
    const idempotency = key === null ? null : { key, fingerprint: `${call.what} ${JSON.stringify(place)}` };
    const answer = await answered(call.send(side.engine, { ...callerAt(place), transaction, idempotency }));
    return this.#comparable(answer);
  }

  #comparable(answer: unknown): unknown {
    return JSON.parse(
      JSON.stringify(answer, (name, value: unknown) => {
        if (name === 'derived' && typeof value === 'number') return undefined;
        if (isLeftOut.has(name) || (this.#mayKill && ofUses.has(name))) return undefined;
        return typeof value === 'string' ? value.replaceAll(idPattern, '<transaction>') : value;
      }) ?? 'null',
    );
  }

  async #both(request: Request): Promise<unknown> {
    const { call, place, key, within } = request;
    this.done.push(`${call.what} at ${Object.values(place).join(' ')} ${key ?? ''} ${within ?? ''}`);
    const [inFolder, inMemory] = this.#sides;
    const [got, wanted] = await Promise.all([this.#sent(inFolder, request), this.#sent(inMemory, request)]);
    this.#compareAnswers(request, got, wanted);
    return wanted;
  }

  #compareAnswers(request: Request, got: unknown, wanted: unknown): void {
    const { call, place, key } = request;
    same(got, wanted, call.what);
    const { id } = (wanted ?? {}) as { id?: unknown };
    if (typeof id === 'string' && /^[fr]\d/.test(id)) this.#noteId(place.database, id);
    if (key === null) return;
    const caller = {
      ...callerAt(place),
      idempotency: { key, fingerprint: `${call.what} ${JSON.stringify(place)}` },
    };
    const [one, other] = this.#sides.map(({ engine }) => remembers(engine, caller));
    same(one, other, `${call.what} is remembered`);
    if (other === true) this.#made.set(JSON.stringify([place, key]), { request, answer: wanted });
  }

  #noteId(database: string, id: string): void {
    this.#note(id.startsWith('f') ? this.#facts : this.#rules, database, id);
  }

  #note(ids: Map<string, string[]>, database: string, id: string): void {
    const known = ids.get(database);
    if (known === undefined) ids.set(database, [id]);
    else if (!known.includes(id)) known.push(id);
  }

  /** Repeats an earlier request: it gets the earlier answer, as long as the key is remembered. */
  async #repeat(): Promise<void> {
    if (this.#made.size === 0) return;
    const { request, answer } = this.#prng.pick([...this.#made.values()]);
    const { key, place, call } = request;
    const caller = {
      ...callerAt(place),
      idempotency: { key: key ?? '', fingerprint: `${call.what} ${JSON.stringify(place)}` },
    };
    const isMaintained = remembers(this.#sides[1].engine, caller) === true;
    // A transaction that ended before a restart is unknown.
    if (!isMaintained && call.what.startsWith('commit')) return;
    const again = await this.#both(request);
    if (isMaintained) same(again, answer, `${call.what}, again`);
  }

  async #take(): Promise<void> {
    this.done.push('snapshot');
    await this.#sides[0].engine.snapshot();
  }

  async #transact(): Promise<void> {
    const prng = this.#prng;
    const open = this.#open;
    const choice = prng.below(20);
    if (open.length < 3 && (choice < 4 || open.length === 0)) return this.#begin();
    if (open.length === 0) return;
    const { name, place } = prng.pick(open);
    const { known } = await this.#known(place);
    if (choice < 14) {
      const isQuestion = prng.chance(0.25);
      const call = isQuestion ? questionWithin(prng) : randomWriteWithin(prng, known);
      await this.#both({ call, place, key: null, within: name });
      return;
    }
    await this.#end(name, place);
    if (prng.chance(0.7)) this.#open = open.filter((each) => each.name !== name);
  }

  async #begin(): Promise<void> {
    const place = this.#place();
    const name = `transaction ${++this.#count}`;
    this.done.push(`begin ${name} at ${Object.values(place).join(' ')}`);
    const begun = await Promise.all(this.#sides.map(({ engine }) => answered(engine.begin(callerAt(place)))));
    same(this.#comparable(begun[0]), this.#comparable(begun[1]), 'begin');
    for (const [at, side] of this.#sides.entries()) {
      const { id } = begun[at] as { id?: string };
      if (id === undefined) return;
      side.transactions.set(name, id);
    }
    this.#open.push({ name, place });
  }

  /** Commits or rolls back, or previews a commit. */
  async #end(name: string, place: Place): Promise<void> {
    const prng = this.#prng;
    const choice = prng.below(10);
    const request = this.#request(endOf(name, this.#sides, choice), place);
    await this.#both(choice < 8 ? request : { ...request, key: null });
  }

  /** The effect of a restart on transactions. */
  async #endTransactions(): Promise<void> {
    const [, inMemory] = this.#sides;
    for (const { name, place } of this.#open) {
      const id = present(inMemory.transactions.get(name) ?? null, 'it was begun');
      await answered(inMemory.engine.rollback(callerAt(place), id));
    }
    this.#open = [];
  }

  async #reopen(): Promise<void> {
    const within = this.#prng.chance(0.3) ? 0 : undefined;
    // Without the last snapshot uses are lost, as after a kill.
    const isKill = within === 0 && this.#mayKill;
    this.done.push(`reopen ${isKill}`);
    await this.#closeAndOpen(isKill);
    await this.compare();
  }

  async #closeAndOpen(isKill = false): Promise<void> {
    const [side] = this.#sides;
    await (isKill ? side.engine.close(0) : side.engine.close());
    side.engine = await this.#opened(this.#folder);
    await this.#endTransactions();
  }

  async #kill(): Promise<void> {
    this.done.push('kill');
    await this.#goOnInCopy(() => Promise.resolve());
    await this.compare();
  }

  /** Opens a copy of the folder's current state; `end` waits for what the old engine was doing. */
  async #goOnInCopy(end: () => Promise<unknown>): Promise<void> {
    const [side] = this.#sides;
    const from = this.#folder;
    await this.#newFolder();
    copyNow(from, this.#folder);
    await end();
    await side.engine.close(0);
    side.engine = await this.#opened(this.#folder);
    await this.#endTransactions();
  }

  /** Several concurrent writes, perhaps with questions, snapshots, an end or a kill among them. */
  async #burst(end: 'none' | 'close' | 'kill'): Promise<void> {
    const prng = this.#prng;
    const requests = await this.#requestsAtOnce();
    const each = requests.map(({ call, place }) => `${call.what} at ${Object.values(place).join(' ')}`);
    this.done.push(`at once, end: ${end}: ${each.join('; ')}`);
    const [inFolder, inMemory] = this.#sides;
    const others: Promise<unknown>[] = [];
    const snapshot = (): void => {
      if (prng.chance(0.4)) others.push(answered(inFolder.engine.snapshot()));
    };
    const ask = async (): Promise<void> => {
      const { place, known } = await this.#known();
      const question = randomQuestionCall(prng, known);
      others.push(answered(question.send(inFolder.engine, callerAt(place))));
    };
    snapshot();
    // Their uses are not compared.
    if (this.#mayKill) for (let count = prng.below(4); count > 0; count--) await ask();
    await tick(prng.below(4));
    const running = requests.map((request) => this.#sent(inFolder, request));
    if (this.#mayKill) await ask();
    snapshot();
    if (end !== 'none') await tick(prng.below(6));
    if (end === 'kill') await this.#goOnInCopy(() => Promise.all([...running, ...others]));
    if (end === 'close') await this.#closeAndOpen();
    const got = await Promise.all(running);
    await Promise.all(others);
    const wanted = await Promise.all(requests.map((request) => this.#sent(inMemory, request)));
    if (end !== 'none') await this.#resume(requests, wanted);
    else for (const [at, request] of requests.entries()) this.#compareAnswers(request, got[at], wanted[at]);
  }

  /** Writes with the same effect in both, in whatever slices they are processed. */
  async #requestsAtOnce(): Promise<Request[]> {
    const prng = this.#prng;
    const requests: Request[] = [];
    const count = 2 + prng.below(6);
    while (requests.length < count) {
      const { place, known } = await this.#known();
      const call = randomWrite(prng, known);
      // Writes of different databases at once have no order, and others may need the new one.
      if (newDatabase.test(call.what)) continue;
      // Nor have those of different tenants.
      const isOther = (each: Request): boolean =>
        each.place.database === place.database && each.place.tenant !== place.tenant;
      if (requests.some(isOther)) continue;
      if (call.kind !== 'prompt' && (call.kind !== 'later' || requests.length < count - 1)) continue;
      requests.push({ call, place, key: `key-${++this.#count}`, within: null });
    }
    return requests;
  }

  /** Repeats the requests sent before the kill, like a client that got no answer. */
  async #resume(requests: readonly Request[], wanted: readonly unknown[]): Promise<void> {
    const [side] = this.#sides;
    const isThere = requests.map(({ call, place, key }) =>
      remembers(side.engine, {
        ...callerAt(place),
        idempotency: { key: key ?? '', fingerprint: `${call.what} ${JSON.stringify(place)}` },
      }),
    );
    const databases = requests.map(databaseOf);
    this.done.push(`${isThere.filter(Boolean).length} of them survived`);
    for (const [at, request] of requests.entries()) {
      const last = databases.findLastIndex(
        (each, later) => each === databases[at] && isThere[later] === true,
      );
      // A refused write among the surviving ones of its database was refused before they were applied.
      if (at < last && isThere[at] !== true) {
        same(Object.hasOwn(Object(wanted[at]), 'refused'), true, `${request.call.what} was refused`);
        continue;
      }
      this.#compareAnswers(request, await this.#sent(side, request), wanted[at]);
    }
  }

  /** Everything visible. */
  async compare(): Promise<void> {
    const [inFolder, inMemory] = this.#sides;
    await this.#learnIds(inMemory.engine);
    const wanted = await this.#everything(inMemory);
    same(await this.#everything(inFolder), wanted, 'everything');
  }

  /** Ids assigned by writes of many facts. */
  async #learnIds(engine: Engine): Promise<void> {
    const { databases } = await engine.databases(testCaller());
    for (const { name: database } of databases) {
      const caller = testCaller({ database });
      for (const { id } of await engine.rules(caller)) this.#noteId(database, id);
      for (const tenant of worldTenants) {
        const { facts } = await engine.facts({ ...caller, tenant }, listAll);
        for (const { id, predicate, args } of facts)
          if (id !== null && (predicate !== 'bulk' || args[0]?.endsWith('00') === true))
            this.#noteId(database, id);
        for (const { id, predicate } of facts)
          if (id !== null && predicate.endsWith('_summary')) this.#note(this.#summaries, database, id);
      }
    }
  }

  async #everything({ engine }: Side): Promise<unknown> {
    const admin = testCaller();
    const databases = await engine.databases(admin);
    const seen: unknown[] = [databases, engine.counters().facts];
    for (const { name: database } of databases.databases) {
      const caller = testCaller({ database });
      seen.push(await engine.tenants(admin, database), await engine.rules(caller));
      for (const id of (this.#rules.get(database) ?? []).slice(-20))
        seen.push(await answered(engine.rule(caller, id)));
      for (const tenant of worldTenants) seen.push(await this.#everythingOf(engine, { ...caller, tenant }));
    }
    return this.#comparable(seen);
  }

  async #everythingOf(engine: Engine, caller: Caller): Promise<unknown> {
    const seen: unknown[] = [
      await engine.facts(caller, listAll),
      await engine.scopes(caller),
      await engine.predicates(caller),
    ];
    for (const id of (this.#facts.get(caller.database) ?? []).slice(-25))
      seen.push(await answered(engine.fact(caller, id)));
    for (const text of worldQuestions)
      for (const view of [{}, { scope: 's' }])
        seen.push(
          await answered(engine.ask(caller, askInput(text, { withProof: true, timeoutMs, ...view }))),
        );
    return seen;
  }
}

/** Creates a database beside `default`. */
const newDatabase = /^create (?!default$|tenant )/;

/** The database whose writes the request has an order with. */
function databaseOf({ call, place }: Pick<Request, 'call' | 'place'>): string {
  const named = /^(?:create tenant|deleteTenant|nukeTenant|deleteDatabase|nukeDatabase) (\S+)/.exec(
    call.what,
  );
  if (named?.[1] !== undefined) return named[1];
  return call.what.startsWith('create ') ? 'default' : place.database;
}

/** Fails with the difference if the two differ. */
function same(got: unknown, wanted: unknown, what: string): void {
  const where = difference(got, wanted);
  if (where !== null) throw new Error(`${what}: ${where}`);
}

/** The first path at which two JSON values differ, with their values; null: they are equal. */
function difference(got: unknown, wanted: unknown, path = ''): string | null {
  if (Object.is(got, wanted)) return null;
  const told = `at ${path}: ${shortJson(got)}\ninstead of ${shortJson(wanted)}`;
  if (typeof got !== 'object' || typeof wanted !== 'object' || got === null || wanted === null) return told;
  for (const name of new Set([...Object.keys(got), ...Object.keys(wanted)])) {
    const [one, other] = [got, wanted].map((each) => (each as Record<string, unknown>)[name]);
    const where = difference(one, other, `${path}/${name}`);
    if (where !== null) return path.split('/').length === 3 ? `${where}\n${told}` : where;
  }
  return null;
}

function shortJson(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 400);
}

const idPattern = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** Fields that always differ, and those that depend on questions since the start. */
const isLeftOut: ReadonlySet<string> = new Set([
  'elapsedMs',
  'example',
  'fired',
  'dependents',
  'dependentsCount',
  'dependentsComplete',
  // Worked out after the write, perhaps beside later ones, and not logged.
  'hints',
  'gained',
  'lost',
  'derivedComplete',
  'consequencesComplete',
  'notWorkedOut',
]);
const ofUses: ReadonlySet<string> = new Set(['salience', 'salienceBreakdown']);

function callerAt({ database, tenant, credential }: Place): Caller {
  return testCaller({ database, tenant, credential });
}

/** The answer, or the code of the refusal. */
async function answered(call: Promise<unknown>): Promise<unknown> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return { refused: error.code, detail: error.message, members: error.members };
  }
}

/** True or false, or the code of the refusal. */
function remembers(engine: Engine, caller: Caller): unknown {
  try {
    return engine.remembers(caller);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return error.code;
  }
}

function endOf(name: string, sides: readonly Side[], choice: number): Call {
  const idAt = (engine: Engine): string => {
    const side = sides.find((each) => each.engine === engine);
    return present(side?.transactions.get(name) ?? null, 'it was begun');
  };
  if (choice < 6)
    return {
      what: `commit ${name}`,
      kind: 'later',
      send: (engine, caller) => engine.commit(caller, idAt(engine), false),
    };
  if (choice < 8)
    return {
      what: `roll back ${name}`,
      kind: 'later',
      send: (engine, caller) => engine.rollback(caller, idAt(engine)),
    };
  return {
    what: `try to commit ${name}`,
    kind: 'later',
    send: (engine, caller) => engine.commit(caller, idAt(engine), true),
  };
}

function questionWithin(prng: Prng): Call {
  const text = prng.pick(worldQuestions);
  const input = askInput(text, { withProof: prng.chance(0.5), timeoutMs });
  return { what: `ask ${text}`, kind: 'later', send: (engine, caller) => engine.ask(caller, input) };
}

async function tick(times: number): Promise<void> {
  for (let at = 0; at < times; at++) await new Promise((resolve) => void setImmediate(resolve));
}

/** Copies the folder in one turn; retries if a running call removes or renames a file meanwhile. */
function copyNow(from: string, to: string): void {
  for (let attempt = 0; ; attempt++)
    try {
      cpSync(from, to, {
        recursive: true,
        filter: (path) => !path.endsWith('.sock'),
      });
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== 'ENOENT' || attempt > 20) throw error;
    }
}
