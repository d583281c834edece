/** Mantine in the colours of the theme that is shown. */
import { MantineProvider } from '@mantine/core';
import type { ReactNode } from 'react';
import { cssVariablesResolver, theme } from './theme.ts';
import { useShownTheme } from './theme-choice.ts';

export function Themed({ children }: { children: ReactNode }) {
  const shown = useShownTheme();
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariablesResolver}
      forceColorScheme={shown === 'light' ? 'light' : 'dark'}
    >
      {children}
    </MantineProvider>
  );
}
