import { Menu } from '@mantine/core';
import { IconCheck, IconDatabase, IconPlus, IconStack2, IconUsers } from '@tabler/icons-react';
import { type ReactNode, useRef } from 'react';
import { databaseNameProblem, scopeNameProblem, tenantNameProblem } from '../../../engine/contract/names.ts';
import { rememberTenant, useKnownTenants } from '../../api/names.ts';
import { useDatabases, useScopes, useTenants, useWhoAmI, useWrite } from '../../api/queries.ts';
import { useReason } from '../../api/rights.ts';
import { useSession } from '../../api/session.tsx';
import { scopeKey, type ScopeSelection, scopeLabel } from '../../api/space.ts';
import { formatCount } from '../../ui/format.ts';
import type { NameQuestion } from '../../ui/dialogs.tsx';
import type { GoTo } from './go-to.ts';
import styles from './shell.module.css';
import { SwitcherButton } from './switcher-button.tsx';
import { useOpenAtOnce } from '../../ui/use-open-at-once.ts';

/** What a switch needs. */
interface SpaceMenuProps {
  goTo: GoTo;
  ask: (question: NameQuestion) => void;
}

interface SwitcherProps {
  what: string;
  value: string;
  icon: ReactNode;
  children: ReactNode;
}

function Switcher({ what, value, icon, children }: SwitcherProps) {
  const target = useRef<HTMLButtonElement>(null);
  const [isOpen, setIsOpen] = useOpenAtOnce(target);
  return (
    <Menu position="bottom-start" width={260} opened={isOpen} onChange={setIsOpen}>
      <Menu.Target>
        <SwitcherButton ref={target} what={what} value={value} icon={icon} />
      </Menu.Target>
      <Menu.Dropdown style={{ maxHeight: '70vh', overflowY: 'auto' }}>
        <Menu.Label>{what}</Menu.Label>
        {children}
      </Menu.Dropdown>
    </Menu>
  );
}

interface ChoiceProps {
  isCurrent: boolean;
  note?: string;
  onClick: () => void;
  children: ReactNode;
}

function Choice({ isCurrent, note, onClick, children }: ChoiceProps) {
  return (
    <Menu.Item
      onClick={onClick}
      aria-current={isCurrent}
      leftSection={isCurrent ? <IconCheck size={14} aria-hidden /> : <span style={{ width: 14 }} />}
      rightSection={note === undefined ? undefined : <span className="dim number">{note}</span>}
    >
      {children}
    </Menu.Item>
  );
}

interface OtherProps {
  /** Why the choice is unavailable; null if it is available. */
  reason?: string | null;
  onClick: () => void;
  children: ReactNode;
}

function Other({ reason = null, onClick, children }: OtherProps) {
  if (reason !== null)
    return (
      <>
        <Menu.Divider />
        <Menu.Item
          leftSection={<IconPlus size={14} aria-hidden />}
          data-disabled
          aria-disabled
          closeMenuOnClick={false}
        >
          {children}
          <span className={styles.reason}>{reason}</span>
        </Menu.Item>
      </>
    );
  return (
    <>
      <Menu.Divider />
      <Menu.Item leftSection={<IconPlus size={14} aria-hidden />} onClick={onClick}>
        {children}
      </Menu.Item>
    </>
  );
}

/** Fetched while the menu is open. */
function DatabaseChoices({ goTo }: { goTo: GoTo }) {
  const { space } = useSession();
  const databases = useDatabases().data ?? [];
  return databases.map((database) => (
    <Choice
      key={database.name}
      isCurrent={database.name === space.database}
      note={formatCount(database.facts)}
      onClick={() => goTo({ ...space, database: database.name, scope: { kind: 'all' } })}
    >
      {database.name}
    </Choice>
  ));
}

