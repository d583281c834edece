/** What violates keys, types and constraints, with its facts and proof, and the changes that would mend it. */
import { Anchor, Button, SegmentedControl, Select } from '@mantine/core';
import { IconBulb, IconChevronDown, IconChevronRight, IconCircleCheck } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Violation } from '../../../engine/contract/violations.ts';
import { renderAtom, renderConstant } from '../../../engine/language/print.ts';
import { proofOutline, withFoldedText } from '../../../proof/proof-text.ts';
import { AnswerOrFailure } from '../../api/answered.tsx';
import { invalidate, topics } from '../../api/live.ts';
import { Guarded } from '../../api/permitted.tsx';
import { type ApiFailure, apiFailureOf } from '../../api/problem.ts';
import { usePredicates } from '../../api/queries.ts';
import { useReason } from '../../api/rights.ts';
import { useSession } from '../../api/session.tsx';
import { useRun } from '../../api/use-run.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { LinkedAtom } from '../../editor/linked-atom.tsx';
import { CodeBlock } from '../../ui/blocks.tsx';
import { consequencesInWords } from '../../ui/consequences.ts';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { ProofLink, WhatIfLink } from '../../ui/knowledge-links.tsx';
import { BusyFrame, EmptyState, ProblemNotice, Running } from '../../ui/notices.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import { PaneFrame } from '../../ui/pane.tsx';
import { Tag } from '../../ui/tags.tsx';
import { applyMend, mendsOf, tryOut } from './mend-work.ts';
import { keyOfChange, type Mend, type Mends } from './mends.ts';
import { type SchemaSearch, violationKinds } from './schema-search.ts';
import styles from './schema.module.css';
import { firstViolations, useConstraints, useViolations } from './use-schema.ts';

const kindWords = { key: 'Keys', shape: 'Types', constraint: 'Constraints' } as const;
const kindTags = { key: 'key', shape: 'type', constraint: 'constraint' } as const;

interface FiltersProps {
  search: SchemaSearch;
  onSearch: (part: Partial<SchemaSearch>) => void;
}

function Filters({ search, onSearch }: FiltersProps) {
  const constraints = useConstraints().data ?? [];
  const predicates = usePredicates().data ?? [];
  const names = [
    ...new Set([
      ...predicates.map(({ name }) => name),
      ...(search.predicate === undefined ? [] : [search.predicate]),
    ]),
  ];
  return (
    <>
      <SegmentedControl
        aria-label="Kind of violations"
        value={search.kind ?? 'all'}
        onChange={(value) => {
          const kind = violationKinds.find((each) => each === value);
          onSearch({ kind, limit: undefined, ...(kind === 'constraint' ? {} : { constraint: undefined }) });
        }}
        data={[
          { value: 'all', label: 'All' },
          ...violationKinds.map((value) => ({ value, label: kindWords[value] })),
        ]}
      />
      <Select
        aria-label="Predicate of the violations"
        placeholder="Any predicate"
        clearable
        searchable
        limit={50}
        w={170}
        data={names}
        value={search.predicate ?? null}
        onChange={(predicate) => onSearch({ predicate: predicate ?? undefined, limit: undefined })}
      />
      <Select
        aria-label="Constraint of the violations"
        placeholder="Any constraint"
        clearable
        searchable
        w={170}
        data={constraints.map(({ id, name }) => ({ value: id, label: name }))}
        value={search.constraint ?? null}
        onChange={(constraint) =>
          onSearch({
            constraint: constraint ?? undefined,
            limit: undefined,
            ...(constraint === null ? {} : { kind: undefined }),
          })
        }
      />
    </>
  );
}

interface MendItemProps {
  set: Mend;
  label: string;
  generation: number;
  onApplied: () => void;
}

function statements(set: Mend, kind: Mend[number]['kind']): string {
  return set
    .filter((change) => change.kind === kind)
    .map(({ atom }) => `${renderAtom(atom)}.`)
    .join('\n');
}

/** Tries a mend without storing it, and stores it. */
function useMend({ set, label, generation, onApplied }: MendItemProps) {
  const session = useSession();
  const client = useQueryClient();
  const [running, setRunning] = useState<'try' | 'apply' | null>(null);
  const [said, setSaid] = useState<string | null>(null);
  const [failure, setFailure] = useState<ApiFailure | null>(null);

  function run(what: 'try' | 'apply', work: () => Promise<void>): void {
    setRunning(what);
    setFailure(null);
    work()
      .catch((error: unknown) => setFailure(apiFailureOf(error)))
      .finally(() => setRunning(null));
  }

  return {
    running,
    said,
    failure,
    onTry: () => run('try', async () => setSaid(consequencesInWords(await tryOut(session, set)))),
    onApply: () =>
      run('apply', async () => {
        await applyMend(session, label, set, generation);
        notifyDone('Mended. Undo brings it back.');
        invalidate(client, session.endpoint, topics);
        onApplied();
      }),
  };
}

