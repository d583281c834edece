/**
 * The Schema view: what predicates mean, what must not be true, and what violates either.
 *
 * The address alone says what is shown. A declaration or constraint being edited is a draft of this browser until it is
 * saved; saving, withdrawing and deleting are steps of the history.
 */
import { Button, Modal, NumberInput, Tabs, TextInput } from '@mantine/core';
import { type FormEvent, useCallback, useState } from 'react';
import type { StoredConstraint } from '../../../engine/contract/constraints.ts';
import { predicateProblem } from '../../../engine/contract/language.ts';
import type { PredicateRow } from '../../api/declared.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { usePredicates, useWrite } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { formatCount } from '../../ui/format.ts';
import { EmptyState } from '../../ui/notices.tsx';
import { notifyDone, notifyFailure } from '../../ui/notify.tsx';
import { type Pane, Split } from '../../ui/pane.tsx';
import { useReturnedFocus } from '../../ui/use-focus.ts';
import { ConstraintList } from './constraint-list.tsx';
import { ConstraintPane } from './constraint-pane.tsx';
import { DeclarationPane } from './declaration-pane.tsx';
import { GraphPart } from './graph-part.tsx';
import { SchemaPredicates } from './predicate-list.tsx';
import { recordConstraintChanged, recordDeclared, recordRemoved } from './schema-steps.ts';
import {
  predicateOf,
  predicateText,
  type SchemaPart,
  schemaParts,
  type SchemaSearch,
} from './schema-search.ts';
import styles from './schema.module.css';
import { useConstraints, useViolationCounts } from './use-schema.ts';
import { ViolationsPart } from './violations-part.tsx';

interface PartProps {
  search: SchemaSearch;
  onSearch: (part: Partial<SchemaSearch>) => void;
}

/** Names a predicate to declare, which need not have facts. */
function NewPredicateDialog({ onSearch }: Pick<PartProps, 'onSearch'>) {
  const [name, setName] = useState('');
  const [arity, setArity] = useState<number | string>(2);
  const problem = name === '' ? null : predicateProblem(name);
  const isReady = name !== '' && problem === null && typeof arity === 'number';
  const close = () => onSearch({ predicate: undefined });
  useReturnedFocus();
  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    if (isReady)
      onSearch({ predicate: predicateText({ name, arity: Number(arity) }), show: undefined, q: undefined });
  }
  return (
    <Modal opened onClose={close} title="Declare a predicate" size="sm">
      <form onSubmit={onSubmit} className="flex-column gap-12">
        <TextInput
          data-autofocus
          label="Predicate"
          classNames={{ input: 'mono' }}
          autoComplete="off"
          spellCheck={false}
          value={name}
          error={problem}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <NumberInput
          label="Number of arguments"
          min={0}
          max={64}
          allowDecimal={false}
          clampBehavior="strict"
          value={arity}
          onChange={setArity}
        />
        <div className="flex gap-8 to-end">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button type="submit" disabled={!isReady}>
            Continue
          </Button>
        </div>
      </form>
    </Modal>
  );
}

/** Withdraws a declaration; the history brings it back. */
function useWithdraw(): (row: PredicateRow) => void {
  const session = useSession();
  const write = useWrite('withdrawPredicate');
  return (row) => {
    const { name, arity, declaration } = row;
    if (declaration === undefined || write.isPending) return;
    write.mutate(
      { params: { name, arity: String(arity) } },
      {
        onSuccess: () => {
          recordDeclared(session, { name, arity }, null, declaration);
          notifyDone(`Withdrew the declaration of ${predicateText(row)}. Its facts stay.`);
        },
        onError: (error) => notifyFailure(apiFailureOf(error)),
      },
    );
  };
}

function PredicatesPart({ search, onSearch }: PartProps) {
  const onWithdraw = useWithdraw();
  const of = search.predicate === '-' ? null : predicateOf(search.predicate);
  const list = <SchemaPredicates search={search} onSearch={onSearch} onWithdraw={onWithdraw} />;
  const pane =
    of === null ? (
      <EmptyState title="No predicate is open">
        Open one to name its arguments, give them types and a key, and see what is violated.
      </EmptyState>
    ) : (
      <DeclarationPane key={search.predicate} of={of} onSearch={onSearch} onWithdraw={onWithdraw} />
    );
  return (
    <>
      <Split id="schema-predicates" orientation="horizontal" label="Resize" panes={panesOf(list, pane)} />
      {search.predicate === '-' && <NewPredicateDialog onSearch={onSearch} />}
    </>
  );
}

