/** One row of the window: why it is in or out, where it comes from, and how its salience is composed. */
import { Anchor } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { FactDetail } from '../../../engine/contract/facts.ts';
import { parseAtom } from '../../../engine/language/parse.ts';
import { queryKeyOf } from '../../api/live.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { useSession } from '../../api/session.tsx';
import { type ScopeSelection, scopeKey } from '../../api/space.ts';
import { storedFactsOf } from '../../api/stored-facts.ts';
import { reasonInWords } from '../../api/why-found.ts';
import { AtomLink, CodeText } from '../../editor/code-text.tsx';
import { LinkedAtom } from '../../editor/linked-atom.tsx';
import { DetailPane } from '../../ui/pane.tsx';
import { Pairs } from '../../ui/blocks.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { formatCount, formatRelative, formatTime, formatValidity } from '../../ui/format.ts';
import { ProofLink } from '../../ui/knowledge-links.tsx';
import { ProblemNotice } from '../../ui/notices.tsx';
import { Meter, Tag } from '../../ui/tags.tsx';
import styles from './context.module.css';
import { type ChosenWindow, explainedLine, type WindowRow } from './window-rows.ts';
import { reasonOfLine } from './window-why.ts';
import { categoryWords, reasonWords } from './words.ts';

type FactRow = Exclude<WindowRow, { kind: 'cut' }>;

/** The scope of the row's fact; that of the view if the window does not say. */
function scopeOf(row: FactRow, scope: ScopeSelection): ScopeSelection {
  if (row.kind === 'omitted') return scope;
  return row.entry.scope === null ? { kind: 'unscoped' } : { kind: 'named', name: row.entry.scope };
}

/** The stored fact of the row; null if it is not stored. */
function useStored(row: FactRow) {
  const { call, endpoint, space } = useSession();
  const scope = scopeOf(row, space.scope);
  return useQuery({
    queryKey: queryKeyOf('facts', endpoint, 'of atom', row.atom, scopeKey(scope)),
    queryFn: async ({ signal }): Promise<FactDetail | null> => {
      const { predicate, args, negated } = parseAtom(row.atom);
      const atom = { predicate, args, truthVal: !negated };
      const [stored] = await storedFactsOf(call, atom, scope, 1, { signal });
      const id = stored?.id ?? null;
      return id === null ? null : call('getFact', { params: { id } }, { signal });
    },
    enabled: row.kind === 'omitted' || row.entry.provenance === null,
  });
}

function Breakdown({ detail }: { detail: FactDetail }) {
  const { activation, importance, confidence, uses, lastUsedAt } = detail.salienceBreakdown;
  return (
    <>
      <dt>Activation</dt>
      <dd className="number">
        {activation.toFixed(3)}
        <span className="dim">
          {' '}
          by {uses} {uses === 1 ? 'use' : 'uses'}
          {lastUsedAt !== null && `, the last ${formatRelative(lastUsedAt, Date.now())}`}
        </span>
      </dd>
      <dt>Importance</dt>
      <dd className="number">{importance.toFixed(2)}</dd>
      <dt>Confidence</dt>
      <dd className="number">{confidence.toFixed(2)}</dd>
    </>
  );
}

function FactLink({ detail }: { detail: FactDetail }) {
  const search = { predicate: detail.predicate, fact: detail.id ?? undefined };
  return (
    <Anchor size="xs" renderRoot={(props) => <Link to="/facts" search={search} {...props} />}>
      Open the fact
    </Anchor>
  );
}

function Derivation({ rule, premises }: { rule: string; premises: readonly string[] }) {
  return (
    <>
      <dt>Concluded by</dt>
      <dd>
        <CodeText text={rule} />
      </dd>
      <dt>From</dt>
      <dd>
        <ul className="plain-list flex-column gap-4">
          {premises.map((premise) => (
            <li key={premise}>
              <AtomLink atom={premise} />
            </li>
          ))}
        </ul>
      </dd>
    </>
  );
}

function Metadata({ metadata }: { metadata: FactDetail['metadata'] }) {
  const pairs = Object.entries(metadata);
  if (pairs.length === 0) return null;
  return (
    <>
      <dt>Metadata</dt>
      <dd className="mono">
        {pairs
          .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
          .join(', ')}
      </dd>
    </>
  );
}

function Figures({ row, detail }: { row: FactRow; detail: FactDetail | null | undefined }) {
  const entry = row.kind === 'entry' ? row.entry : null;
  const known = entry ?? detail ?? null;
  return (
    <Pairs>
      <dt>Salience</dt>
      <dd>
        <Meter value={entry?.salience ?? (row.kind === 'omitted' ? row.salience : 0)} />
        {entry !== null && entry.provenance !== null && (
          <span className="dim"> the least of the stored facts in its proof</span>
        )}
      </dd>
      {detail !== null && detail !== undefined && <Breakdown detail={detail} />}
      {entry !== null && entry.provenance !== null && <Derivation {...entry.provenance} />}
      {known !== null && (
        <>
          <dt>Valid</dt>
          <dd>{formatValidity(known.validFrom, known.validUntil)}</dd>
          <dt>Since</dt>
          <dd title={formatTime(known.createdAt)}>{formatRelative(known.createdAt, Date.now())}</dd>
          <Metadata metadata={known.metadata} />
        </>
      )}
    </Pairs>
  );
}

interface RowDetailProps {
  row: FactRow;
  chosen: ChosenWindow;
  onClose: () => void;
}

/** Why the row is there: what it answers, and each signal of the search with the rank that it gives. */
function Reasons({ row, chosen }: Pick<RowDetailProps, 'row' | 'chosen'>) {
  const reason = reasonOfLine(explainedLine(row), chosen);
  const why = chosen.why.get(row.atom) ?? [];
  if (reason === '' && why.length === 0) return null;
  return (
    <Pairs>
      {reason !== '' && (
        <>
          <dt>Because it</dt>
          <dd>{reason}</dd>
        </>
      )}
      {why.length > 0 && (
        <>
          <dt>Search</dt>
          <dd>
            <ul className="plain-list" aria-label="Signals of the search">
              {why.map((each) => (
                <li key={each.signal}>
                  {reasonInWords(each)} <span className="dim number">rank {formatCount(each.rank)}</span>
                </li>
              ))}
            </ul>
          </dd>
        </>
      )}
    </Pairs>
  );
}

/** The detail of the selected row. */
export function RowDetail({ row, chosen, onClose }: RowDetailProps) {
  const stored = useStored(row);
  const { word, meaning, tone } =
    row.kind === 'entry' ? categoryWords[row.entry.category] : reasonWords[row.reason];
  const detail = stored.data;
  return (
    <DetailPane
      title={row.kind === 'entry' ? `Fact ${row.position} of the window` : 'Left out'}
      onClose={onClose}
    >
      <div className={`flex-column gap-8 ${styles.detail}`}>
        <div className={`flex-row gap-4-8 flex-wrap ${styles.atom}`}>
          <LinkedAtom text={row.atom} />
          <CopyButton text={row.atom} label="Copy the atom" />
          <ProofLink question={row.atom}>Why</ProofLink>
          {detail !== null && detail !== undefined && <FactLink detail={detail} />}
        </div>
        <p className="no-margin">
          <Tag tone={tone}>{word}</Tag> {meaning}
        </p>
        {stored.error !== null && <ProblemNotice failure={apiFailureOf(stored.error)} />}
        <Reasons row={row} chosen={chosen} />
        <Figures row={row} detail={detail} />
      </div>
    </DetailPane>
  );
}
