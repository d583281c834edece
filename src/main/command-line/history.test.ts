import { Readable, Writable } from 'node:stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import { parseArguments } from './arguments.ts';
import { clientCommandOf, runCommand } from './run.ts';

let service: ServiceUnderTest;

beforeAll(async () => {
  service = await startServiceUnderTest();
});
afterAll(() => service.close());

/** Runs the command line against the service; the lines it prints, and its complaints. */
async function run(...argv: string[]): Promise<{ code: number; printed: string[]; complaints: string[] }> {
  const ran = { printed: [] as string[], complaints: [] as string[] };
  const command = parseArguments([...argv, '--url', service.address]);
  const code = await runCommand(clientCommandOf(command), command, {
    terminal: {
      print: (line) => void ran.printed.push(line),
      complain: (line) => void ran.complaints.push(line),
      progress: () => {},
      input: Readable.from([]),
      output: new Writable(),
    },
    endpointFile: '/nowhere/endpoint.json',
    apiKey: null,
  });
  return { code, ...ran };
}

it('shows who changed what through the command line, and takes it back', async () => {
  await run('tell', 'likes(ann, tea).', '--tenant', 'one');
  await run('tell', 'likes(bob, tea).', '--tenant', 'one');
  const log = await run('history', 'log', '--entity', 'ann', '--tenant', 'one');
  expect(log).toMatchObject({ code: 0, complaints: [] });
  expect(log.printed[0]).toMatch(/^\d+ {2}\d{4}-\d\d-\d\dT.*Z {2}local, cli, cli\/\d.*: assert$/);
  expect(log.printed.slice(1)).toEqual(['    + likes(ann, tea)']);
  const generation = log.printed[0]?.split(' ')[0] ?? '';
  const preview = await run('history', 'revert', generation, '--dry-run', '--tenant', 'one');
  expect(preview.printed).toEqual([
    `would take back what came after ${Number(generation) - 1} up to ${generation}`,
    '    - likes(ann, tea)',
  ]);
  const done = await run('history', 'revert', generation, '--tenant', 'one');
  expect(done.printed.at(-1)).toMatch(/^generation \d+$/);
  expect((await run('ask', 'likes(?who, tea)', '--tenant', 'one')).printed).toEqual(['likes(bob, tea)']);
  const again = await run('history', 'revert', generation, '--tenant', 'one');
  expect(again.code).toBe(4);
  expect(again.complaints[0]).toContain('likes(ann, tea)');
  const range = await run(
    'history',
    'revert',
    generation,
    done.printed.at(-1)?.split(' ')[1] ?? '',
    '--tenant',
    'one',
  );
  expect(range.code).toBe(0);
});

it('shows the lives of a fact by its atom and by its id', async () => {
  await run('tell', '-likes(ann, "cold tea").', '--tenant', 'two');
  const blame = await run('history', 'blame', '-likes(ann, "cold tea")', '--tenant', 'two');
  expect(blame.code).toBe(0);
  expect(blame.printed[0]).toBe('-likes(ann, cold tea)');
  expect(blame.printed[1]).toMatch(/^ {4}f\d+-0 {2}\d+ \d{4}.*\(local, cli\) … now$/);
  const id = blame.printed[1]?.trim().split(' ')[0] ?? '';
  expect((await run('history', 'blame', id, '--tenant', 'two')).printed).toEqual(blame.printed);
  const none = await run('history', 'blame', 'likes(ann, milk)', '--tenant', 'two');
  expect([none.code, none.complaints.length]).toEqual([1, 1]);
});

it('shows what differs between two moments, with proofs', async () => {
  const generationOf = async (): Promise<string> =>
    (await run('history', 'log', '--limit', '1', '--tenant', 'three')).printed[0]?.split(' ')[0] ?? '';
  await run('tell', 'likes(ann, tea).', '--tenant', 'three');
  const from = await generationOf();
  await run('teach', 'pleased(?x) :- likes(?x, tea)', '--tenant', 'three');
  await run('tell', 'likes(bob, tea).', '--tenant', 'three', '--scope', 's');
  const to = await generationOf();
  const found = await run('history', 'diff', from, to, 'pleased(?x)', '--tenant', 'three');
  expect(found).toMatchObject({ code: 0, complaints: [] });
  expect(found.printed[0]).toMatch(new RegExp(`^from ${from} \\(.*Z\\) to ${to} \\(.*Z\\)$`));
  expect(found.printed.slice(1)).toEqual([
    '    + likes(bob, tea) in s',
    '    + pleased(?x) :- likes(?x, tea)',
    '    + pleased(ann) (concluded)',
    '    + pleased(bob) (concluded)',
  ]);
  const back = await run(
    'history',
    'diff',
    to,
    from,
    '--predicate',
    'pleased',
    '--proof',
    '--tenant',
    'three',
  );
  expect(back.printed).toContain('    - pleased(ann) (concluded)');
  expect(back.printed.join('\n')).toContain('likes(ann, tea)');
  const none = await run('history', 'diff', to, to, '--tenant', 'three');
  expect([none.code, none.complaints]).toEqual([1, ['Nothing differs.']]);
  expect((await run('history', 'diff', from)).complaints[0]).toContain('FROM and TO');
});

it('says what it does not understand', async () => {
  expect((await run('history', 'undo')).complaints[0]).toContain('log, diff, revert and blame');
  expect((await run('history', 'revert')).complaints[0]).toContain('GENERATION');
  expect((await run('history', 'blame')).complaints[0]).toContain('id of a fact');
  expect((await run('history', 'log', 'x')).code).toBe(2);
  expect((await run('history', '--tenant', 'empty', '--predicate', 'none')).code).toBe(1);
});

it('forgets an entity only when its name is repeated, and says what would go', async () => {
  await run('tell', 'likes(eve, tea). likes(eve, milk). likes(bob, milk).', '--tenant', 'two');
  const preview = await run('forget', 'eve', '--tenant', 'two');
  expect(preview.code).toBe(0);
  expect(preview.printed[0]).toMatch(/^would erase 2 stored facts and 0 of the past; 1 generations/);
  expect(preview.complaints).toEqual(['Nothing was erased yet: repeat it with --confirm eve']);
  const wrong = await run('forget', 'eve', '--tenant', 'two', '--confirm', 'bob');
  expect(wrong.code).toBe(2);
  expect((await run('ask', 'likes(eve, ?what)', '--tenant', 'two')).printed).toHaveLength(2);
  const done = await run('forget', 'eve', '--tenant', 'two', '--confirm', 'eve');
  expect(done.printed[0]).toMatch(/^erased 2 stored facts/);
  expect((await run('ask', 'likes(?who, ?what)', '--tenant', 'two')).printed).toEqual(['likes(bob, milk)']);
  expect(await run('forget', 'eve', '--tenant', 'two')).toMatchObject({ code: 1 });
});
