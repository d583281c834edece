import { Button, Checkbox, Group, Modal, SegmentedControl, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useCallback, useMemo, useState } from 'react';
import type { StoredFact } from '../../../engine/contract/facts.ts';
import { unknownFacts } from '../../api/asserted-facts.ts';
import { invalidate, topics, useLive } from '../../api/live.ts';
import { Guarded } from '../../api/permitted.tsx';
import { apiFailureOf } from '../../api/problem.ts';
import { useReason } from '../../api/rights.ts';
import { useSession, type WorkbenchSession } from '../../api/session.tsx';
import { scopeFieldsOfStored } from '../../api/space.ts';
import { useRunAtOnce } from '../../api/use-run.ts';
import { CodeLine } from '../../editor/code-text.tsx';
import type { Column } from '../../ui/data-grid.tsx';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { ListGrid } from '../../ui/list-grid.tsx';
import { Banner, EmptyState, ProblemNotice, Running } from '../../ui/notices.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import { useReturnedFocus } from '../../ui/use-focus.ts';
import { changeKnowledge, type KnowledgeChange } from './knowledge-step.ts';
import {
  factHitsOf,
  factIdentityOf,
  hitTextsOf,
  replaceChangesOf,
  type ReplaceHit,
  type Replacement,
  ruleHitsOf,
  searchTextOf,
  withMerged,
} from './replacing.ts';
import styles from './rules.module.css';

type Part = 'both' | 'rules' | 'facts';

/** What the form asks for. */
interface Wanted extends Replacement {
  readonly part: Part;
}

/** What was found. */
interface Found {
  readonly hits: readonly ReplaceHit[];
  /** True if more facts match than can be replaced; then none is among the hits. */
  readonly isTooMuch: boolean;
  readonly since: number | null;
  readonly wanted: Wanted;
}

/** Facts are read and written one by one. */
const maxFacts = 1_000;
/** Facts looked through: the service searches regardless of case and of whole names. */
const maxLookedThrough = 20_000;

async function factsWith(call: WorkbenchSession['call'], wanted: Wanted, signal: AbortSignal) {
  const found: StoredFact[] = [];
  let looked = 0;
  let cursor: string | null = null;
  const q = searchTextOf(wanted.find);
  do {
    const query = { ...(q === '' ? {} : { q }), limit: '1000', cursor };
    const page: { facts: StoredFact[]; nextCursor: string | null } = await call(
      'listFacts',
      { query },
      { signal },
    );
    found.push(...page.facts.filter((fact) => factHitsOf([fact], wanted).length > 0));
    looked += page.facts.length;
    cursor = page.nextCursor;
  } while (cursor !== null && found.length <= maxFacts && looked < maxLookedThrough);
  return { facts: found, isTooMuch: found.length > maxFacts || cursor !== null };
}

async function search(session: WorkbenchSession, wanted: Wanted, signal: AbortSignal): Promise<Found> {
  const { call } = session;
  const since = useLive.getState().generation;
  const rules = wanted.part === 'facts' ? [] : (await call('listRules', { query: {} }, { signal })).rules;
  const { facts, isTooMuch } =
    wanted.part === 'rules' ? { facts: [], isTooMuch: false } : await factsWith(call, wanted, signal);
  const factHits = isTooMuch ? [] : factHitsOf(facts, wanted);
  const sound = factHits.filter(({ problem }) => problem === null);
  const targets = sound.map(({ after: { predicate, args, truthVal, scope } }) => ({
    predicate,
    args,
    truthVal,
    ...scopeFieldsOfStored(scope),
  }));
  const unknown = (await unknownFacts(session, targets)) ?? [];
  const isUnknown = new Set(unknown);
  const notStored = new Set(
    sound
      .filter((_, at) => isUnknown.has(targets[at] as (typeof targets)[number]))
      .map(({ after }) => factIdentityOf(after)),
  );
  return {
    hits: [...ruleHitsOf(rules, wanted), ...withMerged(factHits, notStored)],
    isTooMuch,
    since,
    wanted,
  };
}

function noteOf(hit: ReplaceHit): string {
  if (hit.problem !== null) return hit.problem;
  if (hit.kind === 'fact' && hit.isMerged) return 'Stored already: the two become one';
  const { scope } = hit.base;
  return scope === null ? '' : `in ${scope}`;
}

