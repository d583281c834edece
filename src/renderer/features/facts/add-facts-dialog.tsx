/** Adds facts: as statements, or one by a form with all its fields; asserted at once, or staged. */
import {
  ActionIcon,
  Autocomplete,
  Button,
  Group,
  Modal,
  NumberInput,
  SegmentedControl,
  Tabs,
  TextInput,
} from '@mantine/core';
import { useMemo, useState } from 'react';
import { IconPlus, IconX } from '@tabler/icons-react';
import { factInputSchema } from '../../../engine/contract/facts.ts';
import { validate } from '../../../engine/contract/validation.ts';
import { recordAsserted, unknownFacts } from '../../api/asserted-facts.ts';
import { pastedTable, type PastedTable } from '../../api/delimited.ts';
import { recordStuck } from '../../api/history.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { ArgumentField } from '../../api/argument-field.tsx';
import { useDeclaredArguments } from '../../api/declared.ts';
import { usePredicates, useScopes, useWrite } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { scopeFieldsOf } from '../../api/space.ts';
import { LazyCodeEditor } from '../../editor/lazy-editors.tsx';
import { formatAmount, formatTime } from '../../ui/format.ts';
import { Banner, ProblemNotice } from '../../ui/notices.tsx';
import { notifyDone, notifyHint } from '../../ui/notify.tsx';
import { useUnsaved } from '../../ui/unsaved.ts';
import { draftTime, dropDraft, useDraft } from '../../ui/use-draft.ts';
import { useArity } from './fact-columns.tsx';
import {
  contentOfInput,
  emptyForm,
  type FactForm,
  factOfForm,
  factsOfStatements,
  type FieldProblems,
} from './fact-form.ts';
import styles from './facts.module.css';
import { mergedContent, recordChanges, storedContent } from './staging-actions.ts';
import { nameOfFacts } from './staged-rows.ts';
import type { FactContent } from './staged-edits.ts';

interface PartProps {
  onStage: (facts: readonly FactContent[]) => void;
  onDone: () => void;
}

/** Says that the editor contains a draft from `at` (epoch ms; null: unknown), with a button to clear it. */
function DraftLine({ at, onClear }: { at: number | null; onClear: () => void }) {
  return (
    <p className={`flex-row gap-8 ${styles.draftLine}`}>
      <span className="dim">{at === null ? 'A saved draft.' : `Draft from ${formatTime(at)}.`}</span>
      <Button variant="subtle" size="compact-xs" onClick={onClear}>
        Clear
      </Button>
    </p>
  );
}

function TableOffer({ table, onTable }: { table: PastedTable; onTable: () => void }) {
  const size = `${formatAmount(table.rows, 'row')} and ${formatAmount(table.columns, 'column')}`;
  return (
    <Banner action={<Button onClick={onTable}>Read as a table…</Button>}>
      This looks like a table of {size}. Read as a table, its columns become the arguments of a predicate.
    </Banner>
  );
}

function Problems({ problems }: { problems: readonly string[] }) {
  return (
    <div role="status">
      <ul className={styles.problems}>
        {problems.slice(0, 5).map((problem) => (
          <li key={problem}>{problem}</li>
        ))}
      </ul>
    </div>
  );
}

/** Asserts statements as a step of the history. Undo leaves facts alone that were known before. */
function useAsserting(onAsserted: () => void) {
  const session = useSession();
  const write = useWrite('assertFacts');
  const [isLooking, setIsLooking] = useState(false);

  async function assert(written: string): Promise<void> {
    const { facts, problems } = factsOfStatements(written);
    if (facts.length === 0 || problems.length > 0 || write.isPending || isLooking) return;
    const scope = scopeFieldsOf(session.space.scope);
    const wanted = facts.map((fact) => ({ ...fact, ...scope }));
    setIsLooking(true);
    // If the look-up fails, the write is refused for the same reason and reports it.
    const unknown = await unknownFacts(session, wanted).catch(() => null);
    setIsLooking(false);
    write.mutate(
      { body: { facts: wanted } },
      {
        onSuccess: ({ asserted, updated, unchanged, generation, hints = [] }) => {
          const known = updated + unchanged;
          recordAsserted(session, `asserted ${nameOfFacts(wanted)}`, unknown, generation);
          const what = `${formatAmount(asserted, 'fact')} asserted`;
          notifyDone(known === 0 ? what : `${what}, ${known} known already`);
          for (const hint of hints) notifyHint(hint);
          onAsserted();
        },
      },
    );
  }

  const failure = write.error === null ? null : apiFailureOf(write.error);
  return { assert, isAsserting: write.isPending || isLooking, failure };
}

