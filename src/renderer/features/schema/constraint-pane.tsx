/** One constraint in the editor, a stored one or a new one, with what violates it already. */
import { Button, SegmentedControl, Select, Textarea, TextInput } from '@mantine/core';
import { IconAlertTriangle, IconDeviceFloppy, IconTrash, IconX } from '@tabler/icons-react';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { ConstraintOutcome, StoredConstraint } from '../../../engine/contract/constraints.ts';
import { parseConstraint } from '../../../engine/language/parse.ts';
import { Guarded } from '../../api/permitted.tsx';
import { apiFailureOf } from '../../api/problem.ts';
import { useScopes, useWrite } from '../../api/queries.ts';
import { useReason } from '../../api/rights.ts';
import { useSession } from '../../api/session.tsx';
import { CodeText } from '../../editor/code-text.tsx';
import { LazyCodeEditor } from '../../editor/lazy-editors.tsx';
import { useDiagnostics } from '../../editor/use-diagnostics.ts';
import { FormProblemList, FormSection, formStyles } from '../../ui/form-section.tsx';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { AgeBanner, ProblemNotice } from '../../ui/notices.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import { PaneFrame } from '../../ui/pane.tsx';
import { KeyCaps } from '../../ui/tags.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import { useSubmitKey } from '../../ui/use-submit-key.ts';
import {
  type ConstraintFields,
  constraintContent,
  fieldsOfConstraint,
  readConstraintFields,
} from './constraint-form.ts';
import { recordAdded, recordConstraintChanged } from './schema-steps.ts';
import type { SchemaSearch } from './schema-search.ts';
import styles from './schema.module.css';
import { useSeldomKey } from './use-schema.ts';

/** The fields as edited: a draft on top of the stored constraint, with the one that it began from. */
function useFields(stored: StoredConstraint | null) {
  const { space } = useSession();
  const [kept, setKept] = useDraft(`constraint.${space.database}.${stored?.id ?? 'new'}`);
  const plain = useMemo(() => fieldsOfConstraint(stored), [stored]);
  const base = JSON.stringify(plain);
  const draft = useMemo(() => readConstraintFields(kept), [kept]);
  const fields = draft?.fields ?? plain;
  const keep = (next: ConstraintFields, from: string) =>
    setKept(JSON.stringify(next) === base ? '' : JSON.stringify({ base: from, fields: next }));
  return {
    fields,
    isChanged: draft !== null && JSON.stringify(draft.fields) !== base,
    isOutdated: draft !== null && draft.base !== base,
    set: (part: Partial<ConstraintFields>) => keep({ ...fields, ...part }, draft?.base ?? base),
    forget: () => setKept(''),
    rebase: () => keep(fields, base),
  };
}

/** What the dry run of adding or changing the constraint tells. */
function useTrial(stored: StoredConstraint | null, fields: ConstraintFields, isReadable: boolean) {
  const { call } = useSession();
  const [settled] = useDebouncedValue(fields, 400);
  const content = constraintContent(settled);
  return useQuery<ConstraintOutcome>({
    queryKey: useSeldomKey('trial', stored?.id ?? null, content),
    queryFn: ({ signal }) =>
      stored === null
        ? call(
            'addConstraint',
            { body: { ...content, name: content.name || 'tried', dryRun: true } },
            { signal },
          )
        : call(
            'updateConstraint',
            {
              params: { id: stored.id },
              body: { ...content, name: content.name || stored.name, dryRun: true },
            },
            { signal },
          ),
    enabled: isReadable && settled.text === fields.text,
    retry: false,
    gcTime: 0,
  });
}

/** Instances listed. */
const maxListed = 20;

interface TrialProps {
  trial: ReturnType<typeof useTrial>;
  mode: StoredConstraint['mode'];
  isReadable: boolean;
}