function panesOf(list: Pane['content'], pane: Pane['content']): Pane[] {
  return [
    { id: 'list', least: '320px', content: list },
    { id: 'open', size: '46%', least: '380px', content: pane },
  ];
}

/** Switches the mode of a constraint and deletes one; both are steps of the history. */
function useConstraintActions(onDeleted: () => void) {
  const session = useSession();
  const update = useWrite('updateConstraint');
  const remove = useWrite('deleteConstraint');
  const onError = (error: Error) => notifyFailure(apiFailureOf(error));
  return {
    onMode(constraint: StoredConstraint): void {
      const mode = constraint.mode === 'warn' ? 'reject' : 'warn';
      update.mutate(
        { params: { id: constraint.id }, body: { mode } },
        {
          onSuccess: () => {
            const word = mode === 'reject' ? 'let refuse' : 'let only list';
            recordConstraintChanged(session, word, constraint.id, {
              from: constraint,
              to: { ...constraint, mode },
            });
            notifyDone(
              mode === 'reject'
                ? `${constraint.name} refuses new violations`
                : `${constraint.name} lists violations`,
            );
          },
          onError,
        },
      );
    },
    onDelete(constraint: StoredConstraint): void {
      remove.mutate(
        { params: { id: constraint.id } },
        {
          onSuccess: () => {
            recordRemoved(session, constraint.id, constraint);
            notifyDone(`Deleted ${constraint.name}`);
            onDeleted();
          },
          onError,
        },
      );
    },
  };
}

function ConstraintsPart({ search, onSearch }: PartProps) {
  const constraints = useConstraints().data;
  const actions = useConstraintActions(() => onSearch({ constraint: undefined }));
  const { constraint: open } = search;
  const stored = constraints?.find(({ id }) => id === open);
  const pane =
    open === '-' ? (
      <ConstraintPane key="-" stored={null} onSearch={onSearch} onDelete={actions.onDelete} />
    ) : stored === undefined ? (
      <EmptyState
        title={open === undefined || constraints === undefined ? 'No constraint is open' : 'It is gone'}
      >
        {open === undefined || constraints === undefined
          ? 'Open one to edit it and to see what violates it, or write a new one.'
          : 'The constraint was deleted.'}
      </EmptyState>
    ) : (
      <ConstraintPane key={stored.id} stored={stored} onSearch={onSearch} onDelete={actions.onDelete} />
    );
  const list = <ConstraintList search={search} onSearch={onSearch} actions={actions} />;
  return (
    <Split id="schema-constraints" orientation="horizontal" label="Resize" panes={panesOf(list, pane)} />
  );
}

const partWords: Record<SchemaPart, string> = {
  predicates: 'Predicates',
  graph: 'Graph',
  constraints: 'Constraints',
  violations: 'Violations',
};

/** The number beside the title of each part; undefined while it is unknown. */
function useAmounts(): Record<SchemaPart, number | undefined> {
  return {
    predicates: usePredicates().data?.length,
    graph: undefined,
    constraints: useConstraints().data?.length,
    violations: useViolationCounts()?.total,
  };
}

interface SchemaViewProps {
  search: SchemaSearch;
  onSearch: (search: SchemaSearch) => void;
}

/** The Schema view. */
export function SchemaView({ search, onSearch }: SchemaViewProps) {
  const amounts = useAmounts();
  const patch = useCallback(
    (part: Partial<SchemaSearch>) => onSearch({ ...search, ...part }),
    [search, onSearch],
  );
  const content = {
    predicates: <PredicatesPart search={search} onSearch={patch} />,
    graph: <GraphPart search={search} onSearch={patch} />,
    constraints: <ConstraintsPart search={search} onSearch={patch} />,
    violations: <ViolationsPart search={search} onSearch={patch} />,
  };
  return (
    <Tabs
      className={`flex-column tall ${styles.tabs}`}
      value={search.part ?? 'predicates'}
      onChange={(value) => {
        const part = schemaParts.find((known) => known === value);
        // What is open and filtered belongs to its part.
        onSearch(part === 'predicates' ? {} : { part });
      }}
      keepMounted={false}
    >
      <h1 className="visually-hidden">Schema</h1>
      <Tabs.List aria-label="Parts of the schema">
        {schemaParts.map((part) => (
          <Tabs.Tab key={part} value={part}>
            {partWords[part]}
            {amounts[part] !== undefined && <span className="dim number"> {formatCount(amounts[part])}</span>}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {schemaParts.map((part) => (
        <Tabs.Panel key={part} value={part} className="rest-height">
          {content[part]}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
