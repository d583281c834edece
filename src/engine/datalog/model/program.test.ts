import { expect, test } from 'vitest';
import type { ScopeChoice } from '../../store/fact-store.ts';
import type { RuleRecord } from '../../store/rule-store.ts';
import { parseRule } from '../../language/parse.ts';
import { Prng } from '../../testing/prng.ts';
import { Program, relationsRead } from './program.ts';

function kept(text: string, at: number, changes: Partial<RuleRecord> = {}): RuleRecord {
  const about = { scope: null, name: null, description: null, enabled: true, createdAt: 0, changedIn: 0 };
  return { id: `r${at}`, rule: parseRule(text), text, identity: text, ...about, ...changes };
}

function program(...texts: string[]): Program {
  return new Program(texts.map((text, at) => kept(text, at)));
}

const everything: ScopeChoice = { kind: 'all' };
const unscoped: ScopeChoice = { kind: 'unscoped' };
const scopeS: ScopeChoice = { kind: 'scope', scope: 's' };
const scopeT: ScopeChoice = { kind: 'scope', scope: 't' };

test('gives a view the unscoped rules and those of its scope, and the view of everything the conclusions of scoped rules', () => {
  const all = new Program([kept('p(?x) :- a(?x)', 0), kept('p(?x) :- b(?x)', 1, { scope: 's' })]);
  const seen = (view: ScopeChoice): unknown[] =>
    all.rulesFor(view, 'p/1').map(({ record: { id }, bodyView }) => [id, bodyView]);
  expect(seen(unscoped)).toEqual([['r0', unscoped]]);
  expect(seen(scopeT)).toEqual([['r0', scopeT]]);
  expect(seen(scopeS)).toEqual([
    ['r0', scopeS],
    ['r1', scopeS],
  ]);
  expect(seen(everything)).toEqual([
    ['r0', everything],
    ['r1', scopeS],
  ]);
});

test('lists rules in the order of their creation, whatever their scope', () => {
  const all = new Program([
    kept('p(?x) :- a(?x)', 0, { scope: 't' }),
    kept('p(?x) :- b(?x)', 1),
    kept('p(?x) :- c(?x)', 2, { scope: 's' }),
    kept('p(?x) :- d(?x)', 3),
  ]);
  expect(all.rulesFor(everything, 'p/1').map((rule) => rule.order)).toEqual([0, 1, 2, 3]);
  expect(all.rulesFor(scopeS, 'p/1').map((rule) => rule.order)).toEqual([1, 2, 3]);
});

test('ignores disabled rules', () => {
  const all = new Program([kept('p(?x) :- a(?x)', 0, { enabled: false })]);
  expect(all.rulesFor(everything, 'p/1')).toEqual([]);
  expect([...all.reached('a/1')]).toEqual(['a/1']);
});

test('reaches from a relation everything that rules conclude from it, however far', () => {
  const all = program('b(?x) :- a(?x)', 'c(?x) :- b(?x), z(?x)', '-d(?x) :- c(?x)', 'e(?x) :- d(?x)');
  expect([...all.reached('a/1')].sort()).toEqual(['-d/1', 'a/1', 'b/1', 'c/1']);
  expect([...all.reached('d/1')].sort()).toEqual(['d/1', 'e/1']);
});

test('treats relations as mutually recursive exactly if their components are equal', () => {
  const all = program('b(?x) :- a(?x)', 'a(?x) :- b(?x)', 'c(?x) :- b(?x)', 'c(?x) :- c(?x)');
  const component = (relation: string): number => all.component(everything, relation);
  expect(component('a/1')).toBe(component('b/1'));
  expect(component('c/1')).not.toBe(component('a/1'));
  expect(component('z/1')).toBe(-1);
});

test('does not treat recursion through scopes as such: a scoped rule is read in its own scope', () => {
  const all = new Program([kept('b(?x) :- a(?x)', 0), kept('a(?x) :- b(?x)', 1, { scope: 's' })]);
  expect(all.component(everything, 'a/1')).not.toBe(all.component(everything, 'b/1'));
  expect(all.component(scopeS, 'a/1')).toBe(all.component(scopeS, 'b/1'));
});

