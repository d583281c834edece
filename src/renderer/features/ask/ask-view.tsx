/**
 * The Ask view: a question, its answers, and beside them why one of them holds, why another does not, or the trace.
 *
 * The question that is answered is in the address; what is being typed is a draft of this browser. An answer that
 * came quickly is kept current while "Live" is on; a slow one only says that it has grown old.
 */
import { Button } from '@mantine/core';
import { IconListSearch } from '@tabler/icons-react';
import { type ReactNode, useEffect, useEffectEvent, useRef, useState } from 'react';
import { useSession } from '../../api/session.tsx';
import type { RunState } from '../../api/use-run.ts';
import { LazyCodeEditor } from '../../editor/lazy-code-editor.tsx';
import { useDiagnostics } from '../../editor/use-diagnostics.ts';
import { BusyFrame } from '../../ui/busy-frame.tsx';
import { Banner, EmptyState, PaneProblem } from '../../ui/notices.tsx';
import { PaneFrame, PaneTitle } from '../../ui/pane.tsx';
import { type Pane, Split } from '../../ui/split.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import { type AskSearch, nothingBeside } from './ask-search.ts';
import { QuestionList } from './question-list.tsx';
import { QuestionToolbar } from './question-toolbar.tsx';
import { Results } from './results.tsx';
import { type Asking, type ShownAnswer, useAnswer } from './use-answer.ts';
import { useCurrency } from './use-currency.ts';

const firstLimit = 2_000;
const greatestLimit = 100_000;

interface Questioning {
  readonly asking: Asking;
  readonly draft: string;
  readonly setDraft: (text: string) => void;
  /** Asks what is given; the address follows. */
  readonly onAsk: (text: string) => void;
  /** Asks what is given, and opens its trace. */
  readonly onTrace: (text: string) => void;
  /** Asks the question of the address again. */
  readonly again: () => void;
  readonly onMore: () => void;
}

/** The question of the address is answered: when the view opens, when it changes, when one looks elsewhere. */
function useQuestioning(search: AskSearch, onSearch: (search: AskSearch) => void): Questioning {
  const { space } = useSession();
  const asking = useAnswer();
  const { ask } = asking;
  const [draft, setDraft] = useDraft(`ask.${space.database}.${space.tenant}`, search.question ?? '');
  const [limit, setLimit] = useState(firstLimit);
  const { question } = search;
  const isStoredOnly = search.stored === 'true';

  // What was asked here stands in the editor already, perhaps with more that was typed since.
  const askedHere = useRef<string | null>(null);
  const show = useEffectEvent((text: string) => {
    if (text !== askedHere.current) setDraft(text);
    askedHere.current = null;
  });
  useEffect(() => {
    if (question === undefined) return;
    show(question);
    ask(question, isStoredOnly, limit);
  }, [question, isStoredOnly, limit, ask]);

  /** What is open beside the answer to another question is closed; `trace`: its trace is opened. */
  function askFor(text: string, trace?: 'true'): void {
    const next = text.trim();
    if (next === '') return;
    setLimit(firstLimit);
    if (next === question) ask(next, isStoredOnly, firstLimit);
    else askedHere.current = next;
    if (next !== question || trace !== undefined)
      onSearch({ ...search, ...nothingBeside, question: next, trace });
  }

  function again(): void {
    if (question !== undefined) ask(question, isStoredOnly, limit);
  }

  return {
    asking,
    draft,
    setDraft,
    onAsk: (text) => askFor(text),
    onTrace: (text) => askFor(text, 'true'),
    again,
    onMore: () => setLimit((before) => Math.min(greatestLimit, before * 10)),
  };
}

interface AnswersProps {
  state: RunState<ShownAnswer>;
  isNarrow: boolean;
  isOld: boolean;
  again: () => void;
  onMore: () => void;
  onWhy: (result: string) => void;
  onWhyNot: (question: string) => void;
}

