import { expect, test } from 'vitest';
import { isSingleCharacter, matchesKeys } from './keys.ts';

function press(key: string, more: Partial<KeyboardEvent> = {}) {
  return { key, code: '', ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...more };
}

test('Mod is Ctrl, and Cmd on a Mac', () => {
  expect(matchesKeys(press('k', { ctrlKey: true }), 'Mod+K', false)).toBe(true);
  expect(matchesKeys(press('k', { metaKey: true }), 'Mod+K', false)).toBe(false);
  expect(matchesKeys(press('k', { metaKey: true }), 'Mod+K', true)).toBe(true);
});

test('a combination takes no further modifiers', () => {
  expect(matchesKeys(press('k', { ctrlKey: true, shiftKey: true }), 'Mod+K', false)).toBe(false);
  expect(matchesKeys(press('k', { ctrlKey: true, altKey: true }), 'Mod+K', false)).toBe(false);
});

test('a character that needs Shift on the keyboard is matched by what it types', () => {
  expect(matchesKeys(press('?', { shiftKey: true }), '?', false)).toBe(true);
});

test('Alt with a digit goes by the physical key', () => {
  expect(matchesKeys(press('¡', { altKey: true, code: 'Digit1' }), 'Alt+1', true)).toBe(true);
  expect(matchesKeys(press('1', { code: 'Digit1' }), 'Alt+1', true)).toBe(false);
});

test('single characters are told from combinations', () => {
  expect(isSingleCharacter('?')).toBe(true);
  expect(isSingleCharacter('Mod+K')).toBe(false);
  expect(isSingleCharacter('F1')).toBe(false);
});
