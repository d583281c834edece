/** What a declaration would find violated among the facts that were fetched. */
import { useMemo } from 'react';
import type { DeclarationInput } from '../../../engine/contract/declarations.ts';
import { renderConstant } from '../../../engine/language/print.ts';
import { FormSection } from '../../ui/form-section.tsx';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { sampledViolations, type StoredSample } from './stored-sample.ts';

/** Violations of each kind that are listed. */
const maxListed = 5;

/** Says whether the facts are all that are stored, or a sample. */
export function sampleInWords({ facts, isWhole }: StoredSample, stored: number): string {
  return isWhole
    ? `Read from all ${formatAmount(facts.length, 'stored fact')}.`
    : `A random sample: read from ${formatCount(facts.length)} of ${formatAmount(stored, 'stored fact')}.`;
}

interface SamplePreviewProps {
  sample: StoredSample;
  declaration: DeclarationInput;
  /** It is what is declared already. */
  isDeclared: boolean;
}

/** Lists what of the sample violates the declaration. */
export function SamplePreview({ sample, declaration, isDeclared }: SamplePreviewProps) {
  const { misfits, doubles } = useMemo(() => sampledViolations(sample, declaration), [sample, declaration]);
  const count = misfits.length + doubles.length;
  const among = sample.isWhole
    ? `all ${formatAmount(sample.facts.length, 'fact')}`
    : `a random sample of ${formatAmount(sample.facts.length, 'fact')}`;
  const more = count - Math.min(maxListed, misfits.length) - Math.min(maxListed, doubles.length);
  return (
    <FormSection
      title={isDeclared ? 'Violated by what is stored' : 'Would be violated by what is stored'}
      hint={
        count === 0
          ? undefined
          : 'Declaring is never refused for what is stored: it is listed under Violations.'
      }
    >
      <p className="no-margin" role="status">
        {count === 0
          ? `Nothing, in ${among}.`
          : `${formatAmount(count, 'violation')}, in ${among}${sample.isWhole ? '' : ': there may be more'}.`}
      </p>
      {count > 0 && (
        <ul className="plain-list flex-column gap-4" aria-label="Violations of the declaration">
          {misfits.slice(0, maxListed).map(({ fact, message }) => (
            <li key={`${fact.id} ${message}`} className="wraps">
              {message}
            </li>
          ))}
          {doubles.slice(0, maxListed).map(({ values, facts }) => (
            <li key={`${facts[0]?.scope} ${values.join(' ')}`} className="wraps">
              {formatAmount(facts.length, 'fact')} with {declaration.key.join(', ')}{' '}
              <code className="mono">{values.map(renderConstant).join(', ')}</code>
              {facts[0]?.scope !== null && ` in scope ${facts[0]?.scope}`}
            </li>
          ))}
          {more > 0 && <li className="dim">and {formatCount(more)} more</li>}
        </ul>
      )}
    </FormSection>
  );
}