function StatementsForm({ onStage, onDone, onTable }: PartProps & Pick<AddFactsDialogProps, 'onTable'>) {
  const { space } = useSession();
  const draft = `facts.${space.database}.${space.tenant}`;
  const [text, setText] = useDraft(draft);
  const [found, setFound] = useState(() => (text === '' ? null : { at: draftTime(draft) }));
  const { facts, problems } = factsOfStatements(text);
  const isReady = facts.length > 0 && problems.length === 0;
  const isStated = problems.length === 0;
  const table = useMemo(() => (isStated ? null : pastedTable(text)), [isStated, text]);
  const { assert, isAsserting, failure } = useAsserting(() => {
    setText('');
    onDone();
  });

  /** Removes the stored draft too, so that it does not come back. */
  function clear(): void {
    setText('');
    dropDraft(draft);
    setFound(null);
  }

  function onStageAll(): void {
    const scope = space.scope.kind === 'named' ? space.scope.name : null;
    onStage(facts.map((fact) => ({ ...fact, scope, validFrom: null, validUntil: null, metadata: {} })));
    setText('');
    onDone();
  }

  return (
    <>
      {found !== null && text !== '' && <DraftLine at={found.at} onClear={clear} />}
      <div className={styles.statements}>
        <LazyCodeEditor
          label="Facts as statements"
          placeholder={'parent(alice, bob).\n-likes(bob, coffee).'}
          value={text}
          onChange={setText}
          onSubmit={(written) => void assert(written)}
          onEscape={onDone}
          lines={[6, 16]}
          autoFocus
        />
      </div>
      <p className="dim">
        One fact per full stop; a leading minus makes it explicitly false.
        {space.scope.kind === 'named' && ` They go into scope ${space.scope.name}.`}
      </p>
      {table !== null ? (
        <TableOffer
          table={table}
          onTable={() => {
            clear();
            onTable(table);
          }}
        />
      ) : (
        text.trim() !== '' && problems.length > 0 && <Problems problems={problems} />
      )}
      {failure !== null && <ProblemNotice failure={failure} />}
      <Group justify="flex-end" mt="md">
        <Button variant="default" disabled={!isReady} onClick={onStageAll}>
          {facts.length > 1 ? `Stage ${formatAmount(facts.length, 'fact')}` : 'Stage'}
        </Button>
        <Button disabled={!isReady} loading={isAsserting} onClick={() => void assert(text)}>
          {facts.length > 1 ? `Assert ${formatAmount(facts.length, 'fact')}` : 'Assert'}
        </Button>
      </Group>
    </>
  );
}

function OneFactForm({ predicate, onStage, onDone }: PartProps & { predicate: string | undefined }) {
  const session = useSession();
  const { space, call } = session;
  const arity = useArity(predicate);
  const [form, setForm] = useState<FactForm>({
    ...emptyForm,
    predicate: predicate ?? '',
    args: arity === null ? emptyForm.args : Array.from({ length: arity }, () => ''),
    scope: space.scope.kind === 'named' ? space.scope.name : '',
  });
  const [wasTried, setWasTried] = useState(false);
  const write = useWrite('assertFact');
  const { body, problems } = factOfForm(form);
  const isTyped = form.predicate !== (predicate ?? '') || form.args.some((each) => each !== '');
  useUnsaved(isTyped ? 'The fact in the form Add facts is neither asserted nor staged.' : null);

  async function onAssert(): Promise<void> {
    setWasTried(true);
    const outcome = validate(factInputSchema, body);
    if (Object.keys(problems).length > 0 || !outcome.ok || write.isPending) return;
    const after = contentOfInput(outcome.value);
    // If the look-up fails, the write reports why.
    const before = await storedContent(call, after).catch(() => undefined);
    // The form validated the body against the schema of the request.
    write.mutate(
      { body: body as Parameters<typeof write.mutate>[0]['body'] },
      {
        onSuccess: ({ status, atom, generation }) => {
          notifyDone(`${atom}: ${status}`);
          const label = `asserted ${atom}`;
          if (before === undefined) recordStuck(space, label, 'the previous state is unknown');
          else if (status !== 'unchanged')
            recordChanges(session, label, [{ before, after: mergedContent(before, after) }], generation);
          onDone();
        },
      },
    );
  }

  function onStageOne(): void {
    setWasTried(true);
    const outcome = validate(factInputSchema, body);
    if (Object.keys(problems).length > 0 || !outcome.ok) return;
    onStage([contentOfInput(outcome.value)]);
    onDone();
  }

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void onAssert();
      }}
    >
      <FactFormFields form={form} onForm={setForm} problems={wasTried ? problems : {}} />
      {write.error !== null && <ProblemNotice failure={apiFailureOf(write.error)} />}
      <Group justify="flex-end" mt="md">
        <Button variant="default" onClick={onStageOne}>
          Stage
        </Button>
        <Button type="submit" loading={write.isPending}>
          Assert
        </Button>
      </Group>
    </form>
  );
}

interface AddFactsDialogProps {
  /** Prefilled if a predicate is selected. */
  predicate: string | undefined;
  onStage: (facts: readonly FactContent[]) => void;
  /** Imports pasted text that is a table. */
  onTable: (table: PastedTable) => void;
  onClose: () => void;
}

