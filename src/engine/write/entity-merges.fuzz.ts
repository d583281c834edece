import { expect, test } from 'vitest';
import { mergeEntitiesInputSchema } from '../contract/entities.ts';
import type { Metadata, StoredFact } from '../contract/facts.ts';
import { openSession, type Session, startTime } from '../testing/engine-fixtures.ts';
import { Prng } from '../testing/prng.ts';
import { overSeeds } from '../testing/twin.ts';

/** Merges of entities among random facts against a naive model: a list of facts that is rewritten one by one. */
const timeout = 3_600_000;

const constants = ['a', 'b', 'c', 'd', 'e'];
const predicates = ['p', 'q'];
const scopes = [null, null, 'draft', 'other'];
const rules = [
  'twin(?x, ?y) :- p(?z, ?x), p(?z, ?y), ?x != ?y',
  'reach(?x, ?y) :- p(?x, ?y)',
  'reach(?x, ?z) :- reach(?x, ?y), p(?y, ?z)',
  'alone(?x) :- q(?x, ?_), not p(?x, ?_)',
];
const goals = ['twin(?x, ?y)', 'reach(?x, ?y)', 'alone(?x)', 'reach(a, ?x)', 'p(?x, ?y)'];

interface NaiveFact {
  readonly predicate: string;
  readonly args: readonly string[];
  readonly truthVal: boolean;
  readonly scope: string | null;
  readonly from: number;
  readonly until: number;
  readonly metadata: Metadata;
}

const same = (left: unknown, right: unknown): boolean => JSON.stringify(left) === JSON.stringify(right);

function identityOf({ predicate, args, truthVal, scope }: NaiveFact): string {
  return JSON.stringify([predicate, args, truthVal, scope]);
}

/** KEEP_BOTH: the widest validity; the known metadata, what only the other has, and where it differs under `_source`. */
function joined(other: NaiveFact, known: NaiveFact): NaiveFact {
  const metadata: Record<string, unknown> = { ...known.metadata };
  const differing: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(other.metadata)) {
    if (!(name in known.metadata)) metadata[name] = value;
    else if (!same(value, known.metadata[name])) differing[name] = value;
  }
  if (Object.keys(differing).length > 0)
    metadata['_source'] = { ...(known.metadata['_source'] as object | undefined), ...differing };
  return {
    ...known,
    from: Math.min(known.from, other.from),
    until: Math.max(known.until, other.until),
    metadata: metadata as Metadata,
  };
}

/** The facts after a merge: those without the name, then those that were rewritten and are new. */
function merged(facts: readonly NaiveFact[], from: string, into: string): NaiveFact[] {
  const after = facts.filter(({ args }) => !args.includes(from));
  for (const fact of facts) {
    if (!fact.args.includes(from)) continue;
    const rewritten = { ...fact, args: fact.args.map((arg) => (arg === from ? into : arg)) };
    const at = after.findIndex((each) => identityOf(each) === identityOf(rewritten));
    if (at < 0) after.push(rewritten);
    else after[at] = joined(rewritten, after[at] as NaiveFact);
  }
  return after;
}

/**
 * The pairs of facts that the merge would give one value of the key of p, its first argument, at one instant, which no facts
 * that they are made of had before.
 */
function keyConflicts(facts: readonly NaiveFact[], from: string, into: string): number {
  const renamed = ({ args, ...fact }: NaiveFact): NaiveFact => {
    return { ...fact, args: args.map((arg) => (arg === from ? into : arg)) };
  };
  const meet = (left: NaiveFact, right: NaiveFact): boolean =>
    left.args[0] === right.args[0] && left.from < right.until && right.from < left.until;
  const after = merged(facts, from, into).filter(({ predicate, truthVal }) => predicate === 'p' && truthVal);
  let count = 0;
  for (const [at, left] of after.entries())
    for (const right of after.slice(at + 1)) {
      if (left.scope !== right.scope || !meet(left, right)) continue;
      const [ofLeft, ofRight] = [left, right].map((whole) =>
        facts.filter((fact) => identityOf(renamed(fact)) === identityOf(whole)),
      );
      if (!ofLeft?.some((one) => ofRight?.some((other) => meet(one, other)))) count++;
    }
  return count;
}

function randomFact(prng: Prng): NaiveFact {
  const metadata: Record<string, number> = {};
  for (const name of ['m', 'n']) if (prng.chance(0.3)) metadata[name] = prng.below(3);
  return {
    predicate: prng.pick(predicates),
    args: [prng.pick(constants), prng.pick(constants)],
    truthVal: prng.chance(0.85),
    scope: prng.pick(scopes),
    from: prng.chance(0.2) ? startTime - prng.below(1000) : Number.NEGATIVE_INFINITY,
    until: prng.chance(0.2) ? startTime + 1_000_000 + prng.below(1000) : Number.POSITIVE_INFINITY,
    metadata,
  };
}

