import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EngineError } from '../base/errors.ts';
import {
  type AggregateName,
  aggregateNames,
  arithmeticNames,
  type Atom,
  comparisonNames,
  isBuiltinName,
  isWellFormed,
  type Literal,
  NamedTerms,
  predicateProblem,
  type Rule,
} from '../contract/language.ts';
import { ArgumentNames } from './argument-names.ts';
import {
  parseAtom,
  parseBody,
  parseFreeTextLine,
  parseFreeTextQuestion,
  parseProgram,
  parseRule,
} from './parse.ts';
import { renderAtom, renderBody, renderRule } from './print.ts';
import { atomsIn } from './terms.ts';

const runs = process.env['LONG'] === '1' ? 100_000 : 2_000;

/** Characters with a meaning in the grammar, and other awkward ones. */
const hostile = fc.constantFrom(
  ...' \t\n\r,()"\\.%#?-:;{}\'`=<>+*/!_aZ09é😀\u0000\u001b\u007f\u0085\u00a0\u2028\u2029\ufeff\ufffd',
  ':-',
  '. ',
  'not ',
  'mod',
  'count',
  '?x',
);
const text = fc.oneof(
  fc.array(hostile, { maxLength: 12 }).map((parts) => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 12 }).filter((each) => isWellFormed(each)),
  fc.constantFrom('alice', '1', '-3.5', '007', 'New York', 'not', 'mod', 'count', '1e400', ''),
);
const constant = text.filter((each) => !each.startsWith('?'));
const variable = fc.constantFrom('?x', '?y', '?_', '?größe', '?1', '?_a');
const term = fc.oneof(constant, variable);
const predicate = fc
  .oneof(text, fc.constantFrom('p', 'not', 'count', 'a.b', '<p', '-', ':', '=>', '3', 'a=b', '?p'))
  .filter((name) => predicateProblem(name) === null && !isBuiltinName(name));
const atom: fc.Arbitrary<Atom> = fc.record({
  predicate,
  args: fc.array(term, { maxLength: 4 }),
  negated: fc.boolean(),
});

const literal: fc.Arbitrary<Literal> = fc.letrec<{ literal: Literal }>((tie) => ({
  literal: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    fc.record({
      predicate,
      args: fc.array(term, { maxLength: 4 }),
      negated: fc.boolean(),
      naf: fc.boolean(),
    }),
    fc.record({
      predicate: fc.constantFrom<string>(...comparisonNames),
      args: fc.tuple(term, term).map((pair) => [...pair]),
      negated: fc.constant(false),
      naf: fc.constant(false),
    }),
    fc.record({
      predicate: fc.constantFrom<string>(...arithmeticNames),
      args: fc.tuple(term, term, term).map((triple) => [...triple]),
      negated: fc.constant(false),
      naf: fc.constant(false),
    }),
    fc.record({
      aggregate: fc.constantFrom<AggregateName>(...aggregateNames),
      result: term,
      over: fc.array(variable, { minLength: 1, maxLength: 3 }),
      body: fc.array(tie('literal'), { minLength: 1, maxLength: 3 }),
    }),
  ),
})).literal;
const rule: fc.Arbitrary<Rule> = fc.record({
  head: atom,
  body: fc.array(literal, { minLength: 1, maxLength: 4 }),
});

/** Fragments of programs, cut and joined at random. */
const rubbish = fc
  .array(fc.oneof(hostile, atom.map(renderAtom), rule.map(renderRule), fc.string({ unit: 'binary' })), {
    maxLength: 20,
  })
  .map((parts) => parts.join(''));

test('parses a rendered atom back to the same atom, whatever the strings', () => {
  fc.assert(
    fc.property(atom, (each) => {
      expect(parseAtom(renderAtom(each))).toEqual(each);
    }),
    { numRuns: runs },
  );
});

test('parses a rendered body or rule back to the same body or rule', () => {
  fc.assert(
    fc.property(rule, (each) => {
      expect(parseRule(renderRule(each))).toEqual(each);
      expect(parseBody(renderBody(each.body))).toEqual(each.body);
      expect(parseFreeTextQuestion(`${renderBody(each.body)}?`)).toEqual(each.body);
    }),
    { numRuns: runs },
  );
});

