/** The vocabulary at the left: every predicate with its arity and counts, and all facts on top. */
import { Skeleton, TextInput } from '@mantine/core';
import { IconFilter } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import type { PredicateList as PredicateRows } from '../../../engine/contract/facts.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { usePredicates } from '../../api/queries.ts';
import { type CountedConclusions, conclusionsInWords, countOfConclusions } from '../../ui/consequences.ts';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { ProblemNotice } from '../../ui/notices.tsx';
import { PaneFrame } from '../../ui/pane.tsx';
import { VirtualList } from '../../ui/virtual-list.tsx';
import styles from './facts.module.css';

type PredicateRow = PredicateRows['predicates'][number];

interface PredicateListProps {
  selected: string | undefined;
  /** `hasFacts` false: only its conclusions can be shown. */
  onSelect: (predicate: string | undefined, hasFacts: boolean) => void;
}

interface RowProps {
  name: string;
  arity: string;
  /** null: not told. */
  facts: number | null;
  /** null: not told. */
  conclusions: CountedConclusions | null;
}

function Row({ name, arity, facts, conclusions }: RowProps) {
  return (
    <>
      <span className={`truncate ${styles.predicateName}`} title={name}>
        {name}
        <span className="dim">{arity}</span>
      </span>
      {conclusions !== null && (conclusions.derived > 0 || !conclusions.derivedComplete) && (
        <span className={`number ${styles.conclusions}`} title={conclusionsInWords(conclusions)}>
          {conclusions.derived > 0 && '+'}
          {countOfConclusions(conclusions)}
        </span>
      )}
      {facts !== null && (
        <span className="number dim" title={`${formatAmount(facts, 'stored fact')}, valid now`}>
          {formatCount(facts)}
        </span>
      )}
    </>
  );
}

export function PredicateList({ selected, onSelect }: PredicateListProps) {
  const { data, error, isPending, refetch } = usePredicates();
  const [filter, setFilter] = useState('');
  const rows = useMemo<PredicateRow[]>(() => {
    const wanted = filter.trim().toLowerCase();
    return (data ?? []).filter((row) => `${row.name}/${row.arity}`.toLowerCase().includes(wanted));
  }, [data, filter]);
  const index = selected === undefined ? 0 : rows.findIndex((row) => row.name === selected) + 1;
  const isUnknown = selected !== undefined && index === 0;

  return (
    <PaneFrame title="Predicates" tone="panel" scroll="own" label="Predicates">
      <div className={styles.predicates}>
        <TextInput
          className={styles.predicateFilter}
          aria-label="Filter predicates"
          placeholder="Filter"
          leftSection={<IconFilter size={14} aria-hidden />}
          value={filter}
          onChange={(event) => setFilter(event.currentTarget.value)}
        />
        {error !== null && data === undefined ? (
          <div className={styles.padded}>
            <ProblemNotice failure={apiFailureOf(error)} onRetry={() => void refetch()} />
          </div>
        ) : isPending ? (
          <div className={styles.padded}>
            <Skeleton height={12} width="60%" mb={12} />
            <Skeleton height={12} width="75%" />
          </div>
        ) : (
          <VirtualList
            label="Predicates"
            count={rows.length + 1}
            selected={isUnknown ? -1 : index}
            onSelect={(at) => {
              const row = rows[at - 1];
              onSelect(row?.name, row === undefined || row.facts > 0);
            }}
            render={(at) => {
              const row = rows[at - 1];
              return row === undefined ? (
                <Row name="All facts" arity="" facts={null} conclusions={null} />
              ) : (
                <Row name={row.name} arity={`/${row.arity}`} facts={row.facts} conclusions={row} />
              );
            }}
          />
        )}
      </div>
    </PaneFrame>
  );
}
