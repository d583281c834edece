import { expect, test } from 'vitest';
import type { Proof } from '../contract/inference.ts';
import { openSession } from '../testing/engine-fixtures.ts';

/** With allProofs, a step has alternatives (contract section 5). */

/** The other derivations of an atom in a proof, each as its rule and its premises rendered. */
function otherWays({ steps }: Proof, atom: string): string[] {
  const step = steps.find((each) => each.atom === atom && each.kind === 'rule');
  return (step?.alternatives ?? []).map(
    ({ rule, premises }) => `${rule} from ${premises.map((premise) => steps[premise]?.atom).join(' and ')}`,
  );
}

test('returns every other rule instance that concludes a step with allProofs, each with its premises proved', async () => {
  const session = await openSession();
  await session.tellAll(['edge(a, b)', 'edge(b, d)', 'edge(a, c)', 'edge(c, d)', 'shortcut(a, d)']);
  await session.teach('path(?x, ?y) :- edge(?x, ?y)');
  await session.teach('path(?x, ?z) :- path(?x, ?y), edge(?y, ?z)');
  await session.teach('path(?x, ?y) :- shortcut(?x, ?y)');
  const proof = await session.proof('path(a, d)', { allProofs: true });
  expect(proof.steps[proof.roots[0] as number]?.rule).toBe('path(?x, ?y) :- shortcut(?x, ?y)');
  expect(otherWays(proof, 'path(a, d)')).toEqual([
    'path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) from path(a, b) and edge(b, d)',
    'path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) from path(a, c) and edge(c, d)',
  ]);
});

test('names steps of the same proof in alternatives on a cycle, each proved without it', async () => {
  const session = await openSession();
  await session.tellAll(['edge(a, b)', 'edge(b, a)', 'edge(b, b)']);
  await session.teach('path(?x, ?y) :- edge(?x, ?y)');
  await session.teach('path(?x, ?z) :- edge(?x, ?y), path(?y, ?z)');
  const proof = await session.proof('path(a, b)', { allProofs: true });
  expect(otherWays(proof, 'path(a, b)')).toEqual([
    'path(?x, ?z) :- edge(?x, ?y), path(?y, ?z) from edge(a, b) and path(b, b)',
  ]);
  expect(otherWays(proof, 'path(b, b)')).toEqual([
    'path(?x, ?z) :- edge(?x, ?y), path(?y, ?z) from edge(b, a) and path(a, b)',
    'path(?x, ?z) :- edge(?x, ?y), path(?y, ?z) from edge(b, b) and path(b, b)',
  ]);
  for (const { id, premises } of proof.steps)
    for (const premise of premises) expect(premise).toBeLessThan(id);
});

test('limits a step to 100 alternatives, and returns none unless requested', async () => {
  const session = await openSession();
  await session.tellAll(Array.from({ length: 150 }, (_, index) => `vote(v${index}, yes)`));
  await session.teach('winner(?y) :- vote(?x, ?y)');
  const proof = await session.proof('winner(yes)', { allProofs: true });
  expect(otherWays(proof, 'winner(yes)')).toHaveLength(100);
  const plain = await session.proof('winner(yes)');
  expect(plain.steps.every((step) => step.alternatives === undefined)).toBe(true);
});
