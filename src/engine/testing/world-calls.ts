/**
 * Random calls of every kind that changes or asks knowledge, for two engines that must answer alike: a call is
 * generated once, and sent to each.
 */
import type { Caller } from '../base/caller.ts';
import type { Prng } from './prng.ts';
import { factSchema } from '../contract/facts.ts';
import { explainInputSchema } from '../contract/explanation.ts';
import { consolidateInputSchema, decayInputSchema } from '../contract/memory.ts';
import { ruleUpdateSchema } from '../contract/rules.ts';
import { diffInputSchema, forkInputSchema, mergeInputSchema, mergeStrategies } from '../contract/scopes.ts';
import type { Engine } from '../operations/engine.ts';
import { askInput, factInput, hour, retractPatternInput, ruleInput } from './engine-fixtures.ts';

/** The target of a call. */
export interface Place {
  readonly database: string;
  readonly tenant: string;
  readonly credential: string | null;
}

export interface Call {
  /** Its identity: calls with the same words and target are the same request. */
  readonly what: string;
  readonly send: (engine: Engine, caller: Caller) => Promise<unknown>;
  /**
   * A `prompt` write takes its position among others in the turn of the call, one that comes `later` behind those that were
   * sent before it; one that is `alone` reads the state first, so that it has the same effect only if nothing else runs; a
   * question changes nothing, and neither does a dry run.
   */
  readonly kind: 'prompt' | 'later' | 'alone' | 'question';
}

/** The possible subjects of a call: ids of earlier facts and rules, the latest ones last. */
export interface Known {
  readonly facts: readonly string[];
  readonly rules: readonly string[];
  /** Ids of summaries, among others. */
  readonly summaries: readonly string[];
  /** False: uses by questions may have been lost on one side. */
  readonly hasUses: boolean;
  /** Epoch milliseconds. */
  readonly time: number;
  /** Of the database. */
  readonly generation: number;
}

export const worldDatabases = ['default', 'one', 'two'];
export const worldTenants = ['t', 'u', 'v'];
export const worldScopes = ['s', 'x', 'y'];
const constants = ['a', 'b', 'c', 'd'];
const relations = [
  ['p', 1],
  ['r', 1],
  ['edge', 2],
  ['none', 0],
  ['seen', 2],
] as const;
const rules = [
  'q(?x) :- p(?x)',
  'q(?y) :- p(?y), not r(?y)',
  'reach(?x, ?y) :- edge(?x, ?y)',
  'reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z)',
  'r(?x) :- q(?x), edge(?x, ?_)',
  '-p(?x) :- edge(?x, ?x)',
  'count(?n) :- ?n = count { ?x : p(?x) }',
];

export const worldQuestions = [
  'p(?x)',
  'q(?x)',
  'r(?x)',
  'reach(a, ?y)',
  'reach(?x, ?y)',
  '-p(?x)',
  'count(?n)',
  'seen_summary(a, ?n)',
  'edge(?x, ?y), not r(?y)',
];

type Make = (prng: Prng, known: Known) => Call;

/** The tables below contain a call as often as its weight. */
const plainWrites: readonly Make[] = [told, told, told, told, toldMany, toldBulk, retracted, retracted, byId];
const ruleWrites: readonly Make[] = [taught, taught, ruleChanged, ruleForgotten];
const scopeWrites: readonly Make[] = [forked, merged, merged, merged, scopeDeleted];
const memoryWrites: readonly Make[] = [consolidated, consolidated, restored, restored, decayed];
const clearings: readonly Make[] = [created, created, createdTenant, tenantCleared, databaseCleared];
const questions: readonly Make[] = [asked, asked, explained, diffed, queried];

export function randomWrite(prng: Prng, known: Known): Call {
  const chance = prng.below(100);
  if (chance < 38) return prng.pick(plainWrites)(prng, known);
  if (chance < 50) return prng.pick(memoryWrites)(prng, known);
  if (chance < 62) return prng.pick(ruleWrites)(prng, known);
  if (chance < 88) return prng.pick(scopeWrites)(prng, known);
  return prng.pick(clearings)(prng, known);
}

export function randomQuestionCall(prng: Prng, known: Known): Call {
  return prng.pick(questions)(prng, known);
}

