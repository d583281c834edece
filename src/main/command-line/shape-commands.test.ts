import { Readable, Writable } from 'node:stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import { parseArguments } from './arguments.ts';
import { clientCommandOf, runCommand } from './run.ts';

/** `corollary constraints` and `corollary entity`. */

let service: ServiceUnderTest;

beforeAll(async () => {
  service = await startServiceUnderTest();
});
afterAll(() => service.close());

interface Ran {
  readonly code: number;
  readonly printed: string[];
  readonly complaints: string[];
}

async function run(argv: readonly string[], input: readonly string[] = []): Promise<Ran> {
  const ran = { printed: [] as string[], complaints: [] as string[] };
  const command = parseArguments([...argv, '--url', service.address]);
  const code = await runCommand(clientCommandOf(command), command, {
    terminal: {
      print: (line) => void ran.printed.push(line),
      complain: (line) => void ran.complaints.push(line),
      progress: () => {},
      input: Readable.from(input),
      output: new Writable(),
    },
    endpointFile: '/nowhere/endpoint.json',
    apiKey: null,
  });
  return { code, ...ran };
}

it('adds, lists, checks and removes constraints', async () => {
  await run(['tell', 'adult(ann). age(ann, 12). adult(bob). age(bob, 40).']);
  const ofAge = '!- adult(?x), age(?x, ?a), ?a < 18';
  const dry = await run(['constraints', 'add', 'of age', ofAge, '--mode', 'reject', '--dry-run']);
  expect(dry.code).toBe(0);
  expect(dry.printed[0]).toBe(`would be asserted  ${ofAge}`);
  expect(dry.printed[1]).toContain('of age: adult(ann), age(ann, 12), 12 < 18');
  expect((await run(['constraints', 'list'])).complaints).toEqual(['There are no constraints.']);

  const added = await run(['constraints', 'add', 'of age', `${ofAge} "an adult is 18"`]);
  const [, id = ''] = /^asserted {2}(c\d+) {2}!- adult/.exec(added.printed[0] ?? '') ?? [];
  expect((await run(['constraints', 'list'])).printed).toEqual([
    `${id}  warn    of age`,
    `    ${ofAge}`,
    '    an adult is 18',
  ]);
  const violated = `${id}  warn    of age: adult(ann), age(ann, 12), 12 < 18`;
  expect(await run(['constraints', 'check'])).toMatchObject({ code: 1, printed: [violated] });
  const proved = await run(['constraints', 'check', id, '--proof']);
  expect(proved.printed.slice(0, 2)).toEqual([violated, expect.stringContaining('12 < 18')]);
  expect(proved.printed.some((line) => line.includes('age(ann, 12)  [stored]'))).toBe(true);
  const json = await run(['constraints', 'check', '--json']);
  expect(JSON.parse(json.printed[0] ?? '')).toMatchObject({ total: 1 });

  expect((await run(['constraints', 'remove', id])).printed).toEqual([`retracted  ${id}`]);
  expect((await run(['constraints', 'remove', id])).code).toBe(4);
  expect(await run(['constraints', 'check'])).toMatchObject({
    code: 0,
    printed: [],
    complaints: ['Nothing is violated.'],
  });
});

it('reads the text of a constraint from standard input, and is refused as any client', async () => {
  const tenant = ['--tenant', 'second', '--database', 'default'];
  const added = await run(
    ['constraints', 'add', 'no loop', '-', '--mode', 'reject', ...tenant],
    ['!- knows(?x, ?x)\n'],
  );
  expect(added.code).toBe(0);
  const refused = await run(['tell', 'knows(eve, eve).', ...tenant]);
  expect(refused.code).toBe(4);
  expect(refused.complaints[0]).toContain('ConstraintViolated');
  const unsafe = await run(['constraints', 'add', 'unsafe', '!- ?x < 3', ...tenant]);
  expect([unsafe.code, unsafe.complaints[0]]).toEqual([4, expect.stringContaining('?x')]);
});

