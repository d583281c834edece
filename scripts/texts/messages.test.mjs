import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'vite';
import { describe, expect, it } from 'vitest';
import { filesBelow, root } from '../prepare.mjs';
import { catalogue, updated } from '../texts.mjs';
import { transformTexts } from './messages.mjs';
import { hasTexts } from './plugin.mjs';

/** @param {string} code */
const messagesOf = (code) => transformTexts(code, 'a.tsx', 'texts').messages;

/**
 * The code without its import of the look-ups.
 * @param {string} code
 */
const transformed = (code) => transformTexts(code, 'a.tsx', 'texts').code.split('\nimport {')[0];

describe('texts of the workbench', () => {
  it('takes a sentence between tags as one text, with places for what it contains', () => {
    expect(transformed('const a = <p>{count} facts left, see <b>the page</b></p>;')).toBe(
      'const a = <p>{$nodes("{0} facts left, see {1}", [(count), (<b>{$text("the page")}</b>)])}</p>;',
    );
  });

  it('keeps white space as React does', () => {
    expect(messagesOf("const a = <p>\n  one line\n  and the next{' '}\n  <b>x</b>\n</p>;")[0]).toBe(
      'one line and the next {0}',
    );
    expect(messagesOf('const a = <p>{n} of{\n m}</p>;')).toEqual(['{0} of{1}']);
    expect(messagesOf('const a = <p>A &amp; B</p>;')).toEqual(['A & B']);
  });

  it('finds both sides of a choice, and not what is compared', () => {
    expect(transformed("const a = <i>{kind === 'One thing' ? 'on' : 'off'}</i>;")).toBe(
      `const a = <i>{kind === 'One thing' ? $text("on") : $text("off")}</i>;`,
    );
    expect(messagesOf("switch (a) { case 'Not this one': f('but this one'); }")).toEqual(['but this one']);
  });

  it('gives a template places for its expressions, which have texts of their own', () => {
    expect(transformed("const a = `${n} of ${b ? 'all the' : x} rows`;")).toBe(
      'const a = $text("{0} of {1} rows", [(n), (b ? $text("all the") : x)]);',
    );
  });

  it('knows attributes and properties that are texts of one word, and those that never are', () => {
    expect(messagesOf('const a = <A label="shown" className="flex row wide" id="some id" />;')).toEqual([
      'shown',
    ]);
    expect(messagesOf("const a = { title: 'shown', kind: 'Some kind', rest: 'word' };")).toEqual(['shown']);
  });

  it('finds the default of a parameter', () => {
    expect(messagesOf("function a({ placeholder = 'Filter', id = 'some id' }) {}")).toEqual(['Filter']);
  });

  it('leaves imports, types, code and statements alone', () => {
    const code = [
      "import a from 'some place';",
      "type A = 'one two' | 'three four';",
      'const b = <code>some code</code>;',
      'const c = <input placeholder="parent(alice, bob)." />;',
      "document.querySelector('a b');",
    ].join('\n');
    expect(transformTexts(code, 'a.tsx', 'texts')).toEqual({ messages: [], compared: [], code });
  });

  it('lists a plural with both forms of English', () => {
    expect(messagesOf("const a = formatAmount(n, 'row'); const b = formatAmount(n, 'is', 'are');")).toEqual([
      'row|rows',
      'is|are',
    ]);
  });

  it('leaves a string alone that its file compares, and reports it', () => {
    const code = "const a = b ? 'ends soon' : ''; const c = a === 'ends soon';";
    expect(transformTexts(code, 'a.tsx', 'texts')).toEqual({ messages: [], compared: ['ends soon'], code });
  });

  it('reads every file of the workbench, makes code of each, and finds no text in it that is also compared', () => {
    const paths = filesBelow('src').filter(hasTexts);
    expect(paths.length).toBeGreaterThan(300);
    const wrong = paths.flatMap((path) => {
      const { code, compared } = transformTexts(readFileSync(join(root, path), 'utf8'), path, 'texts');
      const errors = parseSync(path, code).errors.map(({ message }) => message);
      return [...errors, ...compared].map((problem) => `${path}: ${problem}`);
    });
    expect(wrong).toEqual([]);
  });
});

describe('npm run texts', () => {
  it('names every text with the file in which it stands first', () => {
    const all = catalogue();
    expect(all.get('There is no such view')).toBe('src/renderer/app/routes.tsx');
    expect(all.has('fact|facts')).toBe(true);
  });

  it('keeps translations, adds what is new and removes what is gone', () => {
    const known = { language: 'de', name: 'Deutsch', texts: { Rows: 'Zeilen', Gone: 'Weg' } };
    expect(updated(known, ['Rows', 'New'])).toEqual({
      file: { language: 'de', name: 'Deutsch', texts: { Rows: 'Zeilen', New: null } },
      added: 1,
      removed: 1,
      missing: 1,
    });
  });
});
