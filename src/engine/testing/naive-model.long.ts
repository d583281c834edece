/**
 * The naive model beside an independent evaluator: clingo, if it is installed.
 *
 * Only what means the same in both is compared: recursion, explicit negation (as a relation of its own, since clingo
 * lets no atom be true beside its negation), default negation and count.
 */
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { Prng } from './prng.ts';
import { type Atom, isVariable, type Literal, type Rule } from '../contract/language.ts';
import { parseAtom } from '../language/parse.ts';
import { isAggregate, isBuiltin, wildcard } from '../language/terms.ts';
import { plainFlavour, randomCase } from './generators.ts';
import { modelOf } from './naive-model.ts';

const cases = 1000;
const isInstalled = spawnSync('clingo', ['--version']).status === 0;

/** Writes our language as clingo's: constants numbered, relations renamed by arity and truth value. */
class Translation {
  readonly #constants = new Map<string, string>();

  #term(term: string): string {
    if (term === wildcard) return '_';
    if (isVariable(term)) return term.slice(1).toUpperCase();
    const known = this.#constants.get(term) ?? `c${this.#constants.size}`;
    this.#constants.set(term, known);
    return known;
  }

  atom({ predicate, args, negated }: Atom): string {
    const name = `${negated ? 'not_' : 'is_'}${predicate}_${args.length}`;
    return args.length === 0 ? name : `${name}(${args.map((term) => this.#term(term)).join(',')})`;
  }

  #literal(literal: Literal): string {
    if (!isAggregate(literal)) return `${literal.naf ? 'not ' : ''}${this.atom(literal)}`;
    const over = literal.over.map((term) => this.#term(term)).join(',');
    return `${this.#term(literal.result)} = #count { ${over} : ${this.#body(literal.body)} }`;
  }

  #body(body: readonly Literal[]): string {
    return body.map((literal) => this.#literal(literal)).join(', ');
  }

  rule({ head, body }: Rule): string {
    return `${this.atom(head)} :- ${this.#body(body)}.`;
  }
}

/** True if both languages have the body: count only, and not nested. A count's result is a number there. */
function isCommon(rule: Rule): boolean {
  return rule.body.every((literal) => {
    if (!isAggregate(literal)) return !isBuiltin(literal);
    if (literal.aggregate !== 'count' || literal.result !== '?n') return false;
    if (rule.head.args.includes('?n')) return false;
    return literal.body.every((inner) => !isAggregate(inner) && !isBuiltin(inner));
  });
}

test.runIf(isInstalled)("the model equals clingo's", () => {
  const flavour = {
    ...plainFlavour,
    facts: 40,
    rules: 9,
    negation: true,
    defaultNegation: true,
    aggregates: true,
  };
  for (let seed = 1; seed <= cases; seed++) {
    const random = randomCase(new Prng(seed), flavour);
    const rules = random.rules.filter((each) => isCommon(each.rule));
    const translation = new Translation();
    const program = [
      ...random.facts.map(
        (fact) => `${translation.atom({ ...fact, args: [...fact.args], negated: !fact.truthVal })}.`,
      ),
      ...rules.map((each) => translation.rule(each.rule)),
    ].join('\n');
    const { stdout } = spawnSync('clingo', ['--verbose=0', '-Wnone', '-'], {
      input: program,
      encoding: 'utf8',
    });
    const theirs = (stdout.split('\n')[0] ?? '').split(' ').filter((atom) => atom !== '');
    const { heights } = modelOf({ facts: random.facts, rules, time: 0 }, { kind: 'all' });
    const ours = [...heights.keys()].map((text) => translation.atom(parseAtom(text)));
    expect(new Set(ours), `seed ${seed}`).toEqual(new Set(theirs));
  }
});
