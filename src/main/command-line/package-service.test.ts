import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import { parseArguments } from './arguments.ts';
import { runPackageServiceCommand } from './package-service.ts';

/** `corollary diff`, `apply` and `pull`. */

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

let tenants = 0;

/** A folder with these files, applied to a tenant of its own. */
async function packageOf(files: Readonly<Record<string, string>>) {
  const folder = await mkdtemp(join(tmpdir(), 'corollary-package-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [tenant, database] = [`tenant-${tenants}`, `database-${tenants++}`];
  await service.call('POST', '/databases', { name: database });
  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), text);
  };
  for (const [path, text] of Object.entries(files)) await write(path, text);
  const run = async (name: 'diff' | 'apply' | 'pull', ...options: string[]): Promise<Ran> => {
    const ran = { printed: [] as string[], complaints: [] as string[] };
    const code = await runPackageServiceCommand(name, parseArguments([name, folder, ...options]), {
      terminal: {
        print: (line) => void ran.printed.push(line),
        complain: (line) => void ran.complaints.push(line),
      },
      endpointFile: '/nowhere/endpoint.json',
      apiKey: null,
    });
    return { code, ...ran };
  };
  const call = (method: string, path: string, body?: unknown) =>
    service.call<Record<string, unknown>>(method, path, body, {
      headers: { 'x-tenant-id': tenant, 'x-database': database },
    });
  await write(
    'corollary.toml',
    `name = "pack ${tenant}"\n${files['toml'] ?? ''}\n[service]\nurl = "${service.address}"\ndatabase = "${database}"\ntenant = "${tenant}"\n`,
  );
  return { folder, run, call, write, read: (path: string) => readFile(join(folder, path), 'utf8'), tenant };
}

const family = `% a family
parent(ann, bob). % the first
parent(bob, carl).

% who comes from whom
elder(?x, ?y) :- parent(?x, ?y).
!- parent(?x, ?x) "not of oneself".
`;

it('shows what would change, changes it, and says that nothing differs then', async () => {
  const { run, write } = await packageOf({
    'family.kb': family,
    'more/shape.kb': ':declare parent(parent: entity, child: entity)\n',
    'family.test.kb': 'test "one" { expect elder(ann, bob). }',
  });
  const lines = [
    '+ :declare parent(parent: entity, child: entity)',
    '+ parent(ann, bob)',
    '+ parent(bob, carl)',
    '+ elder(?x, ?y) :- parent(?x, ?y)',
    '+ !- parent(?x, ?x) "not of oneself"',
  ];
  const counts = 'declarations 1 added; facts 2 added; rules 1 added; constraints 1 added';
  const tried = await run('diff', '--exit-code');
  expect(tried.code).toBe(1);
  expect(tried.printed).toEqual([
    ...lines,
    expect.stringMatching(`: would be applied: ${counts}$`),
    'conclusions: 2 gained, 0 lost',
    '  + elder(ann, bob)',
    '  + elder(bob, carl)',
  ]);
  expect((await run('apply', '--dry-run')).printed).toEqual(tried.printed);
  const applied = await run('apply');
  expect([applied.code, applied.printed.slice(0, -4)]).toEqual([0, lines]);
  expect(applied.printed.at(-4)).toMatch(/: applied in generation \d+: /);
  expect(await run('diff', '--exit-code')).toMatchObject({
    code: 0,
    printed: [expect.stringContaining('the service holds what the files state')],
  });
  await write('family.kb', family.replace('parent(bob, carl).', 'parent(bob, dora).'));
  expect((await run('diff')).code).toBe(0);
  expect((await run('diff')).printed.slice(0, 2)).toEqual(['+ parent(bob, dora)', '- parent(bob, carl)']);
  expect(JSON.parse((await run('diff', '--json')).printed.join(''))).toMatchObject({ gained: 1, lost: 1 });
});

it('says what stays since somebody changed it', async () => {
  const { run, write, call } = await packageOf({ 'family.kb': family });
  await run('apply');
  await call('POST', '/tell', { predicate: 'parent', args: ['bob', 'carl'], metadata: { source: 'me' } });
  await write('family.kb', family.replace('parent(bob, carl).', ''));
  expect((await run('apply')).printed[0]).toMatch(
    /^ {2}parent\(bob, carl\) {3}\(stays: it was changed in generation \d+\)$/,
  );
});

