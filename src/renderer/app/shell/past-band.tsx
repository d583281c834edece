/** The band above every view that shows the past: which moment, the way to its neighbours, and back. */
import { ActionIcon, Button } from '@mantine/core';
import { IconArrowBackUp, IconChevronLeft, IconChevronRight, IconHistory } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { parseTime } from '../../../engine/contract/time-text.ts';
import type { GenerationEntry } from '../../../engine/contract/history.ts';
import { asGeneration, type PastMoment } from '../../api/moment.ts';
import { useSession } from '../../api/session.tsx';
import {
  actorInWords,
  knownInWords,
  useGeneration,
  useKnowledgeGeneration,
  useShowMoment,
  useTimeline,
} from '../../api/timeline.ts';
import { formatCount, formatTime } from '../../ui/format.ts';
import { Tooltip } from '../../ui/tooltip.tsx';
import { stepsFrom } from './moment-positions.ts';
import styles from './shell.module.css';

/** The moment in a sentence. */
function Words({
  moment: { asOf, asKnown },
  generation,
  entry,
}: {
  moment: PastMoment;
  generation: number | undefined;
  entry: GenerationEntry | null | undefined;
}) {
  const valid = asOf === null ? null : formatTime(parseTime(asOf) ?? 0);
  if (asKnown === null)
    return (
      <>
        What was true at <strong>{valid}</strong>, as far as it is known now
      </>
    );
  const isInstant = asGeneration(asKnown) === null;
  return (
    <>
      What was known at <strong>{knownInWords(asKnown)}</strong>
      {isInstant && generation !== undefined && ` (generation ${formatCount(generation)})`}
      {!isInstant && entry !== null && entry !== undefined && (
        <>
          , {formatTime(entry.time)}, after a change by {actorInWords(entry)}
        </>
      )}
      {valid !== null && (
        <>
          {' '}
          of what was true at <strong>{valid}</strong>
        </>
      )}
    </>
  );
}

/** The changes before and after the generation that is shown; after the last one comes the present. */
function Steps({ generation }: { generation: number }) {
  const show = useShowMoment();
  const { data } = useTimeline(true);
  if (data === undefined) return null;
  const { earlier, later } = stepsFrom(data.generations, data.nextCursor === null, generation);
  return (
    <span className="flex-row gap-4">
      <Tooltip label="Earlier change">
        <ActionIcon
          aria-label="Earlier change"
          disabled={earlier === null}
          onClick={() => {
            if (earlier !== null) show({ asKnown: String(earlier) });
          }}
        >
          <IconChevronLeft size={16} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <Tooltip label={later === 'now' ? 'Now' : 'Later change'}>
        <ActionIcon
          aria-label="Later change"
          onClick={() => show(later === 'now' ? null : { asKnown: String(later) })}
        >
          <IconChevronRight size={16} aria-hidden />
        </ActionIcon>
      </Tooltip>
    </span>
  );
}

/** The band; nothing in the present. */
export function PastBand() {
  const { moment } = useSession();
  const show = useShowMoment();
  const generation = useKnowledgeGeneration();
  const entry = useGeneration(generation ?? null).data;
  if (moment === null) return null;
  const { asKnown } = moment;
  return (
    <section className={`flex-row gap-8 ${styles.past}`} aria-label="The past is shown">
      <IconHistory size={17} aria-hidden />
      <span className="rest-width" role="status">
        <span className={styles.pastWord}>Past</span>
        <Words moment={moment} generation={generation} entry={entry} />. Nothing can be changed.
      </span>
      {asKnown !== null && generation !== undefined && <Steps generation={generation} />}
      {asKnown !== null && (
        <Button
          size="compact-sm"
          variant="default"
          renderRoot={(props) => (
            <Link to="/history" search={{ part: 'compare', from: asKnown }} {...props} />
          )}
        >
          Compare with now
        </Button>
      )}
      <Button
        size="compact-sm"
        leftSection={<IconArrowBackUp size={14} aria-hidden />}
        onClick={() => show(null)}
      >
        Back to now
      </Button>
    </section>
  );
}
