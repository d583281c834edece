import { Button } from '@mantine/core';
import { IconMoodSmile, IconWind } from '@tabler/icons-react';
import { useState } from 'react';
import type { Decayed } from '../../../engine/contract/memory.ts';
import { AnswerOrFailure } from '../../api/answered.tsx';
import { Permitted } from '../../api/permitted.tsx';
import { apiFailureOf } from '../../api/problem.ts';
import { useWrite } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { type ScopeSelection, scopeFieldsOf } from '../../api/space.ts';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { EmptyState } from '../../ui/notices.tsx';
import { notifyFailure, notifyHint } from '../../ui/notify.tsx';
import { AtomList, MeasuredDialog } from './measured.tsx';
import { findByAtom, type useEvictable } from './use-memory.ts';
import styles from './memory.module.css';

/** Returns `12 expired and 3 faded facts`. */
function wordsOf({ expired, lowSalience }: Pick<Decayed, 'expired' | 'lowSalience'>): string {
  const parts = [
    ...(lowSalience > 0 ? [`${formatCount(lowSalience)} faded`] : []),
    ...(expired > 0 ? [`${formatCount(expired)} expired`] : []),
  ];
  return `${parts.join(' and ')} ${expired + lowSalience === 1 ? 'fact' : 'facts'}`;
}

interface EvictDialogProps {
  evictable: Decayed;
  threshold: number;
  onClose: () => void;
}

function EvictDialog({ evictable, threshold, onClose }: EvictDialogProps) {
  const { space } = useSession();
  const { mutateAsync } = useWrite('decay');
  const count = formatAmount(evictable.evicted, 'fact');

  async function evict() {
    const evicted = await mutateAsync({ body: { threshold, ...scopeFieldsOf(space.scope) } });
    const outcome =
      evicted.evicted === 0 ? 'Nothing was left to evict' : `Evicted ${wordsOf(evicted)} below ${threshold}`;
    return { kind: 'decay', outcome, list: 'Evicted', atoms: evicted.atoms } as const;
  }

  return (
    <MeasuredDialog
      title={`Evict ${count}?`}
      keep="Keep them"
      action={`Evict ${count}`}
      isDestructive
      work={evict}
      onClose={onClose}
    >
      <p className={styles.statement}>
        This retracts <strong>{wordsOf(evictable)}</strong> from {whereOf(space.scope)}, with every conclusion
        that only they support. It cannot be undone.
      </p>
      <p className="dim">
        What has faded or expired by the moment it is done goes too.{' '}
        {formatAmount(evictable.remaining, 'fact')} would remain.
      </p>
    </MeasuredDialog>
  );
}

/** A scope within a sentence. */
function whereOf(scope: ScopeSelection): string {
  if (scope.kind === 'named') return `the scope ${scope.name}`;
  return scope.kind === 'all' ? 'all scopes' : 'what has no scope';
}

interface EvictPartProps {
  evictable: ReturnType<typeof useEvictable>;
  threshold: number;
  onOpen: (id: string) => void;
}

/** Lists the facts that would be evicted, and then evicts them on request. */
export function EvictPart({ evictable, threshold, onOpen }: EvictPartProps) {
  const session = useSession();
  const [asking, setAsking] = useState<Decayed | null>(null);

  function open(atom: string): void {
    findByAtom(session, atom).then(
      (fact) => {
        if (fact?.id === null || fact === null)
          notifyHint('Its validity has ended, or it was retracted: there is nothing more to see of it.');
        else onOpen(fact.id);
      },
      (error: unknown) => notifyFailure(apiFailureOf(error)),
    );
  }

  return (
    <>
      <AnswerOrFailure asked={evictable}>
        {(data) =>
          data.evicted === 0 ? (
            <EmptyState
              icon={<IconMoodSmile size={30} stroke={1.3} aria-hidden />}
              title={`Nothing is below ${threshold}`}
            >
              No fact has faded so far, and none that has expired waits to be swept. Move the threshold to see
              what would go.
            </EmptyState>
          ) : (
            <div className="flex-column full-height">
              <div className={styles.toolbar}>
                <span className="dim">
                  {wordsOf(data)} below {threshold}. Enter opens one, to pin or boost it.
                </span>
                <Permitted operation="decay">
                  <Button
                    color="red"
                    variant="light"
                    disabled={evictable.isPlaceholderData}
                    leftSection={<IconWind size={14} aria-hidden />}
                    onClick={() => setAsking(data)}
                  >
                    Evict {formatAmount(data.evicted, 'fact')}…
                  </Button>
                </Permitted>
              </div>
              <div className="rest-height">
                <AtomList
                  label="Facts that would be evicted"
                  atoms={data.atoms}
                  // The service lists expired facts first.
                  wordAt={(index) => (index < data.expired ? 'expired' : 'faded')}
                  onOpen={open}
                />
              </div>
            </div>
          )
        }
      </AnswerOrFailure>
      {/* Stays open, whatever changes behind it. */}
      {asking !== null && (
        <EvictDialog evictable={asking} threshold={threshold} onClose={() => setAsking(null)} />
      )}
    </>
  );
}
