import { expect, test } from 'vitest';
import { isSingleCharacter, matchesKeys } from './keys.ts';

function press(key: string, more: Partial<KeyboardEvent> = {}) {
  return { key, code: '', ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...more };
}

test('maps Mod to Ctrl, and to Cmd on a Mac', () => {
  expect(matchesKeys(press('k', { ctrlKey: true }), 'Mod+K', false)).toBe(true);
  expect(matchesKeys(press('k', { metaKey: true }), 'Mod+K', false)).toBe(false);
  expect(matchesKeys(press('k', { metaKey: true }), 'Mod+K', true)).toBe(true);
});

test('does not match a combination with further modifiers', () => {
  expect(matchesKeys(press('k', { ctrlKey: true, shiftKey: true }), 'Mod+K', false)).toBe(false);
  expect(matchesKeys(press('k', { ctrlKey: true, altKey: true }), 'Mod+K', false)).toBe(false);
});

test('matches a character that needs Shift by what it types', () => {
  expect(matchesKeys(press('?', { shiftKey: true }), '?', false)).toBe(true);
});

test('matches Alt with a digit by the physical key', () => {
  expect(matchesKeys(press('¡', { altKey: true, code: 'Digit1' }), 'Alt+1', true)).toBe(true);
  expect(matchesKeys(press('1', { code: 'Digit1' }), 'Alt+1', true)).toBe(false);
});

test('distinguishes single characters from combinations', () => {
  expect(isSingleCharacter('?')).toBe(true);
  expect(isSingleCharacter('Mod+K')).toBe(false);
  expect(isSingleCharacter('F1')).toBe(false);
});
