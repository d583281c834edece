/** What replaces a view: one that failed, and one of a place that the key does not reach. */
import { Button } from '@mantine/core';
import { IconLockOff, IconPlugConnectedX, IconRefresh } from '@tabler/icons-react';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useLive } from '../../api/live.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { useDatabases, useTenants, useWhoAmI } from '../../api/queries.ts';
import { type ActionTarget, reaches, type Rights } from '../../api/rights.ts';
import { useSession, useSignOut } from '../../api/session.tsx';
import { allScopes } from '../../api/space.ts';
import { EmptyState, PaneProblem } from '../../ui/notices.tsx';
import type { GoTo } from './go-to.ts';

/** Messages of browsers and of the bundler's loader for a module or style sheet that failed to load. */
const words =
  /dynamically imported module|Importing a module script failed|error loading dynamically|Unable to preload CSS/i;

/** Returns true for the error of a view whose code could not be fetched. */
export function isMissingPart(error: unknown): boolean {
  return error instanceof Error && words.test(error.message);
}

function reload(): void {
  window.location.reload();
}

function NotLoaded() {
  const state = useLive(({ stream }) => stream.kind);
  const wasAway = useRef(false);
  useEffect(() => {
    if (state === 'waiting') wasAway.current = true;
    else if (state === 'live' && wasAway.current) reload();
  }, [state]);
  return (
    <div role="alert" style={{ height: '100%' }}>
      <EmptyState
        icon={<IconPlugConnectedX size={30} stroke={1.3} aria-hidden />}
        title="This part of the workbench did not arrive"
        actions={
          <Button leftSection={<IconRefresh size={14} aria-hidden />} onClick={reload}>
            Load it again
          </Button>
        }
      >
        The service did not send it. It is loaded by itself when the service is back; what you typed is kept,
        and the other views that were open go on.
      </EmptyState>
    </div>
  );
}

/**
 * Replaces a view that failed to render.
 *
 * If its code did not load, the whole page is reloaded once the service is back, since a browser may cache the
 * failure; addresses and drafts survive that.
 */
export function ViewFailed({ error, reset }: ErrorComponentProps) {
  return isMissingPart(error) ? <NotLoaded /> : <PaneProblem failure={apiFailureOf(error)} onRetry={reset} />;
}

interface Named {
  readonly name: string;
}

/** A database and one of its tenants. */
type ReachableSpace = { readonly [Part in keyof ActionTarget]: string };

/**
 * Returns reachable tenants of one database, the current one if the key reaches it: the tenants that the key names,
 * else the existing ones, else the current one. `databases` and `tenants` are the service's lists for the key;
 * `tenants` belong to that database.
 */
export function reachableSpaces(
  { databases: allowed, tenants: named }: Pick<Rights, 'databases' | 'tenants'>,
  here: ReachableSpace,
  databases: readonly Named[],
  tenants: readonly Named[],
): ReachableSpace[] {
  const rights = { databases: allowed, tenants: named };
  const listed = databases
    .map(({ name }) => name)
    .filter((name) => reaches(rights, { database: name, tenant: null }));
  const database = listed.includes(here.database) ? here.database : listed[0];
  if (database === undefined) return [];
  const names = named.length > 0 ? named : tenants.map(({ name }) => name);
  const sorted = [...(names.length > 0 ? names : [here.tenant])].sort();
  const place = sorted.map((tenant) => ({ database, tenant }));
  return place.filter(({ tenant }) => database !== here.database || tenant !== here.tenant);
}

const maxOffered = 8;

/** Replaces every view when the key does not reach the database or tenant of the address. */
export function OutOfReach({ goTo }: { goTo: GoTo }) {
  const { space } = useSession();
  const signOut = useSignOut();
  const who = useWhoAmI().data;
  const databases = useDatabases().data;
  // The database to offer; the service lists its tenants if the key does not name them.
  const database =
    who === undefined ? null : (reachableSpaces(who, space, databases ?? [], [])[0]?.database ?? null);
  const tenants = useTenants(who === undefined || who.tenants.length > 0 ? null : database).data;
  if (who === undefined) return null;
  const places = reachableSpaces(who, space, databases ?? [], tenants ?? []);
  const isDatabase = who.databases.length > 0 && !who.databases.includes(space.database);
  return (
    <EmptyState
      icon={<IconLockOff size={30} stroke={1.3} aria-hidden />}
      title={`Your key does not reach the ${isDatabase ? `database ${space.database}` : `tenant ${space.tenant}`}`}
      actions={
        <>
          {places.slice(0, maxOffered).map((place, index) => (
            <Button
              key={`${place.database} ${place.tenant}`}
              variant={index === 0 ? 'filled' : 'default'}
              onClick={() => goTo({ ...place, scope: allScopes })}
            >
              Open {place.database === space.database ? place.tenant : `${place.database} / ${place.tenant}`}
            </Button>
          ))}
          <Button variant="subtle" onClick={signOut}>
            Sign in with another key
          </Button>
        </>
      }
    >
      {places.length > 0
        ? 'The buttons open places that it reaches; the title bar lists all of them.'
        : databases === undefined
          ? 'Looking up what it reaches…'
          : 'It reaches nothing that exists yet.'}
    </EmptyState>
  );
}
