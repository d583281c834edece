import { expect, test } from 'vitest';
import { readChoice, shownThemeOf } from './theme-choice.ts';

const plain = { isDark: false, wantsContrast: false };

test('shows the user’s choice, whatever the system says', () => {
  expect(shownThemeOf('light', { isDark: true, wantsContrast: true })).toBe('light');
  expect(shownThemeOf('contrast', plain)).toBe('contrast');
});

test('follows the system for light and dark, and for contrast before both', () => {
  expect(shownThemeOf('system', plain)).toBe('light');
  expect(shownThemeOf('system', { ...plain, isDark: true })).toBe('dark');
  expect(shownThemeOf('system', { isDark: false, wantsContrast: true })).toBe('contrast');
});

test('treats an unknown stored choice as the system’s', () => {
  expect(readChoice('contrast')).toBe('contrast');
  expect(readChoice('auto')).toBe('system');
  expect(readChoice(null)).toBe('system');
});
