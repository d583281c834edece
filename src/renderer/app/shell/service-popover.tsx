/** What is known of the service, and the other services. */
import { ActionIcon, Button, Popover, UnstyledButton } from '@mantine/core';
import { IconExternalLink, IconPlus, IconX } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import { create } from 'zustand';
import { useLive } from '../../api/live.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { useHealth } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { NameDialog, type NameQuestion } from '../../ui/dialogs.tsx';
import { formatDuration } from '../../ui/format.ts';
import { readStoredState, writeStored } from '../../ui/stored-state.ts';
import { Tooltip } from '../../ui/tooltip.tsx';
import { StatusButton, stateLabel } from './status-button.tsx';
import styles from './shell.module.css';
import { useOpenAtOnce } from '../../ui/use-open-at-once.ts';

/** Addresses of services, typed and remembered. */
const maxRemembered = 8;

/** Returns the origin of an address, with or without `http://`; null if it has none. */
export function serviceOriginOf(address: string): string | null {
  const trimmed = address.trim();
  const isWhole = /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed);
  const text = isWhole ? trimmed : `http://${trimmed}`;
  if (trimmed === '' || /\s/.test(trimmed) || !URL.canParse(text)) return null;
  const { protocol, origin, username, password } = new URL(text);
  const isOfWeb = protocol === 'http:' || protocol === 'https:';
  return isOfWeb && username === '' && password === '' ? origin : null;
}

/** Returns the problem of a typed address, as a sentence; null if it is valid. */
export function addressProblem(address: string): string | null {
  return serviceOriginOf(address) === null
    ? 'This is no address of a service, such as http://127.0.0.1:9302.'
    : null;
}

/** Returns the origins with `origin` first, without duplicates; drops the oldest beyond the limit. */
export function withOrigin(origins: readonly string[], origin: string): readonly string[] {
  return [origin, ...origins.filter((known) => known !== origin)].slice(0, maxRemembered);
}

/** Returns the stored origins, ignoring anything else; null if the value is no list. */
export function readOrigins(value: unknown): readonly string[] | null {
  if (!Array.isArray(value)) return null;
  return value.filter(
    (entry): entry is string => typeof entry === 'string' && serviceOriginOf(entry) === entry,
  );
}

/**
 * Addresses of other services, remembered in this browser. Each opens its own workbench in its own window: a page
 * talks only to the service it came from.
 */
const storageKey = 'corollary.services';
interface OtherServices {
  readonly origins: readonly string[];
}

const useOtherServices = create<OtherServices>()(() => ({
  origins: readStoredState<readonly string[]>(storageKey, readOrigins, []),
}));

function remember(origins: readonly string[]): void {
  writeStored(storageKey, origins);
  useOtherServices.setState({ origins });
}

/** Opens another service's workbench in a new window without access to this one. */
function openService(origin: string): void {
  remember(withOrigin(useOtherServices.getState().origins, origin));
  window.open(`${origin}/`, '_blank', 'noopener,noreferrer');
}

function forgetService(origin: string): void {
  remember(useOtherServices.getState().origins.filter((known) => known !== origin));
}

/** Lists the known other services; each opens in its own window. */
function OtherServiceList({ onAsk }: { onAsk: () => void }) {
  const here = useSession().endpoint.origin;
  const origins = useOtherServices((state) => state.origins).filter((origin) => origin !== here);
  return (
    <section className={styles.services} aria-label="Other services">
      <h2>Other services</h2>
      {origins.length > 0 && (
        <ul>
          {origins.map((origin) => (
            <li key={origin}>
              <Tooltip label="Open its workbench in a new window">
                <UnstyledButton
                  className={`flex-row rest-width gap-6 ${styles.service}`}
                  onClick={() => openService(origin)}
                >
                  <code className="mono">{origin}</code>
                  <IconExternalLink size={14} aria-hidden />
                </UnstyledButton>
              </Tooltip>
              <CopyButton text={origin} label={`Copy the address ${origin}`} />
              <ActionIcon size="sm" aria-label={`Forget ${origin}`} onClick={() => forgetService(origin)}>
                <IconX size={14} aria-hidden />
              </ActionIcon>
            </li>
          ))}
        </ul>
      )}
      <Button variant="default" leftSection={<IconPlus size={14} aria-hidden />} onClick={onAsk}>
        Open another service…
      </Button>
    </section>
  );
}

const serviceQuestion: NameQuestion = {
  title: 'Open another service',
  label: 'Address',
  hint: 'Such as http://127.0.0.1:9302. Its workbench opens in a new window; this one stays as it is.',
  action: 'Open',
  problemOf: addressProblem,
  onName: (address) => {
    const origin = serviceOriginOf(address);
    if (origin !== null) openService(origin);
  },
};

/** Shows what is known of the service, open at first, below its state. */
export function ServicePopover() {
  const target = useRef<HTMLButtonElement>(null);
  const [isOpen, setIsOpen] = useOpenAtOnce(target);
  const [isAsking, setIsAsking] = useState(false);
  const label = stateLabel(useLive((state) => state.stream));
  const { endpoint } = useSession();
  const health = useHealth({ isWanted: isOpen }).data;
  return (
    <>
      <Popover position="bottom-end" width={360} opened={isOpen} onChange={setIsOpen} trapFocus returnFocus>
        <Popover.Target>
          <StatusButton ref={target} onClick={() => setIsOpen(!isOpen)} />
        </Popover.Target>
        <Popover.Dropdown aria-label="The service">
          <dl className={styles.facts}>
            <dt>Service</dt>
            <dd>
              <code className="mono">{endpoint.origin}</code>
              <CopyButton text={endpoint.origin} label="Copy the address" />
            </dd>
            <dt>For agents</dt>
            <dd>
              <code className="mono">{endpoint.origin}/mcp</code>
              <CopyButton text={`${endpoint.origin}/mcp`} label="Copy the MCP address" />
            </dd>
            <dt>Version</dt>
            <dd>{health?.version ?? 'unknown'}</dd>
            <dt>Up for</dt>
            <dd>{health === undefined ? 'unknown' : formatDuration(health.uptimeMs)}</dd>
            <dt>Changes</dt>
            <dd>{label}</dd>
          </dl>
          <OtherServiceList
            onAsk={() => {
              setIsOpen(false);
              setIsAsking(true);
            }}
          />
        </Popover.Dropdown>
      </Popover>
      {isAsking && (
        <NameDialog question={serviceQuestion} failureOf={apiFailureOf} onClose={() => setIsAsking(false)} />
      )}
    </>
  );
}
