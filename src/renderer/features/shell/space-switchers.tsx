/** Database, tenant and scope in the title bar: each shows where one is and leads elsewhere. */
import { Menu, UnstyledButton } from '@mantine/core';
import {
  IconCheck,
  IconChevronDown,
  IconDatabase,
  IconPlus,
  IconStack2,
  IconUsers,
} from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { rememberTenant, useKnownTenants } from '../../api/known-tenants.ts';
import { databaseNameProblem, scopeNameProblem, tenantNameProblem } from '../../api/names.ts';
import { failureOf } from '../../api/problem.ts';
import { useDatabases, useScopes, useWrite } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { scopeKey, type ScopeChoice, scopeLabel } from '../../api/space.ts';
import { formatCount } from '../../ui/format.ts';
import { NameDialog, type NameQuestion } from '../../ui/name-dialog.tsx';
import type { GoTo } from './go-to.ts';
import styles from './shell.module.css';

interface SwitcherProps {
  what: string;
  value: string;
  icon: ReactNode;
  children: ReactNode;
}

function Switcher({ what, value, icon, children }: SwitcherProps) {
  return (
    <Menu position="bottom-start" width={260}>
      <Menu.Target>
        <UnstyledButton className={styles.switcher} aria-label={`${what}: ${value}`}>
          {icon}
          <span className="truncate">{value}</span>
          <IconChevronDown size={13} aria-hidden className="dim" />
        </UnstyledButton>
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

function Other({ onClick, children }: { onClick: () => void; children: ReactNode }) {
  return (
    <>
      <Menu.Divider />
      <Menu.Item leftSection={<IconPlus size={14} aria-hidden />} onClick={onClick}>
        {children}
      </Menu.Item>
    </>
  );
}

function DatabaseSwitcher({ goTo, ask }: { goTo: GoTo; ask: (question: NameQuestion) => void }) {
  const { space } = useSession();
  const databases = useDatabases().data ?? [];
  const create = useWrite('createDatabase', ['databases']);
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
      {databases.map((database) => (
        <Choice
          key={database.name}
          isCurrent={database.name === space.database}
          note={formatCount(database.facts)}
          onClick={() => goTo({ ...space, database: database.name, scope: { kind: 'all' } })}
        >
          {database.name}
        </Choice>
      ))}
      <Other onClick={() => ask(question)}>New database…</Other>
    </Switcher>
  );
}

function TenantSwitcher({ goTo, ask }: { goTo: GoTo; ask: (question: NameQuestion) => void }) {
  const { space } = useSession();
  const tenants = useKnownTenants(space.tenant);
  const question: NameQuestion = {
    title: 'Another tenant',
    label: 'Tenant',
    hint: 'A tenant comes into being with its first fact.',
    action: 'Open',
    problemOf: tenantNameProblem,
    onName: (name) => {
      rememberTenant(name);
      goTo({ ...space, tenant: name, scope: { kind: 'all' } });
    },
  };
  return (
    <Switcher what="Tenant" value={space.tenant} icon={<IconUsers size={15} aria-hidden />}>
      {tenants.map((tenant) => (
        <Choice
          key={tenant}
          isCurrent={tenant === space.tenant}
          onClick={() => goTo({ ...space, tenant, scope: { kind: 'all' } })}
        >
          {tenant}
        </Choice>
      ))}
      <Other onClick={() => ask(question)}>Another tenant…</Other>
    </Switcher>
  );
}

function ScopeSwitcher({ goTo, ask }: { goTo: GoTo; ask: (question: NameQuestion) => void }) {
  const { space } = useSession();
  const names = useScopes();
  const choices: ScopeChoice[] = [
    { kind: 'all' },
    { kind: 'unscoped' },
    ...names.map((name): ScopeChoice => ({ kind: 'named', name })),
  ];
  if (space.scope.kind === 'named' && !names.includes(space.scope.name)) choices.push(space.scope);
  const question: NameQuestion = {
    title: 'Another scope',
    label: 'Scope',
    hint: 'A scope comes into being with its first fact.',
    action: 'Open',
    problemOf: scopeNameProblem,
    onName: (name) => goTo({ ...space, scope: { kind: 'named', name } }),
  };
  return (
    <Switcher what="Scope" value={scopeLabel(space.scope)} icon={<IconStack2 size={15} aria-hidden />}>
      {choices.map((scope) => (
        <Choice
          key={scopeKey(scope)}
          isCurrent={scopeKey(scope) === scopeKey(space.scope)}
          onClick={() => goTo({ ...space, scope })}
        >
          {scopeLabel(scope)}
        </Choice>
      ))}
      <Other onClick={() => ask(question)}>Another scope…</Other>
    </Switcher>
  );
}

export function SpaceSwitchers({ goTo }: { goTo: GoTo }) {
  const [question, setQuestion] = useState<NameQuestion | null>(null);
  return (
    <nav className={styles.switchers} aria-label="Where">
      <DatabaseSwitcher goTo={goTo} ask={setQuestion} />
      <span className={styles.slash} aria-hidden>
        /
      </span>
      <TenantSwitcher goTo={goTo} ask={setQuestion} />
      <span className={styles.slash} aria-hidden>
        /
      </span>
      <ScopeSwitcher goTo={goTo} ask={setQuestion} />
      {question !== null && (
        <NameDialog question={question} failureOf={failureOf} onClose={() => setQuestion(null)} />
      )}
    </nav>
  );
}
