/** Preferences of this browser and of the desktop application, and the addresses of the service. */
import { Button, NativeSelect, SegmentedControl, Switch } from '@mantine/core';
import { useHealth } from '../../api/queries.ts';
import { useCredential } from '../../api/credential.ts';
import { desktopShell } from '../../api/desktop.ts';
import { useSession, useSignOut } from '../../api/session.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { setDensity, setSingleKeys, useDensity, usePreferences } from '../../ui/preferences.ts';
import { chooseLanguage, chosenLanguage, languages } from '../../ui/texts.ts';
import { readChoice, setTheme, useTheme } from '../../ui/theme-choice.ts';
import { DesktopSection } from './desktop-section.tsx';
import { Setting } from './setting.tsx';
import styles from './settings.module.css';

interface AddressProps {
  title: string;
  hint: string;
  address: string;
  isLink?: boolean;
}

function Address({ title, hint, address, isLink = false }: AddressProps) {
  return (
    <Setting title={title} hint={hint}>
      {isLink ? (
        <a className="mono" href={address} target="_blank" rel="noreferrer">
          {address}
        </a>
      ) : (
        <code className="mono">{address}</code>
      )}
      <CopyButton text={address} label={`Copy the address: ${title}`} />
    </Setting>
  );
}

function Appearance() {
  const choice = useTheme((state) => state.choice);
  const density = useDensity((state) => state.density);
  return (
    <section>
      <h2>Appearance</h2>
      <Setting title="Theme" hint="System follows the operating system: colours and contrast.">
        <SegmentedControl
          aria-label="Theme"
          value={choice}
          onChange={(value) => setTheme(readChoice(value))}
          data={[
            { value: 'light', label: 'Light' },
            { value: 'dark', label: 'Dark' },
            { value: 'system', label: 'System' },
            { value: 'contrast', label: 'High contrast' },
          ]}
        />
      </Setting>
      <Setting title="Density" hint="How much fits on the screen.">
        <SegmentedControl
          aria-label="Density"
          value={density}
          onChange={(value) => setDensity(value === 'compact' ? 'compact' : 'normal')}
          data={[
            { value: 'normal', label: 'Normal' },
            { value: 'compact', label: 'Compact' },
          ]}
        />
      </Setting>
      {languages.length > 1 && <LanguageSetting />}
    </section>
  );
}

function LanguageSetting() {
  const named = languages.map(({ language, name }) => ({ value: language, label: name }));
  return (
    <Setting
      title="Language"
      hint="Of the workbench. Messages of the service are in English. The page loads again."
    >
      <NativeSelect
        aria-label="Language"
        value={chosenLanguage()}
        onChange={(event) => chooseLanguage(event.currentTarget.value)}
        data={[{ value: 'system', label: 'System' }, ...named]}
      />
    </Setting>
  );
}

function Keyboard() {
  const singleKeys = usePreferences((state) => state.singleKeys);
  return (
    <section>
      <h2>Keyboard</h2>
      <Setting
        title="Single-character shortcuts"
        hint="Such as ? for the list of shortcuts. Switch them off if speech input types them."
      >
        <Switch
          aria-label="Single-character shortcuts"
          checked={singleKeys}
          onChange={(event) => setSingleKeys(event.currentTarget.checked)}
        />
      </Setting>
    </section>
  );
}

const keyPlaces = {
  tab: 'Kept in this tab only.',
  session: 'Kept until the application ends: this system has no store for secrets that it can use.',
  kept: 'Kept by the system’s store for secrets.',
} as const;

function Service() {
  const key = useCredential((credential) => credential.key);
  const place = useCredential((credential) => credential.place);
  const signOut = useSignOut();
  const { origin } = useSession().endpoint;
  const health = useHealth().data;
  return (
    <section>
      <h2>Service</h2>
      <Address title="Address" hint={`Version ${health?.version ?? 'unknown'}`} address={origin} />
      <Address
        title="Agents (MCP)"
        hint="Streamable HTTP; append /sse for the older transport."
        address={`${origin}/mcp`}
      />
      <Address title="API documentation" hint="In the browser, offline." address={`${origin}/docs`} isLink />
      <Address
        title="OpenAPI"
        hint="Version 3.1, for generators."
        address={`${origin}/openapi.json`}
        isLink
      />
      {key !== null && (
        <Setting title="Key" hint={keyPlaces[place]}>
          <Button variant="default" onClick={signOut}>
            Sign out
          </Button>
        </Setting>
      )}
    </section>
  );
}

/** The Settings view. */
export function SettingsView() {
  const shell = desktopShell();
  return (
    <div className="tall scrolls">
      <div className={styles.column}>
        <h1>Settings</h1>
        <Appearance />
        <Keyboard />
        <Service />
        {shell !== null && <DesktopSection shell={shell} />}
      </div>
    </div>
  );
}
