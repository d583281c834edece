/** The explanation: what hides the statement, the rules that could conclude it, and what to try. */
import { Button } from '@mantine/core';
import {
  IconClockPause,
  IconClockX,
  IconFlask,
  IconRoute,
  IconRouteOff,
  IconStack2,
} from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { blockReasons, WhyNot } from '../../../engine/contract/explanation.ts';
import type { StoredRule } from '../../../engine/contract/rules.ts';
import { useRules } from '../../api/queries.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { formatAmount } from '../../ui/format.ts';
import { RuleLink, WhatIfLink, WhyNotLink } from '../../ui/knowledge-links.tsx';
import { Tag } from '../../ui/tags.tsx';
import { Attempts } from './attempts.tsx';
import { rulesNamedIn } from './blocking-rules.ts';
import styles from './why-not.module.css';

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
              <span className={styles.links}>
                <WhyNotLink question={explained.atom} inAllScopes>
                  Look in all scopes
                </WhyNotLink>
              </span>
            )}
            {reason === 'rule_disabled' && (
              <span className={styles.links}>
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

function Holds({ atom }: { atom: string }) {
  return (
    <>
      <p className={styles.text}>It holds now, so there is nothing to miss.</p>
      <Button
        variant="default"
        leftSection={<IconRoute size={14} aria-hidden />}
        renderRoot={(props) => <Link to="/proof" search={{ question: atom }} {...props} />}
      >
        Why it holds
      </Button>
    </>
  );
}

interface ExplainedProps {
  explained: WhyNot;
  onQuestion: (statement: string) => void;
}

function Missing({ explained, onQuestion }: ExplainedProps) {
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
    </>
  );
}

export function Explained({ explained, onQuestion }: ExplainedProps) {
  const { atom, holds } = explained;
  return (
    <div className={styles.explained}>
      <div className={styles.head}>
        <CodeText text={atom} />
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
      {holds ? <Holds atom={atom} /> : <Missing explained={explained} onQuestion={onQuestion} />}
    </div>
  );
}
