/** One fact whole: its metadata, salience, history, and the conclusions that stand on it. */
import { ActionIcon, Button, Tooltip } from '@mantine/core';
import { IconFlask, IconRoute, IconTrash, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { FactDetail as Detail, StoredFact } from '../../../engine/contract/facts.ts';
import { keyOf, useLive } from '../../api/live.ts';
import { failureOf } from '../../api/problem.ts';
import { useSession } from '../../api/session.tsx';
import { CodeText } from '../../editor/code-text.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { formatRelative, formatTime } from '../../ui/format.ts';
import { EmptyState, ProblemNotice } from '../../ui/notices.tsx';
import { PaneFrame } from '../../ui/pane.tsx';
import { Meter } from '../../ui/tags.tsx';
import { Origin, renderFact, Truth, Validity } from './fact-columns.tsx';
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
    <dl className={styles.pairs}>
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
    </dl>
  );
}

function StoredParts({ detail }: { detail: Detail }) {
  const now = Date.now();
  const metadata = Object.entries(detail.metadata);
  return (
    <>
      <Section title="Metadata">
        {metadata.length === 0 ? (
          <p className="dim">None</p>
        ) : (
          <dl className={styles.pairs}>
            {metadata.map(([name, value]) => (
              <div key={name} style={{ display: 'contents' }}>
                <dt>{name}</dt>
                <dd className="mono">{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
              </div>
            ))}
          </dl>
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

function Provenance({ fact }: { fact: StoredFact }) {
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

function Head({ fact, onRetract }: { fact: StoredFact; onRetract: () => void }) {
  const statement = renderFact(fact);
  return (
    <>
      <div className={styles.atom}>
        <CodeText text={statement} />
        <CopyButton text={statement} label="Copy the statement" />
      </div>
      <div className={styles.tags}>
        <Truth value={fact.truthVal} />
        <Origin derived={fact.derived} />
        <span className="dim">{fact.scope === null ? 'no scope' : `scope ${fact.scope}`}</span>
      </div>
      <div className={styles.actions}>
        <Button
          variant="default"
          renderRoot={(props) => <Link to="/proof" search={{ question: statement }} {...props} />}
          leftSection={<IconRoute size={14} aria-hidden />}
        >
          Why
        </Button>
        {!fact.derived && (
          <>
            <Button
              variant="default"
              renderRoot={(props) => <Link to="/what-if" search={{ retract: `${statement}.` }} {...props} />}
              leftSection={<IconFlask size={14} aria-hidden />}
            >
              What if not
            </Button>
            <Button variant="default" leftSection={<IconTrash size={14} aria-hidden />} onClick={onRetract}>
              Retract…
            </Button>
          </>
        )}
      </div>
      <dl className={styles.pairs}>
        <dt>Valid</dt>
        <dd>
          <Validity fact={fact} now={Date.now()} />
        </dd>
        <dt>Salience</dt>
        <dd>
          <Meter value={fact.salience} />
        </dd>
        <dt>{fact.derived ? 'Since' : 'Asserted'}</dt>
        <dd>{formatTime(fact.createdAt)}</dd>
        <dt>Updated</dt>
        <dd>{formatTime(fact.updatedAt)}</dd>
      </dl>
    </>
  );
}

interface FactDetailProps {
  /** The id of a stored fact, or a conclusion as the grid has it. */
  shown: { readonly id: string } | { readonly conclusion: StoredFact };
  onClose: () => void;
  onRetract: (fact: StoredFact) => void;
}

export function FactDetail({ shown, onClose, onRetract }: FactDetailProps) {
  const { call, endpoint } = useSession();
  const id = 'id' in shown ? shown.id : null;
  const isGone = useLive((live) => id !== null && live.gone.has(id));
  const query = useQuery({
    queryKey: keyOf('facts', endpoint, 'one', id),
    queryFn: ({ signal }) => call('getFact', { params: { id: id ?? '' } }, { signal }),
    enabled: id !== null && !isGone,
  });
  const failure = query.error === null ? null : failureOf(query.error);
  const fact: StoredFact | undefined = 'id' in shown ? query.data : shown.conclusion;
  return (
    <PaneFrame
      title={fact?.derived === true ? 'Conclusion' : 'Fact'}
      tone="panel"
      label="Detail"
      actions={
        <Tooltip label="Close">
          <ActionIcon aria-label="Close the detail" onClick={onClose}>
            <IconX size={16} aria-hidden />
          </ActionIcon>
        </Tooltip>
      }
    >
      <div className={styles.detail}>
        {isGone || failure?.code === 'FactNotFound' ? (
          <EmptyState title="This fact is gone">It was retracted, or its validity has ended.</EmptyState>
        ) : (
          failure !== null && <ProblemNotice failure={failure} />
        )}
        {fact !== undefined && !isGone && failure === null && (
          <>
            <Head fact={fact} onRetract={() => onRetract(fact)} />
            <Provenance fact={fact} />
            {query.data !== undefined && id !== null && <StoredParts detail={query.data} />}
          </>
        )}
      </div>
    </PaneFrame>
  );
}
