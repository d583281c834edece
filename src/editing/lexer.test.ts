import { describe, expect, test } from 'vitest';
import { lexLine } from './lexer.ts';

function kinds(line: string, isOpen = false): string[] {
  return lexLine(line, isOpen)
    .tokens.filter((token) => token.kind !== 'space')
    .map((token) => `${line.slice(token.start, token.end)}:${token.kind}`);
}

describe('the lexer of displayed code', () => {
  test('finds predicates, variables and operators in a rule', () => {
    expect(kinds('p(?x, a) :- q(?x, 3), not -r(?x).')).toEqual([
      'p:predicate',
      '(:operator',
      '?x:variable',
      ',:operator',
      'a:constant',
      '):operator',
      ':-:operator',
      'q:predicate',
      '(:operator',
      '?x:variable',
      ',:operator',
      '3:number',
      '):operator',
      ',:operator',
      'not:keyword',
      '-:keyword',
      'r:predicate',
      '(:operator',
      '?x:variable',
      '):operator',
      '.:operator',
    ]);
  });

  test('finds the words of tests where they begin something, and predicates of these names elsewhere', () => {
    const keywords = (line: string) => kinds(line).filter((each) => each.endsWith(':keyword'));
    expect(keywords('test "x" { given p(a), not q(b). expect not violation adult. }')).toEqual([
      'test:keyword',
      'given:keyword',
      'not:keyword',
      'expect:keyword',
      'not:keyword',
      'violation:keyword',
    ]);
    expect(keywords('  expect ?n = count { ?x : p(?x) }.')).toEqual(['expect:keyword', 'count:keyword']);
    expect(keywords('given :- test, expect. violation. test(a). given(b).')).toEqual([]);
  });

  test('takes the beginning of a constraint for an operator', () => {
    expect(kinds('!- p(a)')[0]).toBe('!-:operator');
    expect(kinds('!-p(a)')[0]).toBe('!-p:predicate');
  });

  test('starts a comment outside of argument lists only', () => {
    expect(kinds('p(50%, #1, a.b) % really')).toEqual([
      'p:predicate',
      '(:operator',
      '50%:constant',
      ',:operator',
      '#1:constant',
      ',:operator',
      'a.b:constant',
      '):operator',
      '% really:comment',
    ]);
  });

  test('continues an argument list that is open at the end of a line in the next', () => {
    expect(lexLine('p(a,', false).isOpen).toBe(true);
    expect(kinds('# b)', true)).toEqual(['# b:constant', '):operator']);
  });

  test('reads a quoted argument as one string, whatever it contains', () => {
    expect(kinds('p("a, (b) % \\" c")')).toEqual([
      'p:predicate',
      '(:operator',
      '"a, (b) % \\" c":string',
      '):operator',
    ]);
  });

  test('distinguishes aggregates and arithmetic from atoms of the same name', () => {
    expect(kinds('?n = count { ?y : p(?y) }')).toContain('count:keyword');
    expect(kinds('count(?y)')).toContain('count:predicate');
    expect(kinds('?c = ?a mod -2')).toContain('mod:keyword');
    expect(kinds('?c = ?a mod -2')).toContain('-2:number');
  });

  test('covers every line with tokens without gaps', () => {
    for (const line of ['', '   ', '"open', 'p((', ')', '}{', 'a:-b', '?', '-', "'x'", 'p(ü, 🙂)']) {
      let at = 0;
      for (const token of lexLine(line, false).tokens) {
        expect(token.start).toBe(at);
        expect(token.end).toBeGreaterThan(token.start);
        at = token.end;
      }
      expect(at).toBe(line.length);
    }
  });
});
