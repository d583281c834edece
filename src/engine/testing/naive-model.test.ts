import { expect, test } from 'vitest';
import { parseAtom, parseBody, parseProgram, parseRule } from '../language/parse.ts';
import {
  type Knowledge,
  type ModelFact,
  modelOf,
  ModelTooLarge,
  type ModelView,
  type ProofNode,
} from './naive-model.ts';
import { ProofShapes, renderProofNode } from './proof-shape.ts';

const everything: ModelView = { kind: 'all' };

/** Knowledge from text; `@s` in front of a line gives its statements the scope `s`. */
function knowledge(text: string, time = 0): Knowledge {
  const facts: ModelFact[] = [];
  const rules = [];
  for (const line of text.split('\n')) {
    const [, scope = null, source = ''] = /^\s*(?:@(\w+) )?(.*)$/.exec(line) ?? [];
    const program = parseProgram(source);
    expect(program.errors).toEqual([]);
    for (const statement of program.statements)
      if (statement.kind === 'rule') rules.push({ rule: statement.rule, scope, enabled: true });
      else {
        const { predicate, args, negated } = statement.atom;
        facts.push({ predicate, args, truthVal: !negated, scope, validFrom: null, validUntil: null });
      }
  }
  return { facts, rules, time };
}

function ask(text: string, question: string, view: ModelView = everything): string[] {
  const { predicate, args, negated } = parseAtom(question);
  return modelOf(knowledge(text), view).match(predicate, args, negated);
}

function proof(text: string, atom: string, view: ModelView = everything): string[] {
  return renderProofNode(modelOf(knowledge(text), view).proofOf(parseAtom(atom))).split('\n');
}

test('computes the whole least model of any recursion, even over cyclic data', () => {
  const edges = 'e(a, b). e(b, c). e(c, a). e(c, d).';
  const all = ['t(a, a)', 't(a, b)', 't(a, c)', 't(a, d)'];
  for (const step of ['t(?x, ?y), e(?y, ?z)', 'e(?x, ?y), t(?y, ?z)', 't(?x, ?y), t(?y, ?z)'])
    expect(ask(`${edges} t(?x, ?z) :- ${step}. t(?x, ?y) :- e(?x, ?y).`, 't(a, ?z)')).toEqual(all);
  const mutual = `${edges} o(?x, ?z) :- e(?x, ?y), v(?y, ?z). o(?x, ?y) :- e(?x, ?y). v(?x, ?z) :- e(?x, ?y), o(?y, ?z).`;
  expect(ask(mutual, 'v(a, ?z)')).toEqual(['v(a, a)', 'v(a, b)', 'v(a, c)', 'v(a, d)']);
});

test('matches equal constants for a repeated variable, by text', () => {
  expect(ask('e(a, a). e(a, b). e(1, 1.0). l(?x) :- e(?x, ?x).', 'l(?x)')).toEqual(['l(a)']);
  expect(ask('e(a, a). e(a, b).', 'e(?x, ?x)')).toEqual(['e(a, a)']);
});

test('treats p and -p as independent relations, and accepts a negated head', () => {
  const text =
    'bird(tweety). penguin(tweety). flies(?x) :- bird(?x). -flies(?x) :- penguin(?x). odd(?x) :- flies(?x), -flies(?x).';
  expect(ask(text, 'flies(?x)')).toEqual(['flies(tweety)']);
  expect(ask(text, '-flies(?x)')).toEqual(['-flies(tweety)']);
  expect(ask(text, 'odd(?x)')).toEqual(['odd(tweety)']);
});

test('evaluates default negation as true if no match can be derived', () => {
  const text =
    'n(a). n(b). n(c). e(a, b). r(b). leaf(?x) :- n(?x), not e(?x, ?_). poor(?x) :- n(?x), not rich(?x). rich(?x) :- r(?x). -p(?x) :- n(?x), not p(?x).';
  expect(ask(text, 'leaf(?x)')).toEqual(['leaf(b)', 'leaf(c)']);
  expect(ask(text, 'poor(?x)')).toEqual(['poor(a)', 'poor(c)']);
  expect(ask(text, '-p(?x)')).toEqual(['-p(a)', '-p(b)', '-p(c)']);
  expect(ask('n(a). n(b). -q(b). k(?x) :- n(?x), not -q(?x).', 'k(?x)')).toEqual(['k(a)']);
});

