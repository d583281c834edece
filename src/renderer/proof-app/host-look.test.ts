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

test('colours of a host are taken over together or not at all', () => {
  expect(takenOver({ ...text, ...panel })).toEqual({ ...text, ...panel });
  expect(takenOver({ '--color-background-primary': '#000' })).toEqual({});
  expect(takenOver({ ...text, '--color-text-secondary': '' })).toEqual({});
  expect(takenOver({ ...text, '--color-border-primary': '#333' })).toEqual(text);
});

test('surfaces of a host are not taken without the text that is to be read on them', () => {
  expect(takenOver(panel)).toEqual({});
});

test('fonts of a host are taken by themselves, what is not known is not', () => {
  const given = { '--font-mono': 'Courier', '--border-radius-lg': '9px' } as const;
  expect(takenOver(given)).toEqual({ '--font-mono': 'Courier' });
});
