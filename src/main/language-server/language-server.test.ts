import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type CodeAction,
  type CompletionItem,
  CancellationTokenSource,
  type DocumentSymbol,
  type FoldingRange,
  type Hover,
  LSPErrorCodes,
  type Location,
  type TextEdit,
  type WorkspaceEdit,
  type WorkspaceSymbol,
} from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundleProgram } from '../../engine/testing/child-program.ts';
import { EditorUnderTest, rangeText } from './testing/editor-under-test.ts';

const files = {
  'corollary.toml': 'name = "family"\n',
  'people.kb': [
    '% who is whose parent',
    ':declare parent(elder: entity, child: entity) key child "who has whom as a child"',
    'parent(ann, bob).',
    'parent{elder: bob, child: carl}.',
    'male(bob).',
    '',
  ].join('\n'),
  'rules.kb': [
    'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z).',
    'odd(?x) :- male(?x), not even(?x).',
    'lonely(?x) :- male(?x), not friend(?x, ?z).',
    '!- parent(?x, ?x) "nobody is their own parent".',
    '',
  ].join('\n'),
  'more/cycle.kb': 'even(?x) :- odd(?x), Male(?x).\n',
  'windows.kb': 'likes(𝒜nn𝒜, "x, y").  \r\nlikes(?who , 𝒜) :-  knows(?who,𝒜𝒜), likes(?who, tea).\r\n',
  'family.test.kb': [
    'test "ann has a grandchild" {',
    '  given parent(carl, dan).',
    '  expect grandparent(ann, ?x) = carl.',
    '  expect parent(ann, bob) = parent(ann, bob).',
    '  expect not violation parent.',
    '}',
    '',
  ].join('\n'),
  'other/corollary.toml': 'name = "other"\n',
  'other/people.kb': 'parent(other).\n',
};

let program: string;
let editor: EditorUnderTest;
let abilities: Record<string, unknown>;

const inCycle = ['negative_cycle 0:12-19', 'near_miss_case 0:21-25'];
const inRules = ['negative_cycle 1:21-33', 'unsafe_variable 2:39-41'];

beforeAll(async () => {
  program = await bundleProgram(new URL('../entry/language-server.ts', import.meta.url));
  editor = await EditorUnderTest.start(program, files);
  abilities = await editor.initialize();
  for (const name of ['people.kb', 'rules.kb', 'windows.kb', 'family.test.kb']) await editor.open(name);
});

afterAll(() => editor.remove());

function places(locations: readonly Location[]): string[] {
  const root = editor.uri('').length + 1;
  return locations.map(({ uri, range }) => `${uri.slice(root)} ${rangeText(range)}`);
}

describe('diagnostics', () => {
  test('are those of all files: a cycle is shown in each that takes part, and what another file has is known', async () => {
    const [cycle] = await editor.shows('more/cycle.kb', inCycle);
    expect(cycle?.message).toContain('odd/1 depends on not (or an aggregate of) even/1');
    expect(cycle).toMatchObject({ severity: 1, source: 'corollary' });
    const [inRule, unsafe] = await editor.shows('rules.kb', [
      'negative_cycle 1:21-33',
      'unknown_predicate 2:28-34',
      'unsafe_variable 2:39-41',
    ]);
    expect(inRule?.message).toBe(cycle?.message);
    expect(unsafe?.severity).toBe(2);
    await editor.shows('family.test.kb', []);
  });

  test('follow a change in another file', async () => {
    await editor.type('rules.kb', 'not even(?x)', 'even(?x)');
    await editor.type('rules.kb', 'friend', 'parent');
    await editor.shows('more/cycle.kb', ['near_miss_case 0:21-25']);
    await editor.shows('rules.kb', ['unsafe_variable 2:39-41']);
    await editor.type('rules.kb', ' even(?x)', ' not even(?x)');
    await editor.shows('more/cycle.kb', inCycle);
    await editor.shows('rules.kb', inRules);
  });

  test('know a declaration and a rule that another file has already', async () => {
    await editor.write('twice.kb', ':declare parent(a, b)\nodd(?y) :- male(?y), not even(?y).\n');
    await editor.noticed('twice.kb');
    await editor.shows('twice.kb', ['duplicate 0:9-15', 'duplicate 1:0-34', 'negative_cycle 1:21-33']);
    await editor.write(
      'twice.kb',
      ':declare parent(a, b) key c\nparent(a).\ntest "x" { expect parent(a). }\n',
    );
    await editor.noticed('twice.kb');
    const [key] = await editor.shows('twice.kb', ['syntax 0:9-15', 'arity_drift 1:0-6', 'syntax 2:5-8']);
    expect(key?.message).toContain('no argument has the name c');
  });

  test('of a closed file are those of the file on disk; a file that is gone has none', async () => {
    expect(editor.watched).toEqual(['**/*.kb', '**/corollary.toml']);
    await editor.open('twice.kb');
    await editor.type('twice.kb', 'parent(a).', 'parent(a, b).');
    await editor.shows('twice.kb', ['syntax 0:9-15', 'syntax 2:5-8']);
    await editor.write('twice.kb', 'broken(\n');
    await editor.noticed('twice.kb');
    await editor.close('twice.kb');
    await editor.shows('twice.kb', ['syntax 1:0-0']);
    await rm(join(editor.folder, 'twice.kb'));
    await editor.noticed('twice.kb');
    await editor.shows('twice.kb', []);
  });
});

