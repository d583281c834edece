import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type ContextWindow,
  contextWindowSchema,
  optimizeInputSchema,
  windowDiffInputSchema,
} from '../../../engine/contract/context.ts';
import type { ContextEntry } from '../../../engine/contract/memory.ts';
import { parseProgram } from '../../../engine/language/parse.ts';
import { contextSearchOf, isSameChoice, isSameForm, windowFieldsOf } from './context-search.ts';
import {
  bucketsText,
  charStops,
  diffRequest,
  factStops,
  inspecting,
  nearestStop,
  newBucket,
  readBuckets,
  readForm,
  weightStops,
} from './form.ts';
import {
  compareWindows,
  contradictionRows,
  differingFormFields,
  givenInWords,
  reasonCounts,
  requestAsJson,
  windowAsJson,
  windowAsText,
  windowRows,
} from './window-rows.ts';
import { goalInWords, goalsTitle } from './words.ts';

const all = { kind: 'all' } as const;

function entry(predicate: string, args: string[], more: Partial<ContextEntry> = {}): ContextEntry {
  return {
    id: null,
    predicate,
    args,
    negated: false,
    scope: null,
    salience: 0.5,
    category: 'asserted',
    charCount: predicate.length + args.join(', ').length + 2,
    provenance: null,
    createdAt: 1,
    validFrom: null,
    validUntil: null,
    metadata: {},
    ...more,
  };
}

function windowOf(entries: ContextEntry[], more: Partial<ContextWindow> = {}): ContextWindow {
  return contextWindowSchema.parse({
    windowId: 'w1',
    entries,
    goals: [],
    relevantRules: [],
    totalFactsAvailable: 10,
    totalFactsIncluded: entries.length,
    deduplicationSavings: 0,
    contradictionsFound: 0,
    contradictionsResolved: 0,
    contradictions: [],
    bucketStats: {},
    totalCharCount: 40,
    totalTokenCount: 0,
    goalDriven: false,
    knowledgeGeneration: 3,
    generatedAt: 5,
    ...more,
  });
}

describe('the form of a window', () => {
  test("is read into the service's request", () => {
    const { request, problems, goalProblems } = readForm(
      {
        goals: 'ancestor(?x, "b, c")?\n-flies(tux).\n% a comment',
        facts: '25',
        chars: '2000',
        predicates: 'p, q,,p',
        cap: '7',
        buckets: '[{"name":"people","predicates":["p"],"weight":2,"maxFacts":3}]',
        inferred: 'true',
        resolve: 'false',
        session: 's1',
      },
      { kind: 'named', name: 'plan B' },
    );
    expect(problems).toEqual({});
    expect(goalProblems).toEqual([]);
    expect(request).not.toBeNull();
    expect(optimizeInputSchema.parse(inspecting(request ?? {}))).toMatchObject({
      maxFacts: 25,
      maxChars: 2000,
      goals: [
        { predicate: 'ancestor', args: ['?x', 'b, c'], negated: false },
        { predicate: 'flies', args: ['tux'], negated: true },
      ],
      predicates: ['p', 'q'],
      maxFactsPerPredicate: 7,
      relevanceBuckets: [{ name: 'people', predicates: ['p'], weight: 2, maxFacts: 3 }],
      includeInferred: true,
      autoResolveContradictions: false,
      scope: 'plan B',
      explainOmitted: true,
    });
  });

  test('shows a window without changing the session', () => {
    expect(readForm({ session: 's1' }, all).request).toEqual({ maxFacts: 100 });
  });

  test.each([
    [{ facts: '0' }, 'maxFacts'],
    [{ facts: '1e3' }, 'maxFacts'],
    [{ facts: '-4' }, 'maxFacts'],
    [{ facts: '100001' }, 'maxFacts'],
    [{ chars: 'many' }, 'maxChars'],
    [{ cap: '2.5' }, 'maxFactsPerPredicate'],
    [{ predicates: 'p q' }, 'predicates.0'],
    [{ buckets: 'people' }, 'relevanceBuckets'],
    [{ buckets: '{}' }, 'relevanceBuckets'],
    [{ buckets: '[{"name":"","predicates":["p"]}]' }, 'relevanceBuckets.0.name'],
    [{ buckets: '[{"name":"a","predicates":[]}]' }, 'relevanceBuckets.0.predicates'],
    [{ buckets: '[{"name":"a","predicates":["p"],"weight":0}]' }, 'relevanceBuckets.0.weight'],
    [
      { buckets: '[{"name":"a","predicates":["p"]},{"name":"a","predicates":["q"]}]' },
      'relevanceBuckets.1.name',
    ],
  ])('is not sent if %j is invalid, and the field is named', (fields, path) => {
    const { request, problems } = readForm(fields, all);
    expect(request).toBeNull();
    expect(Object.keys(problems)).toContain(path);
  });

  test('reports an unreadable goal with its line', () => {
    const { request, goalProblems } = readForm({ goals: 'p(?x)\nq(?x' }, all);
    expect(request).toBeNull();
    expect(goalProblems[0]).toMatch(/^Line 2, column \d+: /);
  });

  test('compares a session with its own parameters, or with those of the form', () => {
    expect(diffRequest('s1', null)).toEqual({ sessionId: 's1' });
    const { request } = readForm({ goals: 'p(?x)', facts: '5', cap: '2' }, { kind: 'unscoped' });
    const body = diffRequest('s1', request);
    expect(windowDiffInputSchema.parse(body)).toMatchObject({ sessionId: 's1', maxFacts: 5, unscoped: true });
    expect(body).not.toHaveProperty('maxFactsPerPredicate');
  });
});

