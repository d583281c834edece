/** Entry of the workbench: styles, providers, router. */
import '../ui/no-eval.ts';
import '../ui/style-nonce.ts';
import { MantineProvider } from '@mantine/core';
import '../ui/mantine.css';
import '../ui/layout.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { type ReactNode, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { restoreKey } from '../api/credential.ts';
import { desktopShell } from '../api/desktop.ts';
import { createQueryClient } from '../api/queries.ts';
import '../ui/controls.css';
import '../ui/fonts.css';
import { MessageArea, notifyTrouble } from '../ui/notify.tsx';
import { readStoredState, readString } from '../ui/stored-state.ts';
import { startTheme, type ThemeChoice, useShownTheme, useTheme } from '../ui/theme-choice.ts';
import '../ui/theme.css';
import { cssVariablesResolver, theme } from '../ui/theme.ts';
import { applyDensity } from '../ui/preferences.ts';
import { languageFailure } from '../ui/texts.ts';
import { lastAddressKey, router } from './routes.tsx';

/** Applies the shown theme's colours to Mantine. */
function Themed({ children }: { children: ReactNode }) {
  const shown = useShownTheme();
  return (
    <MantineProvider
      theme={theme}
      deduplicateCssVariables={false}
      cssVariablesResolver={cssVariablesResolver}
      forceColorScheme={shown === 'light' ? 'light' : 'dark'}
    >
      {children}
    </MantineProvider>
  );
}

/** Opens the last address if the page starts without one. */
function restoreAddress(): void {
  if (window.location.hash !== '') return;
  // This window's own, before that of the window used last.
  const ofAny = readStoredState(lastAddressKey, readString, '');
  const last = readStoredState(lastAddressKey, readString, ofAny, sessionStorage);
  if (last.startsWith('/')) window.history.replaceState(null, '', `#${last}`);
}

const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root');

/** Makes menus and frames of the desktop application follow the theme. */
function tellTheme({ choice }: { choice: ThemeChoice }): void {
  const told = desktopShell()?.setTheme(choice === 'contrast' ? 'dark' : choice);
  told?.catch((error: unknown) => notifyTrouble('The theme of the menus was not changed', error));
}

startTheme();
applyDensity();
restoreAddress();
tellTheme(useTheme.getState());
useTheme.subscribe(tellTheme);
if (languageFailure !== null) notifyTrouble('The workbench is shown in English', languageFailure);
await restoreKey().catch((error: unknown) => notifyTrouble('The key could not be read', error));
createRoot(root).render(
  <StrictMode>
    <Themed>
      <MessageArea />
      <QueryClientProvider client={createQueryClient()}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </Themed>
  </StrictMode>,
);
