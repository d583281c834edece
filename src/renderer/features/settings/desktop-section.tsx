/**
 * The settings of the desktop application: its data folder, how it starts and quits, and keys of language
 * models.
 *
 * They belong to the application: nothing here goes over HTTP, and a key is never shown again once given.
 */
import { Button, NumberInput, PasswordInput, Select, Switch } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import {
  type DesktopSettings,
  type ProviderKeyState,
  type DesktopProviderName,
  providerKeys,
  desktopProviderNames,
  type ReleaseState,
  type SecretPlace,
  type SettingsChange,
  type ShellApi,
} from '../../../desktop-contract/channels.ts';
import { notifyTrouble } from '../../ui/notify.tsx';
import { Banner } from '../../ui/notices.tsx';
import { Setting } from './setting.tsx';
import styles from './settings.module.css';

const queryKey = ['desktop settings'];

interface PartProps {
  settings: DesktopSettings;
  shell: ShellApi;
  /** Runs a change that resolves to the new settings, or nothing; reports a failure. */
  onDo: (work: () => Promise<DesktopSettings | void>) => void;
}

function Folder({ settings, shell, onDo }: PartProps) {
  const { folder, isFolderFixed } = settings;
  const hint = isFolderFixed
    ? 'Set by STORAGE_DIR.'
    : 'Where the knowledge is stored. Another folder is another knowledge base.';
  return (
    <Setting title="Data folder" hint={hint}>
      <code className={`mono truncate ${styles.path}`} title={folder}>
        {folder}
      </code>
      <Button variant="default" onClick={() => onDo(() => shell.showDataFolder())}>
        Show
      </Button>
      <Button variant="default" disabled={isFolderFixed} onClick={() => onDo(() => shell.chooseFolder())}>
        Choose…
      </Button>
    </Setting>
  );
}

function Port({ settings, shell, onDo }: PartProps) {
  const { port, isPortFixed } = settings;
  const [typed, setTyped] = useState<string | number>(port ?? '');
  const chosen = typeof typed === 'number' ? typed : null;
  const change = (next: number | null) => onDo(() => shell.changeSettings({ kind: 'port', port: next }));
  return (
    <Setting
      title="Port"
      hint={
        isPortFixed ? 'Set by PORT.' : 'Empty: 9300, or the next free port. A chosen port is never replaced.'
      }
    >
      <NumberInput
        aria-label="Port"
        className={styles.port}
        min={1}
        max={65_535}
        allowDecimal={false}
        allowNegative={false}
        hideControls
        disabled={isPortFixed}
        placeholder="9300"
        value={typed}
        onChange={setTyped}
      />
      <Button variant="default" disabled={isPortFixed || chosen === port} onClick={() => change(chosen)}>
        Set
      </Button>
    </Setting>
  );
}

function StartAndEnd({ settings, shell, onDo }: PartProps) {
  const change = (next: SettingsChange) => onDo(() => shell.changeSettings(next));
  return (
    <>
      <Setting
        title="Start at login"
        hint="Without a window: only the service, and an icon where the desktop has a tray."
      >
        <Switch
          aria-label="Start at login"
          checked={settings.opensAtLogin}
          onChange={(event) => change({ kind: 'opensAtLogin', value: event.currentTarget.checked })}
        />
      </Setting>
      <Setting
        title="When the last window closes while agents are connected"
        hint="Without agents the application quits with its last window."
      >
        <Select
          aria-label="When the last window closes while agents are connected"
          allowDeselect={false}
          value={settings.departure}
          data={[
            { value: 'ask', label: 'Ask' },
            { value: 'keep', label: 'Keep running without a window' },
            { value: 'quit', label: 'Quit' },
          ]}
          onChange={(value) => {
            if (value !== null) change({ kind: 'departure', value });
          }}
        />
      </Setting>
    </>
  );
}

function Notifications({ settings, shell, onDo }: PartProps) {
  const { notifiesOfWithdrawn, canNotify } = settings;
  return (
    <Setting
      title="Notify me when conclusions are withdrawn"
      hint={
        canNotify
          ? 'By one notification of the system, unless a window in use shows their database.'
          : 'This system has no notifications.'
      }
    >
      <Switch
        aria-label="Notify me when conclusions are withdrawn"
        disabled={!canNotify}
        checked={notifiesOfWithdrawn}
        onChange={(event) => {
          const value = event.currentTarget.checked;
          onDo(() => shell.changeSettings({ kind: 'notifiesOfWithdrawn', value }));
        }}
      />
    </Setting>
  );
}

