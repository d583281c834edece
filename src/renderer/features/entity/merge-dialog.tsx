/** Merges two entities: both side by side, what the merge would do, and its undo. */
import { ActionIcon, Button, Group, Loader, Modal, TextInput } from '@mantine/core';
import { Tooltip } from '../../ui/tooltip.tsx';
import { useDebouncedValue } from '@mantine/hooks';
import { IconArrowRight, IconSwitchHorizontal } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { EntitiesMerged, EntityPage } from '../../../engine/contract/entities.ts';
import { renderAtom } from '../../../engine/language/print.ts';
import { record } from '../../api/history.ts';
import { noteGeneration, queryKeyOf } from '../../api/live.ts';
import { ApiError, apiFailureOf } from '../../api/problem.ts';
import { useWrite } from '../../api/queries.ts';
import { takingBack } from '../../api/reverting.ts';
import { useSession } from '../../api/session.tsx';
import { runTransaction } from '../../api/transaction.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { consequencesInWords } from '../../ui/consequences.ts';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { useOpenEntity } from '../../ui/knowledge-links.tsx';
import { ProblemNotice } from '../../ui/notices.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import styles from './entity.module.css';
import { maxUndoneRewrites, undoOfMerge } from './undo-merge.ts';

/** Facts that the preview lists. */
const maxListed = 50;

interface SideProps {
  title: string;
  constant: string;
  isGoing: boolean;
}

/** One of the two, with what is known about it. */
function Side({ title, constant, isGoing }: SideProps) {
  const { call, endpoint } = useSession();
  const page = useQuery({
    queryKey: queryKeyOf('facts', endpoint, 'merge side', constant),
    queryFn: ({ signal }) => call('describeEntity', { body: { constant, limit: 6 } }, { signal }),
  });
  return (
    <section
      className={`flex-column boxed gap-6 ${styles.side} ${isGoing ? styles.goes : ''}`}
      aria-label={title}
    >
      <h3 className="label-title">{title}</h3>
      <strong className="mono wraps">{constant}</strong>
      {page.data !== undefined && <SideFacts page={page.data} />}
    </section>
  );
}

function SideFacts({ page: { facts, totals, aliases } }: { page: EntityPage }) {
  return (
    <>
      <span className="dim">
        {formatAmount(totals.facts, 'fact')}
        {aliases.length > 0 && ` · also ${aliases.join(', ')}`}
      </span>
      <ul className="plain-list flex-column gap-2">
        {facts.map(({ id, predicate, args, truthVal }) => (
          <li key={id} className="truncate">
            <CodeText isLine text={renderAtom({ predicate, args, negated: !truthVal })} />
          </li>
        ))}
        {totals.facts > facts.length && (
          <li className="dim">and {formatCount(totals.facts - facts.length)} more</li>
        )}
      </ul>
    </>
  );
}

