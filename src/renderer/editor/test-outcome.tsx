/** What a test expected beside what was found, with the proof of it or why it is not true. */
import type { TestFailure, TestOutcome } from '../../engine/contract/tests.ts';
import { proofOutline, withFoldedText } from '../../proof/proof-text.ts';
import { Block, CodeBlock, HintLines } from '../ui/blocks.tsx';
import { formatAmount } from '../ui/format.ts';
import { Tag } from '../ui/tags.tsx';
import { CodeText } from './code-text.tsx';
import styles from './test-outcome.module.css';

/** Answers shown of a list; the service answers more. */
const maxShown = 20;

function Answers({ title, answers }: { title: string; answers: readonly string[] }) {
  return (
    <div>
      <dt className="dim">{title}</dt>
      <dd className="no-margin">
        {answers.length === 0 ? (
          <span className="dim">none</span>
        ) : (
          <ul className="plain-list">
            {answers.slice(0, maxShown).map((answer) => (
              <li key={answer}>
                <CodeText text={answer} />
              </li>
            ))}
          </ul>
        )}
        {answers.length > maxShown && (
          <span className="dim">{formatAmount(answers.length - maxShown, 'more answer')}</span>
        )}
      </dd>
    </div>
  );
}

function Sides({ failure: { expected, found, missing, unexpected } }: { failure: TestFailure }) {
  const sides = [
    ['Expected', expected],
    ['Found', found],
    ['Missing', missing],
    ['Not expected', unexpected],
  ] as const;
  if (sides.every(([, answers]) => answers === undefined)) return null;
  return (
    <dl className={`no-margin ${styles.sides}`}>
      {sides.map(([title, answers]) =>
        answers === undefined ? null : <Answers key={title} title={title} answers={answers} />,
      )}
    </dl>
  );
}

function attemptsInWords({ attempts = [], blockedBy = [] }: TestFailure): string {
  return [
    ...attempts.map(({ rule, satisfied, missing }) =>
      [
        rule,
        ...satisfied.map((literal) => `  true     ${literal}`),
        ...missing.map((literal) => `  missing  ${literal}`),
      ].join('\n'),
    ),
    ...blockedBy.map(({ detail }) => detail),
  ].join('\n');
}

function Text({ title, text }: { title: string; text: string }) {
  return (
    <div className="flex-column gap-4">
      <span className="dim">{title}</span>
      <CodeBlock low label={title} text={text} />
    </div>
  );
}

/** One expectation that was not met. */
function Failure({ failure }: { failure: TestFailure }) {
  const { expectation, message, line, proof, hints } = failure;
  const whyNot = attemptsInWords(failure);
  return (
    <li className="flex-column gap-6">
      <Block title={`Line ${line}`} note={<span className="wraps">{message}</span>}>
        <CodeText text={expectation} />
        <Sides failure={failure} />
      </Block>
      {proof !== undefined && (
        <Text title="Proof of what was not expected" text={proofOutline(withFoldedText(proof)).join('\n')} />
      )}
      {whyNot !== '' && <Text title="Why what is missing is not true" text={whyNot} />}
      {hints !== undefined && <HintLines hints={hints} />}
    </li>
  );
}

/** The outcome of one test. */
export function TestOutcomeShown({ outcome }: { outcome: TestOutcome }) {
  const { name, passed, failures, hints } = outcome;
  return (
    <section className={`flex-column gap-8 ${styles.outcome}`} aria-label={`Result of ${name}`}>
      <div className="flex-row flex-wrap gap-8">
        <Tag tone={passed ? 'good' : 'bad'}>{passed ? 'passed' : 'failed'}</Tag>
        <strong className="wraps">{name}</strong>
      </div>
      {failures.length > 0 && (
        <ol className="plain-list flex-column gap-12">
          {failures.map((failure) => (
            <Failure key={`${failure.line}:${failure.column}`} failure={failure} />
          ))}
        </ol>
      )}
      {hints !== undefined && <HintLines hints={hints} />}
    </section>
  );
}