describe('a position', () => {
  test('shows on hover the declaration, counts and facts of the package', async () => {
    const hover = await editor.ask<Hover>('hover', 'rules.kb', ':- par|ent(?x, ?y)');
    expect(rangeText(hover.range as never)).toBe('0:23-29');
    expect((hover.contents as { value: string }).value).toBe(
      [
        '**parent/2** — 2 facts · 0 rules · in people.kb',
        'Declared\n```corollary\n:declare parent(elder: entity, child: entity) key child "who has whom as a child"\n```',
        'Facts\n```corollary\nparent(ann, bob).\nparent(bob, carl).\n```',
        'Used by\n```corollary\ngrandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z).\nlonely(?x) :- male(?x), not parent(?x, ?z).\n```',
      ].join('\n\n'),
    );
    expect(await editor.ask('hover', 'rules.kb', 'nobody is th|eir')).toBeNull();
  });

  test('leads to the definition: a declaration, else rules, else facts; and to all uses', async () => {
    const to = async (method: string, name: string, marked: string, includeDeclaration = true) =>
      places(await editor.ask<Location[]>(method, name, marked, { context: { includeDeclaration } }));
    expect(await to('definition', 'family.test.kb', 'given |parent(')).toEqual(['people.kb 1:9-15']);
    expect(await to('definition', 'family.test.kb', 'expect grandparent|(ann')).toEqual(['rules.kb 0:0-11']);
    expect(await to('definition', 'rules.kb', 'ma|le(?x), not even')).toEqual(['people.kb 4:0-4']);
    expect(await to('definition', 'rules.kb', 'even|(?x)')).toEqual(['more/cycle.kb 0:0-4']);
    expect(await to('definition', 'rules.kb', 'parent(?x, ?|y)')).toEqual(['rules.kb 0:34-36']);
    const uses = [
      'family.test.kb 1:8-14',
      'family.test.kb 3:28-34',
      'family.test.kb 3:9-15',
      'people.kb 1:9-15',
      'people.kb 2:0-6',
      'people.kb 3:0-6',
      'rules.kb 0:23-29',
      'rules.kb 0:39-45',
      'rules.kb 2:28-34',
      'rules.kb 3:3-9',
    ];
    expect((await to('references', 'people.kb', 'par|ent(ann')).sort()).toEqual(uses);
    const without = uses.filter((use) => use !== 'people.kb 1:9-15');
    expect((await to('references', 'people.kb', 'par|ent(ann', false)).sort()).toEqual(without);
  });

  test('renames a predicate in all files, and nothing else that is spelled so', async () => {
    const edit = await editor.ask<WorkspaceEdit>('rename', 'rules.kb', 'pare|nt(?y, ?z)', {
      newName: 'has_child',
    });
    const texts = await editor.after(edit);
    expect(Object.keys(texts).sort()).toEqual(['family.test.kb', 'people.kb', 'rules.kb']);
    expect(texts['people.kb']).toBe(
      files['people.kb'].replaceAll('parent(', 'has_child(').replaceAll('parent{', 'has_child{'),
    );
    expect(texts['family.test.kb']).toBe(
      files['family.test.kb'].replaceAll(/(?<!grand)parent\b/g, 'has_child'),
    );
    expect(texts['rules.kb']).toContain('!- has_child(?x, ?x) "nobody is their own parent".');
    expect(texts['rules.kb']).toContain('grandparent(?x, ?z) :- has_child(?x, ?y), has_child(?y, ?z).');
  });

  test('renames a variable in its statement', async () => {
    const marked = 'parent(?x, ?|y)';
    const prepared = await editor.ask<{ range: never; placeholder: string }>(
      'prepareRename',
      'rules.kb',
      marked,
    );
    expect([rangeText(prepared.range), prepared.placeholder]).toEqual(['0:34-36', '?y']);
    const edit = await editor.ask<WorkspaceEdit>('rename', 'rules.kb', marked, { newName: 'middle' });
    expect((await editor.after(edit))['rules.kb']?.split('\n').slice(0, 2)).toEqual([
      'grandparent(?x, ?z) :- parent(?x, ?middle), parent(?middle, ?z).',
      'odd(?x) :- male(?x), not even(?x).',
    ]);
  });

  test.each([
    ['|parent(?y', 'mod', 'mod is the name of a built-in'],
    ['|parent(?y', 'a b', 'has no white space'],
    ['|parent(?y', 'grandparent', 'grandparent/2 is in the package already'],
    ['parent(?x, ?|y)', 'z', '?z is a variable of this statement already'],
    ['parent(?x|, ?y) "no', '1-2', 'A variable is ? and letters, digits or _'],
    ['"nobody is| their', 'x', 'Put the cursor on a predicate or a variable'],
  ])('refuses to rename %s to %s', async (marked, newName, reason) => {
    const name = marked.includes('"no') ? '!- parent(?x, ?x|) "nobody' : marked;
    const at = reason.startsWith('Put') ? marked : name;
    await expect(editor.ask('rename', 'rules.kb', at, { newName })).rejects.toMatchObject({
      code: LSPErrorCodes.RequestFailed,
      message: expect.stringContaining(reason),
    });
  });

  test('counts UTF-16 units, and lines that end with CR LF', async () => {
    await editor.shows('windows.kb', ['unknown_predicate 1:21-26']);
    expect(places(await editor.ask<Location[]>('definition', 'windows.kb', 'likes|(?who, tea)'))).toEqual([
      'windows.kb 1:0-5',
    ]);
    const edit = await editor.ask<WorkspaceEdit>('rename', 'windows.kb', 'likes|(?who, tea)', {
      newName: '𝒜',
    });
    expect((await editor.after(edit))['windows.kb']).toBe(files['windows.kb'].replaceAll('likes', '𝒜'));
  });

  test('completes what can stand there', async () => {
    const labels = async (name: string, marked: string) =>
      (await editor.ask<CompletionItem[]>('completion', name, marked)).map(({ label }) => label);
    const [parent] = await editor.ask<CompletionItem[]>('completion', 'rules.kb', 'par|ent(?x, ?y)');
    expect(parent).toMatchObject({
      label: 'parent',
      detail: '/2 · 2 facts · people.kb',
      textEdit: { newText: 'parent(${1:?elder}, ${2:?child})' },
    });
    expect(await labels('people.kb', 'parent{|elder')).toEqual(['elder', 'child']);
    expect(await labels('rules.kb', 'lonely(?x) :- male(?|x')).toEqual(['?x', '?z']);
    expect(await labels('people.kb', 'elder: |entity')).toContain('instant');
    expect(await labels('people.kb', 'key |child')).toEqual(['elder', 'child']);
    expect(await labels('people.kb', '% who is |whose')).toEqual([]);
    expect(await labels('people.kb', '|male(bob)')).toEqual(expect.arrayContaining([':declare', 'parent']));
    expect(await labels('family.test.kb', '|expect not')).toEqual(['given', 'expect']);
    expect(await labels('family.test.kb', 'expect |not')).toEqual(
      expect.arrayContaining(['violation', 'parent']),
    );
    expect(await labels('family.test.kb', 'violation |parent')).toEqual([
      'parent',
      '"nobody is their own parent"',
    ]);
  });
});