it('shows an entity, gives it an alias, and merges two', async () => {
  const tenant = ['--tenant', 'third'];
  await run([
    'tell',
    'parent(ann, bob). parent(bob, carol). -likes(bob, tea). parent("a. smith", dan).',
    ...tenant,
  ]);
  await run(['teach', 'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)', ...tenant]);
  await run(['teach', 'tall(?x) :- parent(bob, ?x)', ...tenant]);
  const shown = await run(['entity', 'show', 'bob', '--infer', ...tenant]);
  expect(shown).toMatchObject({ code: 0, complaints: [] });
  expect(shown.printed).toEqual([
    'bob',
    'as argument:',
    '    likes/2 argument 1: 1 stored',
    '    parent/2 argument 1: 1 stored',
    '    parent/2 argument 2: 1 stored',
    'facts:',
    expect.any(String),
    expect.any(String),
    expect.any(String),
    'neighbours:',
    expect.any(String),
    expect.any(String),
    expect.any(String),
    'rules:',
    expect.stringMatching(/^ {4}r\d+ {2}tall\(\?x\) :- parent\(bob, \?x\)$/),
  ]);
  expect(shown.printed.slice(6, 9).sort()).toEqual([
    '    -likes(bob, tea)',
    '    parent(ann, bob)',
    '    parent(bob, carol)',
  ]);
  const known = await run(['entity', 'show', 'carol', ...tenant]);
  expect(known.complaints).toEqual(['Conclusions are those derived before: --infer derives all of them.']);
  const nobody = await run(['entity', 'show', 'nobody', '--infer', ...tenant]);
  expect([nobody.code, nobody.complaints]).toEqual([1, ['Nothing is known about it.']]);

  expect((await run(['entity', 'alias', 'ann', 'Annie', ...tenant])).printed).toEqual([
    'added  Annie of ann',
  ]);
  expect((await run(['entity', 'show', 'Annie', ...tenant])).printed[0]).toBe('ann (also Annie)');
  expect((await run(['entity', 'unalias', 'ann', 'Annie', ...tenant])).code).toBe(0);
  expect((await run(['entity', 'unalias', 'ann', 'Annie', ...tenant])).code).toBe(1);

  const preview = await run(['entity', 'merge', 'a. smith', 'ann', '--dry-run', ...tenant]);
  expect(preview.printed).toEqual([
    'would rewrite 1 facts of a. smith as ann, 0 joined with another; conclusions: 0 gained, 0 lost',
    '    parent(a. smith, dan) -> parent(ann, dan)',
  ]);
  const merged = await run(['entity', 'merge', 'a. smith', 'ann', ...tenant]);
  const [, generation = ''] = /^generation (\d+): /.exec(merged.printed.at(-1) ?? '') ?? [];
  expect((await run(['ask', 'parent(ann, dan)', ...tenant])).code).toBe(0);
  expect((await run(['entity', 'show', 'a. smith', ...tenant])).printed[0]).toBe('ann (also a. smith)');
  expect((await run(['history', 'revert', generation, ...tenant])).code).toBe(0);
  expect((await run(['ask', 'parent(ann, dan)', ...tenant])).code).toBe(1);
});

it.each([
  [['constraints', 'remove'], 'ID'],
  [['constraints', 'add', 'name'], 'NAME'],
  [['constraints', 'undo'], 'list, add, remove and check'],
  [['constraints', 'check', 'c1', 'c2'], 'at most one'],
  [['constraints', 'list', 'c1'], 'no arguments'],
  [['entity'], 'show, alias, unalias and merge'],
  [['entity', 'rename'], 'not rename'],
  [['entity', 'show'], 'NAME'],
  [['entity', 'alias', 'ann'], 'ALIAS'],
  [['entity', 'merge', 'ann'], 'INTO'],
])('says what it needs: %j', async (argv, word) => {
  const { code, complaints } = await run(argv);
  expect(code).toBe(2);
  expect(complaints[0]).toContain(word);
});