/** A write that can be part of a transaction. */
export function randomWriteWithin(prng: Prng, known: Known): Call {
  const chance = prng.below(10);
  const fields = factFields(prng, known);
  const ifGeneration = prng.chance(0.1) ? Math.max(0, known.generation - prng.below(6)) : null;
  const atom = randomAtom(prng);
  const within = (what: string, send: (engine: Engine, caller: Caller) => Promise<unknown>): Call =>
    call(`within ${what}`, send, 'later');
  if (chance < 4)
    return within(`tell ${atom} ${JSON.stringify(fields)}`, (engine, caller) =>
      engine.within(caller).tell({ ...factInput(atom, fields), ifGeneration }),
    );
  if (chance < 5) {
    const many = Array.from({ length: 3 }, () => manyOf(prng, known));
    return within('tell many', (engine, caller) => engine.within(caller).tellAll(many));
  }
  if (chance < 7) {
    const { text, input } = randomRetraction(prng);
    return within(`retract ${text}`, (engine, caller) => engine.within(caller).forget(input));
  }
  if (chance < 8) {
    const id = recent(prng, known.facts, 'f1-0');
    return within(`retract ${id}`, (engine, caller) => engine.within(caller).forgetById(id));
  }
  const id = recent(prng, known.rules, 'r1');
  if (chance < 9) {
    const { text, input } = randomRule(prng);
    return within(`teach ${text}`, (engine, caller) => engine.within(caller).teach(input));
  }
  if (prng.chance(0.5))
    return within(`forget ${id}`, (engine, caller) => engine.within(caller).forgetRule(id));
  const update = ruleUpdateSchema.parse({ enabled: prng.chance(0.5) });
  return within(`change ${id}`, (engine, caller) => engine.within(caller).updateRule(id, update));
}

function call(what: string, send: Call['send'], kind: Call['kind'] = 'prompt'): Call {
  return { what, send, kind };
}

/** One of the last of them usually, sometimes any. */
function recent(prng: Prng, ids: readonly string[], otherwise: string): string {
  if (ids.length === 0) return otherwise;
  return prng.chance(0.8) ? prng.pick(ids.slice(-8)) : prng.pick(ids);
}

function randomScope(prng: Prng): string | null {
  return prng.chance(0.35) ? null : prng.pick(worldScopes);
}

function randomAtom(prng: Prng): string {
  const [predicate, arity] = prng.pick(relations);
  const args = Array.from({ length: arity }, () => prng.pick(constants));
  return `${prng.chance(0.12) ? '-' : ''}${predicate}(${args.join(', ')})`;
}

function factFields(prng: Prng, { time }: Known): Record<string, unknown> {
  const validity: Record<string, unknown> = prng.chance(0.25)
    ? prng.pick([
        { ttl: 1 + prng.below(50) },
        { validFrom: time + prng.below(40) },
        { validFrom: time - 20, validUntil: time + prng.below(60) },
        { validUntil: time - 5 },
        { validUntil: 'never' },
        { validFrom: 'always' },
        { ttl: 20 * hour },
      ])
    : {};
  const metadata = prng.chance(0.25)
    ? {
        metadata: prng.pick([
          {},
          { importance: 1 },
          { confidence: 0.5, note: 'n' },
          { deep: { list: [1, null] } },
        ]),
      }
    : {};
  return { scope: randomScope(prng), ...validity, ...metadata };
}

function manyOf(prng: Prng, known: Known) {
  const { predicate, args, truthVal } = factInput(randomAtom(prng));
  return factSchema.parse({ predicate, args, truthVal, ...factFields(prng, known) });
}

function told(prng: Prng, known: Known): Call {
  const atom = randomAtom(prng);
  const fields = factFields(prng, known);
  const ifGeneration = prng.chance(0.15) ? Math.max(0, known.generation - prng.below(12)) : null;
  const input = { ...factInput(atom, fields), ifGeneration };
  return call(`tell ${atom} ${JSON.stringify(fields)} ${ifGeneration}`, (engine, caller) =>
    engine.tell(caller, input),
  );
}

function toldMany(prng: Prng, known: Known): Call {
  const many = Array.from({ length: 1 + prng.below(8) }, () => manyOf(prng, known));
  return call(`tell ${JSON.stringify(many)}`, (engine, caller) => engine.tellAll(caller, many), 'later');
}

/** So many facts that relations are compacted when they are retracted, and that a write is applied in slices. */
function toldBulk(prng: Prng): Call {
  const scope = randomScope(prng);
  const first = prng.below(400);
  const count = 150 + prng.below(300);
  const many = Array.from({ length: count }, (_, at) =>
    factSchema.parse({ predicate: 'bulk', args: [`n${first + at}`], scope, metadata: { first } }),
  );
  const what = `tell ${count} of bulk in ${scope} from ${first}`;
  return call(what, (engine, caller) => engine.tellAll(caller, many), 'later');
}