interface HitsProps {
  hits: readonly ReplaceHit[];
  /** Keys of hits that are not to be replaced. */
  left: ReadonlySet<string>;
  onToggle: (hit: ReplaceHit) => void;
}

/** Lists the hits, each with a check box. */
function Hits({ hits, left, onToggle }: HitsProps) {
  const columns = useMemo<Column<ReplaceHit>[]>(
    () => [
      {
        id: 'chosen',
        title: 'Replace',
        width: 76,
        holds: 'controls',
        cell: (hit) => (
          <Checkbox
            size="md"
            tabIndex={-1}
            aria-label={`Replace in ${hitTextsOf(hit).before}`}
            checked={hit.problem === null && !left.has(hit.key)}
            disabled={hit.problem !== null}
            onChange={() => onToggle(hit)}
          />
        ),
      },
      { id: 'kind', title: 'In', width: 56, cell: (hit) => <span className="dim">{hit.kind}</span> },
      {
        id: 'before',
        title: 'Now',
        width: 240,
        grow: 1,
        cell: (hit) => <CodeLine text={hitTextsOf(hit).before} />,
      },
      {
        id: 'after',
        title: 'Becomes',
        width: 240,
        grow: 1,
        cell: (hit) => <CodeLine text={hitTextsOf(hit).after} />,
      },
      {
        id: 'note',
        title: 'Note',
        width: 150,
        cell: (hit) => (
          <span className={hit.problem === null ? 'dim' : 'text-bad'} title={noteOf(hit)}>
            {noteOf(hit)}
          </span>
        ),
      },
    ],
    [left, onToggle],
  );
  return (
    <ListGrid
      label="What would be replaced"
      columns={columns}
      rows={hits}
      onOpen={onToggle}
      onKey={(event, hit) => {
        if (event.key !== ' ') return;
        event.preventDefault();
        onToggle(hit);
      }}
    />
  );
}

const pauseMs = 300;

function useReplacing(initial: string, onDone: () => void) {
  const session = useSession();
  const client = useQueryClient();
  const [form, setForm] = useState<Wanted>({
    find: initial,
    put: '',
    part: 'both',
    matchesCase: false,
    isWhole: false,
  });
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [progress, setProgress] = useState(0);
  const [wanted] = useDebouncedValue(form, pauseMs);
  const work = useMemo(
    () => (wanted.find === '' ? null : (signal: AbortSignal) => search(session, wanted, signal)),
    [wanted, session],
  );
  const run = useRunAtOnce(work);
  const found = run.state.result;
  const chosen = useMemo(
    () => found?.hits.filter(({ problem, key }) => problem === null && !left.has(key)) ?? [],
    [found, left],
  );
  const replacing = useMutation({
    mutationFn: (change: KnowledgeChange) =>
      changeKnowledge(session, `replaced ${form.find} by ${form.put}`, change, setProgress),
    onSettled: () => {
      setProgress(0);
      invalidate(client, session.endpoint, topics);
    },
  });
  const isReady = found?.wanted === form && chosen.length > 0 && !replacing.isPending;
  function onReplace(): void {
    if (!isReady) return;
    const change = { ...replaceChangesOf(chosen), since: found.since };
    replacing.mutate(change, {
      onSuccess: () => {
        const { rules, facts } = countsOf(chosen);
        notifyDone(`Replaced in ${formatAmount(rules, 'rule')} and ${formatAmount(facts, 'fact')}`);
        onDone();
      },
      // The preview is probably outdated: search again.
      onError: () => run.again(),
    });
  }
  const toggle = useCallback((hit: ReplaceHit) => {
    if (hit.problem !== null) return;
    setLeft((before) => {
      const next = new Set(before);
      if (!next.delete(hit.key)) next.add(hit.key);
      return next;
    });
  }, []);
  return {
    form,
    set: (part: Partial<Wanted>) => setForm((before) => ({ ...before, ...part })),
    left,
    setLeft,
    progress,
    run,
    found,
    chosen,
    replacing,
    isReady,
    onReplace,
    toggle,
  };
}

function countsOf(hits: readonly ReplaceHit[]): { rules: number; facts: number } {
  const rules = hits.filter(({ kind }) => kind === 'rule').length;
  return { rules, facts: hits.length - rules };
}

type Replacing = ReturnType<typeof useReplacing>;

