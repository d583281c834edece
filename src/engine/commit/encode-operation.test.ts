import { expect, test } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { encodeWrite } from './encode-operation.ts';
import { FactBlockBuilder } from '../store/fact-block.ts';
import type { FactToStore } from '../store/fact-store.ts';
import type { Operation } from '../state/operation.ts';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const texts = ['a', '', 'with space', '"', '\\', '\n', '\u0000', '\u001f', '\u007f', '\u0080', 'é', '\u2028'];
const others = ['\ufeffmark', '\u{1f600}', 'b"c', 'x'.repeat(300), '?x', '-1.5', `${'y'.repeat(99)}\u00e9`];

function randomFact(prng: Prng): FactToStore {
  const text = (): string => prng.pick(prng.chance(0.7) ? texts : others);
  return {
    predicate: prng.pick(['p', 'q', 'ü', 'a"b']),
    args: Array.from({ length: prng.below(4) }, text),
    truthVal: prng.chance(0.8),
    scope: prng.pick([null, null, 's', '"']),
    ...(prng.chance(0.1) ? { validFrom: prng.pick([0, 5, 'always'] as const) } : {}),
    ...(prng.chance(0.1) ? { validUntil: prng.pick([9, 'never'] as const) } : {}),
    ...(prng.chance(0.1) ? { validUntil: 7, endsByTtl: true } : {}),
    ...(prng.chance(0.1) ? { metadata: { importance: prng.next(), note: text() } } : {}),
  };
}

const encoded = async (operation: Operation): Promise<string | null> => {
  const { encoded: bytes } = await encodeWrite(operation, { breathe: () => Promise.resolve() });
  return bytes === undefined ? null : decoder.decode(bytes);
};

test('encodes a large write of facts to the bytes of JSON.stringify', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const prng = new Prng(seed);
    const facts = Array.from({ length: 257 + prng.below(800) }, () => randomFact(prng));
    const importing = prng.chance(0.5) ? { importId: '"i"', note: 'é' } : {};
    const operation: Operation = { kind: 'assert', tenant: 't"', facts, ...importing };
    const json = JSON.stringify(operation);
    expect(await encoded(operation)).toBe(json);
    const builder = new FactBlockBuilder();
    for (const fact of facts) builder.add(fact);
    expect(await encoded({ ...operation, facts: builder.built() })).toBe(json);
  }
});

test('a few facts in columns become a list again', async () => {
  const facts = Array.from({ length: 20 }, () => randomFact(new Prng(3)));
  const builder = new FactBlockBuilder();
  for (const fact of facts) builder.add(fact);
  const given: Operation = { kind: 'assert', tenant: 't', facts: builder.built() };
  const { operation, encoded: bytes } = await encodeWrite(given, { breathe: () => Promise.resolve() });
  expect(bytes).toBeUndefined();
  expect(operation).toEqual({ kind: 'assert', tenant: 't', facts });
});

test('encodes other large operations to the bytes of JSON.stringify', async () => {
  const prng = new Prng(5);
  const assert = Array.from({ length: 300 }, () => randomFact(prng));
  const commit: Operation = { kind: 'commit', tenant: 't', retract: [], assert, rules: [], operations: 300 };
  expect(await encoded(commit)).toBe(JSON.stringify(commit));
  const facts = Array.from({ length: 1000 }, (_, number) => number);
  const decay: Operation = { kind: 'decay', tenant: 't', scope: { kind: 'all' }, facts, answer: null };
  expect(await encoded(decay)).toBe(JSON.stringify(decay));
});

test('does not encode a small operation separately', async () => {
  const facts = Array.from({ length: 256 }, () => randomFact(new Prng(1)));
  expect(await encoded({ kind: 'assert', tenant: 't', facts })).toBeNull();
});
