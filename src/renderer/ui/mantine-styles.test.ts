import { expect, test } from 'vitest';

const sources = import.meta.glob<string>('../**/*.tsx', { query: '?raw', import: 'default', eager: true });
const sheets = import.meta.glob<string>('./mantine*.css', { query: '?raw', import: 'default', eager: true });
const ofMantine = import.meta.glob('../../../node_modules/@mantine/core/styles/*.css', { query: '?url' });

/** Components whose look is that of others, by whose style sheets it is made. */
const madeOf: Readonly<Record<string, readonly string[]>> = {
  Autocomplete: ['Input', 'Combobox'],
  MultiSelect: ['Input', 'Combobox', 'Pill', 'PillsInput'],
  Select: ['Input', 'Combobox'],
  TagsInput: ['Input', 'Combobox', 'Pill', 'PillsInput'],
  Textarea: ['Input'],
  TextInput: ['Input'],
};

function componentsIn(text: string): string[] {
  return [...text.matchAll(/import \{([^}]*)\} from '@mantine\/core'/g)]
    .flatMap(([, names = '']) => names.split(','))
    .map((name) => name.trim())
    .filter((name) => /^[A-Z]/.test(name));
}

const known = new Set(Object.keys(ofMantine).map((path) => /([^/]+)\.css$/.exec(path)?.[1]));
const used = [...new Set(Object.values(sources).flatMap(componentsIn))];
const imported = Object.values(sheets).join('\n');

test('there are components of Mantine', () => {
  expect(used).toContain('Button');
  expect(known).toContain('Button');
});

test('has the style sheet of every component of Mantine in use', () => {
  const needed = used.flatMap((name) => madeOf[name] ?? [name]).filter((name) => known.has(name));
  expect(needed.filter((name) => !imported.includes(`@mantine/core/styles/${name}.css"`))).toEqual([]);
});
