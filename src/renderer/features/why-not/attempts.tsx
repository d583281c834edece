/** Each rule that could have concluded the statement: how far it got, and the ways on from every premise. */
import { Anchor, Button } from '@mantine/core';
import { IconCheck, IconX } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { CodeText } from '../../editor/code-text.tsx';
import { renderAtom } from '../../../engine/language/print.ts';
import { Bindings } from '../../ui/bindings.tsx';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { ProofLink, RuleLink, WhatIfLink } from '../../ui/knowledge-links.tsx';
import { Tag } from '../../ui/tags.tsx';
import { type Attempt, type PremiseOfAttempt, attemptPremisesOf } from './premises.ts';
import styles from './why-not.module.css';

const shownAtOnce = 50;

interface PremiseProps {
  premise: PremiseOfAttempt;
  /** The statement that is explained. */
  goal: string;
  onQuestion: (statement: string) => void;
}

/** From a premise that failed since its atom holds: why that holds, and what if it did not. */
function PresentLinks({ atom, isGround, goal }: { atom: string; isGround: boolean; goal: string }) {
  if (!isGround)
    return (
      <Anchor size="xs" renderRoot={(props) => <Link to="/ask" search={{ question: atom }} {...props} />}>
        See what matches
      </Anchor>
    );
  return (
    <>
      <ProofLink question={atom}>Why it holds</ProofLink>
      <WhatIfLink changes={{ retract: `${atom}.`, goals: goal }}>What if it did not hold</WhatIfLink>
    </>
  );
}

function PremiseLinks({ premise, goal, onQuestion }: PremiseProps) {
  const { atom, holds, isAbsence, isGround } = premise;
  if (atom === null || (holds && (isAbsence || !isGround))) return null;
  const statement = renderAtom(atom);
  if (holds) return <ProofLink question={statement}>Why</ProofLink>;
  if (isAbsence) return <PresentLinks atom={statement} isGround={isGround} goal={goal} />;
  return (
    <>
      <Anchor size="xs" component="button" type="button" onClick={() => onQuestion(statement)}>
        Why not
      </Anchor>
      {isGround && <WhatIfLink changes={{ add: `${statement}.`, goals: goal }}>What if it held</WhatIfLink>}
    </>
  );
}

function Premise(props: PremiseProps) {
  const { text, holds } = props.premise;
  return (
    <li className={styles.premise}>
      {holds ? (
        <IconCheck size={15} className={styles.held} aria-hidden />
      ) : (
        <IconX size={15} className={styles.failed} aria-hidden />
      )}
      <span className={styles.premiseText}>
        <CodeText text={text} />
      </span>
      <Tag tone={holds ? 'good' : 'bad'}>{holds ? 'holds' : 'missing'}</Tag>
      <span className={styles.links}>
        <PremiseLinks {...props} />
      </span>
    </li>
  );
}

interface AttemptProps {
  attempt: Attempt;
  goal: string;
  onQuestion: (statement: string) => void;
}

function AttemptCard({ attempt, goal, onQuestion }: AttemptProps) {
  const premises = useMemo(() => attemptPremisesOf(attempt), [attempt]);
  const held = premises.filter(({ holds }) => holds).length;
  const bindings = Object.entries(attempt.bindings).map(
    ([variable, constant]) => [`?${variable}`, constant] as const,
  );
  return (
    <li className={styles.attempt}>
      <div className={styles.rule}>
        <CodeText text={attempt.rule} />
      </div>
      <p className={styles.ruleNote}>
        <span className="number">
          {formatCount(held)} of {formatAmount(premises.length, 'premise')} met
        </span>
        <RuleLink rule={attempt.ruleId} />
      </p>
      {bindings.length > 0 && (
        <div className={styles.bindings}>
          <Bindings lead="furthest with" bindings={bindings} />
        </div>
      )}
      <ul className={styles.premises} aria-label="Premises">
        {premises.map((premise) => (
          <Premise key={premise.text} premise={premise} goal={goal} onQuestion={onQuestion} />
        ))}
      </ul>
    </li>
  );
}

interface AttemptsProps {
  attempts: readonly Attempt[];
  goal: string;
  onQuestion: (statement: string) => void;
}

export function Attempts({ attempts, goal, onQuestion }: AttemptsProps) {
  const [shown, setShown] = useState(shownAtOnce);
  return (
    <>
      <ol className={styles.attempts} aria-label="Rules that could conclude it">
        {attempts.slice(0, shown).map((attempt) => (
          <AttemptCard key={attempt.ruleId} attempt={attempt} goal={goal} onQuestion={onQuestion} />
        ))}
      </ol>
      {attempts.length > shown && (
        <Button variant="default" onClick={() => setShown(shown + shownAtOnce)}>
          Show more of {formatAmount(attempts.length, 'rule')}
        </Button>
      )}
    </>
  );
}
