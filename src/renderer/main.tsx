/** The workbench's entry: styles, providers, the router. */
import './no-eval.ts';
import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './ui/theme.css';
import './ui/controls.css';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueryClient } from './api/queries.ts';
import { lastAddressKey, router } from './routes.tsx';
import { readStored, readString } from './ui/stored-state.ts';
import { startTheme } from './ui/theme-choice.ts';
import { Themed } from './ui/themed.tsx';
import { applyDensity } from './ui/use-row-height.ts';

/** A start without an address goes on where the last one ended. */
function restoreAddress(): void {
  if (window.location.hash !== '') return;
  const last = readStored(lastAddressKey, readString, '');
  if (last.startsWith('/')) window.history.replaceState(null, '', `#${last}`);
}

const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root');

startTheme();
applyDensity();
restoreAddress();
createRoot(root).render(
  <StrictMode>
    <Themed>
      <Notifications position="bottom-right" limit={4} />
      <QueryClientProvider client={createQueryClient()}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </Themed>
  </StrictMode>,
);
