/**
 * The sign-in, over whatever is on screen: with a key, or by making the first one.
 *
 * What is under it stays as it is, and goes on once somebody has signed in. It can be closed; then views say what was
 * refused, and a line over them offers the sign-in again.
 */
import { Button, Modal } from '@mantine/core';
import { IconInfoCircle } from '@tabler/icons-react';
import { useEffect, useEffectEvent, useState } from 'react';
import type { CreatedKey } from '../../../engine/contract/authentication.ts';
import { askToSignIn, dismissSignIn, useCredential } from '../../api/credential.ts';
import { shownPrefix } from '../../api/key-text.ts';
import { useAuthentication } from '../../api/queries.ts';
import { Banner } from '../../ui/notices.tsx';
import { useReturnedFocus } from '../../ui/use-returned-focus.ts';
import { SignInKeyForm } from './sign-in-key.tsx';
import { BootstrapForm, FirstKey } from './sign-in-bootstrap.tsx';
import styles from './sign-in.module.css';

/** Over the dialogs that views have open. */
const layer = 400;

/** Why a key that was good is not any more. */
function Reason() {
  const { key, refusal } = useCredential();
  if (key === null || refusal === null) return null;
  const name = shownPrefix(key);
  return (
    <div className={styles.reason} role="status">
      <IconInfoCircle size={16} aria-hidden />
      <div>
        <p>
          The service does not take the key{name === null ? '' : <code className="mono"> {name}</code>} any
          more: {refusal.detail}. <span className="dim">(request {refusal.requestId})</span>
        </p>
        <p>What you had open stays as it is, and goes on when you have signed in.</p>
      </div>
    </div>
  );
}

/** null while it is not known. */
function useHasToBootstrap(): boolean | null {
  const { data, error, refetch } = useAuthentication();
  // What was so when the page was loaded need not be so now.
  useEffect(() => void refetch(), [refetch]);
  return data === undefined ? (error === null ? null : false) : data.bootstrapRequired;
}

interface SignInDialogProps {
  /** The key that was just made; null: none was. */
  made: CreatedKey | null;
  onMade: (made: CreatedKey | null) => void;
}

function SignInDialog({ made, onMade }: SignInDialogProps) {
  const hasKey = useCredential(({ key }) => key !== null);
  const hasToBootstrap = useHasToBootstrap();
  const [prefersKey, setPrefersKey] = useState(false);
  useReturnedFocus();
  const isFirst = hasToBootstrap === true && !prefersKey;
  const title = made !== null ? 'The admin key' : isFirst ? 'Make the first admin key' : 'Sign in';
  const other =
    hasToBootstrap === true ? (
      <Button variant="subtle" onClick={() => setPrefersKey(isFirst)}>
        {isFirst ? 'I have a key' : 'Make the first admin key'}
      </Button>
    ) : null;
  return (
    <Modal
      opened
      onClose={dismissSignIn}
      title={title}
      size={made === null ? 'sm' : 'lg'}
      zIndex={layer}
      closeOnEscape={false}
      closeOnClickOutside={false}
      withCloseButton={made === null}
      returnFocus={false}
    >
      {made !== null ? (
        <FirstKey made={made} onSignIn={() => onMade(null)} />
      ) : hasToBootstrap === null ? (
        <p className={styles.whoHint} role="status">
          Asking the service how it knows who calls…
        </p>
      ) : (
        <>
          <Reason />
          {!hasKey && !isFirst && <p className={styles.whoHint}>This service asks for a key.</p>}
          {isFirst ? <BootstrapForm other={other} onMade={onMade} /> : <SignInKeyForm other={other} />}
        </>
      )}
    </Modal>
  );
}

/**
 * Escape closes the sign-in and no dialog under it, each of which listens for it at the window. This one listens first,
 * since the shell is there before them.
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

export function SignIn() {
  const isAsking = useCredential((credential) => credential.isAsking);
  const [made, setMade] = useState<CreatedKey | null>(null);
  useOwnEscape(isAsking, () => {
    // A key that was just made is not closed by a slip.
    if (made === null) dismissSignIn();
  });
  return isAsking ? <SignInDialog made={made} onMade={setMade} /> : null;
}

/** Over a view whose calls are refused, while the sign-in is closed. */
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
