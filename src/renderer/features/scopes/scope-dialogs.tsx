/** Dialogs that fork a scope, and delete one after its name is typed. */
import { Button, Group, Modal, Select, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { scopeNameProblem } from '../../../engine/contract/names.ts';
import type { ScopeList } from '../../../engine/contract/scopes.ts';
import { recordStuck } from '../../api/history.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { useWrite } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { TypedNameDialog } from '../../ui/dialogs.tsx';
import { formatAmount } from '../../ui/format.ts';
import { ProblemNotice } from '../../ui/notices.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import { type Side, sideLabel } from './scopes-search.ts';

/** Returns the value of a side in a select. */
export function valueOfSide(side: Side): string {
  return side === null ? 'none' : `scope ${side}`;
}

/** The inverse of `valueOfSide`. */
export function sideOfValue(value: string): Side {
  return value === 'none' ? null : value.slice('scope '.length);
}

/** Returns the options; `also` adds selected sides that may not be listed. */
export function sideOptions(sides: readonly Side[], also: readonly (Side | undefined)[] = []) {
  const all = [...new Set([...sides, ...also.filter((side) => side !== undefined)])];
  return all.map((side) => ({ value: valueOfSide(side), label: sideLabel(side) }));
}

/** A scope in the list. */
export type ScopeRow = ScopeList['scopes'][number];

function nameProblem(name: string, taken: readonly string[]): string | null {
  if (name === '') return null;
  const problem = scopeNameProblem(name);
  if (problem !== null) return problem;
  return taken.includes(name) ? 'there is a scope of this name' : null;
}

interface ForkDialogProps {
  source: Side;
  scopes: readonly string[];
  onClose: () => void;
  onForked: (source: Side, target: string) => void;
}

/** Asks for name and source of a fork. */
export function ForkDialog({ source: chosen, scopes, onClose, onForked }: ForkDialogProps) {
  const { space } = useSession();
  const fork = useWrite('forkScope');
  const [source, setSource] = useState(chosen);
  const [name, setName] = useState('');
  const problem = nameProblem(name, scopes);

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    if (name === '' || problem !== null || fork.isPending) return;
    fork.mutate(
      { body: { source, target: name } },
      {
        onSuccess: ({ facts, rules }) => {
          notifyDone(`Forked ${formatAmount(facts, 'fact')} and ${formatAmount(rules, 'rule')} into ${name}`);
          recordStuck(
            space,
            `forked ${sideLabel(source)} into ${name}`,
            'delete the scope in its list instead',
          );
          onForked(source, name);
        },
      },
    );
  }

  return (
    <Modal opened onClose={onClose} title="Fork a scope" size="sm">
      <form onSubmit={onSubmit} className="flex-column gap-12">
        <Select
          label="From"
          description="Its facts and rules are copied; it stays as it is."
          data={sideOptions([null, ...scopes], [source])}
          value={valueOfSide(source)}
          searchable
          allowDeselect={false}
          onChange={(value) => value !== null && setSource(sideOfValue(value))}
        />
        <TextInput
          autoFocus
          data-autofocus
          label="Name of the new scope"
          autoComplete="off"
          spellCheck={false}
          value={name}
          error={problem}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        {fork.error !== null && <ProblemNotice failure={apiFailureOf(fork.error)} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={fork.isPending} disabled={name === '' || problem !== null}>
            Fork
          </Button>
        </Group>
      </form>
    </Modal>
  );
}

interface DeleteDialogProps {
  scope: ScopeRow;
  onClose: () => void;
  onDeleted: (name: string) => void;
  /** Called with the scope when its deletion begins; null if it stays after all. */
  onGoing: (name: string | null) => void;
}

/** Asks for the name of the scope to delete. */
export function DeleteDialog({ scope, onClose, onDeleted, onGoing }: DeleteDialogProps) {
  const { space } = useSession();
  const remove = useWrite('deleteScope');
  const { name } = scope;

  function onConfirm(): void {
    onGoing(name);
    remove.mutate(
      { params: { name } },
      {
        onSuccess: ({ facts, rules }) => {
          notifyDone(
            `Deleted ${name} with ${formatAmount(facts, 'fact')} and ${formatAmount(rules, 'rule')}`,
          );
          const why = 'a scope is deleted with all that was in it; an export or a backup brings it back';
          recordStuck(space, `deleted the scope ${name}`, why);
          onDeleted(name);
        },
        onError: () => onGoing(null),
      },
    );
  }

  return (
    <TypedNameDialog
      title={`Delete ${sideLabel(name)}?`}
      name={name}
      action="Delete scope"
      isBusy={remove.isPending}
      failure={remove.error === null ? null : apiFailureOf(remove.error)}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <strong>
        {formatAmount(scope.facts, 'fact')} and {formatAmount(scope.rules, 'rule')}
      </strong>{' '}
      of this scope go with it, and what is concluded from them no longer holds. This cannot be undone. A rule
      stays where another tenant has facts in a scope of this name.
    </TypedNameDialog>
  );
}
