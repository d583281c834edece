import { Anchor, Button } from '@mantine/core';
import {
  IconCheck,
  IconClockPause,
  IconClockX,
  IconFlask,
  IconRoute,
  IconRouteOff,
  IconStack2,
  IconX,
} from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useMemo, useState } from 'react';
import type { blockReasons, WhyNot } from '../../../engine/contract/explanation.ts';
import { type Atom, isVariable, type Literal } from '../../../engine/contract/language.ts';
import type { StoredRule } from '../../../engine/contract/rules.ts';
import { parseBody, parseRule } from '../../../engine/language/parse.ts';
import { renderAtom, renderLiteral } from '../../../engine/language/print.ts';
import { isAbsence, isAggregate, isBuiltin } from '../../../engine/language/terms.ts';
import { useRules } from '../../api/queries.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { LinkedAtom } from '../../editor/linked-atom.tsx';
import { Bindings } from '../../ui/blocks.tsx';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { ProofLink, RuleLink, WhatIfLink, WhyNotLink } from '../../ui/knowledge-links.tsx';
import { Tag } from '../../ui/tags.tsx';
import { RemediesView, type StageRemedy } from './remedies-view.tsx';
import styles from './why-not.module.css';

/** An attempt of a rule. */
export type Attempt = WhyNot['attempts'][number];

/** A premise. */
interface PremiseOfAttempt {
  readonly text: string;
  readonly holds: boolean;
  /** The atom stated, or whose absence is; null for comparisons, arithmetic and aggregates. */
  readonly atom: Atom | null;
  /** True if it requires the absence of `atom`. */
  readonly isAbsence: boolean;
  /** True if `atom` has no variables. */
  readonly isGround: boolean;
}

function bind(term: string, bindings: Readonly<Record<string, string>>): string {
  return isVariable(term) ? (bindings[term.slice(1)] ?? term) : term;
}

function substitute(literal: Literal, bindings: Readonly<Record<string, string>>): Literal {
  if (!isAggregate(literal)) return { ...literal, args: literal.args.map((term) => bind(term, bindings)) };
  return {
    ...literal,
    result: bind(literal.result, bindings),
    over: literal.over.map((term) => bind(term, bindings)),
    body: literal.body.map((inner) => substitute(inner, bindings)),
  };
}

/** The literals of the rule's body with the bindings substituted, as text. */
function expectedOrder({ rule, bindings }: Attempt): string[] {
  return parseRule(rule).body.map((literal) => renderLiteral(substitute(literal, bindings)));
}

function premiseOf(text: string, holds: boolean): PremiseOfAttempt {
  const literal = parseBody(text)[0];
  const plain = { text, holds, atom: null, isAbsence: false, isGround: false };
  if (literal === undefined || isAggregate(literal) || isBuiltin(literal)) return plain;
  const { predicate, args, negated } = literal;
  return {
    ...plain,
    atom: { predicate, args, negated },
    isAbsence: isAbsence(literal),
    isGround: !args.some(isVariable),
  };
}

/** Returns the premises of an attempt. */
export function attemptPremisesOf(attempt: Attempt): PremiseOfAttempt[] {
  const held = new Set(attempt.satisfied);
  const failed = new Set(attempt.missing);
  const ordered: PremiseOfAttempt[] = [];
  for (const text of expectedOrder(attempt)) {
    if (held.delete(text)) ordered.push(premiseOf(text, true));
    else if (failed.delete(text)) ordered.push(premiseOf(text, false));
  }
  return [
    ...ordered,
    ...[...held].map((text) => premiseOf(text, true)),
    ...[...failed].map((text) => premiseOf(text, false)),
  ];
}

const shownAtOnce = 50;

interface PremiseProps {
  premise: PremiseOfAttempt;
  /** The explained statement. */
  goal: string;
  onQuestion: (statement: string) => void;
}

/** Links a premise that failed because its atom is true to its proof, and to a trial without it. */
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
    <li className={`flex-row gap-2-8 flex-wrap ${styles.premise}`}>
      {holds ? (
        <IconCheck size={15} className="text-good" aria-hidden />
      ) : (
        <IconX size={15} className="text-bad" aria-hidden />
      )}
      <span className={styles.premiseText}>
        <LinkedAtom text={text} />
      </span>
      <Tag tone={holds ? 'good' : 'bad'}>{holds ? 'holds' : 'missing'}</Tag>
      <span className={`gap-2-12 flex-wrap to-right ${styles.links}`}>
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
      <div className="wraps padded-8 line-below on-panel">
        <CodeText text={attempt.rule} />
      </div>
      <p className={`flex-row flex-wrap spread no-margin ${styles.ruleNote}`}>
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

