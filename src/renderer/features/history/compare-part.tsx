/** Two moments compared: facts and rules that came and went, and the conclusions that flipped, each with its proof. */
import { ActionIcon, Autocomplete, Button } from '@mantine/core';
import { IconArrowBackUp, IconArrowsDiff, IconArrowsExchange } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { DatedFact, Flip, HistoryDiff } from '../../../engine/contract/history-diff.ts';
import { AnswerOrFailure } from '../../api/answered.tsx';
import { useLive } from '../../api/live.ts';
import { knownInBody, type MomentSearch } from '../../api/moment.ts';
import { Permitted } from '../../api/permitted.tsx';
import { useSession } from '../../api/session.tsx';
import { actorInWords, changesInWords, newestOf, useTimeline } from '../../api/timeline.ts';
import { useIsOld } from '../../api/use-run.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { LinkedAtom } from '../../editor/linked-atom.tsx';
import { Block, Strip, StripItem } from '../../ui/blocks.tsx';
import { formatCount, formatTime, formatValidity } from '../../ui/format.ts';
import { AgeBanner, EmptyState } from '../../ui/notices.tsx';
import { type Pane, Split } from '../../ui/pane.tsx';
import { Tooltip } from '../../ui/tooltip.tsx';
import { ChangeLine } from './changes.tsx';
import { FlipList } from './flips.tsx';
import styles from './history.module.css';
import type { HistorySearch } from './history-search.ts';
import { readMoment, writeMoment } from './moment-text.ts';
import { RevertDialog } from './revert-dialog.tsx';

/** Shows the proof of a question as it was at a moment, beside the comparison. */
export type RenderProofThen = (question: string, moment: MomentSearch, onClose: () => void) => ReactNode;

interface PartProps {
  search: HistorySearch;
  onSearch: (part: Partial<HistorySearch>) => void;
  renderProof: RenderProofThen;
}

interface MomentFieldProps {
  label: string;
  /** As `PastMoment.asKnown`; undefined: empty. */
  value: string | undefined;
  placeholder: string;
  onValue: (asKnown: string | undefined) => void;
}

/** A moment: typed, or one of the latest generations. */
function MomentField({ label, value, placeholder, onValue }: MomentFieldProps) {
  const entries = useTimeline(true).data?.generations ?? [];
  const [typed, setTyped] = useState(value === undefined ? '' : writeMoment(value));
  const [seen, setSeen] = useState(value);
  if (seen !== value) {
    setSeen(value);
    setTyped(value === undefined ? '' : writeMoment(value));
  }
  const read = readMoment(typed);
  const isWrong = typed.trim() !== '' && read === null;
  function take(text: string): void {
    const next = text.trim() === '' ? undefined : (readMoment(text) ?? value);
    if (next !== value) onValue(next);
  }
  return (
    <Autocomplete
      className={styles.momentField ?? ''}
      label={label}
      placeholder={placeholder}
      data={entries.map(({ generation }) => String(generation))}
      limit={50}
      maxDropdownHeight={320}
      value={typed}
      error={isWrong ? 'A generation such as 12, or a time such as 2026-01-31 18:00' : null}
      onChange={setTyped}
      onOptionSubmit={take}
      onBlur={() => take(typed)}
      onKeyDown={({ key }) => {
        if (key === 'Enter') take(typed);
      }}
      renderOption={({ option }) => {
        const entry = entries.find(({ generation }) => String(generation) === option.value);
        return (
          <span className="flex-column">
            <span>
              <strong className="number">{option.value}</strong>
              {entry !== undefined && <span className="dim"> {formatTime(entry.time)}</span>}
            </span>
            {entry !== undefined && (
              <span className="small-print">
                {changesInWords(entry)} by {actorInWords(entry)}
              </span>
            )}
          </span>
        );
      }}
    />
  );
}

/** Longest list that is asked for. */
const maxListed = 500;
const patience = 30_000;