test('handles a chain of ten thousand rules, and a cycle of them, without a deep stack', () => {
  const chain = Array.from({ length: 10_000 }, (_, at) => kept(`p${at + 1}(?x) :- p${at}(?x)`, at));
  const line = new Program(chain);
  expect(line.reached('p0/1').size).toBe(10_001);
  expect(line.component(everything, 'p1/1')).not.toBe(line.component(everything, 'p10000/1'));
  const circle = new Program([...chain, kept('p0(?x) :- p10000(?x)', 10_000)]);
  expect(circle.component(everything, 'p1/1')).toBe(circle.component(everything, 'p10000/1'));
});

test('knows the constants of heads and bodies, except those of disabled rules', () => {
  const all = new Program([
    kept('p(?x, one) :- a(?x, two), ?x != three', 0),
    kept('p(?x, four) :- a(?x, ?_)', 1, { enabled: false }),
  ]);
  expect([...all.constants].sort()).toEqual(['one', 'three', 'two']);
});

test('reads for a body the relations of its atoms, not its built-ins', () => {
  const { body } = parseRule('h(?x) :- p(?x, ?y), -q(?y), ?x < ?y, p(?y, ?x)');
  expect(relationsRead(body)).toEqual(['p/2', '-q/1', 'p/2']);
});

/** Everything that a program says about these relations. */
function said(of: Program): unknown {
  const relations = 'abcdef'.split('').map((name) => `${name}/1`);
  const views = [everything, unscoped, scopeS, scopeT];
  return {
    rules: of.rules.map(({ id }) => id),
    constants: [...of.constants].sort(),
    makesConstants: of.makesConstants,
    conclusions: of.conclusions(),
    relations: relations.map((relation) => ({
      reached: [...of.reached(relation)],
      below: [...of.below([relation])],
      isMonotone: of.isMonotone(relation),
      rules: views.map((view) =>
        of.rulesFor(view, relation).map(({ record, bodyView }) => [record.id, bodyView]),
      ),
      isRecursive: views.map((view) => of.isRecursive(view, relation)),
    })),
  };
}

test('a program made after another one equals one made anew, whatever changed', () => {
  const prng = new Prng(11);
  const name = (): string => prng.pick([...'abcdef']);
  let made = 0;
  const random = (): RuleRecord => {
    const text = prng.pick([
      () => `${name()}(?x) :- ${name()}(?x), ${name()}(?x)`,
      () => `${name()}(?x) :- ${name()}(?x), not ${name()}(?x)`,
      () => `${name()}(?z) :- ${name()}(?x), ?z = ?x + ${made}`,
      () => `${name()}(${name()}) :- ${name()}(?x)`,
    ])();
    return kept(text, made++, { scope: prng.pick([null, null, 's', 't']), enabled: prng.chance(0.8) });
  };
  for (let round = 0; round < 60; round++) {
    let rules = Array.from({ length: prng.below(12) }, random);
    let one = new Program(rules);
    for (let change = 0; change < 12; change++) {
      const before = rules;
      for (let times = prng.below(3); times >= 0; times--) {
        const at = prng.below(Math.max(1, rules.length));
        const old = rules[at];
        const kind = prng.below(4);
        if (kind === 0 || old === undefined) rules = [...rules, random()];
        else if (kind === 1) rules = rules.toSpliced(at, 1);
        else if (kind === 2) rules = rules.with(at, { ...old, enabled: !old.enabled });
        else rules = rules.with(at, { ...random(), id: old.id });
      }
      if (prng.chance(0.5)) one.reached('a/1');
      const next = new Program(rules, one);
      const [anew, earlier] = [new Program(rules), new Program(before)];
      expect(said(next)).toEqual(said(anew));
      expect([...next.changedFrom(one)].sort()).toEqual([...changedHeads(before, rules)].sort());
      for (const constant of anew.constants)
        expect(earlier.constants.has(constant) || next.newConstants(one).has(constant)).toBe(true);
      one = next;
    }
  }
});

/** The heads of enabled rules that one list has and the other has not, or has with another text or scope. */
function changedHeads(before: readonly RuleRecord[], now: readonly RuleRecord[]): Set<string> {
  const keyOf = ({ id, text, scope }: RuleRecord): string => JSON.stringify([id, text, scope]);
  const heads = new Set<string>();
  for (const [some, others] of [
    [before, now],
    [now, before],
  ] as const) {
    const keys = new Set(others.filter(({ enabled }) => enabled).map(keyOf));
    for (const record of some)
      if (record.enabled && !keys.has(keyOf(record))) heads.add(`${record.rule.head.predicate}/1`);
  }
  return heads;
}
