/**
 * The session: what an agent was given last is kept under its name, and compared with.
 *
 * Looking at windows never touches it; each of the three buttons says what it does to it.
 */
import { Button, Switch, TextInput } from '@mantine/core';
import type { RunState } from '../../api/use-run.ts';
import { formStyles } from '../../ui/form-section.tsx';
import styles from './context.module.css';
import type { SessionWork } from './use-session-work.ts';

interface SessionFieldsProps {
  session: string | undefined;
  onSession: (session: string | undefined) => void;
  problem: string | undefined;
  work: SessionWork;
  /** True where the form can be read. */
  isReadable: boolean;
}

function isRunning(state: Pick<RunState<unknown>, 'runningSince'>): boolean {
  return state.runningSince !== null;
}

export function SessionFields({ session, onSession, problem, work, isReadable }: SessionFieldsProps) {
  const name = session ?? '';
  const isReady = name !== '' && problem === undefined;
  return (
    <>
      <TextInput
        aria-label="Session id"
        placeholder="agent-1"
        value={name}
        error={problem}
        onChange={(event) =>
          onSession(event.currentTarget.value === '' ? undefined : event.currentTarget.value)
        }
      />
      <div className={styles.buttons}>
        <Button
          variant="default"
          disabled={!isReady || !isReadable}
          loading={isRunning(work.keeping)}
          onClick={work.keep}
        >
          Keep the window
        </Button>
        <Button
          variant="default"
          disabled={!isReady || (work.isByForm && !isReadable)}
          loading={isRunning(work.diff)}
          onClick={work.compare}
        >
          Diff
        </Button>
        <Button variant="default" disabled={!isReady} loading={isRunning(work.clearing)} onClick={work.clear}>
          Clear the session
        </Button>
      </div>
      <Switch
        label="Diff by this form’s goals, facts and scope"
        checked={work.isByForm}
        onChange={(event) => work.setIsByForm(event.currentTarget.checked)}
      />
      <p className={`dim ${formStyles.hint}`}>
        Only these buttons touch the session. A diff compares its last window with the present one, which then
        is its last.
      </p>
    </>
  );
}
