/** All rules of the database: what they conclude, how often they fired, switched on and off, deleted. */
import { ActionIcon, Button, Group, Modal, Switch, TextInput, Tooltip } from '@mantine/core';
import { IconPencil, IconRoute2, IconSearch, IconTrash } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import type { StoredRule } from '../../../engine/contract/rules.ts';
import { failureOf } from '../../api/problem.ts';
import { useRules, useWrite } from '../../api/queries.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { type Column, DataGrid } from '../../ui/data-grid.tsx';
import { formatAmount, formatCount, formatRelative, formatTime } from '../../ui/format.ts';
import { EmptyState, ProblemNotice } from '../../ui/notices.tsx';
import { notifyDone, notifyFailure } from '../../ui/notify.tsx';
import { PaneFrame } from '../../ui/pane.tsx';
import type { RulesSearch } from './rules-search.ts';
import styles from './rules.module.css';

interface RuleActions {
  onToggle: (rule: StoredRule) => void;
  onEdit: (rule: StoredRule) => void;
  onDelete: (rule: StoredRule) => void;
}

function ruleColumns({ onToggle, onEdit, onDelete }: RuleActions): Column<StoredRule>[] {
  const now = Date.now();
  return [
    {
      id: 'enabled',
      title: 'On',
      width: 60,
      cell: (rule) => (
        <Switch
          tabIndex={-1}
          aria-label={`Enabled: ${rule.text}`}
          checked={rule.enabled}
          onChange={() => onToggle(rule)}
        />
      ),
    },
    {
      id: 'rule',
      title: 'Rule',
      width: 320,
      grow: 3,
      cell: (rule) => (
        <span title={rule.text} className={rule.enabled ? '' : styles.disabled}>
          <CodeText isLine text={rule.text} />
        </span>
      ),
    },
    {
      id: 'name',
      title: 'Name',
      width: 140,
      grow: 1,
      cell: (rule) => <span title={rule.description ?? undefined}>{rule.name}</span>,
    },
    {
      id: 'scope',
      title: 'Scope',
      width: 90,
      cell: (rule) => (rule.scope === null ? <span className="dim">none</span> : rule.scope),
    },
    {
      id: 'fired',
      title: 'Fired',
      width: 80,
      align: 'end',
      cell: (rule) => (
        <span
          className="number"
          title={`Drew ${formatAmount(rule.fired, 'conclusion')} since the service started`}
        >
          {formatCount(rule.fired)}
        </span>
      ),
    },
    {
      id: 'created',
      title: 'Taught',
      width: 110,
      cell: (rule) => (
        <span className="dim" title={formatTime(rule.createdAt)}>
          {formatRelative(rule.createdAt, now)}
        </span>
      ),
    },
    {
      id: 'actions',
      title: 'Actions',
      width: 84,
      cell: (rule) => (
        <>
          <Tooltip label="Edit">
            <ActionIcon size={24} tabIndex={-1} aria-label={`Edit ${rule.text}`} onClick={() => onEdit(rule)}>
              <IconPencil size={15} aria-hidden />
            </ActionIcon>
          </Tooltip>
          <Tooltip label="Delete">
            <ActionIcon
              size={24}
              tabIndex={-1}
              aria-label={`Delete ${rule.text}`}
              onClick={() => onDelete(rule)}
            >
              <IconTrash size={15} aria-hidden />
            </ActionIcon>
          </Tooltip>
        </>
      ),
    },
  ];
}

function DeleteDialog({ rule, onClose }: { rule: StoredRule; onClose: () => void }) {
  const remove = useWrite('deleteRule');
  return (
    <Modal opened onClose={onClose} title="Delete this rule?" size="md">
      <p className={styles.deleted}>
        <CodeText text={rule.text} />
      </p>
      <p>What only this rule concludes will no longer hold. To try that out, switch the rule off instead.</p>
      {remove.error !== null && <ProblemNotice failure={failureOf(remove.error)} />}
      <Group justify="flex-end" mt="md">
        <Button variant="default" onClick={onClose} data-autofocus>
          Keep it
        </Button>
        <Button
          color="red"
          loading={remove.isPending}
          onClick={() =>
            remove.mutate(
              { params: { id: rule.id } },
              {
                onSuccess: ({ dependentsCount }) => {
                  notifyDone(`Deleted; ${formatAmount(dependentsCount, 'known conclusion')} withdrawn`);
                  onClose();
                },
              },
            )
          }
        >
          Delete
        </Button>
      </Group>
    </Modal>
  );
}

interface RuleListProps {
  search: RulesSearch;
  onSearch: (search: RulesSearch) => void;
}

export function RuleList({ search, onSearch }: RuleListProps) {
  const { data, error, refetch, isPending } = useRules();
  const update = useWrite('updateRule');
  const [deleting, setDeleting] = useState<StoredRule | null>(null);
  const { q = '' } = search;
  const rules = useMemo(() => {
    const wanted = q.toLowerCase();
    return (data ?? []).filter((rule) => `${rule.text} ${rule.name ?? ''}`.toLowerCase().includes(wanted));
  }, [data, q]);

  function onToggle(rule: StoredRule): void {
    update.mutate(
      { params: { id: rule.id }, body: { enabled: !rule.enabled } },
      { onError: (failed) => notifyFailure(failureOf(failed)) },
    );
  }
  const onEdit = (rule: StoredRule) => onSearch({ ...search, rule: rule.id });
  const columns = ruleColumns({ onToggle, onEdit, onDelete: setDeleting });
  const selected = rules.findIndex((rule) => rule.id === search.rule);

  return (
    <PaneFrame
      scroll="own"
      label="Rules"
      title="Rules"
      actions={
        <>
          <span className="dim number" role="status">
            {data === undefined ? '' : formatAmount(rules.length, 'rule')}
          </span>
          <TextInput
            className={styles.filter}
            aria-label="Filter rules"
            placeholder="Filter"
            leftSection={<IconSearch size={14} aria-hidden />}
            value={q}
            onChange={(event) => {
              const text = event.currentTarget.value;
              onSearch({ ...search, q: text === '' ? undefined : text });
            }}
          />
        </>
      }
    >
      {error !== null && data === undefined ? (
        <div className={styles.notice}>
          <ProblemNotice failure={failureOf(error)} onRetry={() => void refetch()} />
        </div>
      ) : rules.length === 0 && !isPending ? (
        <EmptyState
          icon={<IconRoute2 size={30} stroke={1.3} aria-hidden />}
          title={q === '' ? 'No rules yet' : 'No rule matches'}
        >
          {q === ''
            ? 'A rule says what follows: write one above and teach it.'
            : 'No rule has this text or name.'}
        </EmptyState>
      ) : (
        <DataGrid
          label="Rules"
          columns={columns}
          count={rules.length}
          rowAt={(index) => rules[index]}
          selected={selected < 0 ? null : selected}
          onSelect={() => undefined}
          onOpen={(index) => {
            const rule = rules[index];
            if (rule !== undefined) onEdit(rule);
          }}
          onKey={(event, index) => {
            const rule = rules[index];
            if (event.key === 'Delete' && rule !== undefined) setDeleting(rule);
          }}
        />
      )}
      {deleting !== null && <DeleteDialog rule={deleting} onClose={() => setDeleting(null)} />}
    </PaneFrame>
  );
}
