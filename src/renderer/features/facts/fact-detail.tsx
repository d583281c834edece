/**
 * One fact in full: its staged edit, metadata, salience, history, the conclusions that use it, and what it is
 * derived from.
 */
import { Button } from '@mantine/core';
import { IconFlask, IconMinus, IconPencil, IconRoute, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { FactDetail as Detail, StoredFact } from '../../../engine/contract/facts.ts';
import { GenerationBlame } from '../../api/blame.tsx';
import { AnswerOrFailure } from '../../api/answered.tsx';
import { queryKeyOf, useLive } from '../../api/live.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { useReason } from '../../api/rights.ts';
import { useSession } from '../../api/session.tsx';
import { AtomLink, CodeText } from '../../editor/code-text.tsx';
import { LinkedAtom } from '../../editor/linked-atom.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { DetailPane } from '../../ui/pane.tsx';
import { formatRelative, formatTime } from '../../ui/format.ts';
import { Guarded } from '../../api/permitted.tsx';
import { EmptyState, ProblemNotice } from '../../ui/notices.tsx';
import { MetadataPairs, Pairs } from '../../ui/blocks.tsx';
import { Meter } from '../../ui/tags.tsx';
import { EditFactForm } from './edit-fact-form.tsx';
import { EditMark, OriginTag, TruthTag, Validity } from './fact-columns.tsx';
import { fieldText, fieldWord, renderFact } from './render-fact.ts';
import { FactLife, LifeList, useFactHistory } from './fact-life.tsx';
import styles from './facts.module.css';
import { addedRow, type FactGridRow, removeRow, revertRow, stageRow, storedRow } from './staged-rows.ts';
import { fieldDifferences, type StagedEdit } from './staged-edits.ts';
import type { Staging } from './use-staging.ts';

/** The staged edit of the fact, with a button to revert it. */
function StagedPart({ edit, onRevert }: { edit: StagedEdit; onRevert: () => void }) {
  const fields = edit.kind === 'changed' ? fieldDifferences(edit.base, edit.fact) : [];
  return (
    <section className={`flex-column boxed gap-6 ${styles.stagedPart}`} aria-label="Staged">
      <div className="flex-row gap-8">
        <EditMark kind={edit.kind} />
        <span className="dim">with Apply</span>
        <Button variant="subtle" ml="auto" flex="none" onClick={onRevert}>
          Revert
        </Button>
      </div>
      {edit.kind === 'changed' && (
        <Pairs>
          {fields.map((field) => (
            <div key={field} style={{ display: 'contents' }}>
              <dt>{fieldWord(field)}</dt>
              <dd>
                <del className="dim mono">{fieldText(edit.base, field)}</del>{' '}
                <ins className="mono">{fieldText(edit.fact, field)}</ins>
              </dd>
            </div>
          ))}
        </Pairs>
      )}
    </section>
  );
}

function Explaining({ statement, derived }: { statement: string; derived: boolean }) {
  return (
    <>
      <Button
        variant="default"
        renderRoot={(props) => <Link to="/proof" search={{ question: statement }} {...props} />}
        leftSection={<IconRoute size={14} aria-hidden />}
      >
        Why
      </Button>
      {!derived && (
        <Button
          variant="default"
          renderRoot={(props) => <Link to="/what-if" search={{ retract: `${statement}.` }} {...props} />}
          leftSection={<IconFlask size={14} aria-hidden />}
        >
          What if not
        </Button>
      )}
    </>
  );
}

interface ActionsProps {
  row: FactGridRow;
  isEditing: boolean;
  onEdit: (isEditing: boolean) => void;
  onRemove: () => void;
  onRetract: () => void;
}

function Actions({ row, isEditing, onEdit, onRemove, onRetract }: ActionsProps) {
  const { stored, edit } = row;
  const reason = useReason('commitTransaction');
  if (stored?.derived === true)
    return (
      <>
        <div className="flex-row flex-wrap gap-8">
          <Explaining statement={renderFact(stored)} derived />
        </div>
        <p className="dim no-margin">
          A conclusion cannot be edited: it follows from facts and rules, and changes with them.
        </p>
      </>
    );
  return (
    <div className="flex-row flex-wrap gap-8">
      {stored !== null && <Explaining statement={renderFact(stored)} derived={false} />}
      <Guarded reason={reason}>
        <Button
          variant={isEditing ? 'light' : 'default'}
          aria-pressed={isEditing}
          leftSection={<IconPencil size={14} aria-hidden />}
          onClick={() => onEdit(!isEditing)}
        >
          Edit
        </Button>
      </Guarded>
      {edit?.kind !== 'removed' && (
        <Guarded reason={edit?.kind === 'added' ? null : reason}>
          <Button variant="default" leftSection={<IconMinus size={14} aria-hidden />} onClick={onRemove}>
            {edit?.kind === 'added' ? 'Do not add' : 'Mark removed'}
          </Button>
        </Guarded>
      )}
      {stored !== null && (
        <Guarded reason={reason}>
          <Button variant="default" leftSection={<IconTrash size={14} aria-hidden />} onClick={onRetract}>
            Retract…
          </Button>
        </Guarded>
      )}
    </div>
  );
}

function Head({ row }: { row: FactGridRow }) {
  const { fact, stored } = row;
  const statement = renderFact(fact);
  return (
    <>
      <div className={`align-start flex gap-6 ${styles.atom}`}>
        <LinkedAtom text={statement} />
        <CopyButton text={statement} label="Copy the statement" />
      </div>
      <div className="flex-row flex-wrap gap-8">
        <TruthTag value={fact.truthVal} />
        {stored !== null && <OriginTag derived={stored.derived} />}
        <span className="dim">{fact.scope === null ? 'no scope' : `scope ${fact.scope}`}</span>
      </div>
    </>
  );
}

function Figures({ row: { fact, stored } }: { row: FactGridRow }) {
  return (
    <Pairs>
      <dt>Valid</dt>
      <dd>
        <Validity fact={fact} now={Date.now()} />
      </dd>
      {stored !== null && (
        <>
          <dt>Salience</dt>
          <dd>
            <Meter value={stored.salience} />
          </dd>
          <dt>{stored.derived ? 'Since' : 'Asserted'}</dt>
          <dd>{formatTime(stored.createdAt)}</dd>
          <dt>Updated</dt>
          <dd>{formatTime(stored.updatedAt)}</dd>
        </>
      )}
    </Pairs>
  );
}

/** What the pane shows: a stored fact by id, a conclusion from the grid, or a row to be added by its key. */
export type ShownFact =
  | { readonly id: string }
  | { readonly conclusion: StoredFact }
  | { readonly added: string };

interface FactDetailProps {
  shown: ShownFact;
  staging: Staging;
  /** The form field to focus; null: no form. */
  form: 'first' | 'validFrom' | null;
  onForm: (form: 'first' | 'validFrom' | null) => void;
  onClose: () => void;
  onRetract: (fact: StoredFact) => void;
}

/** The row to show; null if unknown, or no longer there. */
function rowOf(shown: ShownFact, stored: StoredFact | undefined, staging: Staging): FactGridRow | null {
  if ('added' in shown) {
    const edit = staging.byKey.get(shown.added);
    return edit?.kind === 'added' ? addedRow(edit) : null;
  }
  const fact = 'conclusion' in shown ? shown.conclusion : stored;
  return fact === undefined ? null : storedRow(fact, staging.byKey);
}

function Content({
  row,
  detail,
  ...props
}: FactDetailProps & { row: FactGridRow; detail: Detail | undefined }) {
  const { staging, form, onForm, onClose, onRetract } = props;
  const { edit, stored } = row;
  return (
    <>
      <Head row={row} />
      {edit !== null && <StagedPart edit={edit} onRevert={() => revertRow(staging, row)} />}
      <Actions
        row={row}
        isEditing={form !== null}
        onEdit={(isEditing) => onForm(isEditing ? 'first' : null)}
        onRemove={() => {
          removeRow(staging, row);
          if (edit?.kind === 'added') onClose();
        }}
        onRetract={() => {
          if (stored !== null) onRetract(stored);
        }}
      />
      {form !== null && stored?.derived !== true && (
        <EditFactForm
          key={`${edit?.key ?? stored?.id} ${form}`}
          fact={row.fact}
          focus={form}
          onFact={(fact) => stageRow(staging, row, fact)}
        />
      )}
      <Figures row={row} />
      {stored !== null && <Provenance fact={stored} />}
      {detail !== undefined && <StoredParts detail={detail} />}
    </>
  );
}

/**
 * A stored fact while the workbench shows the past: the service details only present facts, but it has the lives of all
 * that are kept.
 */
function PastFact({ id, onClose }: { id: string; onClose: () => void }) {
  const asked = useFactHistory(id);
  return (
    <DetailPane title="Fact" onClose={onClose}>
      <div className={`flex-column gap-12 ${styles.detail}`}>
        <AnswerOrFailure asked={asked}>
          {({ atom, scope, lives }) => (
            <>
              <div className={`align-start flex gap-6 ${styles.atom}`}>
                <LinkedAtom text={atom} />
                <CopyButton text={atom} label="Copy the statement" />
              </div>
              <span className="dim">{scope === null ? 'no scope' : `scope ${scope}`}</span>
              <div className="flex-row flex-wrap gap-8">
                <Explaining statement={atom} derived={false} />
              </div>
              <Section title="Its whole life">
                <LifeList lives={lives} />
              </Section>
            </>
          )}
        </AnswerOrFailure>
      </div>
    </DetailPane>
  );
}

/** The detail pane of the selected row. */
export function FactDetailPane(props: FactDetailProps) {
  const { moment } = useSession();
  const { shown, onClose } = props;
  if (moment !== null && 'id' in shown) return <PastFact id={shown.id} onClose={onClose} />;
  return <PresentFact {...props} />;
}

function PresentFact(props: FactDetailProps) {
  const { shown, staging, onClose } = props;
  const { call, endpoint } = useSession();
  const id = 'id' in shown ? shown.id : null;
  const isGone = useLive((live) => id !== null && live.gone.has(id));
  const query = useQuery({
    queryKey: queryKeyOf('facts', endpoint, 'one', id),
    queryFn: ({ signal }) => call('getFact', { params: { id: id ?? '' } }, { signal }),
    enabled: id !== null && !isGone,
  });
  const failure = query.error === null ? null : apiFailureOf(query.error);
  const detail = id === null ? undefined : query.data;
  const row = isGone || failure !== null ? null : rowOf(shown, detail, staging);
  return (
    <DetailPane title={row?.stored?.derived === true ? 'Conclusion' : 'Fact'} onClose={onClose}>
      <div className={`flex-column gap-12 ${styles.detail}`}>
        {isGone || failure?.code === 'FactNotFound' ? (
          <EmptyState title="This fact is gone">It was retracted, or its validity has ended.</EmptyState>
        ) : (
          failure !== null && <ProblemNotice failure={failure} />
        )}
        {'added' in shown && row === null && (
          <EmptyState title="This row is no longer staged">It was applied, reverted or undone.</EmptyState>
        )}
        {row !== null && <Content {...props} row={row} detail={detail} />}
      </div>
    </DetailPane>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={styles.section}>
      <h3>{title}</h3>
      {children}
    </section>
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

/** Who told the present version, and on demand every version with who told and ended it. */
function Blame({ detail: { id, history } }: { detail: Detail }) {
  const [isWhole, setIsWhole] = useState(false);
  const last = history.at(-1);
  if (isWhole && id !== null) return <FactLife id={id} />;
  return (
    <p className="flex-row flex-wrap gap-8">
      {last !== undefined && <GenerationBlame generation={last.generation} word="Told" />}
      {id !== null && (
        <Button size="compact-xs" variant="default" onClick={() => setIsWhole(true)}>
          Its whole life
        </Button>
      )}
    </p>
  );
}

/** Everything about a stored fact except its content. */
function StoredParts({ detail }: { detail: Detail }) {
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
          <p className="dim">None known. Conclusions become known when questions derive them.</p>
        ) : (
          <ul className="plain-list flex-column gap-4">
            {detail.dependents.map((atom) => (
              <li key={atom}>
                <AtomLink atom={atom} />
              </li>
            ))}
          </ul>
        )}
      </Section>
      <Section title="History">
        <Blame detail={detail} />
        <ol className={`plain-list flex-column gap-4 ${styles.history}`}>
          {detail.history.map((entry) => (
            <li key={`${entry.generation} ${entry.change}`}>
              <span>{entry.change}</span>
              <Link
                to="/history"
                search={{ open: String(entry.generation) }}
                className="dim"
                title={formatTime(entry.time)}
              >
                {formatRelative(entry.time, now)} · generation {entry.generation}
              </Link>
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
function Provenance({ fact }: { fact: StoredFact }) {
  if (fact.provenance === null) return null;
  return (
    <Section title="Concluded by">
      <p>
        <CodeText text={fact.provenance.rule} />
      </p>
      <ul className="plain-list flex-column gap-4">
        {fact.provenance.premises.map((atom) => (
          <li key={atom}>
            <LinkedAtom text={atom} />
          </li>
        ))}
      </ul>
    </Section>
  );
}