function randomRetraction(prng: Prng) {
  const [predicate, arity] = prng.pick([...relations, ['bulk', 1] as const]);
  const args = Array.from({ length: arity }, () => (prng.chance(0.6) ? prng.pick(constants) : '?x'));
  if (predicate === 'bulk') args[0] = prng.chance(0.7) ? '?x' : `n${prng.below(600)}`;
  const fields = prng.pick<Record<string, unknown>>([
    {},
    {},
    { unscoped: true },
    { scope: prng.pick(worldScopes) },
    { truthVal: true },
  ]);
  const atom = `${predicate}(${args.join(', ')})`;
  return {
    text: `${atom} ${JSON.stringify(fields)}`,
    input: retractPatternInput(atom, { ...fields, timeoutMs: 600_000 }),
  };
}

function retracted(prng: Prng, { generation }: Known): Call {
  const { text, input } = randomRetraction(prng);
  const dryRun = prng.chance(0.1);
  const ifGeneration = prng.chance(0.1) ? Math.max(0, generation - prng.below(8)) : null;
  const isAboutBulk = input.predicate === 'bulk';
  const wanted = { ...input, dryRun, ifGeneration: isAboutBulk ? null : ifGeneration };
  const what = `retract ${text} ${dryRun} ${wanted.ifGeneration}`;
  const kind = dryRun ? 'question' : 'prompt';
  return call(what, (engine, caller) => engine.forgetPattern(caller, wanted), kind);
}

function byId(prng: Prng, { facts }: Known): Call {
  const id = recent(prng, facts, 'f1-0');
  return call(`retract ${id}`, (engine, caller) => engine.forgetById(caller, id));
}

function randomRule(prng: Prng) {
  const text = prng.pick(rules);
  const fields = {
    scope: prng.chance(0.5) ? null : prng.pick(worldScopes),
    enabled: prng.chance(0.2) ? prng.chance(0.5) : null,
    name: prng.chance(0.2) ? 'name' : null,
  };
  return { text: `${text} ${JSON.stringify(fields)}`, input: ruleInput({ text, ...fields }) };
}

function taught(prng: Prng): Call {
  const { text, input } = randomRule(prng);
  return call(`teach ${text}`, (engine, caller) => engine.teach(caller, input));
}

function ruleChanged(prng: Prng, known: Known): Call {
  const id = recent(prng, known.rules, 'r1');
  const fields = prng.pick<Record<string, unknown>>([
    { enabled: true },
    { enabled: false },
    { name: 'other' },
    { text: prng.pick(rules), scope: randomScope(prng) },
  ]);
  const input = ruleUpdateSchema.parse(fields);
  const ifMatch = prng.chance(0.3) ? [`"${id}-${known.generation - prng.below(3)}"`] : null;
  return call(`change ${id} ${JSON.stringify([fields, ifMatch])}`, (engine, caller) =>
    engine.updateRule(ifMatch === null ? caller : { ...caller, ifMatch }, id, input),
  );
}

function ruleForgotten(prng: Prng, known: Known): Call {
  const id = recent(prng, known.rules, 'r1');
  return call(`forget ${id}`, (engine, caller) => engine.forgetRule(caller, id));
}

function forked(prng: Prng): Call {
  const input = forkInputSchema.parse({ source: randomScope(prng), target: randomScope(prng) });
  return call(`fork ${JSON.stringify(input)}`, (engine, caller) => engine.fork(caller, input));
}

function merged(prng: Prng): Call {
  const resolutions = prng.chance(0.3)
    ? [{ predicate: 'p', args: [prng.pick(constants)], take: prng.pick(['source', 'target', 'both']) }]
    : [];
  const input = mergeInputSchema.parse({
    source: randomScope(prng),
    target: randomScope(prng),
    strategy: prng.pick(mergeStrategies),
    ...prng.pick([{}, { base: 'fork' }, { base: null }, { base: prng.pick(worldScopes) }]),
    dryRun: prng.chance(0.15),
    resolutions,
  });
  const kind = input.dryRun ? 'question' : 'prompt';
  return call(`merge ${JSON.stringify(input)}`, (engine, caller) => engine.merge(caller, input), kind);
}