function MendItem(props: MendItemProps) {
  const { set } = props;
  const { running, said, failure, onTry, onApply } = useMend(props);
  const reason = useReason('commitTransaction');
  const [add, retract] = [statements(set, 'assert'), statements(set, 'retract')];
  return (
    <li className="flex-column gap-4">
      <div className={`flex-row flex-wrap gap-4-8 ${styles.mend}`}>
        <ul className="plain-list flex-column gap-2 rest-width">
          {set.map((change) => (
            <li key={keyOfChange(change)} className="flex-row gap-8">
              <Tag tone={change.kind === 'assert' ? 'good' : 'bad'}>{change.kind}</Tag>
              <LinkedAtom text={renderAtom(change.atom)} />
              {change.scope !== null && <span className="dim">in scope {change.scope}</span>}
            </li>
          ))}
        </ul>
        <WhatIfLink changes={{ ...(add === '' ? {} : { add }), ...(retract === '' ? {} : { retract }) }}>
          What if
        </WhatIfLink>
        <Guarded reason={reason}>
          <Button size="compact-xs" variant="default" loading={running === 'try'} onClick={onTry}>
            Try
          </Button>
        </Guarded>
        <Guarded reason={reason}>
          <Button
            size="compact-xs"
            loading={running === 'apply'}
            disabled={running === 'try'}
            onClick={onApply}
          >
            Apply
          </Button>
        </Guarded>
      </div>
      {said !== null && (
        <p className="no-margin dim" role="status">
          {said}
        </p>
      )}
      {failure !== null && <ProblemNotice failure={failure} />}
    </li>
  );
}

interface MendListProps {
  found: Mends;
  label: string;
  generation: number;
  onApplied: () => void;
}

function MendList({ found: { sets, isCut }, ...props }: MendListProps) {
  return (
    <>
      <p className="no-margin" role="status">
        {sets.length === 0
          ? 'No change of its facts was found that would mend it.'
          : sets.length === 1
            ? 'One way to mend it.'
            : `${formatCount(sets.length)} ways to mend it, each enough alone.`}
        {isCut && ' The search stopped early: there may be others.'}
      </p>
      {sets.length > 0 && (
        <ol className="plain-list flex-column gap-8" aria-label="Ways to mend it">
          {sets.map((set) => (
            <MendItem key={set.map(keyOfChange).join(' ')} set={set} {...props} />
          ))}
        </ol>
      )}
    </>
  );
}

/** The actions of a violation and what they show: its proof, and the search for mends. */
function Explained({ violation, generation }: { violation: Violation; generation: number }) {
  const session = useSession();
  const constraints = useConstraints().data ?? [];
  const reason = useReason('beginTransaction');
  const [isProofOpen, setProofOpen] = useState(false);
  const { state, start, cancel, clear } = useRun<Mends>();
  const { result, runningSince, failure } = state;
  const proof = violation.kind === 'constraint' ? violation.proof : null;
  return (
    <>
      <div className="flex-row gap-8">
        {runningSince === null && result === null && (
          <Guarded reason={reason}>
            <Button
              size="compact-xs"
              variant="default"
              leftSection={<IconBulb size={13} aria-hidden />}
              onClick={() => start((signal) => mendsOf(session, violation, constraints, signal))}
            >
              What would mend it
            </Button>
          </Guarded>
        )}
        {proof !== null && (
          <Button
            size="compact-xs"
            variant="subtle"
            aria-expanded={isProofOpen}
            leftSection={
              isProofOpen ? (
                <IconChevronDown size={13} aria-hidden />
              ) : (
                <IconChevronRight size={13} aria-hidden />
              )
            }
            onClick={() => setProofOpen(!isProofOpen)}
          >
            Proof
          </Button>
        )}
        {violation.kind === 'constraint' && (
          <ProofLink question={violation.instance}>Open the proof</ProofLink>
        )}
      </div>
      {isProofOpen && proof !== null && (
        <CodeBlock low label="Proof" text={proofOutline(withFoldedText(proof)).join('\n')} />
      )}
      {runningSince !== null && <Running what="Trying changes" since={runningSince} onCancel={cancel} />}
      {failure !== null && <ProblemNotice failure={failure} />}
      {result !== null && (
        <div className={`flex-column gap-8 ${styles.mends}`}>
          <MendList
            found={result}
            label={`mended ${titleOf(violation)}`}
            generation={generation}
            onApplied={clear}
          />
        </div>
      )}
    </>
  );
}

function titleOf(violation: Violation): string {
  return violation.kind === 'constraint' ? violation.name : `${violation.predicate}/${violation.arity}`;
}

