/**
 * The databases, tenants and scopes.
 *
 * The address holds the selection, which need not be the space the workbench is in. Once the service refuses
 * administration to the key in use, the view stops offering it; the lists then show what that key can see.
 */
import { Button } from '@mantine/core';
import { IconDatabaseX } from '@tabler/icons-react';
import { useCallback, useRef, useState } from 'react';
import type { Cleared, DeletedDatabase } from '../../../engine/contract/administration.ts';
import { databaseNameProblem, tenantNameProblem } from '../../../engine/contract/names.ts';
import { forgetTenant } from '../../api/names.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { useDatabases, useTenants } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import type { Space } from '../../api/space.ts';
import { formatAmount } from '../../ui/format.ts';
import { NameDialog, type NameQuestion, TypedNameDialog } from '../../ui/dialogs.tsx';
import { Banner, EmptyState } from '../../ui/notices.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import { type Pane, Split } from '../../ui/pane.tsx';
import type { AdminSearch } from './admin-search.ts';
import { type Erasure, nextSpace, statementOf, type Target } from './erasing.ts';
import { DatabaseRows, type ListProps, ScopeRows, TenantRows } from './lists.tsx';
import { QuotaDialog } from './quota-dialog.tsx';
import type { QuotaTarget } from './quota-form.ts';
import { forgetRefusal, useAdminWrite, useRefusal } from './rights.ts';

interface AdminViewProps {
  search: AdminSearch;
  onSearch: (search: AdminSearch) => void;
  goTo: (space: Space) => void;
}

/**
 * The tenant whose scopes are shown: the chosen one, else the one the workbench is in, else the first; null
 * for none.
 */
function useChosenTenant(database: string, search: AdminSearch): string | null {
  const { space } = useSession();
  const tenants = useTenants(database).data ?? [];
  if (search.tenantOf !== undefined) return search.tenantOf;
  if (database === space.database) return space.tenant;
  return tenants[0]?.name ?? null;
}

/** The dialogs that ask for the name of a new database or tenant. */
function useCreating(database: string, onSearch: (part: Partial<AdminSearch>) => void) {
  const createDatabase = useAdminWrite('createDatabase', ['databases']);
  const createTenant = useAdminWrite('createTenant', ['databases']);
  const newDatabase: NameQuestion = {
    title: 'New database',
    label: 'Name',
    hint: 'ASCII letters, digits, _ - and .',
    action: 'Create',
    problemOf: databaseNameProblem,
    onName: async (name) => {
      await createDatabase.mutateAsync({ body: { name } });
      notifyDone(`Created the database ${name}.`);
      onSearch({ of: name, tenantOf: undefined, databases: undefined, tenants: undefined });
    },
  };
  const newTenant: NameQuestion = {
    title: `New tenant in ${database}`,
    label: 'Name',
    hint: 'Visible ASCII characters. The first fact of a tenant creates it too.',
    action: 'Create',
    problemOf: tenantNameProblem,
    onName: async (name) => {
      await createTenant.mutateAsync({ params: { name: database }, body: { name } });
      notifyDone(`Created the tenant ${name}.`);
      onSearch({ tenantOf: name, tenants: undefined });
    },
  };
  return { newDatabase, newTenant };
}

function NotOffered() {
  const refusal = useRefusal();
  if (refusal === null) return null;
  if ('reason' in refusal) return <Banner>You may read, but not administer. {refusal.reason}</Banner>;
  const { detail, requestId } = refusal.failure;
  return (
    <Banner
      action={
        <Button size="compact-xs" variant="default" onClick={forgetRefusal}>
          Offer it again
        </Button>
      }
    >
      The key in use may read, but not administer: {detail}{' '}
      {requestId !== '' && <span className="dim">(request {requestId})</span>}
    </Banner>
  );
}

function NoDatabase({ name, onBack }: { name: string; onBack: () => void }) {
  return (
    <EmptyState
      icon={<IconDatabaseX size={30} stroke={1.3} aria-hidden />}
      title={`There is no database ${name}`}
      actions={
        <Button variant="default" onClick={onBack}>
          Show the database in use
        </Button>
      }
    >
      It was deleted, or this key does not reach it.
    </EmptyState>
  );
}

interface AdminListsProps extends Omit<ListProps, 'administer'> {
  onErase: (erasure: Erasure) => void;
  onQuota: (target: QuotaTarget) => void;
  ask: (question: NameQuestion) => void;
}

/** The lists, one above the other. */
function AdminLists({ search, onSearch, goTo, onErase, onQuota, ask }: AdminListsProps) {
  const { space } = useSession();
  const databases = useDatabases().data;
  const database = search.of ?? space.database;
  const tenant = useChosenTenant(database, search);
  const { newDatabase, newTenant } = useCreating(database, onSearch);
  const isAdministered = useRefusal() === null;
  const isMissing = databases !== undefined && !databases.some(({ name }) => name === database);
  const administer = (question: NameQuestion) =>
    isAdministered ? { onErase, onQuota, onCreate: () => ask(question) } : null;
  const list = { search, onSearch, goTo };
  const panes: Pane[] = [
    {
      id: 'databases',
      size: '36%',
      least: '120px',
      content: <DatabaseRows {...list} administer={administer(newDatabase)} chosen={database} />,
    },
  ];
  if (isMissing)
    panes.push({
      id: 'missing',
      least: '120px',
      content: <NoDatabase name={database} onBack={() => onSearch({ of: undefined, tenantOf: undefined })} />,
    });
  else
    panes.push({
      id: 'tenants',
      least: '120px',
      content: (
        <TenantRows {...list} administer={administer(newTenant)} database={database} chosen={tenant} />
      ),
    });
  if (!isMissing && tenant !== null)
    panes.push({
      id: 'scopes',
      size: '28%',
      least: '120px',
      content: <ScopeRows database={database} tenant={tenant} />,
    });
  return <Split id="admin-lists" orientation="vertical" label="Resize" panes={panes} />;
}

