import fc from 'fast-check';
import { expect, test } from 'vitest';
import { renderDeclaration } from './declaration-text.ts';
import { formatKnowledgeText, type KnowledgeItem, parseKnowledgeText } from './knowledge-text.ts';
import { layOutTestStatement } from './layout.ts';
import { renderAtom, renderConstraint, renderRule } from './print.ts';

const runs = process.env['LONG'] === '1' ? 50_000 : 1_000;

const name = fc.constantFrom('p', 'q2', 'violation', 'not', 'test', 'key', 'a.b', 'given', 'é');
const constant = fc.constantFrom('a', '1', '-2.5', 'New York', '"a, (b)"', '50%', '"\u2028 "', 'x y.z');
const variable = fc.constantFrom('?x', '?y', '?_');
const ground = fc
  .tuple(name, fc.array(constant, { minLength: 1, maxLength: 3 }), fc.boolean())
  .map(([predicate, args, negated]) => `${negated ? '-' : ''}${predicate}(${args.join(', ')})`);
const pattern = fc
  .tuple(name, fc.array(fc.oneof(constant, variable), { maxLength: 3 }))
  .map(([predicate, args]) => `${predicate}(${args.join(' ,')})`);
const body = fc
  .tuple(
    pattern,
    fc.array(
      fc.oneof(
        pattern,
        pattern.map((each) => `not ${each}`),
        fc.constant('3 < 4'),
      ),
      { maxLength: 5 },
    ),
  )
  .map(([first, others]) => [first, ...others].join(' , '));
const quoted = fc.constantFrom('"a"', '"b c"', '"\\n{"', '"} expect"', '"a \u2028"');
const answer = fc.constantFrom('a', 'New York', '3.5', '"a}"', '(a)', '-1', 'a.b');
const expectation = fc.oneof(
  body.map((goal) => `expect ${goal}`),
  body.map((goal) => `expect not ${goal}`),
  ground.map((atom) => `expect ${atom} = ${atom}`),
  fc.array(answer, { maxLength: 9 }).map((each) => `expect p(?x) = {${each.join(' ,')}}`),
  quoted.map((each) => `expect violation ${each}`),
  fc.constant('expect not  violation p'),
);
const given = fc.array(ground, { minLength: 1, maxLength: 6 }).map((atoms) => `given ${atoms.join(',not ')}`);
const gap = fc.constantFrom(' ', '\n', '  % note\n', '\n# a. {b\n', ' \n\n\n ', '\r\n', '\t');
const tests = fc
  .tuple(quoted, gap, fc.array(fc.tuple(fc.oneof(expectation, given), gap), { maxLength: 5 }))
  .map(([title, space, parts]) =>
    [
      'test ',
      title,
      '{',
      space,
      ...parts.flatMap(([part, after]) => [part, '.', after]),
      'expect p(a).\n}',
    ].join(''),
  );
const statement = fc.oneof(
  ground.map((each) => `${each}.`),
  body.map((each) => `p(a) :- ${each}.`),
  body.map((each) => `!- ${each} "why so".`),
  fc.constantFrom(
    ':declare p(a: {x, "y z"} "d", b) key a\n',
    ':declare q2/3 "what".',
    ':declare p()\n',
    ':declare p(a)\n on conflict reject\n',
  ),
  tests,
);
const file = fc
  .array(fc.tuple(statement, gap), { maxLength: 6 })
  .map((parts) => parts.map(([part, after]) => part + after).join(''));
const broken = fc
  .tuple(file, fc.nat(), fc.nat({ max: 9 }), fc.constantFrom('', '}', '"', '(', '. ', '% ', '\ufeff'))
  .map(([text, at, length, put]) => {
    const start = at % (text.length + 1);
    return text.slice(0, start) + put + text.slice(start + length);
  });

/** What the items say, without where. */
function meaningOf(items: readonly KnowledgeItem[]): string[] {
  return items.map((item) => {
    switch (item.kind) {
      case 'fact':
        return renderAtom(item.atom);
      case 'rule':
        return renderRule(item.rule);
      case 'constraint':
        return renderConstraint(item.literals) + String(item.reason);
      case 'declaration':
        return renderDeclaration(item.declared);
      case 'test':
        return JSON.stringify([item.name, item.statements.map(layOutTestStatement)]);
    }
  });
}

function read(text: string) {
  const { items, errors, comments } = parseKnowledgeText(text, { tests: true });
  return {
    meaning: meaningOf(items),
    errors: errors.filter(({ message }) => !message.startsWith('another test')).map(({ message }) => message),
    comments: comments.map(({ start, end }) => text.slice(start, end).trimEnd()),
  };
}

test('formatting keeps the meaning and the comments of a file, and changes nothing when repeated', () => {
  let tested = 0;
  fc.assert(
    fc.property(file, (text) => {
      const before = read(text);
      const formatted = formatKnowledgeText(text);
      expect(formatKnowledgeText(formatted)).toBe(formatted);
      expect(before.errors.filter((message) => !/^nothing binds|takes its value/.test(message))).toEqual([]);
      if (before.errors.length > 0) return;
      tested += before.meaning.length;
      expect(read(formatted)).toEqual(before);
    }),
    { numRuns: runs },
  );
  expect(tested).toBeGreaterThan(runs);
});

test('any text is read and formatted, with every position inside of it', () => {
  fc.assert(
    fc.property(broken, (text) => {
      const { items, errors } = parseKnowledgeText(text, { tests: true });
      for (const { span } of [...items, ...errors]) {
        expect(span.start).toBeLessThanOrEqual(span.end);
        expect(span.end).toBeLessThanOrEqual(text.length);
      }
      const once = formatKnowledgeText(text);
      if (errors.length === 0) expect(read(once).meaning).toEqual(meaningOf(items));
    }),
    { numRuns: runs },
  );
});
