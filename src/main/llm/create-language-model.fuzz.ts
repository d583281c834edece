/**
 * Providers that return anything: random bytes, their own format with random changes, statuses and headers of all
 * kinds. In every case, a question gets an answer that the schema accepts or an error in our own words, after at most
 * three calls, and the key appears nowhere.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { providerNames } from '../../engine/contract/extraction.ts';
import { EngineError } from '../../engine/index.ts';
import { schema, secretKey, startModelUnderTest } from './testing/model-under-test.ts';
import type { Reply } from './testing/scripted-provider.ts';

const numRuns = process.env['LONG'] === undefined ? 40 : 2000;

const envelopes = [
  {
    choices: [{ index: 0, message: { role: 'assistant', content: '{"facts": []}' }, finish_reason: 'stop' }],
  },
  { type: 'message', content: [{ type: 'text', text: '{"facts": []}' }], stop_reason: 'end_turn', usage: {} },
  { candidates: [{ content: { parts: [{ text: '{"facts": []}' }] }, finishReason: 'STOP' }] },
];

/** A JSON text in which a random stretch is replaced. */
const changed = fc
  .tuple(
    fc.constantFrom(...envelopes),
    fc.nat(),
    fc.nat(20),
    fc.oneof(fc.json(), fc.string(), fc.constant(secretKey)),
  )
  .map(([envelope, place, length, insert]) => {
    const text = JSON.stringify(envelope);
    const at = place % text.length;
    return text.slice(0, at) + insert + text.slice(at + length);
  });

const status = fc.oneof(fc.constant(200), fc.integer({ min: 200, max: 599 }));
const retryAfter = fc.oneof(
  fc.integer().map(String),
  fc.date({ noInvalidDate: true }).map(String),
  fc.constant('x'),
);
const reply: fc.Arbitrary<Reply> = fc.oneof(
  fc.record({ status, body: fc.oneof(changed, fc.json(), fc.string({ unit: 'binary' })) }),
  fc.record({ status, headers: fc.record({ 'retry-after': retryAfter }), body: changed }),
  fc.record({ text: fc.oneof(fc.json(), fc.string(), fc.constant(secretKey), fc.constant('{"facts": []}')) }),
  fc.record({ json: fc.record({ facts: fc.jsonValue() }) }),
  fc.record({ cut: fc.constantFrom('before head', 'in body') }),
);

describe.each(providerNames)('%s', (name) => {
  it('may return anything: the result matches the schema or is an error in our own words', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(reply, { minLength: 1, maxLength: 3 }), async ([first, ...others]) => {
        const { provider, calls, ask } = await startModelUnderTest(name, {
          replies: [first as Reply, ...others],
        });
        try {
          const answer = await ask();
          expect(schema.safeParse(answer).success).toBe(true);
          expect(JSON.stringify(answer)).not.toContain('0123456789');
        } catch (error) {
          if (!(error instanceof EngineError)) throw error;
          expect(error).toMatchObject({ code: 'LlmProviderException', members: { provider: name } });
          expect(error.cause).toBeUndefined();
          expect(error.message + JSON.stringify([error.members, calls])).not.toContain('0123456789');
        } finally {
          await provider.close();
        }
        expect(provider.asked.length).toBeLessThanOrEqual(3);
        expect(calls).toHaveLength(provider.asked.length);
        for (const { tokens } of calls) expect(Object.values(tokens).every(Number.isSafeInteger)).toBe(true);
      }),
      { numRuns },
    );
  });
});