function Fields({ form, set }: Pick<Replacing, 'form' | 'set'>) {
  return (
    <>
      <div className={styles.renameFields}>
        <TextInput
          label="Find"
          value={form.find}
          spellCheck={false}
          data-autofocus
          onChange={(event) => set({ find: event.currentTarget.value })}
        />
        <TextInput
          label="Replace with"
          value={form.put}
          spellCheck={false}
          onChange={(event) => set({ put: event.currentTarget.value })}
        />
      </div>
      <div className="flex-row flex-wrap gap-8-24">
        <SegmentedControl
          aria-label="Where"
          value={form.part}
          onChange={(value) => set({ part: value === 'rules' || value === 'facts' ? value : 'both' })}
          data={[
            { value: 'both', label: 'Rules and facts' },
            { value: 'rules', label: 'Rules' },
            { value: 'facts', label: 'Facts' },
          ]}
        />
        <Checkbox
          label="Match case"
          checked={form.matchesCase}
          onChange={(event) => set({ matchesCase: event.currentTarget.checked })}
        />
        <Checkbox
          label="Whole names"
          checked={form.isWhole}
          onChange={(event) => set({ isWhole: event.currentTarget.checked })}
        />
      </div>
    </>
  );
}

/** What was found, or why nothing is shown. */
function Results({ found, run, left, setLeft, chosen, toggle, replacing, progress, form }: Replacing) {
  const { failure, runningSince } = run.state;
  const possible = found?.hits.filter(({ problem }) => problem === null) ?? [];
  const { rules, facts } = countsOf(found?.hits ?? []);
  const all = chosen.length === possible.length && possible.length > 0;
  return (
    <div className={`flex-column gap-8 ${styles.replaced}`} aria-busy={runningSince !== null}>
      {replacing.error !== null && <ProblemNotice failure={apiFailureOf(replacing.error)} />}
      {failure !== null && <ProblemNotice failure={failure} onRetry={run.again} />}
      {found?.isTooMuch === true && (
        <Banner>
          More than {formatCount(maxFacts)} facts have this text. Narrow it, replace in rules only, or export
          the facts, change the file, and import it.
        </Banner>
      )}
      {found !== null && found.hits.length > 0 && (
        <>
          <div className="flex-row gap-12">
            <Checkbox
              label="All"
              checked={all}
              indeterminate={!all && chosen.length > 0}
              onChange={() => setLeft(all ? new Set(possible.map(({ key }) => key)) : new Set())}
            />
            <span role="status" className="number">
              {replacing.isPending
                ? `${formatAmount(progress, 'write')} made`
                : `Found in ${formatAmount(rules, 'rule')} and ${formatAmount(facts, 'fact')}`}
            </span>
          </div>
          <div className={`boxed ${styles.hits}`}>
            <Hits hits={found.hits} left={left} onToggle={toggle} />
          </div>
        </>
      )}
      {found !== null && found.hits.length === 0 && !found.isTooMuch && (
        <EmptyState title="Nothing found">No name has {form.find}.</EmptyState>
      )}
      {found === null && runningSince !== null && (
        <Running what="Looking through rules and facts" since={runningSince} onCancel={run.cancel} />
      )}
    </div>
  );
}

interface ReplaceDialogProps {
  /** What it finds at first. */
  find: string;
  onClose: () => void;
}

/** Shows the dialog that finds and replaces in rules and facts, with a preview of every hit. */
export function ReplaceDialog({ find, onClose }: ReplaceDialogProps) {
  const replacing = useReplacing(find, onClose);
  const reason = useReason('updateRule');
  useReturnedFocus();
  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    if (reason === null) replacing.onReplace();
  }
  return (
    <Modal opened onClose={onClose} title="Find and replace" size="min(1080px, 94vw)">
      <form onSubmit={onSubmit} className="flex-column gap-12">
        <Fields {...replacing} />
        <p className="dim no-margin">
          In predicates, constants and variables, and in names and descriptions of rules; the facts are those
          of this tenant in every scope. All of it is one transaction, which undo takes back.
        </p>
        <Results {...replacing} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Guarded reason={reason}>
            <Button type="submit" loading={replacing.replacing.isPending} disabled={!replacing.isReady}>
              {replacing.chosen.length > 0 ? `Replace in ${formatCount(replacing.chosen.length)}` : 'Replace'}
            </Button>
          </Guarded>
        </Group>
      </form>
    </Modal>
  );
}
