import { expect, test } from 'vitest';

/** Every style sheet of the workbench, by its path. */
const sheets = import.meta.glob<string>('../**/*.css', { query: '?raw', import: 'default', eager: true });

interface Declaration {
  readonly place: string;
  readonly property: string;
  readonly value: string;
}

/** The declarations of a sheet, except custom properties, where literals belong, and descriptions of fonts. */
function declarationsOf(path: string, sheet: string): Declaration[] {
  const text = sheet.replaceAll(/\/\*.*?\*\/|@font-face \{.*?\}/gs, (comment) =>
    comment.replaceAll(/[^\n]/g, ' '),
  );
  return [...text.matchAll(/(?<=[;{}]\s*)([a-z-]+):\s*([^;{}]+);/g)]
    .filter(([, property = '']) => !property.startsWith('--'))
    .map(({ 1: property = '', 2: value = '', index }) => ({
      place: `${path}:${text.slice(0, index).split('\n').length}`,
      property,
      value: value.trim(),
    }));
}

const declarations = Object.entries(sheets).flatMap(([path, sheet]) => declarationsOf(path, sheet));

function breachesOf(ofProperty: RegExp, isRight: (value: string) => boolean): string[] {
  return declarations
    .filter(({ property, value }) => ofProperty.test(property) && !isRight(value))
    .map(({ place, property, value }) => `${place} ${property}: ${value}`);
}

const measure = /\d(?:\.\d+)?(?:px|rem|em|pt)\b/;

test('there are style sheets with declarations to check', () => {
  expect(Object.keys(sheets).length).toBeGreaterThan(20);
  expect(declarations.filter(({ property }) => property === 'padding').length).toBeGreaterThan(50);
});

test('takes colours from the theme', () => {
  const literal =
    /#[0-9a-f]{3,8}\b|\b(?:rgb|hsl|oklch|lab)a?\(|\b(?:white|black|red|green|blue|gray|grey|orange|yellow)\b/i;
  expect(breachesOf(/./, (value) => !literal.test(value.replaceAll(/var\([^()]*\)/g, '')))).toEqual([]);
});

test('takes distances from the scale', () => {
  // One pixel may align an icon with its line.
  const isRight = (value: string) => !measure.test(value.replaceAll(/(?<![\d.])1px\b/g, ''));
  expect(
    breachesOf(
      /^(?:padding|margin)(?:-[a-z-]+)?$|^(?:row-|column-)?gap$|^scroll-(?:margin|padding)/,
      isRight,
    ),
  ).toEqual([]);
});

test('takes font sizes from the scale, and has three weights', () => {
  expect(breachesOf(/^font-size$/, (value) => !measure.test(value))).toEqual([]);
  expect(breachesOf(/^font$/, (value) => !measure.test(value))).toEqual([]);
  expect(breachesOf(/^font-weight$/, (value) => ['400', '500', '600', 'inherit'].includes(value))).toEqual(
    [],
  );
});

test('takes corners from the scale', () => {
  expect(breachesOf(/radius$/, (value) => !measure.test(value))).toEqual([]);
});

test('uses the named height for controls, rows and bars', () => {
  const isRight = (value: string) => !/^(?:1[6-9]|2[0-9]|3[0-6])px$/.test(value);
  expect(breachesOf(/^(?:min-)?height$/, isRight)).toEqual([]);
});

test('has lines of one of two widths', () => {
  const isRight = (value: string) => !measure.test(value.replaceAll(/(?<![\d.])-?[12]px\b/g, ''));
  expect(breachesOf(/^(?:border|outline)(?:-(?!.*radius)[a-z-]+)?$/, isRight)).toEqual([]);
});
