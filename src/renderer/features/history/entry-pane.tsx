/** One generation: who made it and how, its changes, its consequences, and what can be done with it. */
import { Button } from '@mantine/core';
import { IconArrowBackUp, IconArrowsDiff, IconHistory } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useCallback, useState } from 'react';
import type { Flip, HistoryDiff } from '../../../engine/contract/history-diff.ts';
import type { GenerationEntry } from '../../../engine/contract/history.ts';
import { Permitted } from '../../api/permitted.tsx';
import { apiFailureOf } from '../../api/problem.ts';
import { useSession } from '../../api/session.tsx';
import { actorInWords, surfaceInWords, useGeneration, useShowMoment } from '../../api/timeline.ts';
import { useRunAtOnce } from '../../api/use-run.ts';
import { Block, Pairs } from '../../ui/blocks.tsx';
import { formatCount, formatTime } from '../../ui/format.ts';
import { EmptyState, Loading, PaneProblem, ProblemNotice } from '../../ui/notices.tsx';
import { DetailPane } from '../../ui/pane.tsx';
import { ChangeLists, isNothing } from './changes.tsx';
import { FlipList } from './flips.tsx';
import styles from './history.module.css';
import { RevertDialog } from './revert-dialog.tsx';

function About({ entry }: { entry: GenerationEntry }) {
  const { time, session, reason, operation } = entry;
  const surface = surfaceInWords(entry);
  const row = (name: string, value: ReactNode) => (
    <>
      <dt>{name}</dt>
      <dd className="wraps">{value}</dd>
    </>
  );
  return (
    <Pairs>
      {row('When', formatTime(time))}
      {row('Who', actorInWords(entry))}
      {surface !== '' && row('By', surface)}
      {session !== null && row('Session', <code className="mono">{session}</code>)}
      {row('Operation', operation)}
      {reason !== null && row('Reason', reason)}
    </Pairs>
  );
}

function Actions({ entry, onRevert }: { entry: GenerationEntry; onRevert: () => void }) {
  const { generation } = entry;
  const show = useShowMoment();
  return (
    <div className="flex-row flex-wrap gap-6">
      <Button
        variant="default"
        leftSection={<IconHistory size={14} aria-hidden />}
        onClick={() => show({ asKnown: String(generation) })}
      >
        Go to this moment
      </Button>
      <Button
        variant="default"
        leftSection={<IconArrowsDiff size={14} aria-hidden />}
        renderRoot={(props) => (
          <Link to="/history" search={{ part: 'compare', from: String(generation) }} {...props} />
        )}
      >
        Compare with now
      </Button>
      <Permitted operation="revert">
        <Button variant="default" leftSection={<IconArrowBackUp size={14} aria-hidden />} onClick={onRevert}>
          Take back…
        </Button>
      </Permitted>
    </div>
  );
}

/** In milliseconds: what is worked out while somebody looks. */
const patience = 10_000;

/** The conclusions that the generation made true or untrue. */
function Consequences({ generation, onProof }: { generation: number; onProof: OnProof }) {
  const { call } = useSession();
  const work = useCallback(
    (signal: AbortSignal) => {
      const body = { from: generation - 1, to: generation, timeoutMs: patience };
      return call('historyDiff', { body }, { signal });
    },
    [call, generation],
  );
  const { state, again } = useRunAtOnce<HistoryDiff>(work);
  return (
    <Block title="Consequences">
      {state.failure !== null ? (
        <ProblemNotice failure={state.failure} onRetry={again} />
      ) : state.result === null ? (
        <Loading />
      ) : (
        <FlipList diff={state.result} onProof={(flip) => onProof(flip, state.result as HistoryDiff)} />
      )}
    </Block>
  );
}

/** Shows the proof of a flip, at the moment where it was true. */
export type OnProof = (flip: Flip, diff: HistoryDiff) => void;

function Content({ entry, onProof }: { entry: GenerationEntry; onProof: OnProof }) {
  const [isReverting, setIsReverting] = useState(false);
  const { generation, redacted } = entry;
  return (
    <div className={`flex-column gap-12 ${styles.detail}`}>
      <About entry={entry} />
      <Actions entry={entry} onRevert={() => setIsReverting(true)} />
      <Block title="Changes">
        <ChangeLists {...entry} />
        {isNothing(entry) && redacted === 0 && <p className="dim">It changed nothing of this tenant.</p>}
        {redacted > 0 && (
          <p className="dim">{formatCount(redacted)} more were erased since, and are not listed.</p>
        )}
      </Block>
      <Consequences key={generation} generation={generation} onProof={onProof} />
      {isReverting && <RevertDialog range={{ generation }} onClose={() => setIsReverting(false)} />}
    </div>
  );
}

interface EntryPaneProps {
  generation: number;
  /** The entry as the list has it; undefined if it is not listed. */
  listed: GenerationEntry | undefined;
  onProof: OnProof;
  onClose: () => void;
}

/** The pane of the open generation. The list may be filtered to a part of what it changed; the pane shows all. */
export function EntryPane({ generation, listed, onProof, onClose }: EntryPaneProps) {
  const asked = useGeneration(generation);
  const entry = asked.data ?? listed;
  return (
    <DetailPane title={`Generation ${formatCount(generation)}`} onClose={onClose}>
      {entry !== undefined ? (
        <Content entry={entry} onProof={onProof} />
      ) : asked.error !== null ? (
        <PaneProblem failure={apiFailureOf(asked.error)} onRetry={() => void asked.refetch()} />
      ) : asked.data === undefined ? (
        <Loading />
      ) : (
        <EmptyState title="Nothing of this tenant">
          This generation changed nothing here, or it is not kept any more.
        </EmptyState>
      )}
    </DetailPane>
  );
}