/** The menu of databases, open at first. */
export function DatabaseSwitcher({ goTo, ask }: SpaceMenuProps) {
  const { space } = useSession();
  const create = useWrite('createDatabase', ['databases']);
  const reason = useReason('createDatabase');
  const question: NameQuestion = {
    title: 'New database',
    label: 'Name',
    hint: 'ASCII letters, digits, _ - and .',
    action: 'Create',
    problemOf: databaseNameProblem,
    onName: async (name) => {
      await create.mutateAsync({ body: { name } });
      goTo({ ...space, database: name, scope: { kind: 'all' } });
    },
  };
  return (
    <Switcher what="Database" value={space.database} icon={<IconDatabase size={15} aria-hidden />}>
      <DatabaseChoices goTo={goTo} />
      <Other reason={reason} onClick={() => ask(question)}>
        New database…
      </Other>
    </Switcher>
  );
}

/** At most this many tenants are listed; others are reached by name. */
const maxListed = 100;

/**
 * Lists the tenants that the caller reaches and those opened in this browser. Fetched while the menu is open, since
 * every change of facts alters their counts.
 */
function TenantChoices({ goTo }: { goTo: GoTo }) {
  const { space } = useSession();
  const known = useKnownTenants(space.tenant);
  const listed = useTenants(space.database).data ?? [];
  const restriction = useWhoAmI().data?.tenants ?? [];
  const counts = new Map(listed.map(({ name, facts }) => [name, facts]));
  const names = [...new Set([...known, ...counts.keys(), ...restriction])]
    .filter((name) => restriction.length === 0 || restriction.includes(name))
    .sort();
  return names.slice(0, maxListed).map((tenant) => (
    <Choice
      key={tenant}
      isCurrent={tenant === space.tenant}
      {...(counts.has(tenant) ? { note: formatCount(counts.get(tenant) ?? 0) } : {})}
      onClick={() => goTo({ ...space, tenant, scope: { kind: 'all' } })}
    >
      {tenant}
    </Choice>
  ));
}

/** The menu of tenants, open at first. */
export function TenantSwitcher({ goTo, ask }: SpaceMenuProps) {
  const { space } = useSession();
  const isRestricted = (useWhoAmI().data?.tenants.length ?? 0) > 0;
  const question: NameQuestion = {
    title: 'Another tenant',
    label: 'Tenant',
    hint: 'The first fact creates the tenant.',
    action: 'Open',
    problemOf: tenantNameProblem,
    onName: (name) => {
      rememberTenant(name);
      goTo({ ...space, tenant: name, scope: { kind: 'all' } });
    },
  };
  return (
    <Switcher what="Tenant" value={space.tenant} icon={<IconUsers size={15} aria-hidden />}>
      <TenantChoices goTo={goTo} />
      <Other
        reason={isRestricted ? 'Your key is good for these tenants alone.' : null}
        onClick={() => ask(question)}
      >
        Another tenant…
      </Other>
    </Switcher>
  );
}

/** Fetched while the menu is open. */
function ScopeChoices({ goTo }: { goTo: GoTo }) {
  const { space } = useSession();
  const names = useScopes();
  const choices: ScopeSelection[] = [
    { kind: 'all' },
    { kind: 'unscoped' },
    ...names.map((name): ScopeSelection => ({ kind: 'named', name })),
  ];
  if (space.scope.kind === 'named' && !names.includes(space.scope.name)) choices.push(space.scope);
  return choices.map((scope) => (
    <Choice
      key={scopeKey(scope)}
      isCurrent={scopeKey(scope) === scopeKey(space.scope)}
      onClick={() => goTo({ ...space, scope })}
    >
      {scopeLabel(scope)}
    </Choice>
  ));
}

/** The menu of scopes, open at first. */
export function ScopeSwitcher({ goTo, ask }: SpaceMenuProps) {
  const { space } = useSession();
  const question: NameQuestion = {
    title: 'Another scope',
    label: 'Scope',
    hint: 'The first fact creates the scope.',
    action: 'Open',
    problemOf: scopeNameProblem,
    onName: (name) => goTo({ ...space, scope: { kind: 'named', name } }),
  };
  return (
    <Switcher what="Scope" value={scopeLabel(space.scope)} icon={<IconStack2 size={15} aria-hidden />}>
      <ScopeChoices goTo={goTo} />
      <Other onClick={() => ask(question)}>Another scope…</Other>
    </Switcher>
  );
}
