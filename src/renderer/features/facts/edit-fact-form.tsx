/**
 * All editable fields of a fact. Leaving a field, or Enter, stages a valid form; an invalid one shows its
 * problems at the fields and stages nothing.
 */
import { Autocomplete, SegmentedControl, Textarea, TextInput } from '@mantine/core';
import { type KeyboardEvent, useState } from 'react';
import { ArgumentField } from '../../api/argument-field.tsx';
import { type ShownArgument, useDeclaredArguments } from '../../api/declared.ts';
import { useScopes } from '../../api/queries.ts';
import { type EditForm, factOfEdit, type FieldProblems, formOfFact } from './fact-form.ts';
import styles from './facts.module.css';
import { identityOf, isSameContent, type FactContent } from './staged-edits.ts';

interface EditFactFormProps {
  fact: FactContent;
  /** The field focused when the form opens. */
  focus: 'first' | 'validFrom';
  onFact: (fact: FactContent) => void;
}

interface FieldsProps {
  form: EditForm;
  declared: readonly ShownArgument[];
  problems: FieldProblems;
  focus: EditFactFormProps['focus'];
  onForm: (part: Partial<EditForm>) => void;
  /** Stages the form if it is valid. */
  onLeave: () => void;
}

function Fields({ form, declared, problems, focus, onForm, onLeave }: FieldsProps) {
  const scopes = useScopes();

  function onEnter(event: KeyboardEvent): void {
    if (event.key !== 'Enter' || event.nativeEvent.isComposing) return;
    if (!event.ctrlKey && !event.metaKey) event.preventDefault();
    onLeave();
  }

  function field(name: 'validFrom' | 'validUntil') {
    return {
      value: form[name],
      error: problems[name],
      onChange: (event: { currentTarget: { value: string } }) =>
        onForm({ [name]: event.currentTarget.value }),
      onBlur: onLeave,
      onKeyDown: onEnter,
    };
  }

  return (
    <>
      {form.args.map((arg, index) => (
        <ArgumentField
          // Keyed by position.
          key={`argument ${index + 1}`}
          autoFocus={index === 0 && focus === 'first'}
          isLabelled
          argument={declared[index]}
          position={index}
          value={arg}
          problem={problems[`args.${index}`]}
          onValue={(value) => onForm({ args: form.args.with(index, value) })}
          onBlur={onLeave}
          onKeyDown={onEnter}
        />
      ))}
      <TextInput
        label="Valid from"
        placeholder="Always, or 2026-01-31"
        {...(focus === 'validFrom' ? { autoFocus: true } : {})}
        {...field('validFrom')}
      />
      <TextInput label="Valid until" placeholder="Never ends" {...field('validUntil')} />
      <Autocomplete
        label="Scope"
        placeholder="None"
        data={scopes}
        value={form.scope}
        error={problems['scope']}
        onChange={(scope) => onForm({ scope })}
        onBlur={onLeave}
        onKeyDown={onEnter}
      />
      <Textarea
        label="Metadata"
        description="A JSON object"
        className={styles.metadata ?? ''}
        autosize
        minRows={3}
        maxRows={12}
        spellCheck={false}
        value={form.metadata}
        error={problems['metadata'] ?? metadataProblem(problems)}
        onChange={(event) => onForm({ metadata: event.currentTarget.value })}
        onBlur={onLeave}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onLeave();
        }}
      />
    </>
  );
}

/** A problem somewhere inside the metadata. */
function metadataProblem(problems: FieldProblems): string | undefined {
  return Object.entries(problems).find(([path]) => path.startsWith('metadata.'))?.[1];
}

/** The form that edits a fact in the detail pane. */
export function EditFactForm({ fact, focus, onFact }: EditFactFormProps) {
  const [form, setForm] = useState(() => formOfFact(fact));
  const declared = useDeclaredArguments(fact.predicate, fact.args.length);
  const [problems, setProblems] = useState<FieldProblems>({});
  const [shown, setShown] = useState(fact);
  // The fields follow an undo, a revert, or an edit in the grid.
  if (shown !== fact && !isSameContent(shown, fact)) {
    setShown(fact);
    setForm(formOfFact(fact));
    setProblems({});
  }

  function stage(next: EditForm): void {
    const read = factOfEdit(fact.predicate, next);
    setProblems(read.problems);
    if (read.fact === null || isSameContent(read.fact, fact)) return;
    setShown(read.fact);
    onFact(read.fact);
  }

  const now = Date.now();
  const staged = factOfEdit(fact.predicate, form).fact;
  return (
    <div
      className={`flex-column boxed gap-8 flat-text ${styles.editForm}`}
      role="group"
      aria-label="Edit the fact"
    >
      <div>
        <span className={styles.label}>Truth</span>
        <SegmentedControl
          fullWidth
          aria-label="Truth of the fact"
          value={String(form.truthVal)}
          onChange={(value) => {
            const next = { ...form, truthVal: value === 'true' };
            setForm(next);
            stage(next);
          }}
          data={[
            { value: 'true', label: 'It is true' },
            { value: 'false', label: 'It is false' },
          ]}
        />
      </div>
      <Fields
        form={form}
        declared={declared}
        problems={problems}
        focus={focus}
        onForm={(part) => setForm((before) => ({ ...before, ...part }))}
        onLeave={() => stage(form)}
      />
      {staged?.validUntil !== null && staged?.validUntil !== undefined && staged.validUntil <= now && (
        <p className="dim">That time has passed: once applied, the fact is no longer valid.</p>
      )}
      {identityOf(fact) !== identityOf(staged ?? fact) && (
        <p className="dim">Another argument, truth or scope makes it another fact: this one is removed.</p>
      )}
    </div>
  );
}
