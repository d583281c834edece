/** Plain words in the Ask view: what they mention, the goals that they became, and the facts and rules with them. */
import { Anchor, Button } from '@mantine/core';
import { IconFrame, IconPencil, IconPlayerPlay, IconSearchOff } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Mention } from '../../../engine/contract/mention.ts';
import type { SearchHit } from '../../../engine/contract/search.ts';
import { parseAtom } from '../../../engine/language/parse.ts';
import { renderAtom } from '../../../engine/language/print.ts';
import { argumentVariables, type PredicateRow } from '../../api/declared.ts';
import { goalWords } from '../../api/goal-words.ts';
import { readingsInWords } from '../../api/mentions.ts';
import { usePredicates } from '../../api/queries.ts';
import { useIsOld } from '../../api/use-run.ts';
import { whyFound } from '../../api/why-found.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { MentionedText } from '../../editor/mentioned-text.tsx';
import { formatAmount, formatCount, formatDuration } from '../../ui/format.ts';
import { AgeBanner, BusyFrame, EmptyState, PaneProblem, Running } from '../../ui/notices.tsx';
import { PaneFrame } from '../../ui/pane.tsx';
import { Tag } from '../../ui/tags.tsx';
import styles from './ask.module.css';
import type { useWords, WordsAnswer } from './use-words.ts';

type Goal = WordsAnswer['goals'][number];

interface GoalActions {
  /** Asks a goal. */
  readonly onAsk: (goal: string) => void;
  /** Puts a goal into the editor. */
  readonly onEdit: (goal: string) => void;
}

/** This many answers of a goal are shown beside it. */
const maxShownAnswers = 3;

function Answers({ goal: { atoms, answers } }: { goal: Goal }) {
  const rest = answers.found - Math.min(atoms.length, maxShownAnswers);
  if (atoms.length === 0) return null;
  return (
    <p className="gap-2-12 flex-wrap flex no-margin">
      {atoms.slice(0, maxShownAnswers).map((atom) => (
        <CodeText key={atom} text={atom} />
      ))}
      {rest > 0 && <span className="dim">and {formatCount(rest)} more</span>}
    </p>
  );
}

function GoalButtons({ goal, onAsk, onEdit }: GoalActions & { goal: string }) {
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconPlayerPlay size={14} aria-hidden />}
        aria-label={`Ask ${goal}`}
        onClick={() => onAsk(goal)}
      >
        Ask
      </Button>
      <Button
        variant="subtle"
        leftSection={<IconPencil size={14} aria-hidden />}
        aria-label={`Edit ${goal}`}
        onClick={() => onEdit(goal)}
      >
        Edit
      </Button>
    </>
  );
}

function GoalRow({ goal, ...actions }: GoalActions & { goal: Goal }) {
  const { word, tone, meaning } = goalWords[goal.status];
  return (
    <li className={`flex-column gap-4 ${styles.goal}`}>
      <div className="flex-row flex-wrap gap-4-8">
        <span className={`rest-width ${styles.goalText}`}>
          <CodeText text={goal.goal} />
        </span>
        <span className="dim number">{formatAmount(goal.answers.found, 'answer')}</span>
        <span title={meaning}>
          <Tag tone={tone}>{word}</Tag>
        </span>
        <GoalButtons goal={goal.goal} {...actions} />
      </div>
      <Answers goal={goal} />
    </li>
  );
}

/** The mentioned predicates as goals with variables alone, for words that name no constant. */
export function openGoalsOf(
  mentions: readonly Mention[],
  predicates: readonly Pick<PredicateRow, 'name' | 'arity' | 'declaration'>[],
): string[] {
  const names = new Set(mentions.flatMap((mention) => mention.predicates));
  return predicates
    .filter(({ name }) => names.has(name))
    .map((row) => {
      const args = argumentVariables([row], row.name, row.arity);
      return renderAtom({ predicate: row.name, args, negated: false });
    });
}

function Goals({ answer, ...actions }: GoalActions & { answer: WordsAnswer }) {
  const { goals, goalsLeftOut, mentions } = answer;
  const predicates = usePredicates().data;
  const open = useMemo(
    () => (goals.length > 0 ? [] : openGoalsOf(mentions, predicates ?? [])),
    [goals, mentions, predicates],
  );
  return (
    <section className="flex-column gap-6" aria-label="Goals">
      <h3 className="label-title">Goals that the words became</h3>
      {goals.length === 0 && (
        <p className="dim no-margin">
          {open.length > 0
            ? 'The words name a predicate but no constant. Ask for all of it, or name a constant too.'
            : mentions.length > 0
              ? 'No goal about these names has an answer.'
              : 'The words name no constant and no predicate, so there is no goal.'}
        </p>
      )}
      {goals.length > 0 && (
        <ol className={`plain-list ${styles.goals}`}>
          {goals.map((goal) => (
            <GoalRow key={goal.goal} goal={goal} {...actions} />
          ))}
        </ol>
      )}
      {open.length > 0 && (
        <ol className={`plain-list ${styles.goals}`}>
          {open.map((goal) => (
            <li key={goal} className={`flex-row flex-wrap gap-4-8 ${styles.goal}`}>
              <span className={`rest-width ${styles.goalText}`}>
                <CodeText text={goal} />
              </span>
              <GoalButtons goal={goal} {...actions} />
            </li>
          ))}
        </ol>
      )}
      {goalsLeftOut > 0 && (
        <p className="dim no-margin">
          {formatAmount(goalsLeftOut, 'more goal')} {goalsLeftOut === 1 ? 'was' : 'were'} tried too late, or
          left out. Name a predicate, or fewer names.
        </p>
      )}
    </section>
  );
}

