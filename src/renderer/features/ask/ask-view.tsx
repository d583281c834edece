/**
 * The Ask view: tabs of questions; each with its answers, and beside them a proof, an explanation of a
 * missing answer, the trace, or the plan.
 *
 * The address holds the answered question and its tab; text being typed is the tab's draft.
 */
import { Button } from '@mantine/core';
import { IconDatabaseSearch, IconListSearch, IconStairsUp } from '@tabler/icons-react';
import { type ReactNode, useId, useMemo, useState } from 'react';
import { named } from '../../../desktop-contract/commands.ts';
import { type ApiFailure, apiFailureOf, type QuestionLimit } from '../../api/problem.ts';
import { bareQuestion } from '../../api/question-text.ts';
import { useSession } from '../../api/session.tsx';
import { Banner, BusyFrame, EmptyState, PaneProblem, ProblemNotice } from '../../ui/notices.tsx';
import { formatCount, formatDuration } from '../../ui/format.ts';
import { NameDialog } from '../../ui/dialogs.tsx';
import { type Pane, Split } from '../../ui/pane.tsx';
import { useViewCommand } from '../../ui/view-commands.ts';
import { readStoredState, writeStored } from '../../ui/stored-state.ts';
import {
  type Allowance,
  type AnswerSort,
  raised,
  readQuestion,
  type ShownAnswer,
  sortOf,
  sortText,
} from './answer.ts';
import { type AskBeside, type AskSearch, nothingBeside } from './ask-search.ts';
import { type AskTab, titleOf } from './ask-tabs.ts';
import styles from './ask.module.css';
import { ComparedView } from './compared-view.tsx';
import { type Asking, compareWith, useAnswer, usePinnedRuns } from './runs-store.ts';
import { QuestionEditor } from './question-editor.tsx';
import { QuestionList, SaveDialog } from './question-list.tsx';
import { Results } from './results.tsx';
import { TabBar } from './tab-bar.tsx';
import { type AskTabsOfView, type OnSearch, useAskKeys, useAskTabs } from './use-ask-tabs.ts';

const liveKey = 'corollary.ask-live';

function readSwitch(value: unknown): boolean | null {
  return typeof value === 'boolean' ? value : null;
}

interface AnswersProps {
  tab: AskTab;
  asking: Asking;
  isNarrow: boolean;
  onStoredOnly: () => void;
  onWhy: (result: string) => void;
  onWhyNot: (question: string) => void;
  onSort: (sort: AnswerSort | null) => void;
}

/** The failure of a question; if it exceeded a limit, with ways to continue. */
function NotAnswered({ tab, asking, onStoredOnly }: Pick<AnswersProps, 'tab' | 'asking' | 'onStoredOnly'>) {
  const { state, allowance } = asking.runs;
  const { failure } = state;
  if (failure === null) return null;
  const limit = failure.limit ?? null;
  if (limit === null) return <PaneProblem failure={failure} onRetry={asking.again} />;
  const read = readQuestion(tab.shown.question ?? '');
  const isOneAtom = read.ok && read.question.atom !== null;
  return (
    <TooMuch
      failure={failure}
      limit={limit}
      allowance={allowance}
      onRaise={(part: keyof Allowance) => asking.raise(part)?.()}
      onStoredOnly={isOneAtom && tab.shown.stored !== 'true' ? onStoredOnly : null}
    />
  );
}

/** The run to compare with, if any is chosen and still available. */
function useComparedTo({ runs }: Asking): ShownAnswer | null {
  const pinned = usePinnedRuns(useSession().space);
  const { comparedTo, earlier } = runs;
  if (comparedTo === null || comparedTo === runs.state.result?.id) return null;
  return [...pinned, ...earlier].find(({ id }) => id === comparedTo) ?? null;
}

function Answered({
  tab,
  asking,
  answer,
  onSort,
  ...ways
}: Omit<AnswersProps, 'onStoredOnly'> & { answer: ShownAnswer }) {
  const before = useComparedTo(asking);
  const { runs } = asking;
  const { sort: said } = tab.shown;
  const sort = useMemo(() => sortOf(said, answer.question.variables), [said, answer]);
  if (before !== null)
    return <ComparedView before={before} after={answer} onStop={() => compareWith(tab.id, null)} {...ways} />;
  return (
    <Results
      answer={answer}
      sort={sort}
      onSort={onSort}
      runs={runs}
      onCompare={(run) => compareWith(tab.id, run)}
      onMore={raised(runs.allowance, 'limit') === null ? null : () => asking.raise('limit')?.()}
      {...ways}
    />
  );
}