describe('the address of a window', () => {
  test('keeps known parameters and drops the rest', () => {
    expect(
      contextSearchOf({
        goals: 'p(?x)',
        facts: '5',
        chars: '1e3',
        inferred: 'yes',
        resolve: 'false',
        part: 'rules',
        rows: 'both',
        fact: 'p(a)',
        other: 'x',
        cap: 3,
      }),
    ).toEqual({ goals: 'p(?x)', facts: '5', resolve: 'false', part: 'rules', fact: 'p(a)' });
  });

  test('contains the form, which is compared without the selection', () => {
    const search = contextSearchOf({ facts: '5', part: 'rules', session: 's' });
    expect(windowFieldsOf({ ...search })).toEqual({ facts: '5', session: 's' });
    expect(isSameForm(search, { facts: '5', goals: '', session: 's' })).toBe(true);
    expect(isSameForm(search, { facts: '6', session: 's' })).toBe(false);
    expect(isSameChoice(search, { facts: '5' })).toBe(true);
  });

  test('reads buckets back as written, whatever their names', () => {
    const bucket = fc.record({
      name: fc.string(),
      predicates: fc.array(fc.string()),
      weight: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value)),
      maxFacts: fc.option(fc.integer()),
    });
    fc.assert(
      fc.property(fc.array(bucket), (buckets) => {
        expect(readBuckets(bucketsText(buckets))).toEqual(buckets);
      }),
    );
  });

  test('accepts or rejects any text, and never throws', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), fc.string(), (buckets, other) => {
        const read = readForm({ buckets, facts: other, goals: other, predicates: other }, all);
        expect(read.request === null || optimizeInputSchema.safeParse(read.request).success).toBe(true);
      }),
    );
  });

  test('gives a new bucket an unused name', () => {
    const buckets = [{ ...newBucket([]), name: 'bucket 2' }];
    expect(newBucket(buckets).name).toBe('bucket 3');
  });
});

