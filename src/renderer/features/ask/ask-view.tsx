/**
 * The Ask view: tabs of questions; each with its answers, and beside them a proof, an explanation of a
 * missing answer, the trace, or the plan.
 *
 * The address holds the answered question and its tab; text being typed is the tab's draft.
 */
import { Button } from '@mantine/core';
import { IconDatabaseSearch, IconListSearch, IconStairsUp, IconTextRecognition } from '@tabler/icons-react';
import { type ReactNode, useId, useMemo, useRef, useState } from 'react';
import { named } from '../../../desktop-contract/commands.ts';
import { type ApiFailure, apiFailureOf, type QuestionLimit } from '../../api/problem.ts';
import { bareQuestion, isBareWords, readingOf } from '../../api/question-text.ts';
import { useSession } from '../../api/session.tsx';
import type { CodeEditorHandle } from '../../editor/code-editor.tsx';
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
import { type AnswerForm, type AskBeside, type AskSearch, nothingBeside } from './ask-search.ts';
import { type AskTab, type ShownInTab, titleOf } from './ask-tabs.ts';
import styles from './ask.module.css';
import { ComparedView } from './compared-view.tsx';
import { type Asking, compareWith, useAnswer, usePinnedRuns } from './runs-store.ts';
import { QuestionEditor } from './question-editor.tsx';
import { QuestionList, SaveDialog } from './question-list.tsx';
import { Results } from './results.tsx';
import { TabBar } from './tab-bar.tsx';
import { type AskTabsOfView, type OnSearch, useAskKeys, useAskTabs } from './use-ask-tabs.ts';
import { useWords } from './use-words.ts';
import { WordsView } from './words-view.tsx';

const liveKey = 'corollary.ask-live';

function readSwitch(value: unknown): boolean | null {
  return typeof value === 'boolean' ? value : null;
}

interface AnswersProps {
  tab: AskTab;
  asking: Asking;
  isNarrow: boolean;
  onStoredOnly: () => void;
  /** Reads the question as plain words. */
  onWords: () => void;
  onWhy: (result: string) => void;
  onWhyNot: (question: string) => void;
  onSort: (sort: AnswerSort | null) => void;
  onForm: (form: AnswerForm, axes?: string) => void;
}

type NotAnsweredProps = Pick<AnswersProps, 'tab' | 'asking' | 'onStoredOnly' | 'onWords'>;

/** The failure of a question, with ways to continue if it exceeded a limit or may be meant as plain words. */
function NotAnswered({ tab, asking, onStoredOnly, onWords }: NotAnsweredProps) {
  const { state, allowance } = asking.runs;
  const { failure } = state;
  if (failure === null) return null;
  if (readingOf(tab.shown.question ?? '') === 'broken') return <Broken failure={failure} onWords={onWords} />;
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
  onForm,
  ...ways
}: Omit<AnswersProps, 'onStoredOnly' | 'onWords'> & { answer: ShownAnswer }) {
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
      form={tab.shown.as ?? null}
      axes={tab.shown.axes}
      onForm={onForm}
      runs={runs}
      onCompare={(run) => compareWith(tab.id, run)}
      onMore={raised(runs.allowance, 'limit') === null ? null : () => asking.raise('limit')?.()}
      {...ways}
    />
  );
}

/** A question that looks like a goal with a mistake. */
function Broken({ failure, onWords }: { failure: ApiFailure; onWords: () => void }) {
  return (
    <div className={`flex-column gap-8 ${styles.tooMuch}`}>
      <ProblemNotice failure={failure} />
      <p>
        It looks like a goal with a mistake, such as a missing parenthesis. It can also be read as plain
        words.
      </p>
      <div className="flex gap-6">
        <Button
          variant="default"
          leftSection={<IconTextRecognition size={14} aria-hidden />}
          onClick={onWords}
        >
          Read as plain words
        </Button>
      </div>
    </div>
  );
}

