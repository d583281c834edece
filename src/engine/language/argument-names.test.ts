import { describe, expect, it } from 'vitest';
import { NamedTerms } from '../contract/language.ts';
import { termsSchema } from '../contract/language-schemas.ts';
import { ArgumentNames, resolveNames } from './argument-names.ts';
import { diagnose } from './diagnose.ts';
import {
  parseAtom,
  parseBody,
  parseConstraint,
  parseFreeTextLine,
  parseFreeTextQuestion,
  parseProgram,
  parseRule,
} from './parse.ts';
import { renderAtom, renderBody, renderConstraint, renderRule } from './print.ts';

const declared = (name: string, ...names: string[]) => ({
  name,
  arity: names.length,
  arguments: names.map((each) => ({ name: each })),
});

const names = new ArgumentNames([
  declared('lives_in', 'person', 'city'),
  declared('sale', 'item', 'price'),
  declared('sale', 'item', 'price', 'day'),
  { name: 'known', arity: 2, arguments: [] },
]);

describe('arguments by name in a text', () => {
  it('a name left out is ?_ in a body, whatever the order of the others', () => {
    const body = parseBody('lives_in{city: boston}, not lives_in{city: ?c, person: ann}', 'text', names);
    expect(renderBody(body)).toBe('lives_in(?_, boston), not lives_in(ann, ?c)');
  });

  it('rules, constraints, facts and aggregates take them', () => {
    const rule = parseRule(
      'near(?x) :- lives_in{person: ?x}, ?n = count { ?y : lives_in{person: ?y} }',
      'text',
      names,
    );
    expect(renderRule(rule)).toBe('near(?x) :- lives_in(?x, ?_), ?n = count { ?y : lives_in(?y, ?_) }');
    const { literals, reason } = parseConstraint('!- lives_in{city: "a}b"} "why"', 'text', names);
    expect(renderConstraint(literals)).toBe('!- lives_in(?_, a}b)');
    expect(reason).toBe('why');
    const { statements } = parseProgram('-lives_in{city: new york, person: ann}.', { names });
    expect(statements.map((each) => each.kind === 'fact' && renderAtom(each.atom))).toEqual([
      '-lives_in(ann, new york)',
    ]);
    expect(parseFreeTextLine('lives_in{person: ann, city: rome}', names)).toHaveLength(1);
    expect(parseFreeTextQuestion('lives_in{person: ann}?', names)).toMatchObject([{ args: ['ann', '?_'] }]);
  });

  it.each([
    ['lives_in{person: ann}.', 'need all arguments of lives_in: give city', 1],
    ['lives_in{person: ann, town: rome}.', 'is called town: there is lives_in{person, city}', 23],
    ['lives_in{person: ann, cty: rome}.', 'Did you mean city?', 23],
    ['livesin{person: ann, city: rome}.', 'did you mean lives_in?', 1],
    ['known{a: b}.', 'no arguments of known are declared', 1],
    ['p(?x) :- sale{item: ?x}.', 'the names fit sale/2 and sale/3', 10],
    ['lives_in{person: ?x} :- p(?x).', 'need all arguments', 1],
  ])('refuses %s where it stands', (text, message, column) => {
    const { errors, statements } = parseProgram(text, { names });
    expect(errors).toHaveLength(1);
    expect(errors[0]?.message).toContain(message);
    expect(errors[0]?.range.startColumn).toBe(column);
    expect(statements).toEqual([]);
  });

  it('all names of a fact decide between arities', () => {
    expect(parseProgram('sale{item: a, price: 3}.', { names }).statements).toMatchObject([
      { atom: { args: ['a', '3'] } },
    ]);
    expect(renderBody(parseBody('sale{day: ?d}', 'text', names))).toBe('sale(?_, ?_, ?d)');
  });

  it('refuses what is no list of names and values', () => {
    for (const text of [
      'p{a b}',
      'p{a: b, a: c}',
      'p{a: b',
      'p{: b}',
      'p{a: (b)}',
      'p{a: {b}}',
      'p{a: b c: d,}',
    ])
      expect(() => parseAtom(text), text).toThrow(/line 1/);
  });

  it('without declarations they stay as they are, and are printed as they are read', () => {
    for (const text of ['p{}', '-p{a: b, c: ?d}', 'p{a: "x}", b: "", c: "a, b", d: 10:30}']) {
      const atom = parseAtom(text);
      expect(atom.args).toBeInstanceOf(NamedTerms);
      expect(renderAtom(atom)).toBe(text);
      expect(parseAtom(renderAtom(atom))).toEqual(atom);
    }
  });

  it('a line with undeclared names is natural language, unless the predicate is declared', () => {
    expect(parseFreeTextLine('config{port: 8080}.', names)).toBeNull();
    expect(parseFreeTextQuestion('config{port: 8080}?', names)).toBeNull();
    expect(() => parseFreeTextLine('lives_in{town: rome}.', names)).toThrow(/is called town/);
    expect(() => parseFreeTextQuestion('lives_in{town: rome}?', names)).toThrow(/is called town/);
  });

  it('aggregates and built-ins with a brace mean what they did', () => {
    const [literal] = parseBody('x=count{?y : p(?y)}', 'text', names);
    expect(literal).toMatchObject({ aggregate: 'count', result: 'x' });
    expect(parseBody('count{a: b}')).toMatchObject([{ predicate: 'count' }]);
  });

  it('an editor is told of a wrong name, with the nearest', () => {
    const { diagnostics } = diagnose('p(?x) :- lives_in{persn: ?x}.', { predicates: [], rules: [], names });
    expect(diagnostics).toMatchObject([{ severity: 'error', code: 'unknown_argument', startColumn: 19 }]);
    expect(diagnostics[0]?.message).toContain('Did you mean person?');
  });
});

describe('arguments by name in JSON', () => {
  const given = (args: object) => termsSchema.parse(args);

  it('every atom of a request gets its positions, but metadata is left alone', () => {
    const metadata = { predicate: 'lives_in', args: { person: 'x' } };
    const request = {
      goals: [{ predicate: 'lives_in', args: given({ city: '?c' }) }],
      body: [{ aggregate: 'count', body: [{ predicate: 'lives_in', args: given({ person: 3 }) }] }],
      fact: { predicate: 'p', args: ['a'], metadata },
    };
    resolveNames(request, () => names);
    expect(request.goals[0]?.args).toEqual(['?_', '?c']);
    expect(request.body[0]?.body[0]?.args).toEqual(['3', '?_']);
    expect(request.fact.metadata).toBe(metadata);
  });

  it('names the path of what is wrong', () => {
    const request = { goals: [{ predicate: 'lives_in', args: given({ town: 'rome' }) }] };
    expect(() => resolveNames(request, () => names)).toThrow(
      /^goals\.0\.args\.town: no argument of lives_in/,
    );
  });

  it('what was parsed without declarations is sent with its names', () => {
    const { head, body } = parseRule('h{a: ?x} :- p{c: ?x, b: d}, q(?x)');
    expect(
      JSON.parse(JSON.stringify([head.args, ...body.map((each) => 'args' in each && each.args)])),
    ).toEqual([{ a: '?x' }, { c: '?x', b: 'd' }, ['?x']]);
  });

  it('what was read keeps its names when it is read again', () => {
    expect(termsSchema.parse(given({ city: 'rome' }))).toMatchObject({ names: ['city'] });
  });
});