test('compares numerically by = if both sides are bound otherwise, whatever the order, and else copies the text', () => {
  for (const body of ['?x = 1, p(?x)', 'p(?x), ?x = 1', '1 = ?x, p(?x)'])
    expect(ask(`p(1.0). p(2). h(?x) :- ${body}.`, 'h(?x)')).toEqual(['h(1.0)']);
  expect(ask('p(1.0). h(?y) :- ?y = ?x, p(?x).', 'h(?x)')).toEqual(['h(1.0)']);
  expect(ask('p(1.0). q(1). h(?x, ?y) :- ?x = ?y, p(?x), q(?y).', 'h(?x, ?y)')).toEqual(['h(1.0, 1)']);
  expect(ask('p(a). h(?x, ?y) :- ?x = 1, ?x = ?y, ?y = 1.0, p(?_).', 'h(?x, ?y)')).toEqual(['h(1, 1.0)']);
});

test('evaluates arithmetic, which does not match on text or without a result', () => {
  const text = 'v(7). v(6). v(0). v(x). h(?x, ?y) :- v(?x), ?y = ?x / 2. d(?y) :- v(?x), ?y = 1 / ?x.';
  expect(ask(text, 'h(?x, ?y)')).toEqual(['h(0, 0)', 'h(6, 3)', 'h(7, 3.5)']);
  expect(ask(text, 'd(1)')).toEqual([]);
  expect(ask('v(1). s(3.0). h(?c) :- v(?a), s(?c), ?c = ?a + 2.', 'h(?c)')).toEqual(['h(3.0)']);
});

test('aggregates over the distinct tuples of the variables before the colon', () => {
  const items = 'item(i, 5). item(j, 5). item(k, 1). g(x).';
  expect(ask(`${items} t(?s) :- ?s = sum { ?v, ?id : item(?id, ?v) }.`, 't(?s)')).toEqual(['t(11)']);
  expect(ask(`${items} t(?s) :- ?s = sum { ?v : item(?id, ?v) }.`, 't(?s)')).toEqual(['t(6)']);
  expect(ask(`${items} t(?n) :- ?n = count { ?id : item(?id, ?v), ?v > 2 }.`, 't(?n)')).toEqual(['t(2)']);
  expect(
    ask(
      `${items} t(?n) :- ?n = count { ?x : nothing(?x) }. u(?n) :- ?n = max { ?x : nothing(?x) }.`,
      't(?n)',
    ),
  ).toEqual(['t(0)']);
  expect(ask(`${items} u(?n) :- ?n = max { ?x : nothing(?x) }.`, 'u(?n)')).toEqual([]);
});

test('shares variables of the braces that occur outside, and keeps the others local', () => {
  const text =
    'p(a, x). p(a, y). p(b, x). c(?k, ?n) :- p(?k, ?_), ?n = count { ?v : p(?k, ?v) }. d(?m, ?n) :- ?m = count { ?v : p(a, ?v) }, ?n = count { ?v : p(b, ?v) }.';
  expect(ask(text, 'c(?k, ?n)')).toEqual(['c(a, 2)', 'c(b, 1)']);
  expect(ask(text, 'd(?m, ?n)')).toEqual(['d(2, 1)']);
});

test('shows a fact from validFrom, inclusive, to validUntil, exclusive', () => {
  const fact = { predicate: 'p', args: ['a'], truthVal: true, scope: null, validFrom: 10, validUntil: 20 };
  const holds = (time: number): boolean =>
    modelOf({ facts: [fact], rules: [], time }, everything).holds(parseAtom('p(a)'));
  expect([9, 10, 19, 20].map(holds)).toEqual([false, true, true, false]);
});

test('gives the view of a scope its own facts, with the unscoped rules and its own', () => {
  const text = 'p(a).\n@s p(b).\n@t p(c).\nq(?x) :- p(?x).\n@s r(?x) :- q(?x).';
  expect(ask(text, 'q(?x)', { kind: 'scope', scope: 's' })).toEqual(['q(b)']);
  expect(ask(text, 'r(?x)', { kind: 'scope', scope: 's' })).toEqual(['r(b)']);
  expect(ask(text, 'r(?x)', { kind: 'scope', scope: 't' })).toEqual([]);
  expect(ask(text, 'q(?x)', { kind: 'unscoped' })).toEqual(['q(a)']);
  expect(ask(text, 'q(?x)')).toEqual(['q(a)', 'q(b)', 'q(c)']);
  expect(ask(text, 'r(?x)')).toEqual(['r(b)']);
});

test('includes in the view of scope null the conclusions of a scoped rule in the view of its scope', () => {
  const text = 'n(a).\n@s n(a).\n@s h(?x) :- n(?x), not m(?x).\n@t m(a).\nk(?x) :- h(?x), m(?x).';
  expect(ask(text, 'h(?x)')).toEqual(['h(a)']);
  expect(ask(text, 'k(?x)')).toEqual(['k(a)']);
});