function Answers({ tab, asking, onStoredOnly, ...ways }: AnswersProps) {
  const { failure, result: answer, cancelledAfter, runningSince } = asking.runs.state;
  const age = asking.isOld && (
    <Banner
      action={
        <Button size="compact-xs" variant="default" onClick={asking.again}>
          Ask again
        </Button>
      }
    >
      The knowledge has changed since this was answered.
    </Banner>
  );
  return (
    <BusyFrame isBusy={runningSince !== null} banner={age}>
      {failure !== null ? (
        <NotAnswered tab={tab} asking={asking} onStoredOnly={onStoredOnly} />
      ) : answer !== null ? (
        <Answered tab={tab} asking={asking} answer={answer} {...ways} />
      ) : (
        <EmptyState
          icon={<IconListSearch size={30} stroke={1.3} aria-hidden />}
          title={cancelledAfter === null ? 'Ask something' : 'Cancelled'}
          actions={
            cancelledAfter !== null && (
              <Button variant="default" onClick={asking.again}>
                Ask again
              </Button>
            )
          }
        >
          A question is a pattern like parent(alice, ?child), or several joined by commas. Variables start
          with a question mark.
        </EmptyState>
      )}
    </BusyFrame>
  );
}

/** What the routes render beside the answers. */
interface BesideProps {
  renderProof: (question: string, onClose: () => void) => ReactNode;
  renderWhyNot: (question: string, onQuestion: (question: string) => void, onClose: () => void) => ReactNode;
  renderTrace: (question: string, onClose: () => void) => ReactNode;
  renderPlan: (question: string, onClose: () => void) => ReactNode;
}

interface AskViewProps extends BesideProps {
  search: AskSearch;
  onSearch: OnSearch;
}

/** The pane beside the answers, if one is open. Each remembers its own size. */
function paneBeside({ tab, show }: AskTabsOfView, render: BesideProps): Pane[] {
  const { shown } = tab;
  const close = () => show({ ...shown, ...nothingBeside });
  const pane = (id: string, content: ReactNode, size = '42%'): Pane[] => [
    { id, size, least: '260px', content },
  ];
  if (shown.why !== undefined) return pane('proof', render.renderProof(shown.why, close));
  if (shown.whyNot !== undefined) {
    const onQuestion = (whyNot: string) => show({ ...shown, ...nothingBeside, whyNot });
    return pane('why-not', render.renderWhyNot(shown.whyNot, onQuestion, close));
  }
  if (shown.trace === 'true' && shown.question !== undefined)
    return pane('trace', render.renderTrace(shown.question, close));
  if (shown.plan === 'true' && shown.question !== undefined)
    return pane('plan', render.renderPlan(shown.question, close), '52%');
  return [];
}

interface TabContentProps {
  view: AskTabsOfView;
  onSave: (text: string) => void;
  beside: Pane[];
}

/** The question of a tab above its answers. */
function TabContent({ view, beside, onSave }: TabContentProps) {
  const { tab, show, setDraft } = view;
  const { shown } = tab;
  const [isLive, setIsLive] = useState(() => readStoredState(liveKey, readSwitch, true));
  const asking = useAnswer(tab, isLive);
  const isNarrow = beside.length > 0;

  /** Asking another question closes what is open beside the answers. */
  function askFor(text: string, beside: AskBeside = {}): void {
    const next = text.trim();
    if (next === '') return;
    if (next === shown.question) asking.again();
    if (next !== shown.question || Object.keys(beside).length > 0)
      show({
        ...shown,
        ...nothingBeside,
        sort: next === shown.question ? shown.sort : undefined,
        question: next,
        ...beside,
      });
  }

  function setLive(next: boolean): void {
    writeStored(liveKey, next);
    setIsLive(next);
  }

  const setStoredOnly = (stored: boolean) => show({ ...shown, stored: stored ? 'true' : undefined });
  const editor = (
    <QuestionEditor
      tab={tab}
      asking={asking}
      isNarrow={isNarrow}
      isLive={isLive}
      onLive={setLive}
      onDraft={setDraft}
      onStoredOnly={setStoredOnly}
      onAsk={askFor}
      onSave={onSave}
    />
  );
  const answers = (
    <Answers
      tab={tab}
      asking={asking}
      isNarrow={isNarrow}
      onStoredOnly={() => setStoredOnly(true)}
      onWhy={(why) => show({ ...shown, ...nothingBeside, why })}
      onWhyNot={(whyNot) => show({ ...shown, ...nothingBeside, whyNot })}
      onSort={(sort) => show({ ...shown, sort: sort === null ? undefined : sortText(sort) })}
    />
  );
  const main: Pane[] = [
    { id: 'editor', size: '24%', least: '90px', content: editor },
    { id: 'results', least: '120px', content: answers },
  ];
  const whole = <Split id="ask-main" orientation="vertical" label="Resize" panes={main} />;
  const panes: Pane[] = [{ id: 'main', least: '320px', content: whole }, ...beside];
  return <Split id="ask-tab" orientation="horizontal" label="Resize" panes={panes} />;
}

