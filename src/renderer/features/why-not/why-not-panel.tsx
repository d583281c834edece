import { Button, TextInput } from '@mantine/core';
import { IconHelpCircle } from '@tabler/icons-react';
import { useId, useMemo, useState } from 'react';
import type { WhyNot } from '../../../engine/contract/explanation.ts';
import { type Atom, isVariable } from '../../../engine/contract/language.ts';
import { parseBody } from '../../../engine/language/parse.ts';
import { renderAtom } from '../../../engine/language/print.ts';
import { isNamedVariable, isPositiveAtom } from '../../../engine/language/terms.ts';
import type { QuestionSearch } from '../../api/question-search.ts';
import { bareQuestion } from '../../api/question-text.ts';
import { useSession } from '../../api/session.tsx';
import { scopeFieldsOf } from '../../api/space.ts';
import { useIsOld, useRunAtOnce } from '../../api/use-run.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { LazyCodeEditor } from '../../editor/lazy-editors.tsx';
import { useDiagnostics } from '../../editor/use-diagnostics.ts';
import {
  AgeBanner,
  CancelledNote,
  EmptyState,
  PaneProblem,
  Running,
  RunningActions,
} from '../../ui/notices.tsx';
import { BesideActions, PaneFrame, PaneTitle } from '../../ui/pane.tsx';
import { Explained } from './explained.tsx';
import type { StageRemedy } from './remedies-view.tsx';
import styles from './why-not.module.css';

/** A variable of a pattern that needs a value. */
interface Blank {
  /** Identifies the blank in its pattern. */
  readonly id: string;
  /** `?who`, or `argument 2` for a `?_`. */
  readonly label: string;
}

/** A parsed expectation. */
type Expected =
  | { readonly kind: 'ground'; readonly atom: Atom; readonly text: string }
  | {
      readonly kind: 'pattern';
      readonly atom: Atom;
      readonly text: string;
      readonly blanks: readonly Blank[];
    }
  /** Several conditions: their atoms as text, without duplicates. */
  | { readonly kind: 'several'; readonly atoms: readonly string[] }
  | { readonly kind: 'wrong'; readonly message: string };

function blankOf(term: string, index: number): Blank {
  return isNamedVariable(term)
    ? { id: term, label: term }
    : { id: `argument ${index + 1}`, label: `argument ${index + 1}` };
}

/** The blanks of a pattern in argument order, without duplicates. */
function blanksOf(atom: Atom): Blank[] {
  const found = new Map<string, Blank>();
  for (const [index, term] of atom.args.entries()) {
    if (!isVariable(term)) continue;
    const blank = blankOf(term, index);
    found.set(blank.id, blank);
  }
  return [...found.values()];
}

/** Parses a question; a final question mark is allowed. */
export function readExpected(text: string): Expected {
  const bare = bareQuestion(text);
  try {
    const body = parseBody(bare);
    const atoms = body.filter(isPositiveAtom);
    const [only] = atoms;
    if (only === undefined)
      return { kind: 'wrong', message: 'Write the statement that you expect, such as parent(alice, bob).' };
    if (body.length > 1) return { kind: 'several', atoms: [...new Set(atoms.map(renderAtom))] };
    const atom: Atom = { predicate: only.predicate, args: only.args, negated: only.negated };
    const blanks = blanksOf(atom);
    const rendered = renderAtom(atom);
    return blanks.length === 0
      ? { kind: 'ground', atom, text: rendered }
      : { kind: 'pattern', atom, text: rendered, blanks };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { kind: 'wrong', message: error.message };
  }
}

/**
 * Returns the pattern with a value for every blank, as text; null while one is missing. Values are constants as typed:
 * surrounding white space is ignored, and none may start with a question mark.
 */
export function fillIn(pattern: Atom, values: Readonly<Record<string, string>>): string | null {
  const args: string[] = [];
  for (const [index, term] of pattern.args.entries()) {
    const value = isVariable(term) ? (values[blankOf(term, index).id] ?? '').trim() : term;
    if (isVariable(term) && (value === '' || isVariable(value))) return null;
    args.push(value);
  }
  return renderAtom({ ...pattern, args });
}

