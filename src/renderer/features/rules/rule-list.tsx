import { ActionIcon, Button, Group, Modal } from '@mantine/core';
import {
  IconCopy,
  IconCursorText,
  IconFlask,
  IconHelpCircle,
  IconPencil,
  IconPower,
  IconRoute2,
  IconTimeline,
  IconTrash,
} from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useMemo, useState } from 'react';
import type { StoredRule } from '../../../engine/contract/rules.ts';
import { renderAtom } from '../../../engine/language/print.ts';
import { queryKeyOf } from '../../api/live.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { useRules, useWrite } from '../../api/queries.ts';
import { useReason } from '../../api/rights.ts';
import { useSession } from '../../api/session.tsx';
import { runTransaction } from '../../api/transaction.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { consequencesInWords, notWorkedOutInWords } from '../../ui/consequences.ts';
import { copyText } from '../../ui/notify.tsx';
import { formatAmount } from '../../ui/format.ts';
import { ListGrid } from '../../ui/list-grid.tsx';
import { Banner, EmptyState, ProblemNotice } from '../../ui/notices.tsx';
import { notifyDone, notifyFailure, notifyHint } from '../../ui/notify.tsx';
import { PaneFrame, Split } from '../../ui/pane.tsx';
import { ChooseColumns } from '../../ui/choose-columns.tsx';
import { shownColumns, useColumnChoice } from '../../ui/column-choice.ts';
import { useWideDetail } from '../../ui/use-wide-detail.ts';
import { rowKeyOf } from '../../ui/row-keys.ts';
import type { RowMenuGroups } from '../../ui/row-menu.tsx';
import { ListOrGraph, ReplaceButton } from './list-or-graph.tsx';
import {
  choosableRuleColumns,
  choosableRuleIds,
  differingRuleColumns,
  type RuleActions,
  ruleColumns,
  rulesInOrder,
  type RuleSort,
  ruleSortOf,
  sortedRuleColumn,
} from './rule-columns.tsx';
import { RuleDetail } from './rule-detail.tsx';
import { recordChanged, recordDeleted } from './rule-steps.ts';
import type { RulesSearch } from './rules-search.ts';
import styles from './rules.module.css';
import { scopeSearchOf } from './teaching.ts';
import { Tooltip } from '../../ui/tooltip.tsx';

const icon = { size: 15, stroke: 1.6, 'aria-hidden': true } as const;

async function copy(rule: StoredRule): Promise<void> {
  if (await copyText(`${rule.text}.`)) notifyDone('Copied the rule');
}

/** Returns the row menu of a rule. */
function ruleMenu(rule: StoredRule, actions: RuleActions): RowMenuGroups {
  const { reason } = actions;
  return [
    [
      { label: 'Edit', icon: <IconPencil {...icon} />, keys: 'Enter', onClick: () => actions.onEdit(rule) },
      {
        label: rule.enabled ? 'Switch off' : 'Switch on',
        icon: <IconPower {...icon} />,
        keys: 'E',
        reason,
        onClick: () => actions.onToggle(rule),
      },
    ],
    [
      {
        label: rule.enabled ? 'What if it were left out' : 'What if it were on',
        icon: <IconFlask {...icon} />,
        keys: 'W',
        onClick: () => actions.onWhatIf(rule),
      },
      {
        label: 'Why does it not conclude…',
        icon: <IconHelpCircle {...icon} />,
        onClick: () => actions.onWhyNot(rule),
      },
      {
        label: 'Trace what it concludes',
        icon: <IconTimeline {...icon} />,
        onClick: () => actions.onTrace(rule),
      },
    ],
    [
      { label: 'Copy as a statement', icon: <IconCopy {...icon} />, onClick: () => void copy(rule) },
      {
        label: 'Delete…',
        icon: <IconTrash {...icon} />,
        keys: 'Delete',
        isDangerous: true,
        reason,
        onClick: () => actions.onDelete(rule),
      },
    ],
  ];
}

interface DeleteDialogProps {
  /** The rule when deletion was requested. */
  rule: StoredRule;
  /** The rule as stored now; undefined if it is gone. */
  now: StoredRule | undefined;
  onClose: () => void;
}