function Facts({ violation }: { violation: Violation }) {
  if (violation.kind === 'constraint') return null;
  return (
    <ul className="plain-list flex-column gap-2" aria-label="Facts">
      {violation.facts.map(({ id, atom }) => (
        <li key={id}>
          <LinkedAtom text={atom} />{' '}
          <Anchor
            size="xs"
            className={styles.link ?? ''}
            renderRoot={(props) => (
              <Link to="/facts" search={{ predicate: violation.predicate, fact: id }} {...props} />
            )}
          >
            Open the fact
          </Anchor>
        </li>
      ))}
    </ul>
  );
}

function BindingsLine({ bindings }: { bindings: Readonly<Record<string, string>> }) {
  const entries = Object.entries(bindings);
  if (entries.length === 0) return null;
  return (
    <span className="dim">
      {entries.map(([name, value], index) => (
        <span key={name}>
          {index > 0 && ', '}
          {name} <code className="mono">{renderConstant(value)}</code>
        </span>
      ))}
    </span>
  );
}

/** One violation: what it is, its facts or its instance, its proof, and what would mend it. */
function ViolationItem({ violation, generation }: { violation: Violation; generation: number }) {
  return (
    <li className={`flex-column gap-6 ${styles.violation}`}>
      <div className="flex-row flex-wrap gap-4-8">
        <Tag tone="bad">{kindTags[violation.kind]}</Tag>
        {violation.kind === 'constraint' ? (
          <Anchor
            className={styles.link ?? ''}
            renderRoot={(props) => (
              <Link
                to="/schema"
                search={{ part: 'constraints', constraint: violation.constraint }}
                {...props}
              />
            )}
          >
            {violation.name}
          </Anchor>
        ) : (
          <Anchor
            className={`mono ${styles.link}`}
            renderRoot={(props) => (
              <Link to="/schema" search={{ predicate: titleOf(violation) }} {...props} />
            )}
          >
            {titleOf(violation)}
          </Anchor>
        )}
        <BindingsLine bindings={violation.bindings} />
        {violation.scope !== null && <span className="dim">in scope {violation.scope}</span>}
      </div>
      {violation.kind === 'constraint' ? (
        <CodeText text={violation.instance} />
      ) : (
        <p className="no-margin wraps">{violation.message}</p>
      )}
      <Facts violation={violation} />
      <Explained violation={violation} generation={generation} />
    </li>
  );
}

function keyOf(violation: Violation): string {
  const what = violation.kind === 'constraint' ? violation.constraint : titleOf(violation);
  const of = violation.kind === 'constraint' ? [] : violation.facts.map(({ id }) => id);
  return JSON.stringify([violation.kind, what, violation.scope, violation.bindings, of]);
}

function NoViolations({ isFiltered, onReset }: { isFiltered: boolean; onReset: () => void }) {
  if (isFiltered)
    return (
      <EmptyState
        title="No such violation"
        actions={
          <Button variant="default" onClick={onReset}>
            Clear the filters
          </Button>
        }
      >
        No violation passes the filters.
      </EmptyState>
    );
  return (
    <EmptyState icon={<IconCircleCheck size={30} stroke={1.3} aria-hidden />} title="Nothing is violated">
      All stored facts are as declared, and no constraint has an answer.
    </EmptyState>
  );
}

/** The list of violations with its filters. */
export function ViolationsPart({ search, onSearch }: FiltersProps) {
  const asked = useViolations(search);
  const limit = Number(search.limit ?? firstViolations);
  const isFiltered =
    search.kind !== undefined || search.predicate !== undefined || search.constraint !== undefined;
  return (
    <PaneFrame
      label="Violations"
      title="Violations"
      scroll="own"
      actions={<Filters search={search} onSearch={onSearch} />}
    >
      <AnswerOrFailure asked={asked}>
        {({ violations, total, truncated, generation }) =>
          total === 0 ? (
            <NoViolations
              isFiltered={isFiltered}
              onReset={() => onSearch({ kind: undefined, predicate: undefined, constraint: undefined })}
            />
          ) : (
            <BusyFrame
              isBusy={asked.isFetching}
              banner={
                <p className="padded-6 line-below no-margin dim" role="status">
                  {truncated
                    ? `${formatCount(violations.length)} of ${formatAmount(total, 'violation')}`
                    : formatAmount(total, 'violation')}
                </p>
              }
            >
              <div className="tall scrolls" tabIndex={0} role="region" aria-label="List of violations">
                <ol className="plain-list">
                  {violations.map((violation) => (
                    <ViolationItem key={keyOf(violation)} violation={violation} generation={generation} />
                  ))}
                </ol>
                {truncated && (
                  <div className="padded">
                    <Button
                      variant="default"
                      loading={asked.isFetching}
                      onClick={() => onSearch({ limit: String(Math.min(99_999, limit * 5)) })}
                    >
                      Show more
                    </Button>
                  </div>
                )}
              </div>
            </BusyFrame>
          )
        }
      </AnswerOrFailure>
    </PaneFrame>
  );
}
