/** When the sign-in is shown, and the banner of a view whose calls are refused. */
import { Button } from '@mantine/core';
import { useEffect, useEffectEvent, useState } from 'react';
import type { CreatedKey } from '../../../engine/contract/authentication.ts';
import { askToSignIn, dismissSignIn, useCredential } from '../../api/credential.ts';
import { later } from '../../ui/later.tsx';
import { Banner } from '../../ui/notices.tsx';

const SignInDialog = later(async () => (await import('./sign-in-dialog.tsx')).SignInDialog);

/**
 * Lets Escape close the sign-in but no dialog below it. Those listen at the window too; this listener is registered
 * first, since the shell mounts before them.
 */
function useOwnEscape(isAsking: boolean, onEscape: () => void): void {
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    if (!isAsking || event.key !== 'Escape' || event.isComposing) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    onEscape();
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent) => onKeyDown(event);
    window.addEventListener('keydown', listener, { capture: true });
    return () => window.removeEventListener('keydown', listener, { capture: true });
  }, []);
}

/** Shows the sign-in while it is requested. */
export function SignIn() {
  const isAsking = useCredential((credential) => credential.isAsking);
  const [made, setMade] = useState<CreatedKey | null>(null);
  useOwnEscape(isAsking, () => {
    // Escape must not discard a key just created.
    if (made === null) dismissSignIn();
  });
  return isAsking ? <SignInDialog made={made} onMade={setMade} /> : null;
}

/** Shows a banner above a view whose calls are refused while the sign-in is closed. */
export function NotSignedIn() {
  const { refusal, isAsking } = useCredential();
  if (refusal === null || isAsking) return null;
  return (
    <Banner
      action={
        <Button size="compact-xs" variant="default" onClick={askToSignIn}>
          Sign in…
        </Button>
      }
    >
      You are not signed in: {refusal.detail}. What is shown may be out of date; what you typed is kept.
    </Banner>
  );
}