/** An atom with its arguments by name, in an order by `seed`; what may be left out is. */
function byName<Kind extends Atom>(atom: Kind, seed: number, needsAll: boolean): Kind {
  const { predicate, args } = atom;
  // What could be a built-in, or `not`, has parentheses.
  if (args.length === 0 || isBuiltinName(predicate) || predicate === 'not' || /[<>=!]/.test(predicate))
    return atom;
  const named = args
    .map((value, at) => [`a${args.length}_${at}`, value, (at * 7 + seed) % 5] as const)
    .filter(([, value, place]) => needsAll || value !== '?_' || place > 2)
    .sort(([, , left], [, , right]) => left - right);
  if (named.length === 0) return atom;
  return { ...atom, args: new NamedTerms(new Map(named.map(([name, value]) => [name, value])), needsAll) };
}

function bodyByName(body: readonly Literal[], seed: number): Literal[] {
  return body.map((literal) =>
    'aggregate' in literal
      ? { ...literal, body: bodyByName(literal.body, seed) }
      : byName(literal, seed, false),
  );
}

function declaredIn({ head, body }: Rule): ArgumentNames {
  const relations = new Map<string, { name: string; arity: number; arguments: { name: string }[] }>();
  for (const { predicate, args } of [head, ...atomsIn(body)]) {
    const names = args.map((_, at) => ({ name: `a${args.length}_${at}` }));
    relations.set(JSON.stringify([predicate, args.length]), {
      name: predicate,
      arity: args.length,
      arguments: names,
    });
  }
  return new ArgumentNames(relations.values());
}

test('arguments by name mean the same as in order, whatever order they are in and whatever is left out', () => {
  let braces = 0;
  fc.assert(
    fc.property(rule, fc.nat(100), (each, seed) => {
      const named = { head: byName(each.head, seed, true), body: bodyByName(each.body, seed) };
      const written = renderRule(named);
      if (written !== renderRule(each)) braces++;
      expect(parseRule(written, 'text', declaredIn(each))).toEqual(each);
      expect(renderRule(parseRule(written))).toBe(written);
    }),
    { numRuns: runs },
  );
  expect(braces).toBeGreaterThan(runs / 4);
});

test('parses a program of rendered statements back completely, on one line or many, and in free text', () => {
  const statement = fc.oneof(
    rule,
    fc.record({ predicate, args: fc.array(constant, { maxLength: 4 }), negated: fc.boolean() }),
  );
  fc.assert(
    fc.property(
      fc.array(statement, { minLength: 1, maxLength: 5 }),
      fc.constantFrom(' ', '\n', ' % note.\n'),
      (each, gap) => {
        const source = each.map((one) => `${'head' in one ? renderRule(one) : renderAtom(one)}.`).join(gap);
        const program = parseProgram(source);
        expect(program.errors).toEqual([]);
        expect(program.statements.map((one) => (one.kind === 'fact' ? one.atom : one.rule))).toEqual(each);
        if (gap === ' ') expect(parseFreeTextLine(source)).toHaveLength(each.length);
      },
    ),
    { numRuns: runs },
  );
});

test('ends with a result or a 400 for any text, with every position inside the text', () => {
  fc.assert(
    fc.property(rubbish, (source) => {
      const program = parseProgram(source);
      for (const { span, range } of program.errors) {
        expect(span.start).toBeGreaterThanOrEqual(0);
        expect(span.end).toBeGreaterThanOrEqual(span.start);
        expect(span.end).toBeLessThanOrEqual(source.length);
        expect(range.startLine).toBeGreaterThanOrEqual(1);
        expect(range.startColumn).toBeGreaterThanOrEqual(1);
      }
      for (const each of program.statements) {
        if (each.kind === 'fact') expect(parseAtom(renderAtom(each.atom))).toEqual(each.atom);
        else expect(parseRule(renderRule(each.rule))).toEqual(each.rule);
      }
      expect(() => parseFreeTextQuestion(source)).not.toThrow();
      for (const read of [parseRule, parseBody, parseAtom])
        try {
          read(source);
        } catch (error) {
          expect(error).toBeInstanceOf(EngineError);
          expect((error as EngineError).status).toBe(400);
          expect(isWellFormed((error as EngineError).message)).toBe(true);
        }
    }),
    { numRuns: runs },
  );
});
