/** What is known of a fact: its metadata, salience, history, what stands on it, and what it stands on. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { FactDetail as Detail, StoredFact } from '../../../engine/contract/facts.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { MetadataPairs, Pairs } from '../../ui/pairs.tsx';
import { formatRelative, formatTime } from '../../ui/format.ts';
import styles from './facts.module.css';

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={styles.section}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

function AtomLink({ atom }: { atom: string }) {
  return (
    <Link to="/proof" search={{ question: atom }} className={styles.atomLink}>
      <CodeText text={atom} />
    </Link>
  );
}

function Breakdown({ breakdown }: { breakdown: Detail['salienceBreakdown'] }) {
  const now = Date.now();
  return (
    <Pairs>
      <dt>Activation</dt>
      <dd className="number">{breakdown.activation.toFixed(3)}</dd>
      <dt>Importance</dt>
      <dd className="number">{breakdown.importance.toFixed(2)}</dd>
      <dt>Confidence</dt>
      <dd className="number">{breakdown.confidence.toFixed(2)}</dd>
      <dt>Uses</dt>
      <dd className="number">
        {breakdown.uses}
        {breakdown.lastUsedAt !== null && (
          <span className="dim"> · last {formatRelative(breakdown.lastUsedAt, now)}</span>
        )}
      </dd>
    </Pairs>
  );
}

/** What is known of a stored fact beside its content. */
export function StoredParts({ detail }: { detail: Detail }) {
  const now = Date.now();
  return (
    <>
      <Section title="Metadata">
        {Object.keys(detail.metadata).length === 0 ? (
          <p className="dim">None</p>
        ) : (
          <MetadataPairs metadata={detail.metadata} />
        )}
      </Section>
      <Section title="Salience">
        <Breakdown breakdown={detail.salienceBreakdown} />
      </Section>
      <Section title="Conclusions that use it">
        {detail.dependents.length === 0 ? (
          <p className="dim">None that is known. Conclusions are known once they were asked for.</p>
        ) : (
          <ul className={styles.plainList}>
            {detail.dependents.map((atom) => (
              <li key={atom}>
                <AtomLink atom={atom} />
              </li>
            ))}
          </ul>
        )}
      </Section>
      <Section title="History">
        <ol className={styles.history}>
          {detail.history.map((entry) => (
            <li key={`${entry.generation} ${entry.change}`}>
              <span>{entry.change}</span>
              <span className="dim" title={formatTime(entry.time)}>
                {formatRelative(entry.time, now)} · generation {entry.generation}
              </span>
              <code className="mono dim truncate" title={entry.requestId}>
                {entry.requestId}
              </code>
            </li>
          ))}
        </ol>
      </Section>
    </>
  );
}

/** The rule and the premises of a conclusion; nothing for a stored fact. */
export function Provenance({ fact }: { fact: StoredFact }) {
  if (fact.provenance === null) return null;
  return (
    <Section title="Concluded by">
      <p>
        <CodeText text={fact.provenance.rule} />
      </p>
      <ul className={styles.plainList}>
        {fact.provenance.premises.map((atom) => (
          <li key={atom}>
            <CodeText text={atom} />
          </li>
        ))}
      </ul>
    </Section>
  );
}
