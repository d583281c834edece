/**
 * Random writes that are under way together, under keys and constraints that refuse them, beside the same engine alone: what
 * was accepted, written again one after another in the order of its generations, must be accepted there, supersede the same
 * facts and leave the same knowledge; what was refused must have violated something.
 */
import { expect, onTestFinished, test } from 'vitest';
import type { Caller } from '../base/caller.ts';
import { ManualClock } from '../base/clock.ts';
import { EngineError } from '../base/errors.ts';
import { constraintInputSchema } from '../contract/constraints.ts';
import { declarationInputSchema } from '../contract/declarations.ts';
import { factInputSchema, listFactsQuerySchema, retractInputSchema } from '../contract/facts.ts';
import { violationsQuerySchema } from '../contract/violations.ts';
import { ruleInputSchema } from '../contract/rules.ts';
import { type MemoryBackend, memoryBackend } from '../log/backend.ts';
import { openEngineOn } from '../open-engine.ts';
import type { Engine } from '../operations/engine.ts';
import { startTime, testCaller } from '../testing/engine-fixtures.ts';
import { Prng } from '../testing/prng.ts';

const runs = process.env['LONG'] === '1' ? 600 : 8;
const rounds = 12;
const timeout = 3_600_000;

type Atom = readonly [predicate: string, ...args: string[]];

interface Step {
  readonly kind: 'tell' | 'tellAll' | 'retract';
  readonly atoms: readonly Atom[];
  readonly scope: string | null;
  /** Milliseconds from now; null: no beginning. */
  readonly validFrom: number | null;
}

const constraints = [
  '!- home(?p, ?c), closed(?c)',
  '!- badge(?p, ?n), not member(?p)',
  '!- vip(?p), banned(?p)',
  '!- home(?p, ?c), home(?q, ?c), rival(?p, ?q)',
];

/** A memory backend whose syncs take a turn of the event loop, so that writes meet each other under way. */
function slowBackend(): { readonly backend: MemoryBackend } {
  const backend = memoryBackend();
  const create: MemoryBackend['create'] = async (name) => {
    const file = await backend.create(name);
    const sync = async (): Promise<void> => {
      await new Promise<void>((resolve) => void setImmediate(resolve));
      await file.sync();
    };
    return { ...file, sync };
  };
  return { backend: { ...backend, create } };
}

async function opened(
  backend: MemoryBackend = slowBackend().backend,
): Promise<{ readonly engine: Engine; readonly caller: Caller; readonly clock: ManualClock }> {
  const clock = new ManualClock(startTime);
  const { engine } = await openEngineOn(backend, null, { clock });
  onTestFinished(() => engine.close());
  const caller = testCaller();
  const declare = (name: string, onConflict: string) =>
    engine.declare(caller, {
      name,
      arity: 2,
      ...declarationInputSchema.parse({
        arguments: [{ name: 'a' }, { name: 'b' }],
        key: ['a'],
        onConflict,
      }),
    });
  await declare('badge', 'reject');
  await declare('seat', 'reject');
  await declare('home', 'supersede');
  for (const text of constraints)
    await engine.addConstraint(caller, constraintInputSchema.parse({ text, name: text, mode: 'reject' }));
  // `vip` is concluded, so that a constraint has no quick check.
  await engine.teach(caller, ruleInputSchema.parse({ text: 'vip(?p) :- badge(?p, gold)' }));
  return { engine, caller, clock };
}

function randomStep(prng: Prng): Step {
  const person = (): string => `p${prng.below(4)}`;
  const city = (): string => `c${prng.below(3)}`;
  const atom = (): Atom => {
    switch (prng.below(9)) {
      case 6:
        return ['seat', person(), `${prng.below(3)}`];
      case 0:
        return ['closed', city()];
      case 1:
      case 2:
        return ['badge', person(), prng.chance(0.3) ? 'gold' : `${prng.below(3)}`];
      case 3:
        return ['member', person()];
      case 4:
        return ['banned', person()];
      case 5:
        return ['rival', person(), person()];
      default:
        return ['home', person(), city()];
    }
  };
  const kind = prng.chance(0.65) ? 'tell' : prng.chance(0.5) ? 'retract' : 'tellAll';
  const count = kind === 'tellAll' ? 1 + prng.below(3) : 1;
  return {
    kind,
    atoms: Array.from({ length: count }, atom),
    scope: prng.chance(0.3) ? 's' : null,
    validFrom: kind === 'tell' && prng.chance(0.15) ? prng.below(3) * 1000 - 1000 : null,
  };
}

