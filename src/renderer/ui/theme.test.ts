import { expect, test } from 'vitest';
import sheet from './theme.css?raw';

type Colours = ReadonlyMap<string, string>;

/** The variables of a theme; missing ones have the light theme's value. */
function coloursOf(theme: 'light' | 'dark' | 'contrast'): Colours {
  const block = (opening: string): Colours => {
    const start = sheet.indexOf(`${opening} {`);
    const text = sheet.slice(start, sheet.indexOf('}', start));
    return new Map(
      [...text.matchAll(/(--[a-z-]+):\s*(#[0-9a-f]{6});/g)].map(([, name = '', colour = '']) => [
        name,
        colour,
      ]),
    );
  };
  return theme === 'light' ? block(':root') : block(`:root[data-theme="${theme}"]`);
}

/** Relative luminance as WCAG 2 defines it. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(left: string, right: string): number {
  const [darker = 0, lighter = 0] = [luminance(left), luminance(right)].sort((one, other) => one - other);
  return (lighter + 0.05) / (darker + 0.05);
}

const surfaces = [
  '--surface',
  '--surface-panel',
  '--surface-chrome',
  '--surface-hover',
  '--surface-selected',
];
const texts = [
  '--text',
  '--text-dim',
  '--accent-text',
  '--good',
  '--warn',
  '--bad',
  '--derived',
  '--computed',
];
const tints = ['good', 'warn', 'bad', 'derived', 'computed'];

function failuresOf(theme: 'light' | 'dark' | 'contrast', least: number): string[] {
  const colours = coloursOf(theme);
  const colour = (name: string): string => {
    const value = colours.get(name);
    if (value === undefined) throw new Error(`${theme} has no ${name}`);
    return value;
  };
  const pairs = [
    ...surfaces.flatMap((surface) => texts.map((text) => [text, surface] as const)),
    ['--past-text', '--past'] as const,
    ...tints.flatMap((tint) => ['--text', `--${tint}`].map((text) => [text, `--${tint}-surface`] as const)),
  ];
  return pairs
    .map(([text, surface]) => ({ text, surface, ratio: contrast(colour(text), colour(surface)) }))
    .filter(({ ratio }) => ratio < least)
    .map(({ text, surface, ratio }) => `${text} on ${surface}: ${ratio.toFixed(2)}`);
}

test.each(['light', 'dark'] as const)(
  'makes every text readable on every surface of the theme %s',
  (theme) => {
    expect(failuresOf(theme, 4.5)).toEqual([]);
  },
);

test('reaches 7 : 1 in high contrast for every text on every surface', () => {
  expect(failuresOf('contrast', 7)).toEqual([]);
});

test('names the same colours in the three themes', () => {
  const names = [...coloursOf('light').keys()].sort();
  expect([...coloursOf('dark').keys()].sort()).toEqual(names);
  expect([...coloursOf('contrast').keys()].sort()).toEqual(names);
});

test('has no colour of its own in any style sheet', () => {
  const sheets = import.meta.glob<string>('../**/*.module.css', {
    query: '?raw',
    import: 'default',
    eager: true,
  });
  const stray = Object.entries(sheets).flatMap(([path, text]) =>
    [...text.matchAll(/#[0-9a-f]{3,8}\b|\brgba?\(|\bhsla?\(/gi)].map(([colour]) => `${path}: ${colour}`),
  );
  expect(Object.keys(sheets).length).toBeGreaterThan(20);
  expect(stray).toEqual([]);
});
