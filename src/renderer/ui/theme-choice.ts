/**
 * The theme: the user's choice and the one of three that results.
 *
 * The choice is stored in this browser. `system` follows the system's colour scheme and contrast preference, also when
 * they change. The style sheet reads `data-theme` of the document.
 */
import { create } from 'zustand';

/** Themes to choose from. */
const themeChoices = ['light', 'dark', 'system', 'contrast'] as const;
/** A choice of theme. */
export type ThemeChoice = (typeof themeChoices)[number];
/** A theme as it is shown. */
export type ShownTheme = Exclude<ThemeChoice, 'system'>;

/** Preferences of the system. */
interface SystemColours {
  readonly isDark: boolean;
  readonly wantsContrast: boolean;
}

/** Returns the theme that results from a choice. */
export function shownThemeOf(choice: ThemeChoice, { isDark, wantsContrast }: SystemColours): ShownTheme {
  if (choice !== 'system') return choice;
  if (wantsContrast) return 'contrast';
  return isDark ? 'dark' : 'light';
}

/** Returns the stored choice; reads `auto`, an older name of `system`. */
export function readChoice(stored: string | null): ThemeChoice {
  return themeChoices.find((choice) => choice === stored) ?? 'system';
}

const storageKey = 'corollary.theme';

interface ThemeState {
  readonly choice: ThemeChoice;
  readonly shown: ShownTheme;
}

/** Store of the theme. */
export const useTheme = create<ThemeState>()(() => ({ choice: 'system', shown: 'light' }));

function apply(choice: ThemeChoice): void {
  const system = {
    isDark: matchMedia('(prefers-color-scheme: dark)').matches,
    wantsContrast: matchMedia('(prefers-contrast: more)').matches,
  };
  const shown = shownThemeOf(choice, system);
  document.documentElement.dataset['theme'] = shown;
  document.documentElement.setAttribute('data-mantine-color-scheme', shown === 'light' ? 'light' : 'dark');
  useTheme.setState({ choice, shown });
}

/** Sets the colours before the first paint, so that a dark workbench does not flash white. */
export function startTheme(): void {
  apply(readChoice(localStorage.getItem(storageKey)));
  for (const wish of ['(prefers-color-scheme: dark)', '(prefers-contrast: more)'])
    matchMedia(wish).addEventListener('change', () => apply(useTheme.getState().choice));
}

/** Sets and stores the choice. */
export function setTheme(choice: ThemeChoice): void {
  localStorage.setItem(storageKey, choice);
  apply(choice);
}

/** Returns the theme that is shown. */
export function useShownTheme(): ShownTheme {
  return useTheme((state) => state.shown);
}