/** The link to a hit: a fact in its list, a rule in its editor. */
function HitLink({ hit }: { hit: SearchHit }) {
  if (hit.kind === 'rule')
    return (
      <Anchor
        size="xs"
        renderRoot={(props) => <Link to="/rules" search={{ rule: hit.id ?? undefined }} {...props} />}
      >
        Open the rule
      </Anchor>
    );
  const { predicate } = parseAtom(hit.atom ?? '');
  return (
    <Anchor
      size="xs"
      renderRoot={(props) => (
        <Link to="/facts" search={{ predicate, q: hit.atom, fact: hit.id ?? undefined }} {...props} />
      )}
    >
      Open the fact
    </Anchor>
  );
}

function Hits({ hits }: { hits: readonly SearchHit[] }) {
  if (hits.length === 0) return null;
  return (
    <section className="flex-column gap-6" aria-label="Facts and rules">
      <h3 className="label-title">Facts and rules with these words</h3>
      <ol className={`plain-list ${styles.goals}`}>
        {hits.map((hit) => {
          const text = hit.atom ?? hit.rule ?? '';
          return (
            <li
              key={`${hit.kind} ${hit.id ?? text}`}
              className={`flex-row flex-wrap gap-4-12 ${styles.goal}`}
            >
              <span className={`rest-width ${styles.goalText}`}>
                <CodeText text={text} />
              </span>
              <span className="dim">{whyFound(hit.why)}</span>
              <HitLink hit={hit} />
            </li>
          );
        })}
      </ol>
    </section>
  );
}

function Summary({ answer }: { answer: WordsAnswer }) {
  const { goals, mentions, elapsedMs, generation } = answer;
  const readings = readingsInWords(mentions);
  return (
    <span className={`flex-row gap-4 ${styles.summary}`} role="status">
      <strong>{formatAmount(goals.length, 'goal')}</strong>
      <span className="dim number">
        {' '}
        from plain words · {formatDuration(elapsedMs)} · generation {formatCount(generation)}
      </span>
      {readings !== '' && <span className="visually-hidden">, {readings}</span>}
    </span>
  );
}

function Answered({ answer, ...actions }: GoalActions & { answer: WordsAnswer }) {
  const { text, mentions, goals, hits } = answer;
  if (goals.length + mentions.length + hits.length === 0)
    return (
      <EmptyState
        icon={<IconSearchOff size={30} stroke={1.3} aria-hidden />}
        title="Nothing known has these words"
      >
        Words are compared whole, with names, facts and rules. Case, accents and English endings do not count,
        and one wrong letter is forgiven in names of five letters or more.
      </EmptyState>
    );
  return (
    <PaneFrame
      label="Answers"
      title={<Summary answer={answer} />}
      actions={
        <Button
          variant="default"
          leftSection={<IconFrame size={14} aria-hidden />}
          renderRoot={(props) => <Link to="/context" search={{ query: text }} {...props} />}
        >
          Context window
        </Button>
      }
    >
      <div className={`flex-column gap-16 ${styles.words}`}>
        <MentionedText text={text} mentions={mentions} />
        <Goals answer={answer} {...actions} />
        <Hits hits={hits} />
      </div>
    </PaneFrame>
  );
}

/** Shows what plain words became, in place of answers. */
export function WordsView({ words, ...actions }: GoalActions & { words: ReturnType<typeof useWords> }) {
  const { result, failure, runningSince, cancelledAfter } = words.state;
  const isOld = useIsOld(result);
  if (failure !== null) return <PaneProblem failure={failure} onRetry={words.again} />;
  if (result === null && runningSince !== null)
    return <Running what="Reading the words" since={runningSince} onCancel={words.cancel} />;
  if (result === null)
    return (
      <EmptyState
        icon={<IconSearchOff size={30} stroke={1.3} aria-hidden />}
        title={cancelledAfter === null ? 'Reading the words' : 'Cancelled'}
        actions={
          <Button variant="default" onClick={words.again}>
            Ask again
          </Button>
        }
      />
    );
  const banner = isOld && (
    <AgeBanner action="Ask again" onAgain={words.again}>
      The knowledge has changed since these words were read.
    </AgeBanner>
  );
  return (
    <BusyFrame isBusy={runningSince !== null} banner={banner}>
      <Answered answer={result} {...actions} />
    </BusyFrame>
  );
}
