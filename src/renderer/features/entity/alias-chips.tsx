/** The aliases of an entity, with a way to add and remove them. */
import { ActionIcon, Button, Popover, TextInput } from '@mantine/core';
import { Tooltip } from '../../ui/tooltip.tsx';
import { IconPlus, IconX } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import { Permitted } from '../../api/permitted.tsx';
import { apiFailureOf } from '../../api/problem.ts';
import { useWrite } from '../../api/queries.ts';
import { record } from '../../api/history.ts';
import { useReason } from '../../api/rights.ts';
import { useSession } from '../../api/session.tsx';
import { ProblemNotice } from '../../ui/notices.tsx';
import { notifyFailure } from '../../ui/notify.tsx';
import styles from './entity.module.css';

/** Returns the writes of aliases, each recorded as a step that can be undone. */
function useAliases(entity: string) {
  const { call, space } = useSession();
  const add = useWrite('addAlias');
  const remove = useWrite('removeAlias');
  const adding = (alias: string) => async () => {
    await call('addAlias', { body: { entity, alias } });
    return removing(alias);
  };
  const removing = (alias: string) => async () => {
    await call('removeAlias', { body: { entity, alias } });
    return adding(alias);
  };
  return {
    add: {
      ...add,
      run: (alias: string, onDone: () => void) =>
        add.mutate(
          { body: { entity, alias } },
          {
            onSuccess: ({ status }) => {
              if (status === 'added') record(space, `named ${entity} ${alias}`, removing(alias));
              onDone();
            },
          },
        ),
    },
    remove: (alias: string) =>
      remove.mutate(
        { body: { entity, alias } },
        {
          onSuccess: () => void record(space, `removed the alias ${alias} of ${entity}`, adding(alias)),
          onError: (error) => notifyFailure(apiFailureOf(error)),
        },
      ),
  };
}

function AddAlias({ aliases }: { aliases: ReturnType<typeof useAliases> }) {
  const [isOpen, setOpen] = useState(false);
  const [text, setText] = useState('');
  const { add } = aliases;
  function close(): void {
    setOpen(false);
    setText('');
    add.reset();
  }
  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    const alias = text.trim();
    if (alias !== '') add.run(alias, close);
  }
  return (
    <Popover opened={isOpen} onClose={close} position="bottom-start" width={320} trapFocus returnFocus>
      <Popover.Target>
        <Permitted operation="addAlias">
          <Button
            size="compact-xs"
            variant="subtle"
            leftSection={<IconPlus size={13} aria-hidden />}
            onClick={() => setOpen(true)}
          >
            Add an alias
          </Button>
        </Permitted>
      </Popover.Target>
      <Popover.Dropdown aria-label="Add an alias">
        <form className="flex-column gap-8" onSubmit={onSubmit}>
          <TextInput
            data-autofocus
            label="Another name"
            description="Search, windows and extraction take it for this entity. Questions match by text."
            autoComplete="off"
            spellCheck={false}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
          {add.error !== null && <ProblemNotice failure={apiFailureOf(add.error)} />}
          <Button type="submit" loading={add.isPending} disabled={text.trim() === ''}>
            Add
          </Button>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}

/** Shows the aliases as chips. */
export function AliasChips({ entity, aliases }: { entity: string; aliases: readonly string[] }) {
  const writes = useAliases(entity);
  const reason = useReason('removeAlias');
  return (
    <div className="flex-row flex-wrap gap-4-6">
      {aliases.length > 0 && (
        <ul className="plain-list flex-row flex-wrap gap-4-6" aria-label="Aliases">
          {aliases.map((alias) => (
            <li key={alias} className={styles.alias}>
              <span className="truncate" title={alias}>
                {alias}
              </span>
              {reason === null && (
                <Tooltip label={`Remove the alias ${alias}`}>
                  <ActionIcon
                    size={24}
                    aria-label={`Remove the alias ${alias}`}
                    onClick={() => writes.remove(alias)}
                  >
                    <IconX size={13} aria-hidden />
                  </ActionIcon>
                </Tooltip>
              )}
            </li>
          ))}
        </ul>
      )}
      <AddAlias aliases={writes} />
    </div>
  );
}
