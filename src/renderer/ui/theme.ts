/**
 * The look of Mantine's components, by name: the theme fetches the code of none. Dense, calm, one accent. Surface colours are in theme.css, heights and font sizes
 * in scale.css: adjacent controls share one height in either density.
 */
import { type CSSVariablesResolver, createTheme } from '@mantine/core';

/** Font stack of code; the same as `--mono` in theme.css. */
export const monospace = '"JetBrains Mono", ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace';

/** What the variables of a component depend on. */
interface Sized {
  readonly size?: string | number;
}

/** The theme of Mantine's components. */
export const theme = createTheme({
  fontFamily: '"Inter Variable", system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  fontFamilyMonospace: monospace,
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.25rem' },
  fontWeights: { regular: '400', medium: '500', bold: '600' },
  defaultRadius: 'sm',
  radius: { xs: '2px', sm: '4px', md: '6px', lg: '8px', xl: '12px' },
  primaryColor: 'iris',
  primaryShade: { light: 7, dark: 7 },
  autoContrast: false,
  focusRing: 'auto',
  respectReducedMotion: true,
  colors: {
    iris: [
      '#eef3ff',
      '#dde7ff',
      '#bccfff',
      '#97b4fb',
      '#7b9ef6',
      '#5c84ef',
      '#4670e6',
      '#305dd6',
      '#274db4',
      '#1f3f95',
    ],
    // Darker than Mantine's, so that white text on it is readable.
    red: [
      '#fdeae8',
      '#fad5d2',
      '#f3aca6',
      '#ec8179',
      '#e45c52',
      '#d9443a',
      '#c8352b',
      '#b3261e',
      '#991f18',
      '#7d1812',
    ],
    dark: [
      '#dde2ea',
      '#b9c1cd',
      '#9ba5b4',
      '#727d8d',
      '#3b434f',
      '#303742',
      '#262c35',
      '#1b1f26',
      '#171a20',
      '#111318',
    ],
  },
  components: {
    ActionIcon: {
      defaultProps: { variant: 'subtle', color: 'gray', size: 'md' },
      // Not below the minimum pointer target.
      vars: (_: unknown, { size }: Sized) =>
        size === 'md'
          ? { root: { '--ai-size': 'var(--control)' } }
          : size === 'sm'
            ? { root: { '--ai-size': 'var(--target)' } }
            : { root: {} },
    },
    Anchor: { defaultProps: { inherit: true } },
    Autocomplete: { defaultProps: { size: 'xs' } },
    Button: {
      defaultProps: { size: 'xs' },
      vars: (_: unknown, { size }: Sized) => ({
        root:
          size === 'xs'
            ? {
                '--button-height': 'var(--control)',
                '--button-padding-x': '10px',
                '--button-fz': 'var(--font-label)',
              }
            : size === 'compact-xs'
              ? {
                  '--button-height': 'var(--target)',
                  '--button-padding-x': '8px',
                  '--button-fz': 'var(--font-label)',
                }
              : {},
      }),
    },
    CloseButton: {
      vars: (_: unknown, { size }: Sized) => ({
        root: size === 'sm' || size === 'xs' ? { '--cb-size': 'var(--target)' } : {},
      }),
    },
    Input: {
      vars: (_: unknown, { size }: Sized) => ({
        wrapper:
          size === 'xs' ? { '--input-height': 'var(--control)', '--input-fz': 'var(--font-label)' } : {},
      }),
    },
    Menu: { defaultProps: { shadow: 'md', withinPortal: true } },
    Modal: {
      defaultProps: {
        centered: true,
        closeButtonProps: { 'aria-label': 'Close' },
        overlayProps: { backgroundOpacity: 0.4 },
        transitionProps: { duration: 120 },
      },
    },
    Notification: {
      defaultProps: { closeButtonProps: { 'aria-label': 'Dismiss the message' } },
    },
    // Two buttons within one line are too small to hit; the arrow keys do the same.
    NumberInput: { defaultProps: { size: 'xs', hideControls: true } },
    PasswordInput: { defaultProps: { size: 'xs' } },
    Popover: { defaultProps: { shadow: 'md' } },
    SegmentedControl: { defaultProps: { size: 'xs' } },
    Select: { defaultProps: { size: 'xs', checkIconPosition: 'right' } },
    Switch: { defaultProps: { size: 'xs', withThumbIndicator: false } },
    Tabs: { defaultProps: { keepMounted: false } },
    Textarea: { defaultProps: { size: 'xs' } },
    TextInput: { defaultProps: { size: 'xs' } },
  },
});

const ownColours = {
  '--mantine-color-body': 'var(--surface)',
  '--mantine-color-text': 'var(--text)',
  '--mantine-color-dimmed': 'var(--text-dim)',
  '--mantine-color-placeholder': 'var(--text-dim)',
  '--mantine-color-error': 'var(--bad)',
  '--mantine-color-anchor': 'var(--accent-text)',
  '--mantine-color-iris-light': 'color-mix(in srgb, var(--accent) 14%, transparent)',
  '--mantine-color-iris-light-hover': 'color-mix(in srgb, var(--accent) 24%, transparent)',
  '--mantine-color-iris-light-color': 'var(--accent-text)',
};

/**
 * Resolves the Mantine variables that must match theme.css, which meets the contrast requirements that Mantine's do
 * not.
 */
export const cssVariablesResolver: CSSVariablesResolver = () => ({
  variables: {},
  light: ownColours,
  dark: ownColours,
});