describe('a file', () => {
  test('is formatted with the line ends that it has, as a whole or the statements of a range', async () => {
    const whole = await editor.askFile<TextEdit[]>('formatting', 'windows.kb', { options: {} });
    const text = TextDocument.applyEdits(editor.document('windows.kb'), whole);
    expect(text).toBe('likes(𝒜nn𝒜, "x, y").\r\nlikes(?who, 𝒜) :- knows(?who, 𝒜𝒜), likes(?who, tea).\r\n');
    const end = { line: 1, character: 3 };
    const range = { start: end, end };
    const part = await editor.askFile<TextEdit[]>('rangeFormatting', 'windows.kb', { range, options: {} });
    expect(part.map((edit) => rangeText(edit.range))).toEqual(['1:0-56']);
    expect(await editor.askFile('formatting', 'people.kb', { options: {} })).toEqual([]);
  });

  test('offers the fixes of what is wrong', async () => {
    const diagnostics = await editor.shows('rules.kb', inRules);
    const [unsafe] = diagnostics.slice(1);
    const request = { range: unsafe?.range, context: { diagnostics: [unsafe] } };
    const actions = await editor.askFile<CodeAction[]>('codeAction', 'rules.kb', request);
    const [fix] = actions;
    expect(fix).toMatchObject({ kind: 'quickfix', title: 'Let it be anything: write ?_ in place of ?z' });
    expect((await editor.after(fix?.edit ?? {}))['rules.kb']).toContain('not parent(?x, ?_).');
  });

  test('shows its statements and tests, the predicates of all files are found, and long statements fold', async () => {
    const symbols = await editor.askFile<DocumentSymbol[]>('documentSymbol', 'people.kb');
    expect(symbols.map(({ name, detail, range }) => `${name} ${detail ?? ''} ${rangeText(range)}`)).toEqual([
      'parent/2 :declare parent(elder: entity, child: entity) key child "who has whom as a child" 1:0-81',
      'parent/2 2 facts 2:0-3:32',
      'male(bob)  4:0-10',
    ]);
    expect(symbols[1]?.children?.map(({ name }) => name)).toEqual([
      'parent(ann, bob)',
      'parent{elder: bob, child: carl}',
    ]);
    const found = await editor.connection.sendRequest<WorkspaceSymbol[]>('workspace/symbol', {
      query: 'GRAND',
    });
    expect(found.map(({ name, containerName }) => `${name} ${containerName}`).sort()).toEqual([
      'ann has a grandchild family.test.kb',
      'grandparent/2 rules.kb',
    ]);
    expect(await editor.askFile<FoldingRange[]>('foldingRange', 'family.test.kb')).toEqual([
      { startLine: 0, endLine: 5 },
    ]);
  });

  test('is in the package of the nearest folder with a corollary.toml', async () => {
    await editor.open('other/people.kb');
    await editor.shows('other/people.kb', []);
    const uses = await editor.ask<Location[]>('references', 'other/people.kb', 'par|ent', {
      context: { includeDeclaration: true },
    });
    expect(places(uses)).toEqual(['other/people.kb 0:0-6']);
    await rm(join(editor.folder, 'other/corollary.toml'));
    await editor.noticed('other/corollary.toml');
    await editor.shows('other/people.kb', ['arity_drift 0:0-6']);
    await editor.close('other/people.kb');
    await rm(join(editor.folder, 'other'), { recursive: true });
    await editor.noticed('other/people.kb');
    await editor.shows('other/people.kb', []);
  });
});

