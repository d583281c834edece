import { expect, test } from 'vitest';
import { takenOver } from './host-look.ts';

const text = {
  '--color-background-primary': '#000',
  '--color-text-primary': '#fff',
  '--color-text-secondary': '#ddd',
};
const panel = {
  '--color-background-secondary': '#111',
  '--color-background-tertiary': '#222',
  '--color-border-primary': '#333',
};

test('adopts the colours of a host together or not at all', () => {
  expect(takenOver({ ...text, ...panel })).toEqual({ ...text, ...panel });
  expect(takenOver({ '--color-background-primary': '#000' })).toEqual({});
  expect(takenOver({ ...text, '--color-text-secondary': '' })).toEqual({});
  expect(takenOver({ ...text, '--color-border-primary': '#333' })).toEqual(text);
});

test("does not adopt a host's surfaces without its text colours", () => {
  expect(takenOver(panel)).toEqual({});
});

test('adopts the known fonts of a host independently', () => {
  const given = { '--font-mono': 'Courier', '--border-radius-lg': '9px' } as const;
  expect(takenOver(given)).toEqual({ '--font-mono': 'Courier' });
});
