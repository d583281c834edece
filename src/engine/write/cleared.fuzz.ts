import { expect, test, vi } from 'vitest';
import type { Caller } from '../base/caller.ts';
import { ManualClock } from '../base/clock.ts';
import { EngineError } from '../base/errors.ts';
import { Prng } from '../testing/prng.ts';
import type { Engine } from '../operations/engine.ts';
import type { Change } from '../session/change-feed.ts';
import { openEngine } from '../open-engine.ts';
import {
  askInput,
  factInput,
  retractInput,
  ruleInput,
  startTime,
  testCaller,
} from '../testing/engine-fixtures.ts';
import { randomPause } from '../testing/random-pause.ts';
import { overSeeds } from '../testing/twin.ts';

/**
 * Questions, writes, and tenants and databases that are nuked and deleted, all at once: every answer is that of the
 * generation that it names, and a caller that finds the database gone gets an error.
 */

const databases = ['default', 'other'];
const tenants = ['t', 'u'];
const nodes = ['a', 'b', 'c', 'd', 'e'];
const rules = ['reach(?x, ?y) :- edge(?x, ?y)', 'reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z)'];

/** What one generation of a database changed. */
type Effect =
  | { readonly kind: 'came' | 'went'; readonly tenant: string; readonly atom: string }
  | { readonly kind: 'rule'; readonly text: string }
  /** null: of every tenant, and the rules. */
  | { readonly kind: 'cleared'; readonly tenant: string | null };

interface Asked {
  readonly database: string;
  readonly tenant: string;
  readonly generation: number;
  readonly results: readonly string[];
}

class History {
  readonly #effects = new Map<string, Effect>();
  readonly asked: Asked[] = [];

  note(database: string, generation: number, effect: Effect): void {
    const place = `${database} ${generation}`;
    if (this.#effects.has(place)) throw new Error(`generation ${place} is that of two changes`);
    this.#effects.set(place, effect);
  }

  /** The content of `reach` in this generation. */
  reached({ database, tenant, generation }: Asked): string[] {
    let edges = new Set<string>();
    let taught = new Set<string>();
    for (let each = 1; each <= generation; each++) {
      const effect = this.#effects.get(`${database} ${each}`);
      if (effect === undefined) throw new Error(`generation ${each} of ${database} was made by nobody`);
      if (effect.kind === 'rule') taught.add(effect.text);
      else if (effect.kind === 'cleared') {
        if (effect.tenant === null || effect.tenant === tenant) edges = new Set();
        if (effect.tenant === null) taught = new Set();
      } else if (effect.tenant === tenant)
        if (effect.kind === 'came') edges.add(effect.atom);
        else edges.delete(effect.atom);
    }
    return [...closure(edges, taught)].sort();
  }
}

function closure(edges: ReadonlySet<string>, taught: ReadonlySet<string>): Set<string> {
  const pairs = new Set<string>();
  const [base = '', step = ''] = rules;
  if (!taught.has(base)) return pairs;
  const steps = [...edges].map((atom) => (/\((\w), (\w)\)/.exec(atom) ?? []).slice(1));
  for (const [from, to] of steps) pairs.add(`reach(${from}, ${to})`);
  if (taught.has(step))
    for (const pair of pairs) {
      const [x, y] = (/\((\w), (\w)\)/.exec(pair) ?? []).slice(1);
      for (const [from, to] of steps) if (from === y) pairs.add(`reach(${x}, ${to})`);
    }
  return pairs;
}

/** One of many concurrent workers. */
async function work(
  prng: Prng,
  name: string,
  engine: Engine,
  history: History,
  cleared: Map<string, Effect>,
) {
  for (let count = 0; count < 12; count++) {
    const database = prng.pick(databases);
    const tenant = prng.pick(tenants);
    const requestId = `${name} ${count}`;
    const caller = testCaller({ database, tenant, requestId });
    try {
      await step(prng, caller, engine, history, cleared);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      expect(['DatabaseNotFound', 'TenantNotFound', 'Conflict']).toContain(error.code);
    }
  }
}

async function step(
  prng: Prng,
  caller: Caller,
  engine: Engine,
  history: History,
  cleared: Map<string, Effect>,
): Promise<void> {
  const { database, tenant, requestId } = caller;
  const atom = `edge(${prng.pick(nodes)}, ${prng.pick(nodes)})`;
  switch (prng.below(10)) {
    case 0:
    case 1:
    case 2: {
      const { status, generation } = await engine.tell(caller, factInput(atom));
      if (status === 'asserted') history.note(database, generation, { kind: 'came', tenant, atom });
      return;
    }
    case 3: {
      const dependents = prng.pick(['known', 'all']);
      const { status, generation } = await engine.forget(caller, retractInput(atom, { dependents }));
      if (status === 'retracted') history.note(database, generation, { kind: 'went', tenant, atom });
      return;
    }
    case 4: {
      const text = prng.pick(rules);
      const { status, generation } = await engine.teach(caller, ruleInput({ text }));
      if (status === 'asserted') history.note(database, generation, { kind: 'rule', text });
      return;
    }
    case 5: {
      if (prng.chance(0.5)) return;
      cleared.set(requestId, { kind: 'cleared', tenant });
      await (prng.chance(0.5) ? engine.nukeTenant : engine.deleteTenant).call(
        engine,
        caller,
        database,
        tenant,
      );
      return;
    }
    case 6:
      cleared.set(requestId, { kind: 'cleared', tenant: null });
      if (prng.chance(0.7)) await engine.createDatabase(caller, 'other');
      else if (prng.chance(0.5)) await engine.deleteDatabase(caller, 'other');
      else await engine.nukeDatabase(caller, database);
      return;
    default: {
      const { results, generation } = await engine.ask(
        caller,
        askInput('reach(?x, ?y)', { withProof: prng.chance(0.5) }),
      );
      history.asked.push({ database, tenant, generation, results });
    }
  }
}

async function runCase(seed: number): Promise<void> {
  const prng = new Prng(seed);
  const bugs: unknown[] = [];
  const pause = randomPause(prng);
  const clock = new ManualClock(startTime);
  let now = 0;
  // Any check of the clock may be the last of a slice.
  const time = vi.spyOn(performance, 'now').mockImplementation(() => (now += prng.chance(0.2) ? 6 : 0));
  const engine = await openEngine({ storageDir: null, clock, pause, onBug: (bug) => void bugs.push(bug) });
  try {
    const history = new History();
    const cleared = new Map<string, Effect>();
    engine.subscribe(({ kind, database, data }: Change) => {
      const effect = cleared.get(data.requestId ?? '');
      if (kind === 'reset' && effect !== undefined) history.note(database, data.generation, effect);
    });
    await engine.createDatabase(testCaller(), 'other');
    const workers = Array.from({ length: 6 }, (_, at) =>
      work(new Prng(seed * 100 + at), `worker ${at}`, engine, history, cleared),
    );
    await Promise.all(workers);
    for (const asked of history.asked)
      expect([...asked.results].sort(), JSON.stringify(asked)).toEqual(history.reached(asked));
  } finally {
    time.mockRestore();
    await engine.close();
  }
  expect(bugs).toEqual([]);
}

test('answers as of the generation they name while tenants and databases are created and deleted', async () => {
  await overSeeds({ name: 'cleared', few: 40, many: 2000 }, runCase);
});
