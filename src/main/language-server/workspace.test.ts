import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { checkPackage } from '../packages/check-package.ts';
import { readPackage } from '../packages/read-package.ts';
import { Workspace } from './workspace.ts';

const latin = (text: string): Buffer => Buffer.from(text, 'latin1');
const files: Readonly<Record<string, string | Buffer>> = {
  'corollary.toml': 'name = "outer"\n',
  'a.kb': [
    ':declare age(who, years: integer) key who on conflict reject',
    ':declare parent(elder, child)',
    'age(ann, old).',
    'parent{child: bob, elder: ann}.',
    'q(?x) :- parent(?x, ?y), not r(?x), Q(?y).',
    'unsafe(?x) :- q(?y), not unsafe(?y).',
    'broken(',
  ].join('\n'),
  // Before a.kb in code-point order.
  'Z.kb': 'parent(ann, bob).\nq(?a) :- parent(?a, ?b), not r(?a), Q(?b).\n:declare parent(a, b, c) key d\n',
  'deep/b.kb': 'r(?x) :- q(?x).\nage(ann, 3).\r\nage(ann, 4).\nparent(a, b, c).\n:declare age(a, b)\n',
  'latin.kb': latin('\xef\xbb\xbfparent(carl, dan).\nparent(\xff).'),
  'a.test.kb':
    'test "t" {\n  given s(a).\n  expect s(?x), t(?x) = a.\n  expect violation nothing.\n}\np(c).\n',
  'deep/b.test.kb': 'test "t" { expect parent(ann, bob). }',
  'inner/corollary.toml': 'name = "inner"\n',
  'inner/a.kb': 'parent(x).\nage(ann, 5).\nlonely(?x) :- inner(?x, ?y).\n',
  'inner/below/b.kb': 'inner(x, y).\n',
  'node_modules/a.kb': 'parent(x).\n',
  '.git/a.kb': 'parent(x).\n',
};

/** What an editor shows for all files of the folder, by path. */
async function shownIn(folder: string): Promise<Record<string, readonly unknown[]>> {
  const shown: Record<string, readonly unknown[]> = {};
  const root = pathToFileURL(folder).href;
  const fail = (problem: unknown): never => {
    throw new Error(String(problem));
  };
  const workspace = new Workspace({
    publish: ({ uri }, diagnostics) => {
      shown[uri.slice(root.length + 1)] = diagnostics;
    },
    withdraw: fail,
    warn: fail,
    fail,
  });
  await workspace.setFolders([root]);
  // A change on disk that is none of the packages'.
  await workspace.changedOnDisk(`${root}/node_modules/a.kb`);
  for (const each of workspace.packages) {
    await each.diagnose();
    each.close();
  }
  return shown;
}

async function checkedIn(folder: string, prefix: string): Promise<[string, unknown[]][]> {
  const knowledge = await readPackage(join(folder, prefix));
  const all = checkPackage(knowledge);
  return knowledge.files.map(({ path }) => [
    prefix + path,
    all.filter((each) => each.path === path).map(({ path: _, ...each }) => each),
  ]);
}

test('an editor shows for each package what a check of it lists; a nested package is one of its own', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'corollary-workspace-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  const shown = await shownIn(folder);
  expect(shown).toEqual(
    Object.fromEntries([...(await checkedIn(folder, '')), ...(await checkedIn(folder, 'inner/'))]),
  );
  const codesOf = ([path, each]: [string, readonly unknown[]]) =>
    [path, ...each.map((one) => (one as { code: string }).code)].join(' ');
  expect(Object.entries(shown).map(codesOf).sort()).toEqual([
    'Z.kb negative_cycle near_miss_case syntax',
    'a.kb wrong_type duplicate duplicate negative_cycle near_miss_case unsafe_variable syntax',
    'a.test.kb unknown_predicate unknown_violation syntax',
    'deep/b.kb negative_cycle key_conflict key_conflict duplicate',
    'deep/b.test.kb duplicate',
    'inner/a.kb singleton_variable',
    'inner/below/b.kb',
    'latin.kb syntax syntax',
  ]);
});