test('a request that is cancelled, or whose text has changed since, is not answered', async () => {
  const many = Array.from({ length: 15_000 }, (_, index) => `depends(part${index}, part${index + 1}).\n`);
  await editor.write('many.kb', many.join(''));
  await editor.open('many.kb');
  const cancelled = new CancellationTokenSource();
  const at = { textDocument: { uri: editor.uri('many.kb') }, position: { line: 0, character: 1 } };
  const hover = editor.connection.sendRequest('textDocument/hover', at, cancelled.token);
  cancelled.cancel();
  await expect(hover).rejects.toMatchObject({ code: LSPErrorCodes.RequestCancelled });
  await editor.type('many.kb', 'part1)', 'part2)');
  const outdated = editor.ask('hover', 'many.kb', 'depe|nds(part7,');
  await editor.type('many.kb', 'depends(part0,', 'depend(part0,');
  await expect(outdated).rejects.toMatchObject({ code: LSPErrorCodes.ContentModified });
  const completions = await editor.ask<CompletionItem[]>('completion', 'many.kb', 'dep|end(part0');
  expect(completions.map(({ label }) => label)).toContain('parent');
  await editor.shows('many.kb', []);
});

describe('the process', () => {
  test('ends with 0 after shutdown and exit; all it printed were messages', async () => {
    expect(abilities).toMatchObject({ positionEncoding: 'utf-16', textDocumentSync: { change: 2 } });
    expect(await editor.end()).toBe(0);
    expect(await editor.complaints).toBe('');
  });

  test('handles what came before the input ended', async () => {
    const leaving = await EditorUnderTest.start(program, {});
    const messages = ['"id":1,"method":"shutdown"', '"method":"exit"'].map(
      (part) => `{"jsonrpc":"2.0",${part}}`,
    );
    leaving.process.stdin?.end(
      messages.map((message) => `Content-Length: ${message.length}\r\n\r\n${message}`).join(''),
    );
    expect(await leaving.exit).toBe(0);
    await leaving.remove();
  });

  test.each([
    ['the input ends', '', ''],
    ['a message is no JSON', 'Content-Length: 2\r\n\r\n{]', 'corollary lsp: a message could not be read: '],
    ['exit comes without shutdown', 'Content-Length: 33\r\n\r\n{"jsonrpc":"2.0","method":"exit"}', ''],
  ])('ends with 1 when %s', async (_, input, complaint) => {
    const broken = await EditorUnderTest.start(program, {});
    try {
      const { stdin } = broken.process;
      if (input === '') stdin?.end();
      else stdin?.write(input);
      expect(await broken.exit).toBe(1);
      expect((await broken.complaints).slice(0, complaint.length)).toBe(complaint);
    } finally {
      await broken.remove();
    }
  });
});
