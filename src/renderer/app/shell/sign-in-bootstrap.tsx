/** The first admin key, made with the user name and password that the service was started with. */
import { Button, PasswordInput, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import type { CreatedKey } from '../../../engine/contract/authentication.ts';
import { call } from '../../api/client.ts';
import { signIn } from '../../api/credential.ts';
import { keySnippets } from '../../api/key-text.ts';
import { useSession } from '../../api/session.tsx';
import { useRun } from '../../api/use-run.ts';
import { ProblemNotice } from '../../ui/notices.tsx';
import { ShownOnce } from '../../ui/shown-once.tsx';
import { useFirstFocus } from '../../ui/use-first-focus.ts';
import styles from './sign-in.module.css';
import { useNextTry } from './use-next-try.ts';

interface BootstrapFormProps {
  /** Another way in, beside the button. */
  other: ReactNode;
  onMade: (made: CreatedKey) => void;
}

export function BootstrapForm({ other, onMade }: BootstrapFormProps) {
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
    <form onSubmit={onSubmit} className={styles.form}>
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
      <div className={styles.actions}>
        {other}
        <Button type="submit" loading={runningSince !== null} disabled={!isReady}>
          {wait > 0 ? `Try again in ${wait} s` : 'Make the admin key'}
        </Button>
      </div>
    </form>
  );
}

/** The key that was made, before it is used. */
export function FirstKey({ made, onSignIn }: { made: CreatedKey; onSignIn: () => void }) {
  const { endpoint } = useSession();
  const [isStored, setIsStored] = useState(false);
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isStored) return;
        onSignIn();
        signIn(made.key);
      }}
    >
      <ShownOnce
        secret={made.key}
        what="key"
        snippets={keySnippets(endpoint, made.key)}
        isStored={isStored}
        onStored={setIsStored}
      />
      <div className={styles.actions}>
        <Button type="submit" disabled={!isStored}>
          Sign in with it
        </Button>
      </div>
    </form>
  );
}