it('pulls what the service holds into the files, where it stands', async () => {
  const { run, call, read, folder } = await packageOf({
    'family.kb': `${family}name(ann, "Ann"). name(bob, "Bob").\n`,
  });
  await run('apply');
  await call('POST', '/retract', { predicate: 'parent', args: ['ann', 'bob'] });
  await call('POST', '/retract', { predicate: 'name', args: ['ann', 'Ann'] });
  await call('POST', '/tell', { predicate: 'parent', args: ['x', 'y'] });
  const { rules } = (await call('GET', '/rules')).body as { rules: { id: string; text: string }[] };
  const { id = '' } = rules[0] ?? {};
  await call('PUT', `/rules/${id}`, { text: 'elder(?x, ?y) :- parent(?x, ?z), parent(?z, ?y)' });
  const before = await read('family.kb');
  const lines = [
    'family.kb:2: - parent(ann, bob).',
    'family.kb:8: - name(ann, Ann).',
    'family.kb:6: ~ elder(?x, ?y) :- parent(?x, ?z), parent(?z, ?y).',
  ];
  expect(await run('pull', '--dry-run')).toEqual({ code: 0, printed: lines, complaints: [] });
  expect(await read('family.kb')).toBe(before);
  expect((await run('pull')).printed).toEqual(lines);
  expect(await read('family.kb')).toBe(`% a family
% the first
parent(bob, carl).

% who comes from whom
elder(?x, ?y) :- parent(?x, ?z), parent(?z, ?y).
!- parent(?x, ?x) "not of oneself".
name(bob, "Bob").
`);
  expect((await run('pull')).printed).toEqual([
    expect.stringContaining('the files state what the service holds'),
  ]);
  await rm(join(folder, 'family.kb'));
  expect((await run('pull')).printed).toContain('pulled.kb: + parent(bob, carl).');
  expect(await read('pulled.kb')).toContain('\nname(bob, Bob).\n');
  expect((await run('diff')).printed[0]).toMatch('the service holds what the files state');
});

it('pulls all of the scope that the package has', async () => {
  const { run, call, read } = await packageOf({ toml: 'scope = "draft"', 'a.kb': 'p(a).\r\n' });
  await run('apply');
  await call('POST', '/tell', { predicate: 'q', args: ['x, y'], scope: 'draft' });
  await call('POST', '/tell', { predicate: 'q', args: ['other'] });
  await call('POST', '/teach', { text: 'r(?x) :- q(?x)', scope: 'draft' });
  await run('pull');
  expect(await read('a.kb')).toBe('p(a).\r\n');
  expect((await read('pulled.kb')).split('\n').slice(1)).toEqual(['q("x, y").', 'r(?x) :- q(?x).', '']);
  await call('POST', '/tell', { predicate: 'q', args: ['later'], scope: 'draft' });
  expect((await run('pull')).printed).toEqual(['pulled.kb: + q(later).']);
});

it('ends with 1 for errors and refusals, and with 2 if it cannot run', async () => {
  const { run, write, folder } = await packageOf({ 'a.kb': 'p(a' });
  for (const name of ['diff', 'apply', 'pull'] as const)
    expect(await run(name)).toMatchObject({
      code: 1,
      complaints: [expect.stringMatching(/^a\.kb:1:\d+: error: /)],
    });
  await write('a.kb', 'p(a).\nq(?x) :- not p(?x).');
  const refused = await run('apply');
  expect(refused.code).toBe(1);
  expect(refused.complaints.at(-1)).toContain('a.kb, line 2, column 1');
  await write('a.kb', 'p(a).');
  expect((await run('pull')).complaints[0]).toContain('apply it first');
  expect((await run('pull')).code).toBe(2);
  expect((await run('diff', '--url', 'http://127.0.0.1:1')).code).toBe(2);
  await run('apply');
  await rm(join(folder, 'a.kb'));
  await symlink('/dev/null', join(folder, 'pulled.kb'));
  expect(await run('pull')).toMatchObject({
    code: 2,
    complaints: ['pulled.kb is no file of this folder: move it away, or pull into another one'],
  });
});

it('the page about knowledge as files shows what the commands print', async () => {
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const page = await readFile(join(root, 'docs/how-to/knowledge-as-files.md'), 'utf8');
  const [, chapter = ''] = page.split(/^## Apply to a service$/m);
  const [own = ''] = chapter.split(/^## /m);
  // A line with … stands for what the page leaves out at that end.
  const blocks = [...own.matchAll(/^```text\n(?:…\n)?([\s\S]*?)(?:…\n)?```$/gm)].map(([, text = '']) => text);
  const example = await readFile(join(root, 'examples/family/family.kb'), 'utf8');
  const { run, write, call } = await packageOf({ 'family.kb': example });
  const shown = ({ printed }: Ran): string =>
    `${printed.join('\n').replace(/^pack tenant-\d+:/m, 'family:')}\n`;
  const applied = shown(await run('apply'));
  await write(
    'family.kb',
    example.replace('parent(eve, dora).', 'parent(eve, finn).').replace('born(carl, 1990).\n', ''),
  );
  const register = { metadata: { source: 'the register' } };
  await call('POST', '/tell', { predicate: 'born', args: ['carl', '1990'], ...register });
  const differing = shown(await run('diff', '--exit-code'));
  await run('apply');
  await call('POST', '/retract', { predicate: 'born', args: ['bob', '1965'] });
  const printed = [applied, differing, shown(await run('pull', '--dry-run'))];
  expect(blocks).toHaveLength(printed.length);
  for (const [at, text] of printed.entries()) expect(text).toContain(blocks[at]);
});