interface BlanksProps {
  blanks: readonly Blank[];
  values: Readonly<Record<string, string>>;
  onValue: (id: string, value: string) => void;
}

function Blanks({ blanks, values, onValue }: BlanksProps) {
  const hint = useId();
  return (
    <>
      <p id={hint} className="dim no-margin">
        Say which one you expected: only a statement without variables can be explained.
      </p>
      <div className={styles.blanks}>
        {blanks.map(({ id, label }) => (
          <TextInput
            key={id}
            label={label}
            aria-describedby={hint}
            value={values[id] ?? ''}
            onChange={(event) => onValue(id, event.currentTarget.value)}
          />
        ))}
      </div>
    </>
  );
}

function Choice({ atoms, onChoose }: { atoms: readonly string[]; onChoose: (atom: string) => void }) {
  return (
    <>
      <p className="dim no-margin">Several conditions: choose the one that you expected to hold.</p>
      <ul className="plain-list flex-column gap-2">
        {atoms.map((atom) => (
          <li key={atom}>
            <button type="button" className={styles.choiceButton} onClick={() => onChoose(atom)}>
              <CodeText text={atom} />
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Returns the statement to explain; null while incomplete. */
function statementOf(expected: Expected, values: Readonly<Record<string, string>>): string | null {
  if (expected.kind === 'ground') return expected.text;
  return expected.kind === 'pattern' ? fillIn(expected.atom, values) : null;
}

interface WhyNotFormProps {
  question: string;
  /** A statement that a link has filled in, in place of the question. */
  filledIn: string;
  onQuestion: (statement: string) => void;
}

/** Asks for the expected statement: typed, with values for its variables, or selected among several. */
function WhyNotForm({ question, filledIn, onQuestion }: WhyNotFormProps) {
  const first = filledIn === '' ? question : filledIn;
  const [shown, setShown] = useState(first);
  const [draft, setDraft] = useState(first);
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  if (shown !== first) {
    setShown(first);
    setDraft(first);
    setValues({});
  }
  const { diagnostics } = useDiagnostics(draft, 'question');
  const expected = readExpected(draft);
  const statement = statementOf(expected, values);

  /** `text`: the editor's text, which the draft may trail by a keystroke. */
  function submit(text: string): void {
    const next = statementOf(readExpected(text), values);
    if (next !== null) onQuestion(next);
    else setDraft(text);
  }

  return (
    <form
      className="flex-column gap-8 padded-8 line-below"
      aria-label="What you expected"
      onSubmit={(event) => {
        event.preventDefault();
        submit(draft);
      }}
    >
      <div className={`align-start flex gap-8 ${styles.statement}`}>
        <div className={styles.editor}>
          <LazyCodeEditor
            label="Statement"
            mode="question"
            placeholder="parent(alice, bob)"
            value={draft}
            onChange={setDraft}
            diagnostics={diagnostics}
            onSubmit={submit}
            lines={[1, 4]}
          />
        </div>
        <Button
          type="submit"
          variant={statement === null || statement === question ? 'default' : 'filled'}
          leftSection={<IconHelpCircle size={14} aria-hidden />}
          disabled={statement === null}
        >
          Why not
        </Button>
      </div>
      {expected.kind === 'wrong' && draft.trim() !== '' && (
        <p className="dim no-margin" role="status">
          {expected.message}
        </p>
      )}
      {expected.kind === 'several' && <Choice atoms={expected.atoms} onChoose={onQuestion} />}
      {expected.kind === 'pattern' && (
        <Blanks
          blanks={expected.blanks}
          values={values}
          onValue={(id, value) => setValues({ ...values, [id]: value })}
        />
      )}
    </form>
  );
}

/** Explains the question as soon as it is ground. */
function useWhyNot(question: string) {
  const { call, space } = useSession();
  const expected = useMemo(() => readExpected(question), [question]);
  const { scope } = space;
  const explain = useMemo(() => {
    if (expected.kind !== 'ground') return null;
    const { predicate, args, negated } = expected.atom;
    const body = { predicate, args, negated, mode: 'whyNot' as const, timeoutMs: 60_000 };
    return async (signal: AbortSignal): Promise<WhyNot> => {
      const explained = await call('explain', { body: { ...body, ...scopeFieldsOf(scope) } }, { signal });
      if (!('attempts' in explained)) throw new Error('the service explained why, and was asked why not');
      return explained;
    };
  }, [call, expected, scope]);
  const run = useRunAtOnce(explain);
  return { ...run, again: explain === null ? null : run.again };
}

interface ResultProps {
  run: ReturnType<typeof useWhyNot>;
  onQuestion: (statement: string) => void;
  onStage: StageRemedy;
}

function Result({ run, onQuestion, onStage }: ResultProps) {
  const { state, again, cancel } = run;
  const { result, failure, runningSince, cancelledAfter } = state;
  if (failure !== null)
    return <PaneProblem failure={failure} {...(again === null ? {} : { onRetry: again })} />;
  if (result !== null) return <Explained explained={result} onQuestion={onQuestion} onStage={onStage} />;
  if (runningSince !== null)
    return <Running what="Looking for what is missing" since={runningSince} onCancel={cancel} />;
  return (
    <EmptyState
      icon={<IconHelpCircle size={30} stroke={1.3} aria-hidden />}
      title={cancelledAfter === null ? 'What did you expect to hold?' : 'Cancelled'}
      actions={
        cancelledAfter !== null &&
        again !== null && (
          <Button variant="default" onClick={again}>
            Try again
          </Button>
        )
      }
    >
      For each rule that could conclude it you see how far it got and what it misses.
    </EmptyState>
  );
}

interface WhyNotPanelProps {
  /** A statement, a pattern or several conditions; empty if none is given yet. */
  question: string;
  /** A statement that a link has filled in and that waits to be explained. */
  filledIn?: string;
  onQuestion: (statement: string) => void;
  onStage: StageRemedy;
  /** Present if the panel is beside other content. */
  onClose?: () => void;
}

/**
 * Shows why a statement does not follow, at the time it was asked.
 *
 * A pattern or several conditions are first reduced to one ground statement. When the knowledge changes, the
 * explanation stays under a banner.
 */
export function WhyNotPanel({ question, filledIn = '', onQuestion, onStage, onClose }: WhyNotPanelProps) {
  const run = useWhyNot(question);
  const { state, again, cancel } = run;
  const isOld = useIsOld(state.result);
  return (
    <PaneFrame
      label="Why not"
      title={<PaneTitle isWhole={onClose === undefined}>Why not</PaneTitle>}
      actions={
        <>
          {state.cancelledAfter !== null && <CancelledNote after={state.cancelledAfter} />}
          {state.runningSince !== null && state.result !== null && (
            <RunningActions since={state.runningSince} onCancel={cancel} />
          )}
          {onClose !== undefined && (
            <BesideActions what="the explanation" to="/why-not" question={question} onClose={onClose} />
          )}
        </>
      }
    >
      {isOld && again !== null && (
        <AgeBanner action="Explain again" onAgain={again}>
          The knowledge has moved on since this was explained. It is shown as it was.
        </AgeBanner>
      )}
      <WhyNotForm question={question} filledIn={filledIn} onQuestion={onQuestion} />
      <Result run={run} onQuestion={onQuestion} onStage={onStage} />
    </PaneFrame>
  );
}

interface WhyNotViewProps {
  search: QuestionSearch;
  onSearch: (search: QuestionSearch) => void;
  onStage: StageRemedy;
}

/** Shows the Why-not view: one explanation by its address. */
export function WhyNotView({ search, onSearch, onStage }: WhyNotViewProps) {
  const { question = '', unasked } = search;
  const waits = unasked === 'true';
  return (
    <WhyNotPanel
      question={waits ? '' : question}
      filledIn={waits ? question : ''}
      onQuestion={(statement) => onSearch({ question: statement })}
      onStage={onStage}
    />
  );
}
