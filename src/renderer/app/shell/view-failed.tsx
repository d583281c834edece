import { Button } from '@mantine/core';
import { IconPlugConnectedX, IconRefresh } from '@tabler/icons-react';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useLive } from '../../api/live.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { EmptyState, PaneProblem } from '../../ui/notices.tsx';

/** Messages of browsers and of the bundler's loader for a module or style sheet that failed to load. */
const words =
  /dynamically imported module|Importing a module script failed|error loading dynamically|Unable to preload CSS/i;

/** Returns true for the error of a view whose code could not be fetched. */
export function isMissingPart(error: unknown): boolean {
  return error instanceof Error && words.test(error.message);
}

function reload(): void {
  window.location.reload();
}

function NotLoaded() {
  const state = useLive(({ stream }) => stream.kind);
  const wasAway = useRef(false);
  useEffect(() => {
    if (state === 'waiting') wasAway.current = true;
    else if (state === 'live' && wasAway.current) reload();
  }, [state]);
  return (
    <div role="alert" style={{ height: '100%' }}>
      <EmptyState
        icon={<IconPlugConnectedX size={30} stroke={1.3} aria-hidden />}
        title="This part of the workbench did not arrive"
        actions={
          <Button leftSection={<IconRefresh size={14} aria-hidden />} onClick={reload}>
            Load it again
          </Button>
        }
      >
        The service did not send it. It is loaded by itself when the service is back; what you typed is kept,
        and the other views that were open go on.
      </EmptyState>
    </div>
  );
}

/**
 * Replaces a view that failed to render.
 *
 * If its code did not load, the whole page is reloaded once the service is back, since a browser may cache the
 * failure; addresses and drafts survive that.
 */
export function ViewFailed({ error, reset }: ErrorComponentProps) {
  return isMissingPart(error) ? <NotLoaded /> : <PaneProblem failure={apiFailureOf(error)} onRetry={reset} />;
}
