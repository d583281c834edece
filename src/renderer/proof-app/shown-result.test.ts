import { describe, expect, test } from 'vitest';
import { proofAddressOf, argumentsAfter, questionOf, readResult } from './shown-result.ts';

const answer = {
  results: ['p(a)'],
  bindings: [{}],
  count: 1,
  truncated: false,
  total: 1,
  generation: 3,
  elapsedMs: 1,
};
const text = [{ type: 'text' as const, text: 'in words' }];

describe('the content of a result', () => {
  test('is an answer by the schema of the contract, with its proof', () => {
    const step = { id: 0, atom: 'p(a)', kind: 'fact', rule: null, ruleId: null, premises: [], scope: null };
    const structuredContent = { ...answer, proof: { roots: [0], steps: [step] } };
    expect(readResult({ content: text, structuredContent })).toEqual({
      kind: 'answer',
      answer: structuredContent,
      proofs: null,
    });
  });

  test('is restored to a full answer from the slim content of the tool', () => {
    const structuredContent = { results: ['p(a)'], count: 1, truncated: false, generation: 3 };
    expect(readResult({ content: text, structuredContent })).toMatchObject({
      kind: 'answer',
      answer: { results: ['p(a)'], bindings: [{}], total: 1, generation: 3 },
    });
  });

  test('is shown as its text if it is no answer or was truncated', () => {
    const { results: _, ...cut } = answer;
    for (const structuredContent of [undefined, {}, cut, { ...answer, results: [1] }])
      expect(
        readResult({ content: text, ...(structuredContent === undefined ? {} : { structuredContent }) }),
      ).toEqual({
        kind: 'text',
        text: 'in words',
      });
    expect(readResult({ content: [] })).toMatchObject({
      kind: 'text',
      text: expect.stringContaining('nothing'),
    });
  });

  test('is a refusal if it says so, whatever else it contains', () => {
    expect(readResult({ content: text, structuredContent: answer, isError: true })).toEqual({
      kind: 'refusal',
      text: 'in words',
    });
  });

  test.each([
    ['http://127.0.0.1:9300/#/proof?tenant=t', 'http://127.0.0.1:9300/#/proof?tenant=t'],
    ['javascript:alert(1)', undefined],
    ['nonsense', undefined],
    [7, undefined],
  ])("includes the workbench's address if it is http or https: %s", (given, expected) => {
    const read = readResult({ content: [], structuredContent: answer, _meta: { 'corollary/proofs': given } });
    expect(read.kind === 'answer' ? read.proofs?.href : null).toBe(expected);
  });
});

describe('the address of a proof', () => {
  const proofs = new URL('http://127.0.0.1:9300/#/proof?database=d&tenant=a+b');

  function searchOf(address: string) {
    const { hash } = new URL(address);
    return Object.fromEntries(new URLSearchParams(hash.slice(hash.indexOf('?'))));
  }

  test('names space and answer, whatever they contain', () => {
    const asked = 'p("a&b=c#d?", ?x)';
    const address = proofAddressOf(proofs, null, asked);
    expect(address).toMatch(/^http:\/\/127\.0\.0\.1:9300\/#\/proof\?/);
    expect(searchOf(address)).toEqual({ database: 'd', tenant: 'a b', question: asked });
  });

  test('keeps the scope of the question', () => {
    expect(searchOf(proofAddressOf(proofs, { scope: 's' }, 'p(a)'))).toMatchObject({ scope: 's' });
    expect(searchOf(proofAddressOf(proofs, { scope: ' ' }, 'p(a)'))).not.toHaveProperty('scope');
    expect(searchOf(proofAddressOf(proofs, { unscoped: true }, 'p(a)'))).toMatchObject({ unscoped: 'true' });
  });
});

describe('the question', () => {
  test.each([
    [{ predicate: 'p', args: ['a', '?x'] }, 'p(a, ?x)'],
    [{ predicate: 'p', args: ['a, b'], negated: true }, '-p("a, b")'],
    [{ text: ' p(?x), not q(?x) ' }, 'p(?x), not q(?x)'],
    [{ text: '', predicate: 'p', args: [] }, 'p()'],
    [
      {
        body: [
          { predicate: 'p', args: ['?x'] },
          { predicate: 'q', args: ['?x'], naf: true },
        ],
      },
      'p(?x), not q(?x)',
    ],
    [{ body: 'p(?x)' }, null],
    [{ predicate: 7, args: {} }, null],
    [{}, null],
  ])('of %j is %j', (given, expected) => {
    expect(questionOf(given)).toBe(expected);
  });

  test('for more continues after the shown answers', () => {
    expect(argumentsAfter({ predicate: 'p', args: [], limit: 2 }, 2)).toEqual({
      predicate: 'p',
      args: [],
      limit: 2,
      offset: 2,
    });
    expect(argumentsAfter({ offset: 10 }, 5)).toEqual({ offset: 15 });
  });
});
