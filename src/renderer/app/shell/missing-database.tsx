import { Button } from '@mantine/core';
import { IconDatabaseX } from '@tabler/icons-react';
import { CreateDatabase } from '../../api/create-database.tsx';
import { useSession } from '../../api/session.tsx';
import { allScopes, defaultName } from '../../api/space.ts';
import { EmptyState } from '../../ui/notices.tsx';
import type { GoTo } from './go-to.ts';

/** Replaces every view when the database of the address does not exist. */
export function MissingDatabase({ goTo }: { goTo: GoTo }) {
  const { space } = useSession();
  return (
    <EmptyState
      icon={<IconDatabaseX size={30} stroke={1.3} aria-hidden />}
      title={`There is no database ${space.database}`}
      actions={
        <>
          <Button onClick={() => goTo({ ...space, database: defaultName, scope: allScopes })}>
            Open the default database
          </Button>
          <CreateDatabase name={space.database} variant="default" />
        </>
      }
    >
      It may be on another service, or the address may be misspelt.
    </EmptyState>
  );
}
