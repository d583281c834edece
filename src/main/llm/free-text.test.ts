import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderAtom } from '../../engine/index.ts';
import { readFreeText } from './free-text.ts';

const breathe = async (): Promise<void> => {};

/** What is read, as texts. */
async function read(text: string) {
  const { facts, rules, prose } = await readFreeText(text, 'text', breathe);
  return {
    facts: facts.map(({ atom }) => renderAtom(atom)),
    rules: rules.map(({ span: { start, end } }) => text.slice(start, end)),
    prose: prose.map(({ start, end }) => text.slice(start, end)),
  };
}

describe('free text', () => {
  it('splits into lines that are wholly statements and natural language', async () => {
    const text = 'p(a). q(b, "c d").\nAlice said p(a).\n  -r(1).  \ns(a)\nt(?x) :- p(?x).';
    expect(await read(text)).toEqual({
      facts: ['p(a)', 'q(b, c d)', '-r(1)', 's(a)'],
      rules: ['t(?x) :- p(?x).'],
      prose: ['Alice said p(a).'],
    });
  });

  it.each(['\n', '\r\n', '\r'])('ends a line at %j', async (end) => {
    expect(await read(['p(a).', 'one', 'two', 'q(b).'].join(end))).toMatchObject({
      facts: ['p(a)', 'q(b)'],
      prose: [`one${end}two`],
    });
  });

  it.each([
    'p.',
    'p(a). % why',
    '# p(a).',
    'p(?x).',
    'p(?x)',
    'p(a). q(b)',
    'p(a) .q(b).',
    'not p(a).',
    '1 < 2.',
    'p(a). And so on.',
  ])('treats %j as natural language', async (line) => {
    expect(await read(line)).toEqual({ facts: [], rules: [], prose: [line] });
  });

  it('ignores lines of only white space', async () => {
    expect(await read(' \n\t\r\n \u3000\n')).toEqual({ facts: [], rules: [], prose: [] });
  });

  it('contains every statement at its span, whatever surrounds it', async () => {
    const lines = fc.constantFrom(
      'p(a).',
      ' q("b c", 1). r(x).',
      'words',
      'Élan (vital).',
      '',
      '   ',
      '😀 p(a)',
    );
    const ends = fc.constantFrom('\n', '\r\n', '\r', '\n\n');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(lines, ends), { maxLength: 12 }), async (parts) => {
        const text = parts.flat().join('');
        const { facts, prose } = await readFreeText(text, 'text', breathe);
        for (const { atom, span } of facts)
          expect(await read(text.slice(span.start, span.end))).toMatchObject({ facts: [renderAtom(atom)] });
        const covered = [...facts.map(({ span }) => span), ...prose].sort((a, b) => a.start - b.start);
        let at = 0;
        for (const { start, end } of covered) {
          expect(text.slice(at, start).trim()).toBe('');
          at = end;
        }
        expect(text.slice(at).trim()).toBe('');
      }),
    );
  });
});
