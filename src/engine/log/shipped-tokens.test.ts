import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, test } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { shippedTokens } from './shipped-tokens.ts';

/**
 * Tokens of texts: contract section 13, held against gpt-tokenizer itself. It takes a byte order mark for nothing when it
 * looks up a token, which o200k_base does not: no text here has one.
 */

const inOneGo = async (): Promise<void> => {};
const plainly = { disallowedSpecial: new Set<string>() };

const texts = [
  '',
  'parent(alice, bob)\n',
  '=> -grandparent("Alice B.", carol)\n',
  "it's we'll THEY'VE I'd\n",
  '1234567 3.14 2026-11-23T05:20:24.000Z\n',
  'snake_case camelCase kebab-case HTTPServer\n',
  '   leading, \t\t tabs \r\n\r\n and    runs of spaces   \n',
  'Ünïcödé ΑΒΓδε привет שלום مرحبا नमस्ते\n',
  '東京都に住んでいます。我喜欢数据库。안녕하세요\n',
  '😀👩‍👩‍👧‍👦🏳️‍🌈🇩🇪 and text\n',
  '<|endoftext|> is a text here <|im_start|>\n',
  '(((((()))))),,,,....;;;;////\n\n\n',
  'e\u0301a\u0308\u200d\u0000\u0007\n',
];

test('the tokens of a line are those that gpt-tokenizer counts', async () => {
  for (const text of texts)
    expect(await shippedTokens.count(text, inOneGo), JSON.stringify(text)).toBe(countTokens(text, plainly));
});

test('random texts have the tokens that gpt-tokenizer counts', async () => {
  const prng = new Prng(1);
  const alphabet = [...'aàbcdeEfghXYZ0123 \n\t_-.,()"\'/\\é中文字東か😀🏽\u0301ק'];
  for (let round = 0; round < 3000; round++) {
    const length = prng.below(60);
    const text = Array.from({ length }, () => prng.pick(prng.chance(0.2) ? texts : alphabet)).join('');
    expect(await shippedTokens.count(text, inOneGo), JSON.stringify(text)).toBe(countTokens(text, plainly));
  }
});

test('long runs have the tokens that gpt-tokenizer counts', async () => {
  for (const run of ['a', 'ab', 'A', ' ', '\n', '0', '-', '中', '😀', 'é', 'xyzzy', ' a', 'aaaaaaaab'])
    for (const times of [255, 700]) {
      const text = run.repeat(times);
      expect(await shippedTokens.count(text, inOneGo), `${times} ${run}`).toBe(countTokens(text, plainly));
    }
});

/** The steps of a count: the breaths that it takes. */
async function breathsOf(text: string): Promise<number> {
  let breaths = 0;
  await shippedTokens.count(text, async () => void breaths++);
  return breaths;
}

test.each([
  ['a letter', 'a'],
  ['a space', ' '],
  ['a character of Chinese', '中'],
  ['an emoji', '😀'],
  ['a syllable', 'ab'],
])('the work for one long constant grows with its length: %s', async (_, run) => {
  const bytes = Buffer.byteLength(run);
  const [short, long] = [8192, 65_536].map((size) => breathsOf(run.repeat(Math.floor(size / bytes))));
  // Eight times the length is at most eight times the steps, and one more for the beginning of each.
  expect(await long).toBeLessThanOrEqual(8 * ((await short) as number) + 8);
  expect(await long).toBeGreaterThan(8);
});

test('counting stops beyond the limit', async () => {
  const text = 'one two three four five six seven\n';
  expect(await shippedTokens.count(text, inOneGo, 3)).toBe(4);
  expect(await shippedTokens.count(text, inOneGo, 100)).toBe(countTokens(text));
});