function releaseHint(release: ReleaseState): string {
  switch (release.kind) {
    case 'off':
      return 'This build has no address to check.';
    case 'unknown':
      return 'When on, checks once a day. Downloads nothing.';
    case 'newest':
      return 'This is the newest version.';
    case 'newer':
      return `Version ${release.version} is available.`;
    case 'failed':
      return `The check failed: ${release.reason}.`;
  }
}

function Releases({ settings, shell, onDo }: PartProps) {
  const { release, asksForReleases } = settings;
  return (
    <Setting title="Check for new versions" hint={releaseHint(release)}>
      {release.kind === 'newer' && (
        <Button variant="default" onClick={() => onDo(() => shell.showRelease())}>
          Show in the browser
        </Button>
      )}
      {asksForReleases && release.kind !== 'off' && (
        <Button variant="default" onClick={() => onDo(() => shell.checkReleases())}>
          Check now
        </Button>
      )}
      <Switch
        aria-label="Check for new versions"
        disabled={release.kind === 'off'}
        checked={asksForReleases && release.kind !== 'off'}
        onChange={(event) => {
          const value = event.currentTarget.checked;
          onDo(async () => {
            const changed = await shell.changeSettings({ kind: 'asksForReleases', value });
            return value ? shell.checkReleases() : changed;
          });
        }}
      />
    </Setting>
  );
}

const keyHints: Readonly<Record<ProviderKeyState, string>> = {
  none: 'No key.',
  kept: 'A key is kept by the system’s store for secrets.',
  session: 'A key is kept until the application ends.',
  environment: 'The key is set by the environment.',
};

interface ProviderProps extends PartProps {
  provider: DesktopProviderName;
}

function ProviderKey({ provider, settings, shell, onDo }: ProviderProps) {
  const [typed, setTyped] = useState('');
  const { title } = providerKeys[provider];
  const state = settings.providers[provider];
  const isFixed = state === 'environment';
  const keep = (key: string | null) =>
    onDo(async () => {
      const changed = await shell.changeSettings({ kind: 'provider', provider, key });
      setTyped('');
      return changed;
    });

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    if (typed.trim() !== '') keep(typed.trim());
  }

  return (
    <Setting title={title} hint={keyHints[state]}>
      <form onSubmit={onSubmit} className={`flex-row gap-6 ${styles.control}`}>
        <PasswordInput
          aria-label={`Key of ${title}`}
          className={styles.key}
          autoComplete="off"
          spellCheck={false}
          disabled={isFixed}
          visibilityToggleButtonProps={{ 'aria-label': `Show the key of ${title}`, tabIndex: 0 }}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <Button type="submit" variant="default" disabled={isFixed || typed.trim() === ''}>
          Keep
        </Button>
      </form>
      {(state === 'kept' || state === 'session') && (
        <Button variant="default" aria-label={`Forget the key of ${title}`} onClick={() => keep(null)}>
          Forget
        </Button>
      )}
    </Setting>
  );
}

const secretNotes: Readonly<Record<SecretPlace, string>> = {
  kept: 'Kept by the system’s store for secrets, and given to the service when it starts.',
  session:
    'This system has no store for secrets that the application can use: keys are kept until it ends, and never written to a file.',
};

function RestartBanner({ settings, shell, onDo }: PartProps) {
  if (!settings.needsRestart) return null;
  return (
    <Banner
      action={
        <Button variant="default" onClick={() => onDo(() => shell.restartService())}>
          Restart the service
        </Button>
      }
    >
      {settings.isAttached
        ? 'The service shown belongs to another program: changes apply from the next start of this application.'
        : 'Changes apply once the service is restarted. Agents then reconnect.'}
    </Banner>
  );
}

/** The settings of the desktop application. */
export function DesktopSection({ shell }: { shell: ShellApi }) {
  const client = useQueryClient();
  const settings = useQuery({ queryKey, queryFn: () => shell.readSettings(), staleTime: 0 }).data;
  if (settings === undefined) return null;
  const onDo = (work: () => Promise<DesktopSettings | void>): void => {
    work().then(
      (changed) => {
        if (changed !== undefined) client.setQueryData(queryKey, changed);
      },
      (error: unknown) => notifyTrouble('That failed', error),
    );
  };
  const parts = { settings, shell, onDo };
  return (
    <>
      <section>
        <h2>Application</h2>
        <RestartBanner {...parts} />
        <Folder {...parts} />
        <Port key={settings.port} {...parts} />
        <StartAndEnd {...parts} />
        <Notifications {...parts} />
        <Releases {...parts} />
      </section>
      <section>
        <h2>Keys of language models</h2>
        <p className={`small-print no-margin ${styles.note}`}>
          {secretNotes[settings.secrets]} With a key, facts can be extracted from text.
        </p>
        {desktopProviderNames.map((provider) => (
          <ProviderKey key={provider} provider={provider} {...parts} />
        ))}
      </section>
    </>
  );
}
