import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { isPackageCommand, parseArguments } from './arguments.ts';
import { runPackageCommand } from './package-commands.ts';

/** Knowledge as files, and the commands on them: contract section 18. */

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'corollary-package-'));
  const made = folder;
  onTestFinished(() => rm(made, { recursive: true, force: true }));
});

async function write(files: Readonly<Record<string, string | Buffer>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

interface Ran {
  readonly status: number;
  readonly lines: readonly string[];
  readonly complaints: readonly string[];
}

async function run(...argv: string[]): Promise<Ran> {
  return runIn(new AbortController().signal, () => {}, argv);
}

async function runIn(signal: AbortSignal, onLine: (line: string) => void, argv: string[]): Promise<Ran> {
  const command = parseArguments([...argv, folder]);
  if (!isPackageCommand(command.name)) throw new Error(`${command.name} is no command on a package`);
  const lines: string[] = [];
  const complaints: string[] = [];
  const print = (line: string): void => {
    lines.push(...line.split('\n'));
    onLine(line);
  };
  const terminal = { print, complain: (line: string) => void complaints.push(line) };
  const status = await runPackageCommand(command.name, command, { terminal, signal });
  return { status, lines, complaints };
}

const family = {
  'family.kb': `:declare parent(elder, younger) key younger on conflict reject
parent(ann, bob).
parent(bob, carl).
grandparent(?x, ?z) :-
  parent(?x, ?y),
  parent{elder: ?y, younger: ?z}.
unused(?x) :- parent(?x, ?_).
`,
  'more/rules.kb': '!- parent(?x, ?x) "nobody is their own parent".\n',
};

describe('corollary test', () => {
  it('passes for the package in examples, whose tests exercise all of its rules', async () => {
    folder = fileURLToPath(new URL('../../../examples/family', import.meta.url));
    const { status, lines } = await run('test', '--coverage');
    expect(status).toBe(0);
    expect(lines[0]).toBe('ok    family.test.kb: 7 passed');
    expect(lines.at(-1)).toBe('Coverage: 5 of 5 rules, 11 of 11 literals');
    expect(await run('check')).toMatchObject({ status: 0, lines: ['2 files: 0 errors, 0 warnings'] });
    expect(await run('format', '--check')).toMatchObject({ status: 0, lines: [] });
  });

  it('shows the proof or why not beside what was expected, and what no test exercised', async () => {
    await write({
      ...family,
      'a.test.kb': `test "wrong" {
  given parent(carl, dan).
  expect grandparent(?x, dan) = ann.
}
test "right" { expect grandparent(ann, carl). expect not grandparnet(ann, ?_). }
`,
    });
    const { status, lines } = await run('test', '--coverage');
    expect(status).toBe(1);
    expect(lines.map((line) => line.replace(/\(\d+ ms\)/, '(time)'))).toEqual([
      'FAIL  a.test.kb:1: wrong',
      '      a.test.kb:3:3: expect grandparent(?x, dan) = ann',
      '        1 of the expected answers missing, 1 unexpected',
      '        expected    ann',
      '        found       bob',
      '        missing     ann',
      '        unexpected  bob',
      '        why not:',
      '          grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)',
      '            true     parent(ann, bob)',
      '            missing  parent(bob, dan)',
      '        proof of what was not expected:',
      '          grandparent(bob, dan)  [by grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)]',
      '            parent(bob, carl)  [stored]',
      '            parent(carl, dan)  [stored]',
      'hint  a.test.kb:5: right: no fact and no rule has the predicate grandparnet: did you mean grandparent(ann, ?_)?',
      '2 tests: 1 passed, 1 failed (time)',
      'Coverage: 1 of 2 rules, 2 of 3 literals',
      'Not exercised:',
      '  family.kb:7     rule     unused(?x) :- parent(?x, ?_)',
      '  family.kb:7:15  literal  parent(?x, ?_)',
    ]);
    const json = JSON.parse((await run('test', '--json')).lines.join('\n')) as unknown;
    expect(json).toMatchObject({ passed: 1, failed: 1, files: [{ path: 'a.test.kb' }], coverage: null });
  });

  it('writes JUnit XML of any names', async () => {
    await write({
      ...family,
      'a.test.kb':
        'test "a <b> & \\"c\\" \\u0001\\ufffe" { expect parent("</failure>&", b). }\ntest "d" { expect parent(ann, bob). }\n',
    });
    expect((await run('test', '--junit', join(folder, 'out.xml'))).status).toBe(1);
    const xml = await readFile(join(folder, 'out.xml'), 'utf8');
    expect(xml).toContain(
      '<testcase name="a &lt;b&gt; &amp; &quot;c&quot; \ufffd\ufffd" classname="a.test.kb" ',
    );
    expect(xml).toMatch(/<testsuites name="[^"]+" tests="2" failures="1" errors="0" time="[\d.]+">/);
    const markup = xml.match(/<[^>]*>/g) ?? [];
    expect(markup.map((tag) => /^<[/?]?(\w+)/.exec(tag)?.[1])).toEqual(
      'xml testsuites testsuite testcase failure failure testcase testcase testsuite testsuites'.split(' '),
    );
    expect(xml.replaceAll(/<[^>]*>/g, '')).toMatch(/expect parent\("&lt;\/failure&gt;&amp;", b\)/);
  });

  it('runs no test if a file has an error, or something in it is refused, and says where', async () => {
    await write({ ...family, 'a.test.kb': 'test "t" { expect p(a)\n}\ntest "t" { expect . }\n' });
    const broken = await run('test');
    expect(broken.status).toBe(1);
    expect(broken.lines.at(-1)).toBe('No test was run.');
    expect(broken.lines[0]).toBe('a.test.kb:1:22: error: a statement ends with a full stop: write . here');
    await write({
      'a.test.kb': 'test "t" { expect parent(ann, bob). }',
      'z.kb': 'p(a).\nparent(eve, bob).\n',
    });
    expect((await run('test')).lines[0]).toMatch(
      /^z\.kb:2:1: error: parent\(ann, bob\) in family\.kb has the same value of the key of parent\/2: younger/,
    );
    // A limit of the service, which no check knows.
    const choices = Array.from({ length: 1000 }, (_, at) => `v${at}${'x'.repeat(300)}`);
    await write({ 'z.kb': `p(a).\n:declare p(x: {${choices.join(', ')}})\n` });
    const refused = await run('test');
    expect(refused.status).toBe(1);
    expect(refused.lines[0]).toMatch(/^z\.kb:2:1: error: /);
  });

  it('runs again after each change, and ends with the signal', async () => {
    await write({ ...family, 'a.test.kb': 'test "t" { expect parent(ann, bob). }' });
    const ending = new AbortController();
    const seen: string[] = [];
    const running = runIn(ending.signal, (line) => void seen.push(line), ['test', '--watch']);
    async function printed(line: RegExp): Promise<void> {
      await expect.poll(() => seen.some((each) => line.test(each))).toBe(true);
    }
    await printed(/^ok {4}a\.test\.kb: 1 passed$/);
    await write({ 'a.test.kb': 'test "t" { expect parent(bob, ann). }' });
    await printed(/^FAIL {2}a\.test\.kb:1: t$/);
    await rm(join(folder, 'a.test.kb'));
    await printed(/^0 tests: /);
    ending.abort();
    expect((await running).status).toBe(0);
  });
});

it('the page about knowledge as files shows what the commands print', async () => {
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const page = await readFile(join(root, 'docs/how-to/knowledge-as-files.md'), 'utf8');
  const shown = [...page.matchAll(/^```text\n([\s\S]*?)^```$/gm)].map(([, text = '']) => withoutTime(text));
  const printed = ({ lines }: Ran): string => withoutTime(`${lines.join('\n')}\n`);
  folder = join(root, 'examples/family');
  const passed = printed(await run('test', '--coverage'));
  const checked = printed(await run('check'));
  const example = await readFile(join(folder, 'family.kb'), 'utf8');
  const tests = await readFile(join(folder, 'family.test.kb'), 'utf8');
  folder = await mkdtemp(join(tmpdir(), 'corollary-page-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await write({ 'family.kb': example.replace(', ?x != ?y.', '.'), 'family.test.kb': tests });
  // The rest is of a service: package-service.test.ts.
  expect(shown.slice(0, 3)).toEqual([passed, printed(await run('test')), checked]);
});

function withoutTime(text: string): string {
  return text.replaceAll(/\(\d+ ms\)/g, '(time)');
}

describe('a package', () => {
  it('has the files below its folder, in order, without links and what belongs to other programs', async () => {
    await write({
      'b.kb': 'broken(',
      'a/z.kb': 'broken(',
      'é.kb': 'broken(',
      'node_modules/x.kb': 'broken(',
      '.git/x.kb': 'broken(',
      'x.txt': 'broken(',
    });
    await symlink('..', join(folder, 'a', 'up'));
    await symlink(join(folder, 'b.kb'), join(folder, 'linked.kb'));
    const { lines } = await run('check');
    expect(lines.map((line) => line.split(':')[0])).toEqual(['a/z.kb', 'b.kb', 'é.kb', '3 files']);
  });

  it.each([
    [
      { 'corollary.toml': 'nam = "x"' },
      'corollary.toml: there is no key nam; there are name, scope, [service]',
    ],
    [
      { 'corollary.toml': '[service]\nhost = "x"' },
      'corollary.toml: there is no key service.host; there are url, database, tenant',
    ],
    [
      { 'corollary.toml': '[service]\nurl = "ftp://x"' },
      'corollary.toml: service.url: an address begins with http:// or https://',
    ],
    [{ 'corollary.toml': 'name = 3' }, 'corollary.toml: name is a text in quotation marks'],
    [{ 'corollary.toml': 'name =' }, /^corollary\.toml:1:\d+: Invalid TOML/],
    [
      { 'corollary.toml': Buffer.from('name = "\xff"', 'latin1') },
      /^corollary\.toml:1:9: the file is not UTF-8/,
    ],
  ])('with wrong settings cannot be read: %j', async (files, message) => {
    await write({ ...family, ...files });
    const { status, complaints } = await run('test');
    expect(status).toBe(2);
    if (typeof message === 'string') expect(complaints).toEqual([message]);
    else expect(complaints).toEqual([expect.stringMatching(message)]);
  });

  it('that is not there, is empty or too large cannot be read', async () => {
    expect(await run('check')).toMatchObject({
      status: 2,
      complaints: [`${folder} has no file that ends with .kb`],
    });
    await write({ 'a.kb': '' });
    await truncate(join(folder, 'a.kb'), 50 * 1024 * 1024);
    expect(await run('check')).toMatchObject({
      status: 2,
      complaints: ['a.kb has more than 8388608 bytes'],
    });
    folder = join(folder, 'nowhere');
    expect(await run('test')).toMatchObject({
      status: 2,
      complaints: [`${folder} cannot be read: it does not exist`],
    });
  });

  it('has a scope, in which its knowledge is, by its settings', async () => {
    await write({
      ...family,
      'corollary.toml':
        'name = "f"\nscope = "kin"\n[service]\nurl = "https://x:1"\ndatabase = "d"\ntenant = "t"\n',
      'a.test.kb':
        'test "t" {\n  expect grandparent(ann, ?x) = carl.\n  given parent(eve, eve).\n  expect violation "nobody is their own parent".\n}',
    });
    expect(await run('test')).toMatchObject({ status: 0 });
  });
});

describe('corollary check', () => {
  it('lists what is wrong over all files, errors apart from warnings', async () => {
    await write({
      'a.kb':
        'p(a).\nq(?x) :- p(?x), not r(?x).\nlonely(?x) :- p(?y).\n:declare age(who) key years\n:declare p(x)\n',
      'b.kb': 'r(?x) :- p(?x), not q(?x).\np(a).\n:declare p(x)\n',
      'c.kb': Buffer.from('p(b).\np(\xff).', 'latin1'),
      'a.test.kb': 'test "t" { given s(a). expect s(?x) = a. expect unknwon(a). }\np(c).\n',
      'b.test.kb': 'test "t" { expect p(a). }',
    });
    const { status, lines } = await run('check');
    expect(status).toBe(1);
    expect(lines.map((line) => line.replace(/^(\S+ \w+: .{24}).*/, '$1'))).toEqual([
      'a.kb:2:17: error: these rules cannot be st',
      'a.kb:3:8: error: nothing binds ?x of the ',
      'a.kb:3:17: warning: ?y occurs only once in t',
      'a.kb:4:10: error: no argument has the name',
      'a.test.kb:1:49: warning: nothing is known of unkn',
      'a.test.kb:2:1: error: a file of tests has test',
      'b.kb:1:17: error: these rules cannot be st',
      'b.kb:2:1: warning: this fact stands in a.kb',
      'b.kb:3:10: error: p/1 is declared in a.kb ',
      'b.test.kb:1:6: error: another test has this na',
      'c.kb:2:3: error: the file is not UTF-8: t',
      'c.kb:2:3: error: expected an argument (an',
      '5 files: 9 errors, 3 warnings',
    ]);
    const json = JSON.parse((await run('check', '--json')).lines.join('\n')) as unknown;
    expect(json).toMatchObject({ errors: 9, warnings: 3, diagnostics: { length: 12 } });
  });
});

describe('corollary format', () => {
  it('lays out what it can, keeps the rest and the permissions, and changes nothing with --check', async () => {
    const bad = Buffer.from('p( a ). % \xff', 'latin1');
    await write({ 'a.kb': '\ufeffp( a ).\r\nq(', 'b.kb': 'p(a).\n', 'c.kb': bad });
    await chmod(join(folder, 'a.kb'), 0o640);
    expect(await run('format', '--check')).toMatchObject({ status: 1, lines: ['a.kb'] });
    expect(await readFile(join(folder, 'a.kb'), 'utf8')).toBe('\ufeffp( a ).\r\nq(');
    expect(await run('format')).toMatchObject({ status: 0, lines: ['a.kb'] });
    expect(await readFile(join(folder, 'a.kb'), 'utf8')).toBe('p(a).\r\nq(');
    expect((await stat(join(folder, 'a.kb'))).mode & 0o777).toBe(0o640);
    expect(await readFile(join(folder, 'c.kb'))).toEqual(bad);
    expect(await run('format', '--check')).toMatchObject({ status: 0, lines: [] });
    expect(await readdir(folder)).toEqual(['a.kb', 'b.kb', 'c.kb']);
  });
});
