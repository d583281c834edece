/** Who told a fact or taught a rule, and when, with the way to that change. */
import { Anchor } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import type { GenerationEntry } from '../../engine/contract/history.ts';
import { formatCount, formatRelative, formatTime } from '../ui/format.ts';
import { apiFailureOf } from './problem.ts';
import { actorInWords, surfaceInWords, useGeneration, useRuleChange } from './timeline.ts';

/** The service replays for it: whoever only passes by asks for nothing. */
const restMs = 500;

interface AnswerProps {
  asked: { readonly data: GenerationEntry | null | undefined; readonly error: Error | null };
  /** Such as `Told`. */
  word: string;
}

function Answer({ asked: { data: entry, error }, word }: AnswerProps) {
  if (error !== null) return <span className="dim">{apiFailureOf(error).detail}</span>;
  if (entry === undefined) return <span className="dim">Looking who did it…</span>;
  if (entry === null) return <span className="dim">Who did it is not kept any more.</span>;
  const { generation, time } = entry;
  const surface = surfaceInWords(entry);
  return (
    <span>
      {word} by <strong>{actorInWords(entry)}</strong>
      {surface !== '' && ` (${surface})`}{' '}
      <span title={formatTime(time)}>{formatRelative(time, Date.now())}</span>
      {entry.reason !== null && <span className="dim">, “{entry.reason}”</span>}{' '}
      <Anchor
        size="xs"
        renderRoot={(props) => <Link to="/history" search={{ open: String(generation) }} {...props} />}
      >
        Generation {formatCount(generation)}
      </Anchor>
    </span>
  );
}

/** Who wrote a generation. */
export function GenerationBlame({ generation, word }: { generation: number; word: string }) {
  const [settled] = useDebouncedValue(generation, restMs);
  const asked = useGeneration(settled === generation ? generation : null);
  return <Answer asked={asked} word={word} />;
}

/** Who last changed a rule, with the way to all its changes. */
export function RuleBlame({ rule }: { rule: string }) {
  const [settled] = useDebouncedValue(rule, restMs);
  const asked = useRuleChange(settled === rule ? rule : null);
  const change = asked.data?.rules.find(({ id }) => id === rule)?.change;
  return (
    <span>
      <Answer asked={asked} word={change === 'changed' ? 'Changed' : 'Taught'} />{' '}
      <Anchor size="xs" renderRoot={(props) => <Link to="/history" search={{ rule }} {...props} />}>
        All its changes
      </Anchor>
    </span>
  );
}
