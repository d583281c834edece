import { Button, NumberInput } from '@mantine/core';
import {
  IconArrowUp,
  IconInfinity,
  IconPin,
  IconPinnedOff,
  IconRestore,
  IconTable,
  IconTrash,
} from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useEffect, useMemo, useState } from 'react';
import type { FactDetail } from '../../../engine/contract/facts.ts';
import { AnswerOrFailure } from '../../api/answered.tsx';
import { Guarded, Permitted } from '../../api/permitted.tsx';
import { apiFailureOf } from '../../api/problem.ts';
import { useReason } from '../../api/rights.ts';
import { LinkedAtom } from '../../editor/linked-atom.tsx';
import { DetailPane } from '../../ui/pane.tsx';
import { MetadataPairs, Pairs } from '../../ui/blocks.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { formatAmount, formatCount, formatRelative, formatTime } from '../../ui/format.ts';
import { EmptyState, PaneProblem } from '../../ui/notices.tsx';
import { Meter, Tag } from '../../ui/tags.tsx';
import { boostHint, keepHint, pinHint } from './entry-grid.tsx';
import {
  importanceOf,
  isPinnedFact,
  rememberedAtomOf,
  rememberedOf,
  summarizedCountOf,
  summarySourcesOf,
} from './remembered.ts';
import type { MemoryChanges } from './use-fact-changes.ts';
import { useFact } from './use-memory.ts';
import type { Restoring } from './measured.tsx';
import styles from './memory.module.css';
import { Tooltip } from '../../ui/tooltip.tsx';

/** Default importance. */
const usualImportance = 0.5;
/** Maximum number of a summary's values listed. */
const maxEpisodes = 200;

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={styles.section}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

function Breakdown({ breakdown }: { breakdown: FactDetail['salienceBreakdown'] }) {
  const { salience, activation, importance, confidence, uses, lastUsedAt } = breakdown;
  const share = (value: number) => Number(value.toFixed(3));
  return (
    <Section title="Salience">
      <Pairs>
        <dt>Now</dt>
        <dd>
          <Meter value={salience} />
        </dd>
        <dt title="How often it was used">Uses</dt>
        <dd className="number">{formatCount(uses)}</dd>
        <dt>Last used</dt>
        <dd>
          {lastUsedAt === null ? (
            <span className="dim">never</span>
          ) : (
            <span title={formatTime(lastUsedAt)}>{formatRelative(lastUsedAt, Date.now())}</span>
          )}
        </dd>
        <dt title="From the uses and their ages; it fades by itself">Activation</dt>
        <dd>
          <Meter value={activation} />
        </dd>
        <dt title="From its metadata; 0.5 where that says nothing">Importance</dt>
        <dd>
          <Meter value={importance} />
        </dd>
        <dt title="From its metadata; 1 where that says nothing">Confidence</dt>
        <dd>
          <Meter value={confidence} />
        </dd>
      </Pairs>
      <p className={`dim number ${styles.formula}`}>
        (1 − (1 − {share(activation)})<sup>2 × {share(importance)}</sup>) × {share(confidence)} ={' '}
        {share(salience)}
      </p>
    </Section>
  );
}

interface ImportanceProps {
  detail: FactDetail;
  isBusy: boolean;
  onImportance: (importance: number | null) => void;
}

function Importance({ detail, isBusy, onImportance }: ImportanceProps) {
  const stored = importanceOf(detail);
  const [typed, setTyped] = useState<number | string>(stored ?? '');
  useEffect(() => setTyped(stored ?? ''), [stored]);
  const wanted = typeof typed === 'number' ? typed : null;
  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    if (wanted !== stored) onImportance(wanted);
  }
  return (
    <form className={styles.importance} onSubmit={onSubmit}>
      <NumberInput
        label="Importance"
        description="0 to 1. It weighs every use while it is set; empty means 0.5."
        placeholder={String(usualImportance)}
        min={0}
        max={1}
        step={0.1}
        decimalScale={3}
        clampBehavior="strict"
        value={typed}
        onChange={setTyped}
      />
      <Permitted operation="assertFact">
        <Button type="submit" variant="default" disabled={isBusy || wanted === stored}>
          Set
        </Button>
      </Permitted>
    </form>
  );
}

interface ActionProps {
  hint: string;
  icon: ReactNode;
  isBusy: boolean;
  onClick: () => void;
  children: ReactNode;
}

function Action({ hint, icon, isBusy, onClick, children }: ActionProps) {
  const reason = useReason('assertFact');
  const button = (
    <Button variant="default" leftSection={icon} disabled={isBusy} onClick={onClick}>
      {children}
    </Button>
  );
  if (reason !== null) return <Guarded reason={reason}>{button}</Guarded>;
  return (
    <Tooltip label={hint} maxWidth={280}>
      {button}
    </Tooltip>
  );
}

const small = { size: 14, 'aria-hidden': true } as const;

interface ActionsProps {
  detail: FactDetail;
  id: string;
  changes: MemoryChanges;
  restoring: Restoring;
}