describe('a window as rows', () => {
  const shown = windowOf([entry('p', ['a']), entry('q', ['b'], { negated: true })], {
    omitted: [
      { atom: 'p(z)', salience: 0.1, reason: 'filtered' },
      { atom: 'p(b)', salience: 0.4, reason: 'budget' },
      { atom: 'q(b)', salience: 0.2, reason: 'contradiction' },
      { atom: 'p(c)', salience: 0.3, reason: 'budget' },
    ],
  });
  const words = (rows: ReturnType<typeof windowRows>) =>
    rows.map((row) =>
      row.kind === 'cut' ? '---' : `${row.kind === 'entry' ? row.position : '-'} ${row.atom}`,
    );

  test('has the budget line right after its entries', () => {
    expect(words(windowRows(shown, undefined))).toEqual([
      '1 p(a)',
      '2 -q(b)',
      '---',
      '- p(b)',
      '- p(c)',
      '- p(z)',
      '- q(b)',
    ]);
  });

  test('has no budget line if the budget left nothing out', () => {
    const roomy = windowOf([entry('p', ['a'])], {
      omitted: [{ atom: 'p(z)', salience: 0.1, reason: 'filtered' }],
    });
    expect(words(windowRows(roomy, undefined))).toEqual(['1 p(a)', '- p(z)']);
    expect(words(windowRows(windowOf([]), undefined))).toEqual([]);
  });

  test('can be filtered by entries, by omissions, and by reason', () => {
    expect(words(windowRows(shown, 'in'))).toEqual(['1 p(a)', '2 -q(b)']);
    expect(words(windowRows(shown, 'out'))).toEqual(['- p(b)', '- p(c)', '- p(z)', '- q(b)']);
    expect(words(windowRows(shown, 'out', 'filtered'))).toEqual(['- p(z)']);
    expect([...reasonCounts(shown)]).toEqual([
      ['filtered', 1],
      ['budget', 2],
      ['contradiction', 1],
    ]);
  });
});

describe('a contradiction', () => {
  const contradiction = { predicate: 'p', args: ['a'], positiveSalience: 0.8, negativeSalience: 0.2 };
  const of = (entries: ContextEntry[], omitted: ContextWindow['omitted'] = []) =>
    contradictionRows(windowOf(entries, { contradictions: [contradiction], omitted })).map(givenInWords);
  const leftOut = (atom: string) => [{ atom, salience: 0.2, reason: 'contradiction' as const }];

  test('is won by the side that an agent sees', () => {
    expect(of([entry('p', ['a'])], leftOut('-p(a)'))).toEqual(['true wins']);
    expect(of([entry('p', ['a'], { negated: true })], leftOut('p(a)'))).toEqual(['false wins']);
  });

  test('says if both stay, if the winner did not fit, and if neither is in', () => {
    expect(of([entry('p', ['a']), entry('p', ['a'], { negated: true })])).toEqual(['both stay']);
    expect(of([], leftOut('-p(a)'))).toEqual(['true wins, but has no room']);
    expect(of([])).toEqual(['both are left out']);
    expect(of([entry('p', ['a'])])).toEqual(['only true is in the window']);
  });
});

describe('two windows', () => {
  test('differ by facts removed, facts added, and positions', () => {
    const before = windowOf([entry('p', ['a']), entry('p', ['b']), entry('p', ['c'])]);
    const now = windowOf([entry('p', ['c']), entry('p', ['d']), entry('p', ['a'], { scope: 's' })]);
    expect(
      compareWindows(before, now).map(({ change, atom, before: was, now: is }) => [change, atom, was, is]),
    ).toEqual([
      ['gone', 'p(b)', 2, null],
      ['both', 'p(c)', 3, 1],
      ['new', 'p(d)', null, 2],
      ['both', 'p(a)', 1, 3],
    ]);
  });

  test('name the parameters that differ', () => {
    expect(differingFormFields({ facts: '5', session: 'a' }, { facts: '6', goals: 'p(?x)' })).toEqual([
      'goals',
      'facts',
    ]);
    expect(differingFormFields({ facts: '5' }, { facts: '5', chars: '' })).toEqual([]);
  });
});