/** What is violated already, and what saving would do about it. */
function Trial({ trial, mode, isReadable }: TrialProps) {
  if (!isReadable) return null;
  if (trial.error !== null) return <ProblemNotice failure={apiFailureOf(trial.error)} />;
  if (trial.data === undefined) return <p className="dim no-margin">Looking for violations…</p>;
  const { violations = [], violationCount = 0, refused } = trial.data;
  return (
    <FormSection title="Violated already">
      <p className="no-margin" role="status">
        {violationCount === 0 ? 'Nothing violates it.' : `${formatAmount(violationCount, 'violation')}.`}
        {refused !== undefined
          ? ' It cannot refuse them before they are mended: add it with the mode warn first.'
          : violationCount > 0 &&
            mode === 'reject' &&
            ' They stay, and are listed; writes that add others are refused.'}
      </p>
      {violations.length > 0 && (
        <ul className="plain-list flex-column gap-4" aria-label="Violations of the constraint">
          {violations.slice(0, maxListed).map(({ instance, scope }) => (
            <li key={`${scope} ${instance}`} className="wraps">
              <CodeText text={instance} />
              {scope !== null && <span className="dim"> in scope {scope}</span>}
            </li>
          ))}
          {violationCount > maxListed && (
            <li className="dim">and {formatCount(violationCount - maxListed)} more</li>
          )}
        </ul>
      )}
    </FormSection>
  );
}

interface FieldsProps {
  fields: ConstraintFields;
  onFields: (part: Partial<ConstraintFields>) => void;
  isNameMissing: boolean;
}

const modes = [
  { value: 'warn', label: 'List violations' },
  { value: 'reject', label: 'Refuse writes' },
] as const;

function Fields({ fields, onFields, isNameMissing }: FieldsProps) {
  const scopes = useScopes();
  return (
    <>
      <TextInput
        label="Name"
        value={fields.name}
        error={isNameMissing ? 'a constraint has a name' : null}
        onChange={({ currentTarget }) => onFields({ name: currentTarget.value })}
      />
      <FormSection title="What happens to a write that would violate it">
        <SegmentedControl
          aria-label="What happens to a write that would violate it"
          className={styles.narrow ?? ''}
          value={fields.mode}
          onChange={(value) => {
            const mode = modes.find((each) => each.value === value);
            if (mode !== undefined) onFields({ mode: mode.value });
          }}
          data={[...modes]}
        />
      </FormSection>
      <Textarea
        label="Description"
        description="Why it is forbidden. Absent: the text in quotation marks after the body."
        autosize
        minRows={1}
        maxRows={6}
        value={fields.description}
        onChange={({ currentTarget }) => onFields({ description: currentTarget.value })}
      />
      <Select
        label="Checked in"
        data={[
          { value: '', label: 'the unscoped view and the view of each scope' },
          ...[...new Set([...scopes, ...(fields.scope === '' ? [] : [fields.scope])])].map((name) => ({
            value: name,
            label: `the view of scope ${name}`,
          })),
        ]}
        allowDeselect={false}
        value={fields.scope}
        onChange={(scope) => onFields({ scope: scope ?? '' })}
      />
    </>
  );
}

/** The constraint of the text; null if it is none. */
function isConstraint(text: string): boolean {
  try {
    parseConstraint(text);
    return true;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return false;
  }
}

/** Saves the fields as a new constraint, or over the stored one. */
function useSaving(stored: StoredConstraint | null, onSaved: (id: string) => void) {
  const session = useSession();
  const add = useWrite('addConstraint');
  const update = useWrite('updateConstraint');
  const isPending = add.isPending || update.isPending;
  function save(fields: ConstraintFields): void {
    const content = constraintContent(fields);
    if (isPending) return;
    // Null leaves a stored description as it is.
    const isCleared = content.description === null && stored !== null && stored.description !== null;
    const { reason } = parseConstraint(fields.text);
    const description = content.description ?? (isCleared && reason === null ? '' : null);
    const onSuccess = ({ status, id, constraint }: ConstraintOutcome) => {
      const now = { ...content, text: constraint, description: description ?? reason };
      if (status !== 'unchanged')
        if (stored === null) recordAdded(session, id, now);
        else recordConstraintChanged(session, 'changed', id, { from: stored, to: now });
      notifyDone(status === 'unchanged' ? 'It was like that already' : `Saved ${content.name}`);
      onSaved(id);
    };
    if (stored === null) add.mutate({ body: content }, { onSuccess });
    else update.mutate({ params: { id: stored.id }, body: { ...content, description } }, { onSuccess });
  }
  return { save, isPending, error: stored === null ? add.error : update.error };
}

interface ConstraintPaneProps {
  /** null: a new one. */
  stored: StoredConstraint | null;
  onSearch: (part: Partial<SchemaSearch>) => void;
  onDelete: (constraint: StoredConstraint) => void;
}

