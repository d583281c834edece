/** Takes a generation, or a range of them, back, after showing what that would change. */
import { Button, Group, Modal, Switch } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Reverted } from '../../../engine/contract/history.ts';
import { record } from '../../api/history.ts';
import { queryKeyOf } from '../../api/live.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { useWrite } from '../../api/queries.ts';
import { takingBack } from '../../api/reverting.ts';
import { useReason } from '../../api/rights.ts';
import { useSession } from '../../api/session.tsx';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { Loading, ProblemNotice } from '../../ui/notices.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import { ChangeLists, isNothing } from './changes.tsx';
import styles from './history.module.css';

function Preview({ tried }: { tried: Reverted }) {
  const { left } = tried;
  const parts = [
    ...(left.rules > 0 ? [formatAmount(left.rules, 'rule')] : []),
    ...(left.declarations > 0
      ? [formatAmount(left.declarations, 'declaration or constraint', 'declarations and constraints')]
      : []),
  ];
  return (
    <section className="flex-column gap-8" aria-label="What it changes">
      {isNothing(tried) ? (
        <p className="no-margin" role="status">
          There is nothing to take back{parts.length > 0 && ' of the facts'}.
        </p>
      ) : (
        <div className={styles.preview} tabIndex={0} role="group" aria-label="Changes">
          <ChangeLists {...tried} />
        </div>
      )}
      {parts.length > 0 && (
        <p className="no-margin text-warn">{parts.join(' and ')} of it would stay as they are.</p>
      )}
    </section>
  );
}

/** One generation, or those after `from` up to `to`. */
export type RevertedRange = { readonly generation: number } | { readonly from: number; readonly to: number };

function rangeInWords(range: RevertedRange): string {
  const first = 'generation' in range ? range.generation : range.from + 1;
  const last = 'generation' in range ? range.generation : range.to;
  if (first === last) return `generation ${formatCount(first)}`;
  return `generations ${formatCount(first)} to ${formatCount(last)}`;
}

interface RevertDialogProps {
  range: RevertedRange;
  onClose: () => void;
}

/** The dialog. Rules, declarations and constraints belong to all tenants: they are taken back only if chosen. */
export function RevertDialog({ range, onClose }: RevertDialogProps) {
  const session = useSession();
  const { call, endpoint, space } = session;
  const [withRules, setWithRules] = useState(false);
  const reason = useReason('updateRule');
  const words = rangeInWords(range);
  const preview = useQuery({
    queryKey: queryKeyOf('answers', endpoint, 'revert', range, withRules),
    queryFn: ({ signal }) =>
      call('revert', { body: { ...range, rules: withRules, dryRun: true } }, { signal }),
    gcTime: 0,
  });
  const write = useWrite('revert');
  const failure = preview.error ?? write.error;
  const tried = preview.data;

  function onConfirm(): void {
    write.mutate(
      { body: { ...range, rules: withRules } },
      {
        onSuccess: (reverted) => {
          record(space, `took back ${words}`, takingBack(session, reverted.generation, withRules));
          notifyDone(`Taken back: ${words}`);
          onClose();
        },
      },
    );
  }

  return (
    <Modal opened onClose={onClose} title={`Take back ${words}`} size={620}>
      <div className="flex-column gap-12">
        <p className="no-margin">
          One new transaction undoes what {'generation' in range ? 'it' : 'they'} changed. If a later change
          touched any of it, nothing is taken back. Ctrl+Z undoes this.
        </p>
        <Switch
          label="Rules, declarations and constraints too, for all tenants"
          checked={withRules}
          disabled={reason !== null}
          {...(reason === null ? {} : { description: reason })}
          onChange={({ currentTarget }) => setWithRules(currentTarget.checked)}
        />
        {failure !== null ? (
          <ProblemNotice failure={apiFailureOf(failure)} />
        ) : tried === undefined ? (
          <Loading />
        ) : (
          <Preview tried={tried} />
        )}
      </div>
      <Group justify="flex-end" mt="md">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button
          loading={write.isPending}
          disabled={tried === undefined || isNothing(tried) || failure !== null}
          onClick={onConfirm}
        >
          Take back
        </Button>
      </Group>
    </Modal>
  );
}
