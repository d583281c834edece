/** Signs in with a key, once the service has taken it. */
import { Button, PasswordInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { call } from '../../api/client.ts';
import { signIn } from '../../api/credential.ts';
import { desktopShell } from '../../api/desktop.ts';
import { typedKey } from '../../api/key-text.ts';
import { useSession } from '../../api/session.tsx';
import { useRun } from '../../api/use-run.ts';
import { ProblemNotice } from '../../ui/notices.tsx';
import { useFirstFocus } from '../../ui/use-first-focus.ts';
import styles from './sign-in.module.css';
import { useNextTry } from './use-next-try.ts';

function keptFor(): string {
  return desktopShell() === null ? 'Kept for this tab alone' : 'Kept by this application alone';
}

/** `other`: another way in, beside the button. */
export function SignInKeyForm({ other }: { other: ReactNode }) {
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
    <form onSubmit={onSubmit} className={styles.form}>
      {/* Password managers keep a secret under a name. */}
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
      <div className={styles.actions}>
        {other}
        <Button type="submit" loading={runningSince !== null} disabled={!isReady}>
          {wait > 0 ? `Try again in ${wait} s` : 'Sign in'}
        </Button>
      </div>
    </form>
  );
}
