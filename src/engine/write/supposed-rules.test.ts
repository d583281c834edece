import { expect, onTestFinished, test, vi } from 'vitest';
import { constraintInputSchema } from '../contract/constraints.ts';
import type { Engine } from '../operations/engine.ts';
import { ConstraintCheck } from '../session/constraint-check.ts';
import { Prng } from '../testing/prng.ts';
import { factInput, gate, openSession, ruleInput, testCaller } from '../testing/engine-fixtures.ts';
import type { ImportedRule } from './supposed-rules.ts';

const caller = testCaller();

const line = (text: string, fields: Record<string, unknown> = {}): ImportedRule => ({
  rule: ruleInput({ text, ...fields }),
  isDefault: false,
});

async function forbid(engine: Engine, text: string): Promise<void> {
  await engine.addConstraint(caller, constraintInputSchema.parse({ text, name: text, mode: 'reject' }));
}

const codesOf = (refusals: readonly (Error | null)[]): (string | null)[] =>
  refusals.map((refusal) => (refusal === null ? null : refusal.message.replaceAll(/\(c\d+\)/g, '')));

test('a dry run refuses those of many rules that the import refuses, over random rules and constraints', async () => {
  let refused = 0;
  for (let seed = 1; seed <= 30; seed++) {
    const prng = new Prng(seed);
    const { engine } = await openSession();
    const relation = () => `r${prng.below(6)}`;
    const isMonotone = prng.chance(0.6);
    const naf = () => (!isMonotone && prng.chance(0.3) ? `, not s${prng.below(3)}(?x)` : '');
    for (let count = 0; count < 4; count++)
      await engine.tell(
        caller,
        factInput(`${prng.chance(0.5) ? 's' : 'r'}${prng.below(3)}(c${prng.below(3)})`),
      );
    for (let count = 0; count < 2; count++)
      // One that is violated already is refused.
      await forbid(engine, `!- ${relation()}(?x), ${relation()}(?x)${naf()}`).catch(() => null);
    const rule = (): ImportedRule => {
      const body = prng.chance(0.3) ? `s${prng.below(3)}(?x)` : `${relation()}(?x)${naf()}`;
      const head = prng.chance(0.1) ? `s${prng.below(3)}` : relation();
      return line(`${head}(?x) :- ${body}`, prng.chance(0.1) ? { scope: 's' } : {});
    };
    const lines = Array.from({ length: 1 + prng.below(24) }, rule);
    const facts = [factInput(`s${prng.below(3)}(c0)`)];
    const refusals = [];
    for (const isDryRun of [true, false]) {
      const importing = engine.import(caller, isDryRun);
      await importing.assert(facts);
      refusals.push(codesOf(await importing.teach(lines)));
    }
    expect(refusals[0], `seed ${seed}`).toEqual(refusals[1]);
    refused += (refusals[0] ?? []).filter((each) => each !== null).length;
  }
  expect(refused).toBeGreaterThan(20);
});

test('others run between the lines of a dry run, which ends with its client', async () => {
  const held = gate();
  const { engine } = await openSession({ pause: held.pause });
  await forbid(engine, '!- adult(?x), child(?x)');
  await engine.tell(caller, factInput('child(ann)'));
  const control = new AbortController();
  const importing = engine.import(testCaller({ signal: control.signal }), true);
  const hold = held.hold();
  const taught = importing.teach([line('adult(?x) :- grown(?x)'), line('grown(?x) :- old(?x)')]);
  await hold;
  // Another client's write is answered meanwhile.
  await engine.tell(caller, factInput('old(bob)'));
  control.abort();
  held.release();
  await expect(taught).rejects.toThrow('the client has gone');
});

test('a dry run judges many rules by few looks at the constraints', async () => {
  const { engine } = await openSession();
  await forbid(engine, '!- adult(?x), child(?x)');
  await engine.tell(caller, factInput('child(ann)'));
  const looks = vi.spyOn(ConstraintCheck.prototype, 'refuseAdded');
  onTestFinished(() => looks.mockRestore());
  const importing = engine.import(caller, true);
  const lines = Array.from({ length: 64 }, (_, at) =>
    line(`adult(?x) :- ${at === 40 ? 'child' : `r${at}`}(?x)`),
  );
  const refusals = await importing.teach(lines);
  expect(refusals.flatMap((refusal, at) => (refusal === null ? [] : [at]))).toEqual([40]);
  expect(looks.mock.calls.length).toBeLessThan(32);
  const unread = Array.from({ length: 64 }, (_, at) => line(`other${at}(?x) :- child(?x)`));
  looks.mockClear();
  expect(await importing.teach(unread)).toEqual(unread.map(() => null));
  expect(looks).not.toHaveBeenCalled();
});