interface Done {
  readonly step: Step;
  readonly generation: number;
  readonly superseded: readonly string[];
}

/** The step's outcome; null: it was refused. */
async function done(
  { engine, caller }: { engine: Engine; caller: Caller },
  step: Step,
  now: number,
): Promise<Done | null> {
  const { scope } = step;
  const facts = step.atoms.map(([predicate, ...args]) => ({
    predicate,
    args,
    scope,
    ...(step.validFrom === null ? {} : { validFrom: now + step.validFrom }),
  }));
  try {
    if (step.kind === 'retract') {
      const [fact] = facts;
      const input = retractInputSchema.parse(
        scope === null ? { ...fact, scope: undefined, unscoped: true } : fact,
      );
      const { generation } = await engine.forget(caller, input);
      return { step, generation, superseded: [] };
    }
    const parsed = facts.map((fact) => factInputSchema.parse(fact));
    const { generation, superseded = [] } =
      step.kind === 'tell'
        ? await engine.tell(caller, { ...(parsed[0] as (typeof parsed)[number]), ifGeneration: null })
        : await engine.tellAll(caller, parsed);
    return { step, generation, superseded: superseded.map(({ atom }) => atom) };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    expect(['KeyConflict', 'ConstraintViolated']).toContain(error.code);
    return null;
  }
}

async function knowledge({ engine, caller }: { engine: Engine; caller: Caller }): Promise<string[]> {
  const { facts } = await engine.facts(caller, listFactsQuerySchema.parse({ limit: '1000' }));
  return facts
    .map(({ predicate, args, scope, validFrom, validUntil }) =>
      JSON.stringify([predicate, args, scope, validFrom, validUntil]),
    )
    .sort();
}

test(
  'writes under way together are those that would be accepted one after another',
  async () => {
    let accepted = 0;
    let refused = 0;
    for (let seed = 1; seed <= runs; seed++) {
      const prng = new Prng(seed);
      const [together, alone] = [await opened(), await opened()];
      for (let round = 0; round < rounds; round++) {
        const about = `seed ${seed}, round ${round}`;
        const now = startTime + round * 1500;
        for (const { clock } of [together, alone]) clock.set(now);
        const steps = Array.from({ length: 1 + prng.below(12) }, () => randomStep(prng));
        const outcomes = await Promise.all(steps.map((step) => done(together, step, now)));
        const inOrder = outcomes
          .flatMap((each, at) => (each === null ? [] : [{ ...each, at }]))
          .sort((left, right) => left.generation - right.generation || left.at - right.at);
        refused += steps.length - inOrder.length;
        accepted += inOrder.length;
        for (const { step, superseded } of inOrder) {
          const again = await done(alone, step, now);
          expect(again, `${about}: ${JSON.stringify(step)} alone`).not.toBeNull();
          expect(again?.superseded, about).toEqual(superseded);
        }
        expect(await knowledge(together), about).toEqual(await knowledge(alone));
        const query = violationsQuerySchema.parse({});
        const listed = await together.engine.violations(together.caller, query);
        const ofKeys = listed.violations.filter(({ kind }) => kind === 'key');
        expect(ofKeys, about).toEqual([]);
      }
    }
    expect(accepted).toBeGreaterThan(runs * rounds);
    expect(refused).toBeGreaterThan(runs);
  },
  timeout,
);

test.each([
  ['a key that rejects', (n: number): Atom => ['seat', `x${n}`, '1']],
  ['constraints', (n: number): Atom => ['home', `x${n}`, `d${n}`]],
])('writes under %s that do not contradict each other share syncs', async (_, atomOf) => {
  const { backend } = slowBackend();
  const side = await opened(backend);
  const member = Array.from({ length: 50 }, (__, n): Atom => ['member', `x${n}`]);
  await done(side, { kind: 'tellAll', atoms: member, scope: null, validFrom: null }, startTime);
  await side.engine.deleteConstraint(side.caller, 'c4');
  const before = backend.counts.syncs;
  const steps = Array.from(
    { length: 50 },
    (__, n): Step => ({
      kind: 'tell',
      atoms: [atomOf(n)],
      scope: null,
      validFrom: null,
    }),
  );
  const outcomes = await Promise.all(steps.map((step) => done(side, step, startTime)));
  expect(outcomes).not.toContain(null);
  expect(backend.counts.syncs - before).toBeLessThan(10);
});