describe('a copied window', () => {
  const shown = windowOf([entry('p', ['a, b']), entry('q', ['50%'], { negated: true })], {
    relevantRules: ['r(?x) :- p(?x)'],
    omitted: [{ atom: 'p(z)', salience: 0.1, reason: 'budget' }],
    omittedComplete: false,
  });

  test('is the response without what only the inspector requested', () => {
    const { omitted: _omitted, omittedComplete: _complete, ...answer } = shown;
    expect(JSON.parse(windowAsJson(shown))).toEqual(answer);
  });

  test('as text is statements that read back', () => {
    expect(windowAsText(shown)).toBe('p("a, b").\n-q(50%).\n\nr(?x) :- p(?x).');
    const { statements, errors } = parseProgram(windowAsText(shown));
    expect(errors).toEqual([]);
    expect(statements.map(({ kind }) => kind)).toEqual(['fact', 'fact', 'rule']);
    expect(windowAsText(windowOf([]))).toBe('');
  });

  test('as a request names the session that stores it', () => {
    expect(JSON.parse(requestAsJson({ maxFacts: 5 }, 's1'))).toEqual({ maxFacts: 5, sessionId: 's1' });
    expect(JSON.parse(requestAsJson({ maxFacts: 5 }, undefined))).toEqual({ maxFacts: 5 });
  });
});

describe('the stops of a slider', () => {
  test.each([factStops, charStops, weightStops])('ascend', (...stops) => {
    expect(stops.toSorted((left, right) => left - right)).toEqual(stops);
  });

  test('include the nearest to any value, which is itself for a stop', () => {
    for (const [index, stop] of factStops.entries()) expect(nearestStop(factStops, stop)).toBe(index);
    expect(factStops[nearestStop(factStops, 26)]).toBe(25);
    expect(factStops[nearestStop(factStops, 99_999)]).toBe(10_000);
    expect(nearestStop(weightStops, 0)).toBe(0);
  });
});

type WindowGoal = ContextWindow['goals'][number];

function goal(part: Partial<WindowGoal>): WindowGoal {
  return {
    goal: 'p(?x)',
    status: 'proved',
    answers: { found: 3, whole: 3, premises: 0, omitted: 0 },
    atoms: ['p(a)', 'p(b)', 'p(c)'],
    needs: { facts: 2, chars: 12, tokens: 6 },
    reason: null,
    ...part,
  };
}

const left = { found: 1, whole: 0, premises: 0, omitted: 1 };

test('the title counts the goals, and the proved ones unless all are', () => {
  expect(goalsTitle([])).toBe('Goals (0)');
  expect(goalsTitle([goal({})])).toBe('Goals (1)');
  expect(goalsTitle([goal({}), goal({ status: 'no_answer' })])).toBe('Goals (1 of 2 proved)');
});

test('a goal says how much of it the window contains', () => {
  expect(goalInWords(goal({}))).toBe('3 answers, each with its whole proof.');
  const some = { found: 3, whole: 1, premises: 0, omitted: 2 };
  expect(goalInWords(goal({ answers: some }))).toBe('3 answers: 1 with a whole proof, 2 without.');
  expect(goalInWords(goal({ status: 'no_answer', needs: null }))).toMatch(/^No known fact/);
});

test('a goal that does not fit says what it needs, and why it was left out', () => {
  expect(goalInWords(goal({ status: 'does_not_fit', answers: left, reason: 'bucket' }))).toBe(
    '1 answer, none with a whole proof. The first one needs 2 facts, 12 characters and 6 tokens. Its bucket had no room left.',
  );
  expect(goalInWords(goal({ status: 'premises', answers: { ...left, premises: 1, omitted: 0 } }))).toMatch(
    /All stored facts behind it are in the window\.$/,
  );
});
