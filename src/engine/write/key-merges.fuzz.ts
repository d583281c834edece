import { expect, test } from 'vitest';
import { EngineError } from '../base/errors.ts';
import { mergeInputSchema } from '../contract/scopes.ts';
import { openSession, type Session, startTime } from '../testing/engine-fixtures.ts';
import { Prng } from '../testing/prng.ts';
import { overSeeds } from '../testing/twin.ts';

/** Merges of scopes under a declared key against a naive model: two lists of facts with validities. */
const timeout = 3_600_000;

interface NaiveFact {
  readonly key: string;
  readonly value: string;
  readonly from: number;
  readonly until: number;
}
type Side = readonly NaiveFact[];
type Strategy = 'SOURCE_WINS' | 'TARGET_WINS' | 'KEEP_BOTH' | 'REJECT';

const nameOf = ({ key, value }: NaiveFact): string => `${key} ${value}`;
const find = (side: Side, fact: NaiveFact): NaiveFact | undefined =>
  side.find((each) => nameOf(each) === nameOf(fact));
const meet = (left: NaiveFact, right: NaiveFact): boolean =>
  left.from < right.until && right.from < left.until;
const alike = (left: NaiveFact, right: NaiveFact): boolean =>
  left.from === right.from && left.until === right.until;

/** The target after the merge; null: 409. */
function merged(source: Side, target: Side, strategy: Strategy, isStrict: boolean): Side | null {
  /** What the merge stores if there were no key. */
  const planned: NaiveFact[] = [];
  for (const fact of source) {
    const other = find(target, fact);
    if (other === undefined) planned.push(fact);
    else if (!alike(fact, other)) {
      if (strategy === 'REJECT') return null;
      const both = {
        ...fact,
        from: Math.min(fact.from, other.from),
        until: Math.max(fact.until, other.until),
      };
      if (strategy === 'SOURCE_WINS') planned.push(fact);
      if (strategy === 'KEEP_BOTH' && !alike(both, other)) planned.push(both);
    }
  }
  const lost = new Set<string>();
  const leftOut = new Set<string>();
  for (const fact of planned)
    for (const rival of target) {
      const known = find(target, fact);
      if (rival.key !== fact.key || rival.value === fact.value) continue;
      if (!meet(fact, find(planned, rival) ?? rival)) continue;
      if (known !== undefined && meet(known, rival)) continue;
      if (strategy === 'REJECT' || (strategy === 'KEEP_BOTH' && isStrict)) return null;
      if (strategy === 'TARGET_WINS') leftOut.add(nameOf(fact));
      const [own, others] = [find(source, fact), find(source, rival)];
      const isOfSource = own !== undefined && others !== undefined && meet(own, others);
      if (strategy === 'SOURCE_WINS' && !isOfSource) lost.add(nameOf(rival));
    }
  const stored = planned.filter((fact) => !leftOut.has(nameOf(fact)) && !lost.has(nameOf(fact)));
  return [...target.filter((fact) => find(stored, fact) === undefined && !lost.has(nameOf(fact))), ...stored];
}

const argument = (name: string) => ({ name, description: null, type: 'any' as const });

async function facts(session: Session, scope: string): Promise<string[]> {
  const { facts: found } = await session.list({ scope, limit: '1000' });
  return found
    .map(({ args, validFrom, validUntil }) => `${args.join(' ')} ${validFrom} ${validUntil}`)
    .sort();
}

const shown = (side: Side): string[] =>
  side
    .map(
      (fact) =>
        `${nameOf(fact)} ${Number.isFinite(fact.from) ? fact.from : null} ${Number.isFinite(fact.until) ? fact.until : null}`,
    )
    .sort();

function randomSide(prng: Prng): Side {
  const side = new Map<string, NaiveFact>();
  for (let count = prng.below(7); count > 0; count--) {
    const fact = {
      key: prng.pick(['a', 'b']),
      value: prng.pick(['1', '2', '3']),
      from: prng.chance(0.5) ? Number.NEGATIVE_INFINITY : startTime + prng.below(4) * 1000,
      until: prng.chance(0.5) ? Number.POSITIVE_INFINITY : startTime + (4 + prng.below(4)) * 1000,
    };
    const early = prng.chance(0.2) ? { ...fact, until: startTime + 2000, from: startTime - 1000 } : fact;
    side.set(nameOf(early), early);
  }
  return [...side.values()];
}

async function play(seed: number): Promise<void> {
  const prng = new Prng(seed);
  const session = await openSession();
  const { engine, caller } = session;
  const sides = { source: randomSide(prng), target: randomSide(prng) };
  for (const [scope, side] of Object.entries(sides))
    for (const { key, value, from, until } of side)
      await engine.tell(caller, {
        predicate: 'p',
        args: [key, value],
        truthVal: true,
        scope,
        unscoped: false,
        ttl: null,
        validFrom: Number.isFinite(from) ? from : 'always',
        validUntil: Number.isFinite(until) ? until : 'never',
        metadata: null,
        ifGeneration: null,
      });
  if (sides.source.length === 0) return;
  // A key is declared over what is stored, doubles included.
  const onConflict = prng.pick(['warn', 'reject', 'supersede'] as const);
  await engine.declare(caller, {
    name: 'p',
    arity: 2,
    description: null,
    arguments: [argument('key'), argument('value')],
    key: ['key'],
    onConflict,
    check: 'warn',
  });
  const strategy = prng.pick(['SOURCE_WINS', 'TARGET_WINS', 'KEEP_BOTH', 'REJECT'] as const);
  const expected = merged(sides.source, sides.target, strategy, onConflict !== 'warn');
  const input = { source: 'source', target: 'target', strategy, base: null };
  const merge = (dryRun: boolean) => engine.merge(caller, mergeInputSchema.parse({ ...input, dryRun }));
  const about = `seed ${seed}, ${strategy}, ${onConflict}, ${JSON.stringify(sides)}`;
  if (expected === null) {
    for (const dryRun of [true, false])
      await expect(merge(dryRun), about).rejects.toBeInstanceOf(EngineError);
    expect(await facts(session, 'target'), about).toEqual(shown(sides.target));
    return;
  }
  const tried = await merge(true);
  const { generation: _generation, ...done } = await merge(false);
  expect(tried, about).toMatchObject(done);
  expect(await facts(session, 'target'), about).toEqual(shown(expected));
  expect(await facts(session, 'source'), about).toEqual(shown(sides.source));
  const gone = sides.target.filter((fact) => find(expected, fact) === undefined).length;
  const added = expected.filter((fact) => find(sides.target, fact) === undefined).length;
  expect(done, about).toMatchObject({ added, deleted: gone });
}

test('merges scopes under a key as the naive model does', { timeout }, () =>
  overSeeds({ name: 'merges under a key', few: 150, many: 10_000 }, play),
);