function Preview({ tried }: { tried: EntitiesMerged }) {
  const { facts, joined, rewritten, rulesMentioning, into } = tried;
  return (
    <section className="flex-column gap-6" aria-label="What the merge does">
      <p className="no-margin" role="status">
        <strong>{formatAmount(facts, 'fact')}</strong> {facts === 1 ? 'becomes' : 'become'} about{' '}
        <code className="mono">{into}</code>
        {joined > 0 &&
          `; ${formatCount(joined)} of them ${joined === 1 ? 'is' : 'are'} joined with an equal one`}
        . {consequencesInWords(tried)}
      </p>
      {rewritten.length > 0 && (
        <ul
          className={`plain-list flex-column gap-2 ${styles.atoms}`}
          aria-label="Rewritten facts"
          tabIndex={0}
        >
          {rewritten.slice(0, maxListed).map(({ after, joined: equal }, at) => (
            // Identified by position: two facts may become one.
            // eslint-disable-next-line react/no-array-index-key
            <li key={at}>
              <CodeText text={renderAtom({ ...after, negated: !after.truthVal })} />
              {after.scope !== null && <span className="dim"> in scope {after.scope}</span>}
              {equal !== null && <span className="dim"> joined with what is there</span>}
            </li>
          ))}
          {facts > maxListed && <li className="dim">and {formatCount(facts - maxListed)} more</li>}
        </ul>
      )}
      {rulesMentioning.length > 0 && (
        <>
          <p className="no-margin text-warn">
            {formatAmount(rulesMentioning.length, 'rule names', 'rules name')} it and{' '}
            {rulesMentioning.length === 1 ? 'is' : 'are'} not rewritten:
          </p>
          <ul
            className={`plain-list flex-column gap-2 ${styles.atoms}`}
            aria-label="Rules that name it"
            tabIndex={0}
          >
            {rulesMentioning.map(({ id, rule }) => (
              <li key={id}>
                <CodeText text={rule} />
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

/** Returns how a merge is recorded, so that it can be undone. */
function useRecordMerge() {
  const session = useSession();
  const { call, endpoint, space } = session;
  return (merged: EntitiesMerged, aliasesBefore: readonly string[]): void => {
    const { from, into, facts, rewritten, generation } = merged;
    const label = `merged ${from} into ${into}`;
    record(space, label, async () => {
      try {
        return await takingBack(session, generation, false)();
      } catch (error) {
        // A service that keeps no history: fact by fact, as far as the answer to the merge has them.
        const isGone = error instanceof ApiError && error.code === 'HistoryGone';
        if (!isGone || facts > rewritten.length) throw error;
      }
      const writes = undoOfMerge(merged, generation, Date.now());
      if (writes.length > 0) noteGeneration((await runTransaction(endpoint, writes)).generation);
      for (const alias of merged.aliases)
        if (!aliasesBefore.includes(alias)) await call('removeAlias', { body: { entity: into, alias } });
      return 'look at the two entities as they are now, and merge again';
    });
  };
}

/** The two side by side, the one that goes on the left. */
function Sides({ from, into, onSwitch }: { from: string; into: string; onSwitch: () => void }) {
  return (
    <div className={styles.sides}>
      <Side title="Goes, and becomes an alias" constant={from} isGoing />
      <span className="flex-column gap-6" style={{ alignSelf: 'center' }}>
        <IconArrowRight size={20} aria-label="is merged into" />
        <Tooltip label="Keep the other name">
          <ActionIcon aria-label="Keep the other name" onClick={onSwitch}>
            <IconSwitchHorizontal size={16} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </span>
      <Side title="Stays" constant={into} isGoing={false} />
    </div>
  );
}

/** What is asked while the names are typed: the preview of the merge, and the entity that stays. */
function usePreview(from: string, into: string, isReady: boolean) {
  const { call, endpoint } = useSession();
  const preview = useQuery({
    queryKey: queryKeyOf('answers', endpoint, 'merge entities', from, into),
    queryFn: ({ signal }) =>
      call('mergeEntities', { body: { from, into, dryRun: true, limit: maxListed } }, { signal }),
    enabled: isReady,
    gcTime: 0,
    staleTime: 0,
  });
  const kept = useQuery({
    queryKey: queryKeyOf('facts', endpoint, 'merge side', into),
    queryFn: ({ signal }) => call('describeEntity', { body: { constant: into, limit: 6 } }, { signal }),
    enabled: isReady,
  });
  return { preview, kept };
}

interface MergeDialogProps {
  entity: string;
  /** The other entity; empty: the dialog asks for it. */
  other: string;
  onClose: () => void;
}

/** The dialog. The entity of the page stays or goes; `from` becomes an alias of `into`. */
export function MergeDialog({ entity, other: given, onClose }: MergeDialogProps) {
  const [typed, setTyped] = useState(given);
  const [isReversed, setReversed] = useState(false);
  const [other] = useDebouncedValue(typed.trim(), 250);
  const [from, into] = isReversed ? [entity, other] : [other, entity];
  const merge = useWrite('mergeEntities');
  const openEntity = useOpenEntity();
  const recordMerge = useRecordMerge();
  const isReady = other !== '' && other !== entity;
  const { preview, kept } = usePreview(from, into, isReady);

  function onConfirm(): void {
    const before = kept.data?.aliases ?? [];
    merge.mutate(
      { body: { from, into, limit: maxUndoneRewrites } },
      {
        onSuccess: (merged) => {
          recordMerge(merged, before);
          notifyDone(`Merged ${from} into ${into}: ${formatAmount(merged.facts, 'fact')} rewritten`);
          onClose();
          if (into !== entity) openEntity(into);
        },
      },
    );
  }

  const failure = preview.error ?? merge.error;
  return (
    <Modal opened onClose={onClose} title="Merge two entities" size={760}>
      <div className="flex-column gap-12">
        <TextInput
          data-autofocus
          label="The other entity"
          description="The same thing under another name, as facts have it."
          classNames={{ input: 'mono' }}
          autoComplete="off"
          spellCheck={false}
          value={typed}
          error={typed.trim() === entity ? 'That is this entity.' : null}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        {isReady && <Sides from={from} into={into} onSwitch={() => setReversed(!isReversed)} />}
        {preview.isFetching && (
          <p className="dim no-margin">
            <Loader size={12} mr={8} /> Working out what would change…
          </p>
        )}
        {preview.data !== undefined && !preview.isFetching && <Preview tried={preview.data} />}
        {failure !== null && <ProblemNotice failure={apiFailureOf(failure)} />}
      </div>
      <Group justify="flex-end" mt="md">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button
          loading={merge.isPending}
          disabled={!isReady || preview.data === undefined || preview.isFetching || typed.trim() !== other}
          onClick={onConfirm}
        >
          Merge
        </Button>
      </Group>
    </Modal>
  );
}
