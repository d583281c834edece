/** A proof told in sentences, with the names and descriptions of its rules. */
import { useMemo, useState } from 'react';
import { Button } from '@mantine/core';
import { type ToldProof, toldAsMarkdown, toldProof, type ToldRun } from '../../../proof/told.ts';
import { useRules } from '../../api/queries.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { formatAmount } from '../../ui/format.ts';
import styles from './proof.module.css';
import type { ProofDisplay } from './use-proof-display.ts';

/** Returns a function that tells the displayed proof in sentences; it does so when it is first called. */
export function useTelling({ tree }: ProofDisplay): () => ToldProof {
  const { data: rules } = useRules();
  return useMemo(() => {
    let told: ToldProof | null = null;
    return () => {
      const byId = new Map(rules?.map((rule) => [rule.id, rule]));
      return (told ??= toldProof(tree.steps, tree.root.id, { ruleOf: (id) => byId.get(id) }));
    };
  }, [tree, rules]);
}

function Runs({ runs }: { runs: readonly ToldRun[] }) {
  return runs.map(({ text, isCode }, index) =>
    // Runs are identified by position.
    // eslint-disable-next-line react/no-array-index-key
    isCode ? <CodeText key={index} text={text} /> : <span key={index}>{text}</span>,
  );
}

const shownAtOnce = 300;

/** Shows the proof in sentences, which can be copied as Markdown. */
export function ProofWords({ display }: { display: ProofDisplay }) {
  const told = useTelling(display)();
  const [shown, setShown] = useState(shownAtOnce);
  const { sentences, restsOn } = told;
  const isMore = Math.max(sentences.length, restsOn.length) > shown;
  return (
    // A long text is scrolled by keyboard too.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className={styles.told} role="region" aria-label="Proof in words" tabIndex={0}>
      <CopyButton label="Copy as Markdown" text={() => toldAsMarkdown(told)} />
      <ol aria-label="Sentences">
        {sentences.slice(0, shown).map(({ step, runs }) => (
          <li key={step}>
            <Runs runs={runs} />
          </li>
        ))}
      </ol>
      {restsOn.length > 0 && (
        <>
          <h3>It rests on {formatAmount(restsOn.length, 'fact')}</h3>
          <ul aria-label="Facts">
            {restsOn.slice(0, shown).map(({ step, runs }) => (
              <li key={step}>
                <Runs runs={runs} />
              </li>
            ))}
          </ul>
        </>
      )}
      {isMore && (
        <Button variant="default" onClick={() => setShown(shown * 10)}>
          Show more
        </Button>
      )}
    </div>
  );
}