function Answers({ tab, asking, onStoredOnly, onWords, ...ways }: AnswersProps) {
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
        <NotAnswered tab={tab} asking={asking} onStoredOnly={onStoredOnly} onWords={onWords} />
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
          with a question mark. Plain words, such as “children of alice”, show which patterns they become.
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

/** True if a goal without an answer may be meant as words: `carol` parses as a predicate without arguments. */
function isMissedName({ shown }: AskTab, { result }: Asking['runs']['state']): boolean {
  const { question = '' } = shown;
  return (
    result !== null &&
    result.results.length === 0 &&
    result.question.text === bareQuestion(question) &&
    isBareWords(question)
  );
}

/** The answer to a tab's question, and what its plain words became; `words` is null for a goal. */
function useReading(tab: AskTab, isLive: boolean) {
  const { question, words: asWords } = tab.shown;
  const isWords = question !== undefined && (asWords === 'true' || readingOf(question) === 'words');
  const goalTab = isWords ? { ...tab, shown: { ...tab.shown, question: undefined } } : tab;
  const asking = useAnswer(goalTab, isLive);
  const isRead = isWords || isMissedName(tab, asking.runs.state);
  const words = useWords(isRead ? (question ?? null) : null);
  return { asking, words: isRead ? words : null };
}

/** Whether quick answers are refreshed, remembered in this browser. */
function useLiveSwitch(): [boolean, (isLive: boolean) => void] {
  const [isLive, setIsLive] = useState(() => readStoredState(liveKey, readSwitch, true));
  return [
    isLive,
    (next) => {
      writeStored(liveKey, next);
      setIsLive(next);
    },
  ];
}

/** What a tab shows once another question is asked, or the same with its trace or plan: nothing else beside the answers. */
function afterAsking(shown: ShownInTab, question: string, beside: AskBeside): ShownInTab {
  const isSame = question === shown.question;
  const { sort, words, as, axes } = isSame ? shown : {};
  return { ...shown, ...nothingBeside, sort, question, words, as, axes, ...beside };
}

/** The question of a tab above its answers. */
function TabContent({ view, beside, onSave }: TabContentProps) {
  const { tab, show, setDraft } = view;
  const { shown } = tab;
  const [isLive, setLive] = useLiveSwitch();
  const { asking, words } = useReading(tab, isLive);
  const isNarrow = beside.length > 0;
  const editorRef = useRef<CodeEditorHandle>(null);

  function askFor(text: string, beside: AskBeside = {}): void {
    const next = text.trim();
    if (next === '') return;
    if (next === shown.question) (words ?? asking).again();
    if (next !== shown.question || Object.keys(beside).length > 0) show(afterAsking(shown, next, beside));
  }

  function edit(goal: string): void {
    setDraft(goal);
    editorRef.current?.focus();
  }

  /** A goal that words became replaces them; the way back leads to the words. */
  function askGoal(goal: string): void {
    setDraft(goal);
    askFor(goal);
  }

  const setStoredOnly = (stored: boolean) => show({ ...shown, stored: stored ? 'true' : undefined });
  const editor = (
    <QuestionEditor
      tab={tab}
      run={words ?? { state: asking.runs.state, cancel: asking.cancel }}
      isNarrow={isNarrow}
      isLive={isLive}
      onLive={setLive}
      onDraft={setDraft}
      onStoredOnly={setStoredOnly}
      onAsk={askFor}
      onSave={onSave}
      handle={editorRef}
    />
  );
  const answers =
    words !== null ? (
      <WordsView words={words} onAsk={askGoal} onEdit={edit} />
    ) : (
      <Answers
        tab={tab}
        asking={asking}
        isNarrow={isNarrow}
        onStoredOnly={() => setStoredOnly(true)}
        onWords={() => show({ ...shown, ...nothingBeside, words: 'true' })}
        onWhy={(why) => show({ ...shown, ...nothingBeside, why })}
        onWhyNot={(whyNot) => show({ ...shown, ...nothingBeside, whyNot })}
        onSort={(sort) => show({ ...shown, sort: sort === null ? undefined : sortText(sort) })}
        onForm={(form, axes) => show({ ...shown, as: form, axes })}
      />
    );
  const main: Pane[] = [
    { id: 'editor', size: '112px', least: '90px', content: editor },
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
