/** In place of every view where the address names a database that is not there. */
import { Button } from '@mantine/core';
import { IconDatabaseX } from '@tabler/icons-react';
import { failureOf } from '../../api/problem.ts';
import { useWrite } from '../../api/queries.ts';
import { Permitted } from '../../api/permitted.tsx';
import { useSession } from '../../api/session.tsx';
import { allScopes, defaultName } from '../../api/space.ts';
import { EmptyState } from '../../ui/notices.tsx';
import { notifyFailure } from '../../ui/notify.tsx';
import type { GoTo } from './go-to.ts';

export function MissingDatabase({ goTo }: { goTo: GoTo }) {
  const { space } = useSession();
  const create = useWrite('createDatabase');
  return (
    <EmptyState
      icon={<IconDatabaseX size={30} stroke={1.3} aria-hidden />}
      title={`There is no database ${space.database}`}
      actions={
        <>
          <Button onClick={() => goTo({ ...space, database: defaultName, scope: allScopes })}>
            Open the default database
          </Button>
          <Permitted operation="createDatabase">
            <Button
              variant="default"
              loading={create.isPending}
              onClick={() =>
                create.mutate(
                  { body: { name: space.database } },
                  { onError: (error) => notifyFailure(failureOf(error)) },
                )
              }
            >
              Create {space.database}
            </Button>
          </Permitted>
        </>
      }
    >
      It may be on another service, or the address may be misspelt.
    </EmptyState>
  );
}