/** Shows each rule that could have concluded the statement: how far it got, with links from every premise. */
function Attempts({ attempts, goal, onQuestion }: AttemptsProps) {
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

/** Returns the rules whose id occurs as a word in the sentence, in order. */
function rulesNamedIn(sentence: string, rules: readonly StoredRule[]): StoredRule[] {
  const words = new Set(sentence.match(/[\p{L}\p{N}_-]+/gu) ?? []);
  return rules.filter(({ id }) => words.has(id));
}

type Reason = (typeof blockReasons)[number];

const reasons: Record<Reason, { readonly word: string; readonly icon: ReactNode }> = {
  expired: { word: 'expired', icon: <IconClockX size={16} aria-hidden /> },
  not_yet_valid: { word: 'not yet valid', icon: <IconClockPause size={16} aria-hidden /> },
  other_scope: { word: 'other scope', icon: <IconStack2 size={16} aria-hidden /> },
  rule_disabled: { word: 'rule switched off', icon: <IconRouteOff size={16} aria-hidden /> },
};

function RuleLinks({ rule, goal }: { rule: StoredRule; goal: string }) {
  return (
    <>
      <RuleLink rule={rule.id} />
      <WhatIfLink
        changes={{
          add: `${rule.text}.`,
          goals: goal,
          ...(rule.scope === null ? {} : { scope: rule.scope }),
        }}
      >
        What if it were on
      </WhatIfLink>
    </>
  );
}

function Blocked({ explained, rules }: { explained: WhyNot; rules: readonly StoredRule[] }) {
  if (explained.blockedBy.length === 0) return null;
  return (
    <section aria-label="What hides it">
      <h3 className={styles.heading}>What hides it</h3>
      <ul className={styles.blocked}>
        {explained.blockedBy.map(({ reason, detail }) => (
          <li key={`${reason} ${detail}`}>
            {reasons[reason].icon}
            <Tag tone="warn">{reasons[reason].word}</Tag>
            <span className={styles.detail}>{detail}</span>
            {reason === 'other_scope' && (
              <span className={`gap-2-12 flex-wrap to-right ${styles.links}`}>
                <WhyNotLink question={explained.atom} inAllScopes>
                  Look in all scopes
                </WhyNotLink>
              </span>
            )}
            {reason === 'rule_disabled' && (
              <span className={`gap-2-12 flex-wrap to-right ${styles.links}`}>
                {rulesNamedIn(detail, rules).map((rule) => (
                  <RuleLinks key={rule.id} rule={rule} goal={explained.atom} />
                ))}
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Holds({ atom, onStage }: { atom: string; onStage: StageRemedy }) {
  return (
    <>
      <p className={styles.text}>It holds now, so nothing is missing.</p>
      <div className="flex-row">
        <Button
          variant="default"
          leftSection={<IconRoute size={14} aria-hidden />}
          renderRoot={(props) => <Link to="/proof" search={{ question: atom }} {...props} />}
        >
          Why it holds
        </Button>
      </div>
      <RemediesView key={atom} atom={atom} aim="gone" onStage={onStage} />
    </>
  );
}

interface ExplainedProps {
  explained: WhyNot;
  onQuestion: (statement: string) => void;
  onStage: StageRemedy;
}

function Missing({ explained, onQuestion, onStage }: ExplainedProps) {
  const rules = useRules().data ?? [];
  const { atom, attempts, blockedBy } = explained;
  return (
    <>
      <Blocked explained={explained} rules={rules} />
      {attempts.length > 0 && (
        <section aria-label="Rules">
          <h3 className={styles.heading}>{formatAmount(attempts.length, 'rule')} could conclude it</h3>
          <Attempts attempts={attempts} goal={atom} onQuestion={onQuestion} />
        </section>
      )}
      {attempts.length === 0 && (
        <p className={styles.text}>
          {blockedBy.length === 0
            ? 'It is not stored, and no rule could conclude it. Check the spelling, the number of arguments and the scope.'
            : 'No rule that is in force could conclude it.'}
        </p>
      )}
      <RemediesView key={atom} atom={atom} aim="true" onStage={onStage} />
    </>
  );
}

/** Shows the explanation: what hides the statement, the rules that could conclude it, and what to try. */
export function Explained({ explained, onQuestion, onStage }: ExplainedProps) {
  const { atom, holds } = explained;
  return (
    <div className={`flex-column gap-12 ${styles.explained}`}>
      <div className="flex-row flex-wrap gap-8">
        <LinkedAtom text={atom} />
        <Tag tone={holds ? 'good' : 'bad'}>{holds ? 'holds' : 'does not hold'}</Tag>
        <span className={styles.grow} />
        {!holds && (
          <Button
            variant="default"
            leftSection={<IconFlask size={14} aria-hidden />}
            renderRoot={(props) => <Link to="/what-if" search={{ add: `${atom}.` }} {...props} />}
          >
            What if it held
          </Button>
        )}
      </div>
      {holds ? (
        <Holds atom={atom} onStage={onStage} />
      ) : (
        <Missing explained={explained} onQuestion={onQuestion} onStage={onStage} />
      )}
    </div>
  );
}
