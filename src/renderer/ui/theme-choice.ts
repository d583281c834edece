/**
 * The theme: what was chosen, and which of the three that is shown.
 *
 * The choice is of this browser. `system` follows the system's colours and its wish for more contrast, also when they
 * change. The document's `data-theme` is what the style sheet reads.
 */
import { create } from 'zustand';

export const themeChoices = ['light', 'dark', 'system', 'contrast'] as const;
export type ThemeChoice = (typeof themeChoices)[number];
export type ShownTheme = Exclude<ThemeChoice, 'system'>;

/** What the system says. */
export interface SystemColours {
  readonly isDark: boolean;
  readonly wantsContrast: boolean;
}

export function shownThemeOf(choice: ThemeChoice, { isDark, wantsContrast }: SystemColours): ShownTheme {
  if (choice !== 'system') return choice;
  if (wantsContrast) return 'contrast';
  return isDark ? 'dark' : 'light';
}

/** The choice as it is stored; `auto` is what it was called before there was a third theme. */
export function readChoice(stored: string | null): ThemeChoice {
  return themeChoices.find((choice) => choice === stored) ?? 'system';
}

const storageKey = 'corollary.theme';

interface ThemeState {
  readonly choice: ThemeChoice;
  readonly shown: ShownTheme;
}

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

/** Sets the colours before the first paint, so that a dark workbench does not start with a white flash. */
export function startTheme(): void {
  apply(readChoice(localStorage.getItem(storageKey)));
  for (const wish of ['(prefers-color-scheme: dark)', '(prefers-contrast: more)'])
    matchMedia(wish).addEventListener('change', () => apply(useTheme.getState().choice));
}

export function setTheme(choice: ThemeChoice): void {
  localStorage.setItem(storageKey, choice);
  apply(choice);
}

export function useShownTheme(): ShownTheme {
  return useTheme((state) => state.shown);
}