/** Confirms the deletion of the rule as shown; a changed rule is not deleted. */
function DeleteDialog({ rule, now, onClose }: DeleteDialogProps) {
  const session = useSession();
  const { endpoint } = session;
  const remove = useWrite('deleteRule');
  const [seen, setSeen] = useState(rule);
  const preview = useQuery({
    queryKey: queryKeyOf('answers', endpoint, 'deleteRule', seen.id, seen.etag),
    queryFn: ({ signal }) => {
      const write = {
        operation: 'deleteRule' as const,
        input: { params: { id: seen.id }, query: {} },
        ifMatch: seen.etag,
      };
      return runTransaction(endpoint, [write], { dryRun: true, signal });
    },
    retry: false,
    gcTime: 0,
    staleTime: 0,
  });
  const isChanged = now !== undefined && now.etag !== seen.etag;
  function onDelete(): void {
    remove.mutate(
      { params: { id: seen.id }, query: {}, ifMatch: seen.etag },
      {
        onSuccess: ({ dependentsCount, ...told }) => {
          recordDeleted(session, seen);
          const least = told.consequencesComplete === false ? 'at least ' : '';
          const withdrawn = `${least}${formatAmount(dependentsCount, 'conclusion')} withdrawn.`;
          notifyDone(`Deleted; ${withdrawn}${notWorkedOutInWords(told)}`);
          onClose();
        },
      },
    );
  }
  function onSeen(): void {
    if (now !== undefined) setSeen(now);
    remove.reset();
  }
  return (
    <Modal opened onClose={onClose} title="Delete this rule?" size="md">
      <p className={styles.deleted}>
        <CodeText text={seen.text} />
      </p>
      <p className="number" role="status">
        {preview.isPending
          ? 'Working out what would follow…'
          : preview.data === undefined
            ? 'What would follow is not known.'
            : consequencesInWords(preview.data)}
      </p>
      <p>What only this rule concludes will no longer hold. To try that out, switch the rule off instead.</p>
      {isChanged ? (
        <Banner action={<Button onClick={onSeen}>Show it as it is now</Button>}>
          Somebody else has changed it since.
        </Banner>
      ) : (
        remove.error !== null && <ProblemNotice failure={apiFailureOf(remove.error)} />
      )}
      <Group justify="flex-end" mt="md">
        <Button variant="default" onClick={onClose} data-autofocus>
          Keep it
        </Button>
        <Button color="red" loading={remove.isPending} disabled={isChanged} onClick={onDelete}>
          Delete
        </Button>
      </Group>
    </Modal>
  );
}

/** Returns links from a rule to the tools that explain. */
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
  sort: RuleSort | null;
  onSort: (sort: string | undefined) => void;
  onEdit: (rule: StoredRule) => void;
  onDelete: (rule: StoredRule) => void;
  /** Ids of the columns to show, of those that can be hidden. */
  shown: readonly string[];
}

