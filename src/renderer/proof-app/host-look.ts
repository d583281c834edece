/**
 * The host's look, adopted as far as it fits.
 *
 * Colours are adopted in pairs or not at all: the host's text on our surface, or the reverse, might be unreadable.
 * Fonts that would have to be loaded are not adopted: the page loads nothing.
 */
import {
  applyDocumentTheme,
  applyHostStyleVariables,
  type McpUiHostContext,
  type McpUiStyles,
} from '@modelcontextprotocol/ext-apps';

/** Each group is adopted completely or not at all. */
const together = [
  ['--color-background-primary', '--color-text-primary', '--color-text-secondary'],
  ['--color-background-secondary', '--color-background-tertiary', '--color-border-primary'],
  ['--font-sans'],
  ['--font-mono'],
  ['--color-ring-primary'],
] as const satisfies readonly (keyof McpUiStyles)[][];

/** Returns the host's variables to adopt; surface colours only together with those of their text. */
export function takenOver(variables: Partial<McpUiStyles>): Partial<McpUiStyles> {
  const isWhole = (names: readonly (keyof McpUiStyles)[]) => names.every((name) => isGiven(variables[name]));
  const [colours] = together;
  const groups = together.filter((names) => isWhole(names) && (isWhole(colours) || !isColour(names[0])));
  return Object.fromEntries(groups.flatMap((names) => names.map((name) => [name, variables[name]])));
}

function isGiven(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}

function isColour(name: string): boolean {
  return name.startsWith('--color-');
}

/** Adopts theme, colours, fonts and insets of the host. */
export function applyLook(context: McpUiHostContext): void {
  const { theme, styles, containerDimensions = {}, displayMode, safeAreaInsets } = context;
  const { style } = document.documentElement;
  if (theme !== undefined) applyDocumentTheme(theme);
  if (styles?.variables !== undefined) applyHostStyleVariables(takenOver(styles.variables) as McpUiStyles);
  if (safeAreaInsets !== undefined) {
    const { top, right, bottom, left } = safeAreaInsets;
    style.setProperty('--insets', `${top}px ${right}px ${bottom}px ${left}px`);
  }
  const isFixed = 'height' in containerDimensions || displayMode === 'fullscreen';
  document.documentElement.toggleAttribute('data-fills', isFixed);
  const most = isFixed || !('maxHeight' in containerDimensions) ? undefined : containerDimensions.maxHeight;
  if (most === undefined) style.removeProperty('--most-height');
  else style.setProperty('--most-height', `${most}px`);
}
