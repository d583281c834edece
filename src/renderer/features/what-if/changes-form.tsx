/** The changes that are staged: statements to add, facts to take away, rules to leave out, and what to look at. */
import { Button } from '@mantine/core';
import { IconEraser, IconFlask } from '@tabler/icons-react';
import { useSession } from '../../api/session.tsx';
import { scopeLabel } from '../../api/space.ts';
import type { RunState } from '../../api/use-run.ts';
import { LazyCodeEditor } from '../../editor/lazy-code-editor.tsx';
import { useDiagnostics } from '../../editor/use-diagnostics.ts';
import { FormProblemList, FormSection, formStyles } from '../../ui/form-section.tsx';
import { PaneFrame, PaneTitle } from '../../ui/pane.tsx';
import { CancelledNote, RunningActions } from '../../ui/running.tsx';
import { KeyCaps } from '../../ui/tags.tsx';
import { idsOf, type ReadChanges } from './changes.ts';
import { LeftOutRules } from './left-out-rules.tsx';
import type { WhatIfSearch } from './what-if-search.ts';

interface EditorProps {
  label: string;
  placeholder: string;
  text: string;
  lines: readonly [number, number];
  onText: (text: string) => void;
  onSubmit: (text: string) => void;
}

function Editor({ label, placeholder, text, lines, onText, onSubmit }: EditorProps) {
  return (
    <div className={formStyles.editor}>
      <LazyCodeEditor
        label={label}
        placeholder={placeholder}
        value={text}
        onChange={onText}
        onSubmit={onSubmit}
        lines={lines}
      />
    </div>
  );
}

/** The editor of what is added, with what is wrong marked in it. */
function AddEditor(props: Omit<EditorProps, 'label' | 'placeholder' | 'lines'>) {
  const { text, onText, onSubmit } = props;
  const { diagnostics } = useDiagnostics(text, 'program');
  return (
    <div className={formStyles.editor}>
      <LazyCodeEditor
        label="Facts and rules to add"
        placeholder={'parent(alice, bob).\ngrandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z).'}
        value={text}
        onChange={onText}
        onSubmit={onSubmit}
        diagnostics={diagnostics}
        lines={[3, 10]}
      />
    </div>
  );
}

interface ChangesFormProps {
  staged: WhatIfSearch;
  /** The staged, read. */
  read: ReadChanges;
  onChange: (part: WhatIfSearch) => void;
  run: Pick<RunState<unknown>, 'runningSince' | 'cancelledAfter'>;
  onCancel: () => void;
  onClear: () => void;
  onRun: (staged: WhatIfSearch) => void;
}

function FormActions({ staged, read, run, onCancel, onClear, onRun }: Omit<ChangesFormProps, 'onChange'>) {
  return (
    <>
      {run.cancelledAfter !== null && <CancelledNote after={run.cancelledAfter} />}
      <Button variant="default" leftSection={<IconEraser size={14} aria-hidden />} onClick={onClear}>
        Clear
      </Button>
      {run.runningSince === null ? (
        <Button
          leftSection={<IconFlask size={14} aria-hidden />}
          rightSection={<KeyCaps keys="Mod+Enter" look="plain" />}
          disabled={!read.isReady}
          onClick={() => onRun(staged)}
        >
          Work out
        </Button>
      ) : (
        <RunningActions since={run.runningSince} onCancel={onCancel} />
      )}
    </>
  );
}

export function ChangesForm(props: ChangesFormProps) {
  const { staged, read, onChange, onRun } = props;
  const { space } = useSession();
  const { problems } = read;
  const isScoped = space.scope.kind === 'named';
  return (
    <PaneFrame
      label="Changes"
      tone="panel"
      title={<PaneTitle isWhole>What if</PaneTitle>}
      actions={<FormActions {...props} />}
    >
      <div className={formStyles.form}>
        <FormSection
          title="These facts and rules were added"
          {...(isScoped ? { hint: `They would go into scope ${scopeLabel(space.scope)}.` } : {})}
        >
          <AddEditor
            text={staged.add ?? ''}
            onText={(add) => onChange({ add })}
            onSubmit={(add) => onRun({ ...staged, add })}
          />
          <FormProblemList problems={problems.add} />
        </FormSection>
        <FormSection title="These facts were not there">
          <Editor
            label="Facts to take away"
            placeholder="parent(alice, carol)."
            text={staged.retract ?? ''}
            lines={[2, 8]}
            onText={(retract) => onChange({ retract })}
            onSubmit={(retract) => onRun({ ...staged, retract })}
          />
          <FormProblemList problems={problems.retract} />
        </FormSection>
        <FormSection title="These rules were left out">
          <LeftOutRules ids={idsOf(staged.without)} onIds={(ids) => onChange({ without: ids.join(',') })} />
        </FormSection>
        <FormSection
          title="Look at"
          hint="Patterns, one a line. With none, everything that the changes can reach is compared."
        >
          <Editor
            label="What to look at"
            placeholder="grandparent(?x, ?z)"
            text={staged.goals ?? ''}
            lines={[1, 6]}
            onText={(goals) => onChange({ goals })}
            onSubmit={(goals) => onRun({ ...staged, goals })}
          />
          <FormProblemList problems={problems.goals} />
        </FormSection>
        <p className={`dim ${formStyles.hint}`}>
          Nothing is changed by this. It only works out what would follow.
        </p>
      </div>
    </PaneFrame>
  );
}