function Actions({ detail, id, changes, restoring }: ActionsProps) {
  const fact = rememberedOf(detail);
  const pinned = isPinnedFact(fact);
  const isBusy = changes.busy === id;
  return (
    <div className="flex-wrap flex gap-6">
      <Action
        hint={boostHint}
        icon={<IconArrowUp {...small} />}
        isBusy={isBusy}
        onClick={() => changes.change(id, { kind: 'boost' }, detail)}
      >
        Boost
      </Action>
      <Action
        hint={pinned ? 'It may be evicted again.' : pinHint}
        icon={pinned ? <IconPinnedOff {...small} /> : <IconPin {...small} />}
        isBusy={isBusy}
        onClick={() => changes.change(id, { kind: 'pin', isPinned: !pinned }, detail)}
      >
        {pinned ? 'Unpin' : 'Pin'}
      </Action>
      {detail.validUntil !== null && (
        <Action
          hint={keepHint}
          icon={<IconInfinity {...small} />}
          isBusy={isBusy}
          onClick={() => changes.change(id, { kind: 'keep' }, detail)}
        >
          Keep for good
        </Action>
      )}
      {summarizedCountOf(detail.metadata) !== null && (
        <Action
          hint="Its facts return as they were, and the summary goes."
          icon={<IconRestore {...small} />}
          isBusy={restoring.isRunning}
          onClick={() => restoring.restore(fact)}
        >
          Restore
        </Action>
      )}
      <Action
        hint="Retracts it, after showing what would no longer hold."
        icon={<IconTrash {...small} />}
        isBusy={isBusy}
        onClick={() => changes.forget(id)}
      >
        Forget…
      </Action>
      <Button
        variant="default"
        leftSection={<IconTable {...small} />}
        renderRoot={(props) => (
          <Link to="/facts" search={{ predicate: detail.predicate, fact: id }} {...props} />
        )}
      >
        Open in Facts
      </Button>
    </div>
  );
}

function Head({ detail }: { detail: FactDetail }) {
  const fact = rememberedOf(detail);
  const atom = rememberedAtomOf(fact);
  return (
    <>
      <div className="align-start flex gap-6 wraps">
        <LinkedAtom text={atom} />
        <CopyButton text={atom} label="Copy the statement" />
      </div>
      <div className="flex-row gap-4-8 flex-wrap">
        {isPinnedFact(fact) && <Tag tone="computed">pinned</Tag>}
        {summarizedCountOf(detail.metadata) !== null && <Tag tone="derived">summary</Tag>}
        <span className="dim">{detail.scope === null ? 'no scope' : `scope ${detail.scope}`}</span>
        <span className="dim" title={formatTime(detail.createdAt)}>
          asserted {formatRelative(detail.createdAt, Date.now())}
        </span>
        {detail.validUntil !== null && (
          <span className="dim" title={formatTime(detail.validUntil)}>
            ends {formatRelative(detail.validUntil, Date.now())}
          </span>
        )}
      </div>
    </>
  );
}

/** Shows what a summary stands for; nothing for other facts. */
function Origin({ metadata }: Pick<FactDetail, 'metadata'>) {
  const origin = useMemo(() => summarySourcesOf(metadata), [metadata]);
  if (origin === null) return null;
  const { from, position, count, first, last, values } = origin;
  const rest = values.length - maxEpisodes;
  return (
    <Section title="Stands for">
      <p>
        {formatAmount(count, 'fact')} of <span className="mono">{from}</span> that differ in argument{' '}
        {position + 1}, asserted {formatTime(first)} to {formatTime(last)}
      </p>
      <ul className={`plain-list ${styles.plainList}`} tabIndex={0} aria-label="Values it stands for">
        {values.slice(0, maxEpisodes).map(({ value, createdAt }) => (
          <li key={`${value} ${createdAt}`}>
            <span className="mono truncate" title={value}>
              {value}
            </span>
            <span className="dim" title={formatTime(createdAt)}>
              {formatRelative(createdAt, Date.now())}
            </span>
          </li>
        ))}
        {rest > 0 && <li className="dim">and {formatAmount(rest, 'more', 'more')}</li>}
      </ul>
    </Section>
  );
}

function MetadataList({ metadata: { consolidated: _, ...metadata } }: Pick<FactDetail, 'metadata'>) {
  if (Object.keys(metadata).length === 0) return null;
  return (
    <Section title="Metadata">
      <MetadataPairs metadata={metadata} />
    </Section>
  );
}

interface MemoryDetailProps {
  id: string;
  changes: MemoryChanges;
  restoring: Restoring;
  onClose: () => void;
}

function Content({ id, changes, restoring }: MemoryDetailProps) {
  const fact = useFact(id);
  const failure = fact.error === null ? null : apiFailureOf(fact.error);
  if (fact.isGone || failure?.code === 'FactNotFound')
    return (
      <EmptyState title="This fact is gone">
        It was retracted, evicted or replaced by a summary, or its validity has ended.
      </EmptyState>
    );
  if (failure !== null) return <PaneProblem failure={failure} onRetry={() => void fact.refetch()} />;
  return (
    <AnswerOrFailure asked={fact}>
      {(detail) => (
        <div className={`flex-column gap-12 ${styles.detail}`}>
          <Head detail={detail} />
          <Actions detail={detail} id={id} changes={changes} restoring={restoring} />
          <Breakdown breakdown={detail.salienceBreakdown} />
          <Importance
            detail={detail}
            isBusy={changes.busy === id}
            onImportance={(importance) => changes.change(id, { kind: 'importance', importance }, detail)}
          />
          <Origin metadata={detail.metadata} />
          <MetadataList metadata={detail.metadata} />
        </div>
      )}
    </AnswerOrFailure>
  );
}

/** Shows one fact: the parts of its salience, and actions that keep it or let it fade. */
export function MemoryDetail(props: MemoryDetailProps) {
  return (
    <DetailPane title="Fact" onClose={props.onClose}>
      <Content {...props} />
    </DetailPane>
  );
}
