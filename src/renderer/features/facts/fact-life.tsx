/** The whole life of a fact: each version under each of its ids, who began it, and who ended it. */
import { Anchor } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { FactHistory, LifeBound } from '../../../engine/contract/history.ts';
import { AnswerOrFailure } from '../../api/answered.tsx';
import { useSession } from '../../api/session.tsx';
import { actorInWords, surfaceInWords } from '../../api/timeline.ts';
import { formatCount, formatTime, formatValidity } from '../../ui/format.ts';
import styles from './facts.module.css';

/** The lives of a fact by one of its ids; asked again when they are shown anew. */
export function useFactHistory(id: string | null) {
  const { call, endpoint } = useSession();
  return useQuery({
    queryKey: ['fact history', endpoint.database, endpoint.tenant, id],
    queryFn: ({ signal }) => call('factHistory', { params: { id: id ?? '' } }, { signal }),
    enabled: id !== null,
  });
}

function Bound({ word, bound }: { word: string; bound: LifeBound }) {
  const surface = surfaceInWords(bound);
  return (
    <span>
      {word} by {actorInWords(bound)}
      {surface !== '' && ` (${surface})`}, {formatTime(bound.time)},{' '}
      <Anchor
        size="xs"
        renderRoot={(props) => <Link to="/history" search={{ open: String(bound.generation) }} {...props} />}
      >
        generation {formatCount(bound.generation)}
      </Anchor>
    </span>
  );
}

/** The versions, newest first. */
export function LifeList({ lives }: Pick<FactHistory, 'lives'>) {
  return (
    <ol className={`plain-list flex-column gap-8 ${styles.lives}`}>
      {lives.toReversed().map(({ id, from, to, validFrom, validUntil, metadata }) => (
        <li key={`${id} ${from.generation}`} className="flex-column gap-2">
          <Bound word="Told" bound={from} />
          {to !== null && <Bound word="Ended or changed" bound={to} />}
          <span className="dim">
            Valid {formatValidity(validFrom, validUntil)}
            {Object.keys(metadata).length > 0 && ` · ${JSON.stringify(metadata)}`}
          </span>
        </li>
      ))}
    </ol>
  );
}

/** The whole life of the fact with this id. */
export function FactLife({ id }: { id: string }) {
  return (
    <AnswerOrFailure asked={useFactHistory(id)}>{({ lives }) => <LifeList lives={lives} />}</AnswerOrFailure>
  );
}
