/** All rules of the database: what they conclude, how often they fired, switched on and off, deleted. */
import { Button, Group, Modal, TextInput } from '@mantine/core';
import { IconRoute2, IconSearch } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useMemo, useState } from 'react';
import type { StoredRule } from '../../../engine/contract/rules.ts';
import { renderAtom } from '../../../engine/logic/print.ts';
import { failureOf } from '../../api/problem.ts';
import { useRules, useWrite } from '../../api/queries.ts';
import { useReason } from '../../api/rights.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { DataGrid } from '../../ui/data-grid.tsx';
import { formatAmount } from '../../ui/format.ts';
import { EmptyState, ProblemNotice } from '../../ui/notices.tsx';
import { notifyDone, notifyFailure, notifyHint } from '../../ui/notify.tsx';
import { PaneFrame } from '../../ui/pane.tsx';
import { ruleColumns } from './rule-columns.tsx';
import { scopeSearchOf } from './teaching.ts';
import type { RulesSearch } from './rules-search.ts';
import styles from './rules.module.css';

function DeleteDialog({ rule, onClose }: { rule: StoredRule; onClose: () => void }) {
  const remove = useWrite('deleteRule');
  function onDelete(): void {
    remove.mutate(
      { params: { id: rule.id } },
      {
        onSuccess: ({ dependentsCount }) => {
          notifyDone(`Deleted; ${formatAmount(dependentsCount, 'known conclusion')} withdrawn`);
          onClose();
        },
      },
    );
  }
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
        <Button color="red" loading={remove.isPending} onClick={onDelete}>
          Delete
        </Button>
      </Group>
    </Modal>
  );
}

/** The ways from a rule to the tools that explain. */
function useExplaining() {
  const navigate = useNavigate();
  const questionOf = ({ head }: StoredRule) => ({ question: renderAtom(head) });
  return {
    onWhatIf: (rule: StoredRule) =>
      void navigate({
        to: '/what-if',
        search: rule.enabled ? { without: rule.id } : { add: `${rule.text}.`, ...scopeSearchOf(rule) },
      }),
    onWhyNot: (rule: StoredRule) => void navigate({ to: '/why-not', search: questionOf(rule) }),
    onTrace: (rule: StoredRule) => void navigate({ to: '/trace', search: questionOf(rule) }),
  };
}

interface RuleRowsProps {
  rules: readonly StoredRule[];
  /** Id of the rule in the editor. */
  open: string | undefined;
  onEdit: (rule: StoredRule) => void;
  onDelete: (rule: StoredRule) => void;
}

function RuleRows({ rules, open, onEdit, onDelete }: RuleRowsProps) {
  const update = useWrite('updateRule');
  const explaining = useExplaining();
  const reason = useReason('updateRule');
  const [place, setPlace] = useState<number | null>(null);
  const opened = rules.findIndex((rule) => rule.id === open);

  function onToggle(rule: StoredRule): void {
    update.mutate(
      { params: { id: rule.id }, body: { enabled: !rule.enabled } },
      { onError: (failed) => notifyFailure(failureOf(failed)) },
    );
  }

  function onKey(event: KeyboardEvent, index: number): void {
    const rule = rules[index];
    if (rule === undefined) return;
    const key = event.key.toLowerCase();
    if (key === 'w') explaining.onWhatIf(rule);
    else if (key !== 'delete' && key !== 'e') return;
    else if (reason !== null) notifyHint(reason);
    else if (key === 'e') onToggle(rule);
    else onDelete(rule);
  }

  return (
    <DataGrid
      label="Rules"
      columns={ruleColumns({ reason, onToggle, onEdit, onDelete, ...explaining })}
      count={rules.length}
      rowAt={(index) => rules[index]}
      selected={opened >= 0 ? opened : place}
      onSelect={setPlace}
      onOpen={(index) => {
        const rule = rules[index];
        if (rule !== undefined) onEdit(rule);
      }}
      onKey={onKey}
    />
  );
}

function FilterField({ q, onFilter }: { q: string; onFilter: (q: string) => void }) {
  return (
    <TextInput
      className={styles.filter}
      aria-label="Filter rules"
      placeholder="Filter"
      leftSection={<IconSearch size={14} aria-hidden />}
      value={q}
      onChange={(event) => onFilter(event.currentTarget.value)}
    />
  );
}

function NoRules({ isFiltered }: { isFiltered: boolean }) {
  return (
    <EmptyState
      icon={<IconRoute2 size={30} stroke={1.3} aria-hidden />}
      title={isFiltered ? 'No rule matches' : 'No rules yet'}
    >
      {isFiltered
        ? 'No rule has this text or name.'
        : 'A rule says what follows: write one above and teach it.'}
    </EmptyState>
  );
}

interface RuleListProps {
  search: RulesSearch;
  onSearch: (search: RulesSearch) => void;
}

export function RuleList({ search, onSearch }: RuleListProps) {
  const { data, error, refetch } = useRules();
  const [deleting, setDeleting] = useState<StoredRule | null>(null);
  const { q = '' } = search;
  const rules = useMemo(() => {
    const wanted = q.toLowerCase();
    return data?.filter((rule) => `${rule.text} ${rule.name ?? ''}`.toLowerCase().includes(wanted));
  }, [data, q]);

  return (
    <PaneFrame
      scroll="own"
      label="Rules"
      title="Rules"
      actions={
        <>
          <span className="dim number" role="status">
            {rules === undefined ? '' : formatAmount(rules.length, 'rule')}
          </span>
          <FilterField
            q={q}
            onFilter={(text) => onSearch({ ...search, q: text === '' ? undefined : text })}
          />
        </>
      }
    >
      {rules === undefined ? (
        error !== null && (
          <div className={styles.notice}>
            <ProblemNotice failure={failureOf(error)} onRetry={() => void refetch()} />
          </div>
        )
      ) : rules.length === 0 ? (
        <NoRules isFiltered={q !== ''} />
      ) : (
        <RuleRows
          rules={rules}
          open={search.rule}
          onEdit={(rule) => onSearch({ ...search, rule: rule.id })}
          onDelete={setDeleting}
        />
      )}
      {deleting !== null && <DeleteDialog rule={deleting} onClose={() => setDeleting(null)} />}
    </PaneFrame>
  );
}
