/**
 * Random writes of keys by callers of random restrictions, with restarts, beside a model in which a restriction is the
 * set of names that it permits.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { EngineError } from '../base/errors.ts';
import { Prng } from '../testing/prng.ts';
import { type KeyView, updateKeySchema } from '../contract/authentication.ts';
import { openEngine } from '../open-engine.ts';
import { startTime, testCaller } from '../testing/engine-fixtures.ts';

const runs = process.env['LONG'] === '1' ? 300 : 6;
const timeout = 3_600_000;
const names = ['a', 'b', 'c'];
/** The name that represents all other names. */
const others = '*';

interface Restrictions {
  readonly databases: readonly string[];
  readonly tenants: readonly string[];
}

function letsThrough(restriction: readonly string[]): Set<string> {
  return new Set(restriction.length === 0 ? [...names, others] : restriction);
}

function covers(one: Restrictions, other: Restrictions): boolean {
  return (['databases', 'tenants'] as const).every((kind) =>
    [...letsThrough(other[kind])].every((name) => letsThrough(one[kind]).has(name)),
  );
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'done';
  } catch (error) {
    if (error instanceof EngineError) return error.code;
    throw error;
  }
}

async function run(seed: number): Promise<void> {
  const prng = new Prng(seed);
  const storageDir = await mkdtemp(join(tmpdir(), 'corollary-keys-fuzz-'));
  onTestFinished(() => rm(storageDir, { recursive: true, force: true }));
  const clock = new ManualClock(startTime);
  const open = () => openEngine({ storageDir, clock, fsync: 'never' });
  const some = (): string[] => names.filter(() => prng.chance(0.4));
  const restrictions = (): Restrictions => ({ databases: some(), tenants: some() });
  const model = new Map<string, KeyView>();
  const gone: string[] = ['never-made'];
  let engine = await open();
  for (let step = 0; step < 120; step++) {
    clock.advance(prng.below(1000));
    const caller = testCaller(restrictions());
    const told = `seed ${seed}, step ${step}`;
    const kind = prng.below(10);
    const id = prng.pick([...model.keys(), ...gone]);
    const known = model.get(id);
    const allowed = (after: Restrictions): string =>
      known === undefined
        ? 'NotFound'
        : covers(caller, known) && covers(caller, after)
          ? 'done'
          : 'Forbidden';
    if (kind < 4) {
      const role = prng.pick(['admin', 'writer', 'reader', 'replica'] as const);
      const description = prng.chance(0.5) ? `key ${step}` : null;
      const key = { prefix: `cor_${prng.below(4)}`, hash: `${step}`, role, description, ...restrictions() };
      const lifeMs = prng.chance(0.5) ? null : prng.below(5000);
      const making = engine.keys.create(caller, key, lifeMs);
      expect(await codeOf(making), told).toBe(covers(caller, key) ? 'done' : 'Forbidden');
      if (covers(caller, key)) {
        const made = await making;
        expect(made.expiresAt, told).toBe(lifeMs === null ? null : clock.now() + Math.max(1, lifeMs));
        model.set(made.id, { ...made, lastUsedAt: null });
      }
    } else if (kind < 7) {
      const change = {
        ...(prng.chance(0.5) ? { databases: some() } : {}),
        ...(prng.chance(0.5) ? { tenants: some() } : {}),
        ...(prng.chance(0.5) ? { description: `step ${step}` } : {}),
      };
      const after = { ...restrictions(), ...known, ...change };
      const outcome = await codeOf(engine.keys.update(caller, id, updateKeySchema.parse(change)));
      expect(outcome, told).toBe(allowed(after));
      if (outcome === 'done' && known !== undefined) model.set(id, { ...known, ...change });
    } else if (kind < 8) {
      const outcome = await codeOf(engine.keys.revoke(caller, id));
      expect(outcome, told).toBe(allowed(known ?? restrictions()));
      if (outcome === 'done') model.delete(id);
      if (outcome === 'done') gone.push(id);
    } else if (kind < 9) {
      if (prng.chance(0.5)) await engine.snapshot();
      await engine.close(prng.chance(0.5) ? 0 : 8000);
      engine = await open();
    } else if (prng.chance(0.1)) {
      const admins = [...model.values()].filter(({ role }) => role === 'admin').map((key) => key.id);
      expect(
        (await engine.keys.resetAdmin(caller)).map((key) => key.id),
        told,
      ).toEqual(admins);
      for (const admin of admins) model.delete(admin);
    }
    const all = [...model.values()];
    expect(engine.keys.list(caller).keys, told).toEqual(all.filter((key) => covers(caller, key)));
    expect(engine.keys.hasAdmin, told).toBe(all.some(({ role }) => role === 'admin'));
    for (const { id: each, prefix } of all)
      expect(
        engine.keys.withPrefix(prefix).filter((key) => key.id === each),
        told,
      ).toHaveLength(1);
    for (const each of gone) expect(engine.keys.find(each), told).toBeNull();
  }
  await engine.close();
}

test('manages keys like the model, for any caller and over any restarts', { timeout }, async () => {
  const seed = Number(process.env['SEED'] ?? (process.env['LONG'] === '1' ? Date.now() % 1_000_000 : 1));
  for (let at = 0; at < runs; at++) await run(seed + at);
});