test('gives a proof minimal height, and proves a stored fact by itself', () => {
  const text =
    'e(a, b). e(b, c). e(c, d). t(?x, ?z) :- t(?x, ?y), e(?y, ?z). t(?x, ?y) :- e(?x, ?y). e(a, d).';
  expect(proof(text, 't(a, d)')).toEqual(['t(a, d)  [rule 1]', '  e(a, d)  [fact]']);
  expect(modelOf(knowledge(text), everything).heights.get('t(a, c)')).toBe(2);
  expect(proof('p(a). q(a). p(?x) :- q(?x).', 'p(a)')).toEqual(['p(a)  [fact]']);
});

test('prefers among proofs of minimal height the earliest rule, then the premises as rendered', () => {
  expect(proof('a(x). b(x). h(?x) :- b(?x). h(?x) :- a(?x).', 'h(x)')[0]).toBe('h(x)  [rule 0]');
  expect(proof('e(x, 2). e(x, 10). h(?x) :- e(?x, ?y).', 'h(x)')).toEqual([
    'h(x)  [rule 0]',
    '  e(x, 10)  [fact]',
  ]);
});

test('lists premises in the order of the body, one for each literal, with built-ins and negations', () => {
  const text =
    'p(3). h(?y) :- ?y = ?x + 2, not q(?x, ?_), ?x < 5, p(?x), ?n = count { ?z : p(?z), not q(?z, ?x) }.';
  expect(proof(text, 'h(5)')).toEqual([
    'h(5)  [rule 0]',
    '  5 = 3 + 2  [builtin]',
    '  not q(3, ?_)  [absence]',
    '  3 < 5  [builtin]',
    '  p(3)  [fact]',
    '  1 = count { ?z : p(?z), not q(?z, 3) }  [aggregate]',
    '    p(3)  [fact]',
    '    not q(3, 3)  [absence]',
  ]);
});

test('gives an aggregate the greatest height of its premises', () => {
  const text =
    'p(a). q(?x) :- p(?x). h(?n) :- ?n = count { ?x : q(?x) }. k(?n) :- ?n = count { ?x : r(?x) }.';
  const { heights } = modelOf(knowledge(text), everything);
  expect([heights.get('h(1)'), heights.get('k(0)')]).toEqual([2, 1]);
});

test('proves the conclusion of a scoped rule in the view of its scope, also for scope null', () => {
  const text = '@s p(a).\n@s q(?x) :- p(?x).\n@s h(?x) :- q(?x).\n@t q(a).';
  expect(proof(text, 'h(a)')).toEqual(['h(a)  [rule 1]', '  q(a)  [rule 0]', '    p(a)  [fact]']);
});

test('answers a question that is a body with rendered instances and bindings', () => {
  const model = modelOf(knowledge('p(a, 1). p(b, 2). q(b).'), everything);
  expect(model.answers(parseBody('p(?x, ?n), not q(?x), ?m = ?n + 1'))).toEqual([
    { rendered: 'p(a, 1), not q(a), 2 = 1 + 1', bindings: { x: 'a', n: '1', m: '2' } },
  ]);
});

test('gives up an endless model', () => {
  const endless = knowledge('n(0). n(?y) :- n(?x), ?y = ?x + 1.');
  expect(() => modelOf({ ...endless, maxTrials: 5000 }, everything)).toThrow(ModelTooLarge);
});

test('distinguishes and recognizes proofs by their shapes', () => {
  const leaf = (atom: string): ProofNode => ({ kind: 'fact', atom, ruleId: null, scope: null, premises: [] });
  const rule = (premises: ProofNode[]): ProofNode => ({
    kind: 'rule',
    atom: 'h(a)',
    ruleId: 'r',
    scope: null,
    premises,
  });
  const shapes = new ProofShapes();
  const step = { rule: null, ruleId: null, scope: 's', premises: [] };
  const [wire] = shapes.ofProof({
    roots: [2],
    steps: [
      { id: 0, kind: 'fact', atom: 'p(a)', ...step },
      { id: 1, kind: 'fact', atom: 'q(a)', ...step },
      { id: 2, kind: 'rule', atom: 'h(a)', rule: parseRule.name, ruleId: 'r', scope: null, premises: [0, 1] },
    ],
  });
  expect(shapes.ofNode(rule([leaf('p(a)'), leaf('q(a)')]))).toBe(wire);
  expect(shapes.ofNode(rule([leaf('q(a)'), leaf('p(a)')]))).not.toBe(wire);
});
