/**
 * The sign-in, above the current view: with a key, or by creating the first key.
 *
 * The view below is kept and continues after sign-in. The dialog can be closed; then views show the refusal, and a
 * banner offers the sign-in again.
 */
import { Button, Modal, PasswordInput, TextInput } from '@mantine/core';
import { IconInfoCircle } from '@tabler/icons-react';
import { type FormEvent, type ReactNode, useEffect, useMemo, useState } from 'react';
import type { CreatedKey } from '../../../engine/contract/authentication.ts';
import { call } from '../../api/client.ts';
import { dismissSignIn, signIn, useCredential } from '../../api/credential.ts';
import { desktopShell } from '../../api/desktop.ts';
import { keySnippets, shownPrefix, typedKey } from '../../api/key-text.ts';
import type { ApiFailure } from '../../api/problem.ts';
import { useAuthentication } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useRun } from '../../api/use-run.ts';
import { ShownOnce } from '../../ui/dialogs.tsx';
import { ProblemNotice } from '../../ui/notices.tsx';
import { useFirstFocus, useReturnedFocus } from '../../ui/use-focus.ts';
import { useSecondsUntil } from '../../ui/use-seconds-until.ts';
import styles from './shell.module.css';

/** Returns the seconds until a retry makes sense, counted down from the first sight of the failure; 0 means at once. */
function useNextTry(failure: ApiFailure | null): number {
  const at = useMemo(() => {
    const seconds = failure?.retryAfterSeconds ?? null;
    return seconds === null ? null : Date.now() + seconds * 1_000;
  }, [failure]);
  return useSecondsUntil(at);
}

/** Where the key is stored, in words. */
function keptFor(): string {
  return desktopShell() === null ? 'Kept for this tab alone' : 'Kept by this application alone';
}

/** Signs in with a key that the service accepts. `other` is another option beside the button. */
function SignInKeyForm({ other }: { other: ReactNode }) {
  const { endpoint } = useSession();
  const field = useFirstFocus<HTMLInputElement>();
  const [text, setText] = useState('');
  const run = useRun<void>();
  const { failure, runningSince } = run.state;
  const wait = useNextTry(failure);
  const typed = typedKey(text);
  const isReady = typed.kind === 'key' && runningSince === null && wait === 0;

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    if (typed.kind !== 'key' || !isReady) return;
    const { key } = typed;
    run.start(async (signal) => {
      await call({ ...endpoint, key }, 'whoami', {}, { signal });
      signIn(key);
    });
  }

  return (
    <form onSubmit={onSubmit} className="flex-column gap-12 flat-text">
      {/* Password managers store a secret under a user name. */}
      <input
        className="visually-hidden"
        type="text"
        name="username"
        autoComplete="username"
        value="API key"
        readOnly
        tabIndex={-1}
        aria-hidden
      />
      <PasswordInput
        ref={field}
        autoFocus
        data-autofocus
        label="API key"
        name="password"
        autoComplete="current-password"
        spellCheck={false}
        visibilityToggleButtonProps={{ 'aria-label': 'Show the key', tabIndex: 0 }}
        description={`${keptFor()}, and sent to ${window.location.host} alone.`}
        value={text}
        error={typed.kind === 'problem' ? typed.problem : null}
        onChange={(event) => {
          setText(event.currentTarget.value);
          run.clear();
        }}
      />
      {failure !== null && <ProblemNotice failure={failure} />}
      <div className={`flex-row gap-8 ${styles.actions}`}>
        {other}
        <Button type="submit" loading={runningSince !== null} disabled={!isReady}>
          {wait > 0 ? `Try again in ${wait} s` : 'Sign in'}
        </Button>
      </div>
    </form>
  );
}

interface BootstrapFormProps {
  /** Another option beside the button. */
  other: ReactNode;
  onMade: (made: CreatedKey) => void;
}

function BootstrapForm({ other, onMade }: BootstrapFormProps) {
  const { endpoint } = useSession();
  const field = useFirstFocus<HTMLInputElement>();
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  const run = useRun<void>();
  const { failure, runningSince } = run.state;
  const wait = useNextTry(failure);
  const isReady = username !== '' && password !== '' && runningSince === null && wait === 0;

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    if (!isReady) return;
    run.start(async (signal) =>
      onMade(
        await call({ ...endpoint, key: null }, 'bootstrap', { body: { username, password } }, { signal }),
      ),
    );
  }

  return (
    <form onSubmit={onSubmit} className="flex-column gap-12 flat-text">
      <p>There is no admin key yet. This makes the first one, and works once.</p>
      <TextInput
        ref={field}
        autoFocus
        data-autofocus
        label="User name"
        name="username"
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        description="SERVICE_ADMIN_USER of the service; admin unless it was set"
        value={username}
        onChange={(event) => setUsername(event.currentTarget.value)}
      />
      <PasswordInput
        label="Password"
        name="password"
        autoComplete="current-password"
        visibilityToggleButtonProps={{ 'aria-label': 'Show the password', tabIndex: 0 }}
        description="SERVICE_ADMIN_PASS of the service. Where it was not set, the built-in password is taken from the service's own machine alone."
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
      />
      {failure !== null && <ProblemNotice failure={failure} />}
      <div className={`flex-row gap-8 ${styles.actions}`}>
        {other}
        <Button type="submit" loading={runningSince !== null} disabled={!isReady}>
          {wait > 0 ? `Try again in ${wait} s` : 'Make the admin key'}
        </Button>
      </div>
    </form>
  );
}

/** Shows the new key before it is used. */
function FirstKey({ made, onSignIn }: { made: CreatedKey; onSignIn: () => void }) {
  const { endpoint } = useSession();
  const [isStored, setIsStored] = useState(false);
  return (
    <form
      className="flex-column gap-12 flat-text"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isStored) return;
        onSignIn();
        signIn(made.key);
      }}
    >
      <ShownOnce
        secret={made.key}
        snippets={keySnippets(endpoint, made.key)}
        isStored={isStored}
        onStored={setIsStored}
      />
      <div className={`flex-row gap-8 ${styles.actions}`}>
        <Button type="submit" disabled={!isStored}>
          Sign in with it
        </Button>
      </div>
    </form>
  );
}

/** Above the dialogs of views. */
const layer = 400;

/** Explains why the service no longer accepts a key. */
function Reason() {
  const { key, refusal } = useCredential();
  if (key === null || refusal === null) return null;
  const name = shownPrefix(key);
  return (
    <div className={`gap-8 flat-text tint-warn flex wraps padded-8 ${styles.signInReason}`} role="status">
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

/** Returns whether the service still needs its first key; null while unknown. */
function useHasToBootstrap(): boolean | null {
  const { data, error, refetch } = useAuthentication();
  // The state may have changed since the page loaded.
  useEffect(() => void refetch(), [refetch]);
  return data === undefined ? (error === null ? null : false) : data.bootstrapRequired;
}

interface SignInDialogProps {
  /** The key just created, or null. */
  made: CreatedKey | null;
  onMade: (made: CreatedKey | null) => void;
}

/** Asks for a key, or shows the one that was made. */
export function SignInDialog({ made, onMade }: SignInDialogProps) {
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
          Asking the service how to sign in…
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