function Answers({ state, isNarrow, isOld, again, ...actions }: AnswersProps) {
  const { failure, result: answer, cancelledAfter, runningSince } = state;
  const age = isOld && (
    <Banner
      action={
        <Button size="compact-xs" variant="default" onClick={again}>
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
        <PaneProblem failure={failure} onRetry={again} />
      ) : answer !== null ? (
        <Results answer={answer} isNarrow={isNarrow} {...actions} />
      ) : (
        <EmptyState
          icon={<IconListSearch size={30} stroke={1.3} aria-hidden />}
          title={cancelledAfter === null ? 'Ask something' : 'Cancelled'}
        >
          A question is a pattern like parent(alice, ?child), or several joined by commas. Variables start
          with a question mark.
        </EmptyState>
      )}
    </BusyFrame>
  );
}

/** What the routes put beside the answers. */
interface BesideProps {
  renderProof: (question: string, onClose: () => void) => ReactNode;
  renderWhyNot: (question: string, onQuestion: (question: string) => void, onClose: () => void) => ReactNode;
  renderTrace: (question: string, onClose: () => void) => ReactNode;
}

interface AskViewProps extends BesideProps {
  search: AskSearch;
  onSearch: (search: AskSearch) => void;
}

/** The pane beside the answers, where one is open. Each has sizes of its own. */
function paneBeside({ search, onSearch, renderProof, renderWhyNot, renderTrace }: AskViewProps): Pane[] {
  const close = () => onSearch({ ...search, ...nothingBeside });
  const pane = (id: string, content: ReactNode): Pane[] => [{ id, size: '42%', least: '260px', content }];
  if (search.why !== undefined) return pane('proof', renderProof(search.why, close));
  if (search.whyNot !== undefined) {
    const onQuestion = (whyNot: string) => onSearch({ ...search, ...nothingBeside, whyNot });
    return pane('why-not', renderWhyNot(search.whyNot, onQuestion, close));
  }
  if (search.trace === 'true' && search.question !== undefined)
    return pane('trace', renderTrace(search.question, close));
  return [];
}

export function AskView(props: AskViewProps) {
  const { search, onSearch } = props;
  const questioning = useQuestioning(search, onSearch);
  const { asking, draft, setDraft, onAsk, onTrace, again, onMore } = questioning;
  const [isLive, setIsLive] = useState(true);
  const isOld = useCurrency(asking.state, isLive, again);
  const diagnostics = useDiagnostics(draft, 'question');
  const beside = paneBeside(props);
  const isNarrow = beside.length > 0;

  function onChoose(text: string): void {
    setDraft(text);
    onAsk(text);
  }

  const editor = (
    <PaneFrame
      scroll="own"
      label="Question"
      title={<PaneTitle isWhole>Ask</PaneTitle>}
      actions={
        <QuestionToolbar
          asking={asking}
          isStoredOnly={search.stored === 'true'}
          onStoredOnly={(stored) => onSearch({ ...search, stored: stored ? 'true' : undefined })}
          isLive={isLive}
          onLive={setIsLive}
          onAsk={() => onAsk(draft)}
          onTrace={() => onTrace(draft)}
          isNarrow={isNarrow}
        />
      }
    >
      <LazyCodeEditor
        label="Question"
        placeholder="ancestor(?who, nora), not visited(?who)"
        value={draft}
        onChange={setDraft}
        diagnostics={diagnostics}
        onSubmit={onAsk}
        autoFocus
      />
    </PaneFrame>
  );
  const answers = (
    <Answers
      state={asking.state}
      isNarrow={isNarrow}
      isOld={isOld}
      again={again}
      onMore={onMore}
      onWhy={(why) => onSearch({ ...search, ...nothingBeside, why })}
      onWhyNot={(whyNot) => onSearch({ ...search, ...nothingBeside, whyNot })}
    />
  );
  const main: Pane[] = [
    { id: 'editor', size: '24%', least: '90px', content: editor },
    { id: 'results', least: '120px', content: answers },
  ];
  const panes: Pane[] = [
    { id: 'questions', size: '230px', least: '140px', content: <QuestionList onChoose={onChoose} /> },
    {
      id: 'main',
      least: '320px',
      content: <Split id="ask-main" orientation="vertical" label="Resize" panes={main} />,
    },
    ...beside,
  ];
  return <Split id="ask" orientation="horizontal" label="Resize" panes={panes} />;
}