async function tell({ engine, caller }: Session, facts: readonly NaiveFact[]): Promise<void> {
  await engine.tellAll(
    caller,
    facts.map(({ predicate, args, truthVal, scope, from, until, metadata }) => ({
      predicate,
      args: [...args],
      truthVal,
      scope,
      unscoped: false,
      ttl: null,
      validFrom: Number.isFinite(from) ? from : 'always',
      validUntil: Number.isFinite(until) ? until : 'never',
      metadata,
    })),
  );
}

const shown = ({ predicate, args, truthVal, scope, validFrom, validUntil, metadata }: StoredFact): string =>
  JSON.stringify([predicate, args, truthVal, scope, validFrom, validUntil, sorted(metadata)]);

function sorted(metadata: Metadata): unknown {
  return Object.fromEntries(
    Object.entries(metadata)
      .map(([name, value]) => [name, name === '_source' ? sorted(value as Metadata) : value] as const)
      .sort(([left], [right]) => (left < right ? -1 : 1)),
  );
}

async function stored(session: Session): Promise<string[]> {
  return (await session.list({ limit: '1000' })).facts.map(shown).sort();
}

async function answers(session: Session): Promise<string[][]> {
  const found: string[][] = [];
  for (const scope of [{}, { scope: 'draft' }, { unscoped: true }])
    for (const goal of goals) found.push(await session.results(goal, scope));
  return found;
}

function declarationOfP(onConflict: 'reject' | 'supersede' | 'warn') {
  const argument = (name: string) => ({ name, description: null, type: 'any' as const });
  return {
    name: 'p',
    arity: 2,
    description: null,
    arguments: [argument('key'), argument('value')],
    key: ['key'],
    onConflict,
    check: 'warn' as const,
  };
}

async function play(seed: number): Promise<void> {
  const prng = new Prng(seed);
  const session = await openSession();
  for (const rule of rules) await session.teach(rule);
  const byIdentity = new Map<string, NaiveFact>();
  for (let count = 5 + prng.below(25); count > 0; count--) {
    const fact = randomFact(prng);
    byIdentity.set(identityOf(fact), fact);
  }
  let facts = [...byIdentity.values()];
  await tell(session, facts);
  const key = prng.pick([null, null, 'reject', 'supersede', 'warn'] as const);
  if (key !== null) await session.engine.declare(session.caller, declarationOfP(key));
  const gone = new Set<string>();
  for (let count = 1 + prng.below(3); count > 0; count--) {
    // What is derived before is maintained by the merge.
    if (prng.chance(0.7)) await answers(session);
    const [from, into] = [prng.pick(constants), prng.pick(constants)];
    if (from === into || gone.has(from) || gone.has(into)) continue;
    const { engine, caller } = session;
    const input = { from, into, limit: 100, timeoutMs: 600_000 };
    const conflicts = key === null || key === 'warn' ? 0 : keyConflicts(facts, from, into);
    if (conflicts > 0) {
      for (const dryRun of [true, false])
        await expect(
          engine.mergeEntities(caller, mergeEntitiesInputSchema.parse({ ...input, dryRun })),
        ).rejects.toMatchObject({ code: 'KeyConflict', members: { conflictCount: conflicts } });
      continue;
    }
    gone.add(from);
    const tried = await engine.mergeEntities(
      caller,
      mergeEntitiesInputSchema.parse({ ...input, dryRun: true }),
    );
    const done = await engine.mergeEntities(caller, mergeEntitiesInputSchema.parse(input));
    const { dryRun: _dryRun, generation: _generation, ...told } = tried;
    expect(done).toMatchObject(told);
    const before = facts;
    facts = merged(facts, from, into);
    expect(done.facts).toBe(before.filter(({ args }) => args.includes(from)).length);
    expect(done.joined).toBe(before.length - facts.length);
  }
  const fresh = await openSession();
  for (const rule of rules) await fresh.teach(rule);
  if (facts.length > 0) await tell(fresh, facts);
  expect(await stored(session)).toEqual(await stored(fresh));
  expect(await answers(session)).toEqual(await answers(fresh));
}

test('merges entities as the naive model does', { timeout }, () =>
  overSeeds({ name: 'entity merges', few: 40, many: 3000 }, play),
);