/** The Admin view of databases, tenants and scopes, with its dialogs. */
export function AdminView({ search, onSearch, goTo }: AdminViewProps) {
  const { space } = useSession();
  const [erasure, setErasure] = useState<Erasure | null>(null);
  const [limited, setLimited] = useState<QuotaTarget | null>(null);
  const [question, setQuestion] = useState<NameQuestion | null>(null);
  const lists = useRef<HTMLDivElement>(null);
  const patch = useCallback(
    (part: Partial<AdminSearch>) => onSearch({ ...search, ...part }),
    [search, onSearch],
  );

  function onErased(done: Erasure): void {
    const next = nextSpace(done, space);
    if (next !== null) goTo(next);
    else if (done.how === 'delete')
      patch(
        done.target.kind === 'database' ? { of: undefined, tenantOf: undefined } : { tenantOf: undefined },
      );
  }

  return (
    <div className="flex-column full-height" ref={lists}>
      <NotOffered />
      <div className="rest-height">
        <AdminLists
          search={search}
          onSearch={patch}
          goTo={goTo}
          onErase={setErasure}
          onQuota={setLimited}
          ask={setQuestion}
        />
      </div>
      {question !== null && (
        <NameDialog question={question} failureOf={apiFailureOf} onClose={() => setQuestion(null)} />
      )}
      {limited !== null && <QuotaDialog target={limited} onClose={() => setLimited(null)} />}
      {erasure !== null && (
        <EraseDialog
          erasure={erasure}
          onClose={() => setErasure(null)}
          onErased={onErased}
          focusAfter={() =>
            lists.current?.querySelector<HTMLElement>(
              `[role="grid"][aria-label="${erasure.target.kind === 'database' ? 'Databases' : 'Tenants'}"]`,
            ) ?? null
          }
        />
      )}
    </div>
  );
}

type Gone = Pick<Cleared | DeletedDatabase, 'facts' | 'rules'>;

/** The write of an erasure; `start` calls back with what was deleted. */
function useErasing({ how, target }: Erasure) {
  const deleteDatabase = useAdminWrite('deleteDatabase');
  const nukeDatabase = useAdminWrite('nukeDatabase');
  const deleteTenant = useAdminWrite('deleteTenant');
  const nukeTenant = useAdminWrite('nukeTenant');
  if (target.kind === 'database') {
    const { mutate, isPending, error } = how === 'delete' ? deleteDatabase : nukeDatabase;
    const start = (onDone: (gone: Gone) => void) =>
      mutate({ params: { name: target.name } }, { onSuccess: onDone });
    return { start, isPending, error };
  }
  const { mutate, isPending, error } = how === 'delete' ? deleteTenant : nukeTenant;
  const start = (onDone: (gone: Gone) => void) =>
    mutate({ params: { name: target.database, id: target.name } }, { onSuccess: onDone });
  return { start, isPending, error };
}

/** The target with current counts while the dialog is open; the last known counts once it is gone. */
function useCounted(target: Target): Target {
  const databases = useDatabases().data;
  const tenants = useTenants(target.kind === 'tenant' ? target.database : null).data;
  if (target.kind === 'database') {
    const found = databases?.find(({ name }) => name === target.name);
    return found === undefined ? target : { ...target, ...found };
  }
  const found = tenants?.find(({ name }) => name === target.name);
  return found === undefined ? target : { ...target, facts: found.facts };
}

interface EraseDialogProps {
  erasure: Erasure;
  onClose: () => void;
  onErased: (erasure: Erasure) => void;
  focusAfter: () => HTMLElement | null;
}

/** Deletes or empties a database or tenant after its name is typed. */
function EraseDialog({ erasure, onClose, onErased, focusAfter }: EraseDialogProps) {
  const { space } = useSession();
  const { how } = erasure;
  const target = useCounted(erasure.target);
  const erasing = useErasing(erasure);
  const { title, goes, stays, here } = statementOf({ how, target }, space);

  function onConfirm(): void {
    erasing.start(({ facts, rules }) => {
      if (how === 'delete' && target.kind === 'tenant') forgetTenant(target.name);
      const gone = target.kind === 'database' ? ` and ${formatAmount(rules, 'rule')}` : '';
      notifyDone(
        `${how === 'delete' ? 'Deleted' : 'Emptied'} ${target.name}, with ${formatAmount(facts, 'fact')}${gone}.`,
      );
      onClose();
      onErased(erasure);
    });
  }

  return (
    <TypedNameDialog
      title={title}
      name={target.name}
      action={how === 'delete' ? 'Delete' : 'Empty'}
      isBusy={erasing.isPending}
      failure={erasing.error === null ? null : apiFailureOf(erasing.error)}
      onConfirm={onConfirm}
      onClose={onClose}
      focusAfter={focusAfter}
    >
      <p>
        This deletes <strong>{goes}</strong>, for good. It cannot be undone.
      </p>
      <p>{stays}</p>
      {here !== null && <p>{here}</p>}
    </TypedNameDialog>
  );
}