function RuleRows({ rules, open, sort, onSort, onEdit, onDelete, shown }: RuleRowsProps) {
  const session = useSession();
  const update = useWrite('updateRule');
  const explaining = useExplaining();
  const reason = useReason('updateRule');
  // By id, since sorting changes the index.
  const [chosen, setChosen] = useState<string | null>(null);
  const detailed = rules.find(({ id }) => id === (chosen ?? open)) ?? null;
  const wide = useWideDetail('rules', chosen !== null);

  function onToggle(rule: StoredRule): void {
    update.mutate(
      { params: { id: rule.id }, body: { enabled: !rule.enabled } },
      {
        onSuccess: ({ id, etag }) => {
          const enabled = !rule.enabled;
          recordChanged(session, enabled ? 'switched on' : 'switched off', rule, {
            ...rule,
            enabled,
            id,
            etag,
          });
        },
        onError: (failed) => notifyFailure(apiFailureOf(failed)),
      },
    );
  }

  function onKey(event: KeyboardEvent, rule: StoredRule): void {
    const key = rowKeyOf(event, 'rules');
    if (key === null) return;
    if (key === 'whatIf') explaining.onWhatIf(rule);
    else if (reason !== null) notifyHint(reason);
    else if (key === 'toggle') onToggle(rule);
    else onDelete(rule);
  }

  const actions = { reason, onToggle, onEdit, onDelete, ...explaining };
  const list = (
    <ListGrid
      label="Rules"
      columns={ruleColumns(actions, sort, onSort, shown)}
      rows={rules}
      isSelected={({ id }) => id === (open ?? chosen)}
      onSelect={({ id }) => setChosen(id)}
      onOpen={onEdit}
      onKey={onKey}
      menu={(rule) => ruleMenu(rule, actions)}
    />
  );
  if (!wide.isOpen) return list;
  const onClose = () => {
    setChosen(null);
    wide.close();
  };
  return (
    <Split
      id="rules-detail"
      orientation="horizontal"
      label="Resize"
      panes={[
        { id: 'rules', least: '480px', content: list },
        {
          id: 'rule',
          size: '360px',
          least: '260px',
          content: <RuleDetail rule={detailed} actions={actions} onClose={onClose} />,
        },
      ]}
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

/** Under this name the choice of columns is kept; no predicate has a colon. */
const rulesTable = 'list:rules';

/** The columns shown: as chosen, else those in which rules differ. */
function useShownRuleColumns(rules: readonly StoredRule[] | undefined, sort: RuleSort | null) {
  const choice = useColumnChoice(rulesTable);
  return useMemo(
    () => shownColumns(choosableRuleIds, choice, differingRuleColumns(rules ?? []), sortedRuleColumn(sort)),
    [choice, rules, sort],
  );
}

interface RuleListProps {
  search: RulesSearch;
  onSearch: (search: RulesSearch) => void;
}

function RenameButton({ search, onSearch }: RuleListProps) {
  return (
    <Tooltip label="Rename a predicate in all rules and facts">
      <ActionIcon
        size={26}
        variant="default"
        aria-label="Rename a predicate"
        onClick={() => onSearch({ ...search, rename: '-' })}
      >
        <IconCursorText size={15} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}

/** Lists all rules of the database: text, counts, switch, actions. */
export function RuleList({ search, onSearch }: RuleListProps) {
  const { data, error, refetch } = useRules();
  const [deleting, setDeleting] = useState<StoredRule | null>(null);
  const { q = '' } = search;
  const sort = useMemo(() => ruleSortOf(search.sort), [search.sort]);
  const rules = useMemo(() => {
    const wanted = q.toLowerCase();
    const found = data?.filter((rule) => `${rule.text} ${rule.name ?? ''}`.toLowerCase().includes(wanted));
    return found === undefined ? undefined : rulesInOrder(found, sort);
  }, [data, q, sort]);

  const shown = useShownRuleColumns(data, sort);

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
          <ChooseColumns
            table={rulesTable}
            columns={choosableRuleColumns}
            shown={shown}
            norm="Where rules differ"
          />
          <RenameButton search={search} onSearch={onSearch} />
          <ReplaceButton search={search} onSearch={onSearch} />
          <ListOrGraph search={search} onSearch={onSearch} />
        </>
      }
    >
      {rules === undefined ? (
        error !== null && (
          <div className="fixed-size padded-8">
            <ProblemNotice failure={apiFailureOf(error)} onRetry={() => void refetch()} />
          </div>
        )
      ) : rules.length === 0 ? (
        <NoRules isFiltered={q !== ''} />
      ) : (
        <RuleRows
          rules={rules}
          open={search.rule}
          sort={sort}
          onSort={(next) => onSearch({ ...search, sort: next })}
          onEdit={(rule) => onSearch({ ...search, rule: rule.id })}
          onDelete={setDeleting}
          shown={shown}
        />
      )}
      {deleting !== null && (
        <DeleteDialog
          rule={deleting}
          now={data?.find(({ id }) => id === deleting.id)}
          onClose={() => setDeleting(null)}
        />
      )}
    </PaneFrame>
  );
}
