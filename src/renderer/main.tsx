/** The workbench's entry: styles, providers, the router. */
import './no-eval.ts';
import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './ui/theme.css';
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueryClient } from './api/queries.ts';
import { lastAddressKey, router } from './routes.tsx';
import { readStored, readString } from './ui/stored-state.ts';
import { cssVariablesResolver, theme } from './ui/theme.ts';
import { applyDensity } from './ui/use-row-height.ts';

const schemeManager = localStorageColorSchemeManager({ key: 'corollary.theme' });

/** Sets the colours before the first paint, so that a dark workbench does not start with a white flash. */
function applyScheme(): void {
  const chosen = schemeManager.get('auto');
  const isDark =
    chosen === 'dark' || (chosen === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.setAttribute('data-mantine-color-scheme', isDark ? 'dark' : 'light');
}

/** A start without an address goes on where the last one ended. */
function restoreAddress(): void {
  if (window.location.hash !== '') return;
  const last = readStored(lastAddressKey, readString, '');
  if (last.startsWith('/')) window.history.replaceState(null, '', `#${last}`);
}

const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root');

applyScheme();
applyDensity();
restoreAddress();
createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariablesResolver}
      defaultColorScheme="auto"
      colorSchemeManager={schemeManager}
    >
      <Notifications position="bottom-right" limit={4} />
      <QueryClientProvider client={createQueryClient()}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