/** The Ask view: the list of questions beside the tabs. */
export function AskView({ search, onSearch, ...render }: AskViewProps) {
  const view = useAskTabs(search, onSearch);
  const { tabs, tab, actions, renaming } = view;
  const panelId = useId();
  const [saving, setSaving] = useState<string | null>(null);

  function save(text: string): void {
    if (text.trim() !== '') setSaving(bareQuestion(text));
  }
  useAskKeys(actions, tab.id, () => save(tab.draft));
  useViewCommand({ ...named('tab.close'), run: () => actions.close(tab.id) }, tabs.tabs.length > 1);

  function compare(run: ShownAnswer): void {
    compareWith(view.visit(run.question.text).id, run.id);
  }
  const content = (
    <div className="flex-column full-height">
      <TabBar tabs={tabs} actions={actions} panelId={panelId} />
      <div
        id={panelId}
        role="tabpanel"
        aria-labelledby={`${panelId}-${tab.id}`}
        tabIndex={-1}
        className="rest-height"
      >
        <TabContent view={view} beside={paneBeside(view, render)} onSave={save} />
      </div>
    </div>
  );
  const questions = <QuestionList onChoose={(text) => view.visit(text)} onSave={save} onCompare={compare} />;
  const panes: Pane[] = [
    { id: 'questions', size: '230px', least: '140px', content: questions },
    { id: 'content', least: '420px', content },
  ];
  return (
    <>
      <Split id="ask" orientation="horizontal" label="Resize" panes={panes} />
      {saving !== null && <SaveDialog question={saving} onClose={() => setSaving(null)} />}
      {renaming !== null && (
        <NameDialog
          question={{
            title: 'Rename the tab',
            label: 'Name',
            hint: 'Shown instead of the question.',
            action: 'Rename',
            initial: renaming.name ?? titleOf(renaming),
            problemOf: () => null,
            onName: view.onRename,
          }}
          failureOf={apiFailureOf}
          onClose={view.endRenaming}
        />
      )}
    </>
  );
}

function limitWords(limit: QuestionLimit, allowance: Allowance): string {
  switch (limit) {
    case 'timeoutMs':
      return `Its limit was ${formatDuration(allowance.timeoutMs)}. Nothing else was affected, and nothing was changed.`;
    case 'maxDerivations':
      return `Its limit was ${formatCount(allowance.maxDerivations)} derivations. Nothing else was affected, and nothing was changed.`;
    case 'memory':
      return 'It needed more memory than the service gives one question (QUESTION_MEMORY_BYTES), or all of them together (MEMORY_BUDGET_BYTES). Nothing was changed.';
  }
}

/** The raised limit, as the button shows it. */
function raiseWords(limit: QuestionLimit, allowance: Allowance): string | null {
  if (limit === 'memory') return null;
  const more = raised(allowance, limit);
  if (more === null) return null;
  return limit === 'timeoutMs'
    ? `Give it ${formatDuration(more.timeoutMs)}`
    : `Give it ${formatCount(more.maxDerivations)} derivations`;
}

interface TooMuchProps {
  failure: ApiFailure;
  limit: QuestionLimit;
  allowance: Allowance;
  onRaise: (part: keyof Allowance) => void;
  /** null if the question is more than one atom. */
  onStoredOnly: (() => void) | null;
}

/** Explains an exceeded limit and offers ways to continue. */
function TooMuch({ failure, limit, allowance, onRaise, onStoredOnly }: TooMuchProps) {
  const more = raiseWords(limit, allowance);
  return (
    <div className={styles.tooMuch}>
      <ProblemNotice failure={failure} />
      <p>{limitWords(limit, allowance)}</p>
      <h3>What helps</h3>
      <ul>
        <li>Use a constant if you know one: inference then derives only what concerns it.</li>
        <li>Add a selective condition: fewer combinations remain.</li>
        <li>
          Look for a rule that creates new numbers without end, like{' '}
          <code className="mono">n(?y) :- n(?x), ?y = ?x + 1</code>: it needs a bound such as{' '}
          <code className="mono">?y &lt; 100</code>.
        </li>
      </ul>
      <div className={`flex-wrap flex gap-6 ${styles.ways}`}>
        {more !== null && limit !== 'memory' && (
          <Button
            variant="default"
            leftSection={<IconStairsUp size={14} aria-hidden />}
            onClick={() => onRaise(limit)}
          >
            {more}
          </Button>
        )}
        {onStoredOnly !== null && (
          <Button
            variant="default"
            leftSection={<IconDatabaseSearch size={14} aria-hidden />}
            onClick={onStoredOnly}
          >
            Ask stored facts only
          </Button>
        )}
      </div>
    </div>
  );
}
