import { Button, type ButtonProps } from '@mantine/core';
import { notifyFailure } from '../ui/notify.tsx';
import { Permitted } from './permitted.tsx';
import { apiFailureOf } from './problem.ts';
import { useWrite } from './queries.ts';

/** Shows a button that creates a database of a given name; nothing if the user may not create one. */
export function CreateDatabase({ name, ...props }: { name: string } & ButtonProps) {
  const create = useWrite('createDatabase', ['databases']);
  return (
    <Permitted operation="createDatabase">
      <Button
        {...props}
        loading={create.isPending}
        onClick={() =>
          create.mutate({ body: { name } }, { onError: (error) => notifyFailure(apiFailureOf(error)) })
        }
      >
        Create {name}
      </Button>
    </Permitted>
  );
}