function scopeDeleted(prng: Prng): Call {
  const scope = prng.pick(worldScopes);
  return call(`delete scope ${scope}`, (engine, caller) => engine.deleteScope(caller, scope));
}

function consolidated(prng: Prng): Call {
  const predicates = prng.pick([null, ['seen'], ['edge', 'seen'], ['edge']]);
  const dryRun = prng.chance(0.15);
  const input = consolidateInputSchema.parse({ ...viewFields(prng), predicates, minOccurrences: 2, dryRun });
  return call(
    `consolidate ${JSON.stringify(input)}`,
    (engine, caller) => engine.consolidate(caller, input),
    dryRun ? 'question' : 'later',
  );
}

function restored(prng: Prng, { summaries, facts }: Known): Call {
  const id = prng.chance(0.9) ? recent(prng, summaries, 'f1-0') : recent(prng, facts, 'f1-0');
  return call(`restore ${id}`, (engine, caller) => engine.restore(caller, { id }));
}

/** Without common uses there is no common salience, and no common order by it. */
function decayed(prng: Prng, { hasUses }: Known): Call {
  const threshold = hasUses ? prng.pick([0, 0.05, 0.9]) : 0;
  const input = decayInputSchema.parse({ ...viewFields(prng), threshold, dryRun: prng.chance(0.15) });
  return call(
    `decay ${JSON.stringify(input)}`,
    async (engine, caller) => {
      const { atoms, ...told } = await engine.decay(caller, input);
      return { ...told, atoms: hasUses ? atoms : [...atoms].sort() };
    },
    input.dryRun ? 'question' : 'alone',
  );
}

function created(prng: Prng): Call {
  const name = prng.pick(worldDatabases);
  return call(`create ${name}`, (engine, caller) => engine.createDatabase(caller, name));
}

function createdTenant(prng: Prng): Call {
  const [name, tenant] = [prng.pick(worldDatabases), prng.pick(worldTenants)];
  return call(`create tenant ${name} ${tenant}`, (engine, caller) =>
    engine.createTenant(caller, name, tenant),
  );
}

function tenantCleared(prng: Prng): Call {
  const [name, tenant] = [prng.pick(worldDatabases), prng.pick(worldTenants)];
  const kind = prng.pick(['deleteTenant', 'nukeTenant'] as const);
  return call(`${kind} ${name} ${tenant}`, (engine, caller) => engine[kind](caller, name, tenant));
}

function databaseCleared(prng: Prng): Call {
  const name = prng.pick(worldDatabases);
  const kind = prng.pick(['deleteDatabase', 'nukeDatabase'] as const);
  return call(`${kind} ${name}`, (engine, caller) => engine[kind](caller, name));
}

function viewFields(prng: Prng): Record<string, unknown> {
  return prng.pick<Record<string, unknown>>([{}, { unscoped: true }, { scope: prng.pick(worldScopes) }]);
}

function asked(prng: Prng): Call {
  const text = prng.pick(worldQuestions);
  const fields = { ...viewFields(prng), withProof: prng.chance(0.5), timeoutMs: 600_000 };
  const input = askInput(text, fields);
  return call(
    `ask ${text} ${JSON.stringify(fields)}`,
    (engine, caller) => engine.ask(caller, input),
    'question',
  );
}

function queried(prng: Prng): Call {
  const fields = viewFields(prng);
  const { unscoped = false, scope = null } = fields as { unscoped?: boolean; scope?: string };
  const input = { predicate: 'p', args: ['?x'], unscoped, scope, truthVal: null, limit: null, offset: 0 };
  return call(`query ${JSON.stringify(fields)}`, (engine, caller) => engine.query(caller, input), 'question');
}

function explained(prng: Prng): Call {
  const arg = prng.pick(constants);
  const input = explainInputSchema.parse({
    predicate: prng.pick(['p', 'q', 'r']),
    args: [arg],
    mode: prng.pick(['why', 'whyNot']),
    timeoutMs: 600_000,
    ...(prng.chance(0.3) ? { scope: prng.pick(worldScopes) } : {}),
  });
  return call(
    `explain ${JSON.stringify(input)}`,
    (engine, caller) => engine.explain(caller, input),
    'question',
  );
}

function diffed(prng: Prng): Call {
  const input = diffInputSchema.parse({ source: randomScope(prng), target: randomScope(prng) });
  return call(`diff ${JSON.stringify(input)}`, (engine, caller) => engine.diff(caller, input), 'question');
}