/** The constraint as edited, judged, and saved. */
function useEditing({ stored, onSearch }: Pick<ConstraintPaneProps, 'stored' | 'onSearch'>) {
  const edited = useFields(stored);
  const { fields, isChanged, isOutdated, forget } = edited;
  const { diagnostics } = useDiagnostics(fields.text, 'constraint');
  const isReadable = useMemo(() => isConstraint(fields.text), [fields.text]);
  const [wasTried, setTried] = useState(false);
  const trial = useTrial(stored, fields, isReadable);
  const reason = useReason('addConstraint');
  const { save, isPending, error } = useSaving(stored, (id) => {
    forget();
    setTried(false);
    onSearch({ constraint: id });
  });
  const canSave = isReadable && isChanged && !isOutdated;
  const hasName = fields.name.trim() !== '';
  function onSave(): void {
    setTried(true);
    if (reason === null && canSave && hasName) save(fields);
  }
  const isNameMissing = wasTried && !hasName;
  return {
    ...edited,
    diagnostics,
    isReadable,
    trial,
    reason,
    isPending,
    error,
    canSave,
    onSave,
    isNameMissing,
  };
}

interface ActionsProps extends ConstraintPaneProps {
  editing: ReturnType<typeof useEditing>;
}

function Actions({ stored, onSearch, onDelete, editing }: ActionsProps) {
  const { isChanged, forget, reason, canSave, isPending, onSave } = editing;
  return (
    <>
      {stored !== null && (
        <>
          <Button
            variant="default"
            leftSection={<IconAlertTriangle size={14} aria-hidden />}
            onClick={() =>
              onSearch({
                part: 'violations',
                constraint: stored.id,
                predicate: undefined,
                kind: undefined,
              })
            }
          >
            Violations
          </Button>
          <Guarded reason={reason}>
            <Button
              variant="default"
              leftSection={<IconTrash size={14} aria-hidden />}
              onClick={() => onDelete(stored)}
            >
              Delete
            </Button>
          </Guarded>
        </>
      )}
      {(isChanged || stored === null) && (
        <Button
          variant="default"
          leftSection={<IconX size={14} aria-hidden />}
          onClick={() => {
            forget();
            if (stored === null) onSearch({ constraint: undefined });
          }}
        >
          Discard
        </Button>
      )}
      <Guarded reason={reason}>
        <Button
          leftSection={<IconDeviceFloppy size={14} aria-hidden />}
          rightSection={<KeyCaps keys="Mod+Enter" look="plain" />}
          disabled={!canSave}
          loading={isPending}
          onClick={onSave}
        >
          {stored === null ? 'Add' : 'Save'}
        </Button>
      </Guarded>
    </>
  );
}

/** The pane of one constraint. */
export function ConstraintPane(props: ConstraintPaneProps) {
  const { stored } = props;
  const editing = useEditing(props);
  const { fields, set, diagnostics, isOutdated, rebase, error, trial, isReadable, onSave } = editing;
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  useSubmitKey(onSave);
  return (
    <PaneFrame
      label="Constraint"
      tone="panel"
      title={stored === null ? 'New constraint' : stored.name}
      actions={<Actions {...props} editing={editing} />}
    >
      {isOutdated && (
        <AgeBanner action="Keep mine" onAgain={rebase}>
          Somebody else has changed it since. Discard shows that; keep yours to save it over theirs.
        </AgeBanner>
      )}
      <div className={formStyles.form}>
        {error !== null && <ProblemNotice failure={apiFailureOf(error)} />}
        <FormSection title="What must not be true">
          <div className={styles.editor}>
            <LazyCodeEditor
              label="What must not be true"
              mode="constraint"
              placeholder={'!- adult(?x), age(?x, ?a), ?a < 18 "an adult is 18 or older".'}
              value={fields.text}
              onChange={(text) => set({ text })}
              diagnostics={diagnostics}
              onSubmit={onSave}
              lines={[3, 12]}
              autoFocus={stored === null}
            />
          </div>
          <FormProblemList
            problems={errors.map(
              ({ startLine, startColumn, message }) => `${startLine}:${startColumn} ${message}`,
            )}
          />
        </FormSection>
        <Trial trial={trial} mode={fields.mode} isReadable={isReadable} />
        <Fields fields={fields} onFields={set} isNameMissing={editing.isNameMissing} />
      </div>
    </PaneFrame>
  );
}