/** The comparison; `to` absent: with the latest generation when it was made. */
function useDiff({ from, to }: HistorySearch) {
  const session = useSession();
  const { call, endpoint } = session;
  return useQuery({
    queryKey: ['history diff', endpoint.database, endpoint.tenant, from, to],
    queryFn: async ({ signal }) => {
      const now = async () =>
        useLive.getState().generation ?? (await newestOf(session, {}, signal))?.generation ?? 0;
      const body = {
        from: knownInBody(from ?? '0'),
        to: to === undefined ? await now() : knownInBody(to),
        limit: maxListed,
        timeoutMs: patience,
      };
      return call('historyDiff', { body }, { signal });
    },
    enabled: from !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
}

function FactLine({ fact, change }: { fact: DatedFact; change: 'added' | 'removed' }) {
  const { atom, scope, validFrom, validUntil } = fact;
  return (
    <ChangeLine change={change}>
      <LinkedAtom text={atom} />
      <span className="dim">
        {scope !== null && ` in ${scope}`}
        {(validFrom !== null || validUntil !== null) && ` ${formatValidity(validFrom, validUntil)}`}
      </span>
    </ChangeLine>
  );
}

/** What differs between two versions of a fact, in words. */
function differenceOf(from: DatedFact, to: DatedFact): string {
  const before = formatValidity(from.validFrom, from.validUntil);
  const after = formatValidity(to.validFrom, to.validUntil);
  const names = new Set([...Object.keys(from.metadata), ...Object.keys(to.metadata)]);
  const differing = [...names].filter(
    (name) => JSON.stringify(from.metadata[name]) !== JSON.stringify(to.metadata[name]),
  );
  return [
    ...(before === after ? [] : [`valid ${before}, then ${after}`]),
    ...differing.map(
      (name) =>
        `${name}: ${JSON.stringify(from.metadata[name] ?? null)}, then ${JSON.stringify(to.metadata[name] ?? null)}`,
    ),
  ].join('; ');
}

function Facts({ facts: { added, removed, changed } }: Pick<HistoryDiff, 'facts'>) {
  if (added.length + removed.length + changed.length === 0)
    return <p className="dim no-margin">The same facts were stored.</p>;
  return (
    <ul className="plain-list flex-column gap-2">
      {added.map((fact) => (
        <FactLine key={`+ ${fact.scope} ${fact.atom}`} fact={fact} change="added" />
      ))}
      {removed.map((fact) => (
        <FactLine key={`- ${fact.scope} ${fact.atom}`} fact={fact} change="removed" />
      ))}
      {changed.map(({ from, to }) => (
        <ChangeLine key={`~ ${to.scope} ${to.atom}`} change="changed">
          <LinkedAtom text={to.atom} /> <span className="dim">{differenceOf(from, to)}</span>
        </ChangeLine>
      ))}
    </ul>
  );
}

function Rules({ rules: { added, removed, changed } }: Pick<HistoryDiff, 'rules'>) {
  if (added.length + removed.length + changed.length === 0)
    return <p className="dim no-margin">The same rules applied.</p>;
  return (
    <ul className="plain-list flex-column gap-2">
      {added.map(({ id, rule }) => (
        <ChangeLine key={id} change="added">
          <CodeText text={rule} />
        </ChangeLine>
      ))}
      {removed.map(({ id, rule }) => (
        <ChangeLine key={id} change="removed">
          <CodeText text={rule} />
        </ChangeLine>
      ))}
      {changed.map(({ from, to }) => (
        <ChangeLine key={to.id} change="changed">
          <CodeText text={to.rule} />
          <span className="dim">
            {from.rule !== to.rule && (
              <>
                {' '}
                was <CodeText text={from.rule} />
              </>
            )}
            {from.enabled !== to.enabled && (to.enabled ? ' enabled' : ' disabled')}
          </span>
        </ChangeLine>
      ))}
    </ul>
  );
}

function lengthsOf({
  added,
  removed,
  changed,
}: {
  added: unknown[];
  removed: unknown[];
  changed: unknown[];
}) {
  const parts = [
    ...(added.length > 0 ? [`+${formatCount(added.length)}`] : []),
    ...(removed.length > 0 ? [`−${formatCount(removed.length)}`] : []),
    ...(changed.length > 0 ? [`~${formatCount(changed.length)}`] : []),
  ];
  return parts.length === 0 ? 'the same' : parts.join(' ');
}

function momentOf({ generation, time }: HistoryDiff['from']): string {
  return `generation ${formatCount(generation)}, ${formatTime(time)}`;
}

/** Takes back what changed between the two moments. */
function TakeBack({ diff: { from, to } }: { diff: HistoryDiff }) {
  const [isOpen, setIsOpen] = useState(false);
  if (from.generation >= to.generation) return null;
  return (
    <div className="flex-row">
      <Permitted operation="revert">
        <Button
          variant="default"
          leftSection={<IconArrowBackUp size={14} aria-hidden />}
          onClick={() => setIsOpen(true)}
        >
          Take these back…
        </Button>
      </Permitted>
      {isOpen && (
        <RevertDialog range={{ from: from.generation, to: to.generation }} onClose={() => setIsOpen(false)} />
      )}
    </div>
  );
}

interface ComparedProps {
  diff: HistoryDiff;
  flip: string | undefined;
  onProof: (flip: Flip) => void;
}

function Compared({ diff, flip, onProof }: ComparedProps) {
  const { from, to, facts, rules, flips } = diff;
  const gained = flips.filter(({ held }) => held === 'to').length;
  return (
    <div className="flex-column full-height">
      <Strip label="The comparison in figures" under={<TakeBack diff={diff} />}>
        <StripItem title="From">{momentOf(from)}</StripItem>
        <StripItem title="To">{momentOf(to)}</StripItem>
        <StripItem title="Facts">{lengthsOf(facts)}</StripItem>
        <StripItem title="Rules">{lengthsOf(rules)}</StripItem>
        <StripItem title="Conclusions">
          {flips.length === 0 ? 'the same' : `+${formatCount(gained)} −${formatCount(flips.length - gained)}`}
        </StripItem>
      </Strip>
      <div className={styles.compared} tabIndex={0} role="group" aria-label="Differences">
        <Block title="Conclusions that flipped">
          <FlipList diff={diff} open={flip} onProof={onProof} />
        </Block>
        <div className="flex-column gap-16">
          <Block title="Facts">
            <Facts facts={facts} />
          </Block>
          <Block title="Rules">
            <Rules rules={rules} />
          </Block>
        </div>
      </div>
    </div>
  );
}

/** The moment at which a flip was true, as the comparison judged it. */
function sideOf({ held }: Flip, { from, to }: HistoryDiff): MomentSearch {
  const { generation, time } = held === 'from' ? from : to;
  return { asKnown: String(generation), asOf: new Date(time).toISOString() };
}

function Result({ search, onSearch, renderProof }: PartProps) {
  const asked = useDiff(search);
  const isOld = useIsOld(search.to === undefined && asked.data !== undefined ? asked.dataUpdatedAt : null);
  const { flip } = search;
  const open = asked.data?.flips.find(({ atom }) => atom === flip);
  const main = (
    <div className="flex-column full-height">
      {isOld && (
        <AgeBanner action="Compare again" onAgain={() => void asked.refetch()}>
          The knowledge has changed since this was compared.
        </AgeBanner>
      )}
      <div className="rest-height">
        <AnswerOrFailure asked={asked}>
          {(diff) => <Compared diff={diff} flip={flip} onProof={({ atom }) => onSearch({ flip: atom })} />}
        </AnswerOrFailure>
      </div>
    </div>
  );
  const close = () => onSearch({ flip: undefined });
  const panes: Pane[] = [
    { id: 'differences', least: '320px', content: main },
    ...(open === undefined || asked.data === undefined
      ? []
      : [
          {
            id: 'proof',
            size: '45%',
            least: '280px',
            content: renderProof(open.atom, sideOf(open, asked.data), close),
          },
        ]),
  ];
  return <Split id="history-compare" orientation="horizontal" label="Resize" panes={panes} />;
}

/** The part of the view. */
export function ComparePart(props: PartProps) {
  const { search, onSearch } = props;
  const { from, to } = search;
  return (
    <div className="flex-column full-height">
      <div className={`flex-row flex-wrap gap-8 padded-8 line-below on-panel ${styles.moments}`}>
        <MomentField
          label="From"
          value={from}
          placeholder="Generation or time"
          onValue={(next) => onSearch({ from: next, flip: undefined })}
        />
        <Tooltip label="Exchange the two">
          <ActionIcon
            aria-label="Exchange the two moments"
            disabled={from === undefined || to === undefined}
            onClick={() => onSearch({ from: to, to: from, flip: undefined })}
          >
            <IconArrowsExchange size={16} aria-hidden />
          </ActionIcon>
        </Tooltip>
        <MomentField
          label="To"
          value={to}
          placeholder="Now"
          onValue={(next) => onSearch({ to: next, flip: undefined })}
        />
      </div>
      <div className="rest-height">
        {from === undefined ? (
          <EmptyState
            icon={<IconArrowsDiff size={30} stroke={1.3} aria-hidden />}
            title="Compare two moments"
            actions={
              <Button variant="default" onClick={() => onSearch({ part: undefined })}>
                Choose one from the changes
              </Button>
            }
          >
            Give a generation or a time: you see the facts and rules that came and went, and the conclusions
            that became true or untrue, with their proofs.
          </EmptyState>
        ) : (
          <Result {...props} />
        )}
      </div>
    </div>
  );
}