/** The dialog that adds facts. */
export function AddFactsDialog({ predicate, onStage, onTable, onClose }: AddFactsDialogProps) {
  return (
    <Modal opened onClose={onClose} title="Add facts" size="lg">
      <Tabs defaultValue="statements">
        <Tabs.List mb="sm">
          <Tabs.Tab value="statements">Statements</Tabs.Tab>
          <Tabs.Tab value="form">Form</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="statements">
          <StatementsForm onStage={onStage} onTable={onTable} onDone={onClose} />
        </Tabs.Panel>
        <Tabs.Panel value="form">
          <OneFactForm predicate={predicate} onStage={onStage} onDone={onClose} />
        </Tabs.Panel>
      </Tabs>
    </Modal>
  );
}

interface FactFormFieldsProps {
  form: FactForm;
  onForm: (form: FactForm) => void;
  problems: FieldProblems;
}

function Arguments({ form, onForm, problems }: FactFormFieldsProps) {
  const declared = useDeclaredArguments(form.predicate, form.args.length);
  // A declared predicate has as many arguments as it has names; statements can have others.
  const isDeclared = declared.length > 0;
  function set(index: number, value: string): void {
    onForm({ ...form, args: form.args.map((arg, at) => (at === index ? value : arg)) });
  }
  return (
    <fieldset
      className={`boxed no-margin ${styles.fieldset} ${isDeclared ? styles.formGrid : 'gap-8 flex-wrap align-start flex'}`}
    >
      <legend>Arguments</legend>
      {form.args.map((arg, index) => (
        <ArgumentField
          // Keyed by position.
          key={`argument ${index + 1}`}
          isLabelled={isDeclared}
          argument={declared[index]}
          position={index}
          value={arg}
          problem={problems[`args.${index}`]}
          onValue={(value) => set(index, value)}
          rightSection={
            isDeclared ? null : (
              <ActionIcon
                size="sm"
                aria-label={`Remove argument ${index + 1}`}
                onClick={() => onForm({ ...form, args: form.args.filter((_, at) => at !== index) })}
              >
                <IconX size={14} aria-hidden />
              </ActionIcon>
            )
          }
        />
      ))}
      {!isDeclared && (
        <Button
          variant="subtle"
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={() => onForm({ ...form, args: [...form.args, ''] })}
        >
          Argument
        </Button>
      )}
    </fieldset>
  );
}

function TruthField({ form, onForm }: Pick<FactFormFieldsProps, 'form' | 'onForm'>) {
  return (
    <div>
      <span className={styles.label}>Truth</span>
      <SegmentedControl
        fullWidth
        aria-label="Truth"
        value={String(form.truthVal)}
        onChange={(value) => onForm({ ...form, truthVal: value === 'true' })}
        data={[
          { value: 'true', label: 'It is true' },
          { value: 'false', label: 'It is explicitly false' },
        ]}
      />
    </div>
  );
}

/** The fields of a new fact. */
function FactFormFields({ form, onForm, problems }: FactFormFieldsProps) {
  const predicates = usePredicates().data ?? [];
  const scopes = useScopes();

  function onPredicate(predicate: string): void {
    const known = predicates.find((row) => row.name === predicate);
    const isUntouched = form.args.every((arg) => arg === '');
    const args =
      known !== undefined && isUntouched ? Array.from({ length: known.arity }, () => '') : form.args;
    onForm({ ...form, predicate, args });
  }

  function field(name: 'validFrom' | 'validUntil' | 'source' | 'scope') {
    return {
      value: form[name],
      error: problems[name],
      onChange: (event: { currentTarget: { value: string } }) =>
        onForm({ ...form, [name]: event.currentTarget.value }),
    };
  }

  function share(name: 'importance' | 'confidence') {
    return {
      value: form[name],
      error: problems[name],
      min: 0,
      max: 1,
      step: 0.1,
      placeholder: '0 to 1',
      onChange: (value: string | number) => onForm({ ...form, [name]: String(value) }),
    };
  }

  return (
    <div className={styles.formGrid}>
      <Autocomplete
        data-autofocus
        label="Predicate"
        data={[...new Set(predicates.map((row) => row.name))]}
        limit={20}
        value={form.predicate}
        error={problems['predicate']}
        onChange={onPredicate}
      />
      <TruthField form={form} onForm={onForm} />
      <div className={styles.wide}>
        <Arguments form={form} onForm={onForm} problems={problems} />
      </div>
      <Autocomplete
        label="Scope"
        placeholder="None"
        data={scopes}
        value={form.scope}
        error={problems['scope']}
        onChange={(scope) => onForm({ ...form, scope })}
      />
      <TextInput label="Source" placeholder="Where it comes from" {...field('source')} />
      <TextInput label="Valid from" placeholder="Always, or 2026-01-31" {...field('validFrom')} />
      <TextInput label="Valid until" placeholder="Never ends, or 2026-12-31T18:00" {...field('validUntil')} />
      <NumberInput label="Importance" {...share('importance')} />
      <NumberInput label="Confidence" {...share('confidence')} />
    </div>
  );
}
