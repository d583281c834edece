/** The statement that one expected: written, made ground where it has variables, chosen where there are several. */
import { Button, TextInput } from '@mantine/core';
import { IconHelpCircle } from '@tabler/icons-react';
import { useId, useState } from 'react';
import { CodeText } from '../../editor/code-text.tsx';
import { LazyCodeEditor } from '../../editor/lazy-code-editor.tsx';
import { useDiagnostics } from '../../editor/use-diagnostics.ts';
import { type Blank, type Expected, fillIn, readExpected } from './expected.ts';
import styles from './why-not.module.css';

interface BlanksProps {
  blanks: readonly Blank[];
  values: Readonly<Record<string, string>>;
  onValue: (id: string, value: string) => void;
}

function Blanks({ blanks, values, onValue }: BlanksProps) {
  const hint = useId();
  return (
    <>
      <p id={hint} className={`dim ${styles.hint}`}>
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
      <p className={`dim ${styles.hint}`}>Several conditions: choose the one that you expected to hold.</p>
      <ul className={styles.choice}>
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

/** What is asked when the form is sent; null while something is missing. */
function statementOf(expected: Expected, values: Readonly<Record<string, string>>): string | null {
  if (expected.kind === 'ground') return expected.text;
  return expected.kind === 'pattern' ? fillIn(expected.atom, values) : null;
}

interface WhyNotFormProps {
  question: string;
  onQuestion: (statement: string) => void;
}

export function WhyNotForm({ question, onQuestion }: WhyNotFormProps) {
  const [shown, setShown] = useState(question);
  const [draft, setDraft] = useState(question);
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  if (shown !== question) {
    setShown(question);
    setDraft(question);
    setValues({});
  }
  const { diagnostics } = useDiagnostics(draft, 'question');
  const expected = readExpected(draft);
  const statement = statementOf(expected, values);

  /** `text`: as it is in the editor, which the draft may be a keystroke behind. */
  function submit(text: string): void {
    const next = statementOf(readExpected(text), values);
    if (next !== null) onQuestion(next);
    else setDraft(text);
  }

  return (
    <form
      className={styles.form}
      aria-label="What you expected"
      onSubmit={(event) => {
        event.preventDefault();
        submit(draft);
      }}
    >
      <div className={styles.statement}>
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
        <p className={`dim ${styles.hint}`} role="status">
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
