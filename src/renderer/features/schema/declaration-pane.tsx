/** One predicate: what is known of it, and the form that declares it, also from what is stored. */
import { Button, Checkbox, SegmentedControl, Select, Textarea, TextInput } from '@mantine/core';
import { IconDeviceFloppy, IconTable, IconTrash, IconWand } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { StoredRule } from '../../../engine/contract/rules.ts';
import type { PredicateRow, ShownDeclaration } from '../../api/declared.ts';
import { typeWords } from '../../../engine/contract/declarations.ts';
import { Guarded } from '../../api/permitted.tsx';
import { apiFailureOf } from '../../api/problem.ts';
import { usePredicates, useRules, useWrite } from '../../api/queries.ts';
import { useReason } from '../../api/rights.ts';
import { useSession } from '../../api/session.tsx';
import { CodeText } from '../../editor/code-text.tsx';
import { Strip, StripItem } from '../../ui/blocks.tsx';
import { countOfConclusions } from '../../ui/consequences.ts';
import { FormProblemList, FormSection, formStyles } from '../../ui/form-section.tsx';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { AgeBanner, ProblemNotice } from '../../ui/notices.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import { PaneFrame } from '../../ui/pane.tsx';
import { KeyCaps } from '../../ui/tags.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import { useSubmitKey } from '../../ui/use-submit-key.ts';
import {
  type ArgumentFields,
  type DeclarationFields,
  declarationOf,
  type DeclarationProblems,
  declaredFields,
  filledFields,
  isSameDeclaration,
  readFields,
} from './declaration-form.ts';
import { recordDeclared } from './schema-steps.ts';
import { type NamedPredicate, predicateText, type SchemaSearch } from './schema-search.ts';
import styles from './schema.module.css';
import { SamplePreview, sampleInWords } from './sample-preview.tsx';
import {
  type ArgumentProfile,
  candidateKeys,
  profilesOf,
  proposedNames,
  rulesReading,
  type StoredSample,
} from './stored-sample.ts';
import { useConstraints, constraintsOf, useSample, useViolationCounts } from './use-schema.ts';
import { ViolationCount } from './violation-count.tsx';

interface FieldsProps {
  fields: DeclarationFields;
  problems: DeclarationProblems;
  onFields: (fields: DeclarationFields) => void;
}

interface ArgumentRowProps extends FieldsProps {
  argument: ArgumentFields;
  position: number;
  profile: ArgumentProfile | undefined;
}

const typeLabels = typeWords.map((value) => ({ value, label: value === 'oneOf' ? 'one of…' : value }));

interface ChoicesProps {
  title: string;
  choices: string;
  problem: string | undefined;
  onChoices: (choices: string) => void;
}

/** The constants that an argument may be. */
function Choices({ title, choices, problem, onChoices }: ChoicesProps) {
  return (
    <Textarea
      className={styles.choices ?? ''}
      classNames={{ input: 'mono' }}
      aria-label={`Choices of ${title}`}
      placeholder="One constant on each line"
      autosize
      minRows={2}
      maxRows={8}
      spellCheck={false}
      value={choices}
      error={problem}
      onChange={({ currentTarget }) => onChoices(currentTarget.value)}
    />
  );
}

/** One argument on one line: its place in the key, name, type and description; choices below. */
function ArgumentRow({ fields, problems, onFields, argument, position, profile }: ArgumentRowProps) {
  const title = `argument ${position + 1}`;
  const problem = (field: string) => problems[`arguments.${position}.${field}`];
  const set = (part: Partial<ArgumentFields>) =>
    onFields({ ...fields, arguments: fields.arguments.with(position, { ...argument, ...part }) });
  const isInKey = fields.key.includes(position);
  return (
    <li className={styles.argument}>
      <span className={`dim number ${styles.position}`} aria-hidden>
        {position + 1}
      </span>
      <TextInput
        aria-label={`Name of ${title}`}
        placeholder="Name"
        classNames={{ input: 'mono' }}
        autoComplete="off"
        spellCheck={false}
        value={argument.name}
        error={problem('name')}
        onChange={({ currentTarget }) => set({ name: currentTarget.value })}
      />
      <Select
        aria-label={`Type of ${title}`}
        data={typeLabels}
        allowDeselect={false}
        value={argument.type}
        onChange={(value) => {
          const type = typeWords.find((each) => each === value);
          if (type !== undefined) set({ type });
        }}
      />
      <TextInput
        aria-label={`Description of ${title}`}
        placeholder="Description"
        spellCheck
        value={argument.description}
        error={problem('description')}
        onChange={({ currentTarget }) => set({ description: currentTarget.value })}
      />
      <Checkbox
        size="xs"
        label="Key"
        aria-label={`${argument.name === '' ? title : argument.name} is in the key`}
        checked={isInKey}
        onChange={() =>
          onFields({
            ...fields,
            key: isInKey
              ? fields.key.filter((each) => each !== position)
              : [...fields.key, position].toSorted((left, right) => left - right),
          })
        }
      />
      {argument.type === 'oneOf' && (
        <Choices
          title={title}
          choices={argument.choices}
          problem={problem('type')}
          onChoices={(choices) => set({ choices })}
        />
      )}
      {profile !== undefined && profile.distinct > 0 && (
        <span className={`small-print truncate ${styles.profile}`}>
          {formatAmount(profile.distinct, 'distinct value')}: {profile.examples.join(', ')}
          {profile.distinct > profile.examples.length && ', …'}
        </span>
      )}
    </li>
  );
}

const conflictChoices = [
  { value: 'warn', label: 'List both' },
  { value: 'supersede', label: 'New ends old' },
  { value: 'reject', label: 'Refuse' },
] as const;
const conflictHints = {
  warn: 'Both facts are stored, and the violation is listed.',
  supersede: 'The new fact ends the validity of the old one where its own begins.',
  reject: 'The write is refused and names the fact in the way.',
} as const;
const checkChoices = [
  { value: 'warn', label: 'Store with a hint' },
  { value: 'reject', label: 'Refuse' },
] as const;

interface KeySectionProps extends FieldsProps {
  sample: StoredSample | undefined;
}

/** What keys the sample allows, and what a second fact for a key does. */
function KeySection({ fields, problems, onFields, sample }: KeySectionProps) {
  const arity = fields.arguments.length;
  const candidates = useMemo(
    () => (sample === undefined ? [] : candidateKeys(sample, arity)),
    [sample, arity],
  );
  const nameOf = (position: number) => fields.arguments[position]?.name || `argument ${position + 1}`;
  const problem = Object.entries(problems).find(([path]) => path === 'key' || path.startsWith('key.'))?.[1];
  return (
    <FormSection
      title="A second fact for the same key"
      hint={
        fields.key.length === 0
          ? 'Tick the arguments of the key above to have one.'
          : conflictHints[fields.onConflict]
      }
    >
      <SegmentedControl
        aria-label="A second fact for the same key"
        className={styles.narrow ?? ''}
        value={fields.onConflict}
        onChange={(value) => {
          const chosen = conflictChoices.find((each) => each.value === value);
          if (chosen !== undefined) onFields({ ...fields, onConflict: chosen.value });
        }}
        data={[...conflictChoices]}
      />
      {candidates.length > 0 && (
        <div className="flex-row flex-wrap gap-4-8" role="group" aria-label="Candidate keys">
          <span className="dim">No two facts share:</span>
          {candidates.map((positions) => (
            <Button
              key={positions.join(' ')}
              size="compact-xs"
              variant={positions.join() === fields.key.join() ? 'light' : 'default'}
              aria-pressed={positions.join() === fields.key.join()}
              onClick={() => onFields({ ...fields, key: positions })}
            >
              {positions.map(nameOf).join(', ')}
            </Button>
          ))}
        </div>
      )}
      {problem !== undefined && <FormProblemList problems={[problem]} />}
    </FormSection>
  );
}

function Rules({ title, rules }: { title: string; rules: readonly StoredRule[] }) {
  if (rules.length === 0) return null;
  return (
    <FormSection title={title}>
      <ul className="plain-list flex-column gap-4">
        {rules.slice(0, maxRules).map(({ id, text }) => (
          <li key={id} className="truncate">
            <Link to="/rules" search={{ rule: id }} className={styles.rule ?? ''} title={text}>
              <CodeText isLine text={text} />
            </Link>
          </li>
        ))}
      </ul>
      {rules.length > maxRules && (
        <p className="dim no-margin">and {formatCount(rules.length - maxRules)} more</p>
      )}
    </FormSection>
  );
}

/** Rules listed of each kind. */
const maxRules = 8;

interface UsesProps {
  of: NamedPredicate;
  onConstraint: (id: string) => void;
}

/** What concludes the predicate, what reads it, and which constraints name it. */
function Uses({ of, onConstraint }: UsesProps) {
  const rules = useRules().data ?? [];
  const constraints = constraintsOf(useConstraints().data ?? [], of.name);
  const { name, arity } = of;
  return (
    <>
      <Rules
        title="Concluded by"
        rules={rules.filter(({ head }) => head.predicate === name && head.args.length === arity)}
      />
      <Rules title="Read by" rules={rulesReading(rules, of)} />
      {constraints.length > 0 && (
        <FormSection title="Constrained by">
          <ul className="plain-list flex-column gap-4">
            {constraints.map((constraint) => (
              <li key={constraint.id}>
                <Button size="compact-xs" variant="default" onClick={() => onConstraint(constraint.id)}>
                  {constraint.name}
                </Button>
              </li>
            ))}
          </ul>
        </FormSection>
      )}
    </>
  );
}

interface FiguresProps {
  of: NamedPredicate;
  row: PredicateRow | undefined;
  reading: number;
  onViolations: () => void;
}

function Figures({ of, row, reading, onViolations }: FiguresProps) {
  const counts = useViolationCounts();
  const count = counts?.byPredicate.get(predicateText(of)) ?? 0;
  return (
    <Strip label="Figures">
      <StripItem title="Facts">
        <span className="number">{formatCount(row?.facts ?? 0)}</span>
      </StripItem>
      <StripItem title="Conclusions">
        <span className="number">{row === undefined ? '0' : countOfConclusions(row)}</span>
      </StripItem>
      <StripItem title="Concluded by">
        <span className="number">{formatAmount(row?.rules ?? 0, 'rule')}</span>
      </StripItem>
      <StripItem title="Read by">
        <span className="number">{formatAmount(reading, 'rule')}</span>
      </StripItem>
      {row?.declaration !== undefined && (
        <StripItem title="Violations">
          {count === 0 ? (
            <ViolationCount count={0} isLeast={counts?.isWhole === false} />
          ) : (
            <Button size="compact-xs" variant="default" onClick={onViolations}>
              <ViolationCount count={count} isLeast={counts?.isWhole === false} />
            </Button>
          )}
        </StripItem>
      )}
    </Strip>
  );
}

/** The fields as edited: a draft on top of what is declared, with the declaration that it began from. */
function useFields(of: NamedPredicate, declaration: ShownDeclaration | null) {
  const { space } = useSession();
  const [kept, setKept] = useDraft(`declaration.${space.database}.${predicateText(of)}`);
  const stored = useMemo(() => declaredFields(declaration, of.arity), [declaration, of.arity]);
  const draft = useMemo(() => readFields(kept, of.arity), [kept, of.arity]);
  const base = JSON.stringify(stored);
  const fields = draft?.fields ?? stored;
  return {
    fields,
    isChanged: draft !== null && JSON.stringify(draft.fields) !== base,
    /** Somebody else declared it anew while it was edited. */
    isOutdated: draft !== null && draft.base !== base,
    set: (next: DeclarationFields) =>
      setKept(
        JSON.stringify(next) === base ? '' : JSON.stringify({ base: draft?.base ?? base, fields: next }),
      ),
    forget: () => setKept(''),
    rebase: () => setKept(JSON.stringify({ base, fields })),
  };
}

interface DeclarationPaneProps {
  of: NamedPredicate;
  onSearch: (part: Partial<SchemaSearch>) => void;
  onWithdraw: (row: PredicateRow) => void;
}

/** Declares the predicate as the fields say. */
function useDeclare(of: NamedPredicate, before: ShownDeclaration | null, onDone: () => void) {
  const session = useSession();
  const write = useWrite('declarePredicate');
  const reason = useReason('declarePredicate');
  function declare(fields: DeclarationFields): void {
    const { declaration } = declarationOf(fields);
    if (declaration === null || write.isPending || reason !== null) return;
    write.mutate(
      { params: { name: of.name, arity: String(of.arity) }, body: declaration },
      {
        onSuccess: ({ status }) => {
          if (status !== 'unchanged') recordDeclared(session, of, declaration, before);
          notifyDone(
            status === 'unchanged' ? 'It was declared like that already' : `Declared ${predicateText(of)}`,
          );
          onDone();
        },
      },
    );
  }
  return { declare, reason, write };
}

/** What of the fields is a declaration to store, and which of their problems are shown. */
function useJudged(fields: DeclarationFields, declaration: ShownDeclaration | null, wasTried: boolean) {
  return useMemo(() => {
    const { declaration: next, problems } = declarationOf(fields);
    // An empty name is no mistake before saving: there was no time to write it.
    const shown = wasTried
      ? problems
      : Object.fromEntries(
          Object.entries(problems).filter(
            ([path]) =>
              !(path.endsWith('.name') && fields.arguments[Number(path.split('.')[1])]?.name === ''),
          ),
        );
    return { next, problems: shown, isNew: next !== null && !isSameDeclaration(declaration, next) };
  }, [fields, declaration, wasTried]);
}

/** What is known of the predicate, and its declaration as edited. */
function useEditing(of: NamedPredicate) {
  const row = usePredicates().data?.find(({ name, arity }) => name === of.name && arity === of.arity);
  const declaration = row?.declaration ?? null;
  const edited = useFields(of, declaration);
  const [wasTried, setTried] = useState(false);
  const judged = useJudged(edited.fields, declaration, wasTried);
  const sample = useSample(of, (row?.facts ?? 0) > 0);
  const profiles = useMemo(
    () => (sample.data === undefined ? [] : profilesOf(sample.data, of.arity)),
    [sample.data, of.arity],
  );
  const { declare, reason, write } = useDeclare(of, declaration, edited.forget);
  const canSave = edited.isChanged && !edited.isOutdated;
  function onSave(): void {
    if (!canSave) return;
    setTried(true);
    declare(edited.fields);
  }
  return { of, row, declaration, ...edited, ...judged, sample, profiles, reason, write, canSave, onSave };
}

type Editing = ReturnType<typeof useEditing>;

interface ActionsProps {
  editing: Editing;
  onWithdraw: (row: PredicateRow) => void;
}

function Actions({ editing, onWithdraw }: ActionsProps) {
  const { of, row, declaration, isChanged, forget, reason, write, canSave, onSave } = editing;
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconTable size={14} aria-hidden />}
        renderRoot={(props) => <Link to="/facts" search={{ predicate: of.name }} {...props} />}
      >
        Facts
      </Button>
      {row?.declaration !== undefined && (
        <Guarded reason={reason}>
          <Button
            variant="default"
            leftSection={<IconTrash size={14} aria-hidden />}
            onClick={() => onWithdraw(row)}
          >
            Withdraw
          </Button>
        </Guarded>
      )}
      {isChanged && (
        <Button variant="default" onClick={forget}>
          Discard
        </Button>
      )}
      <Guarded reason={reason}>
        <Button
          leftSection={<IconDeviceFloppy size={14} aria-hidden />}
          rightSection={<KeyCaps keys="Mod+Enter" look="plain" />}
          disabled={!canSave}
          loading={write.isPending}
          onClick={onSave}
        >
          {declaration === null ? 'Declare' : 'Save'}
        </Button>
      </Guarded>
    </>
  );
}

/** Fills the form from what is stored, and says what was read. */
function FromStored({ editing }: { editing: Editing }) {
  const { of, row, fields, set, sample, profiles } = editing;
  const rules = useRules().data ?? [];
  if ((row?.facts ?? 0) === 0) return null;
  return (
    <>
      <div className="flex-row flex-wrap gap-8">
        <Button
          variant="default"
          leftSection={<IconWand size={14} aria-hidden />}
          loading={sample.isPending}
          disabled={sample.data === undefined}
          onClick={() => set(filledFields(fields, profiles, proposedNames(of, rules)))}
        >
          Fill from what is stored
        </Button>
        <span className="dim" role="status">
          {sample.data !== undefined && sampleInWords(sample.data, row?.facts ?? 0)}
        </span>
      </div>
      {sample.error !== null && <ProblemNotice failure={apiFailureOf(sample.error)} />}
    </>
  );
}

function Arguments({ editing }: { editing: Editing }) {
  const { of, fields, problems, set, profiles } = editing;
  return (
    <FormSection title="Arguments">
      {of.arity === 0 ? (
        <p className="dim no-margin">It has no arguments.</p>
      ) : (
        <ol className={`plain-list ${styles.arguments}`}>
          {fields.arguments.map((argument, position) => (
            <ArgumentRow
              // Arguments are identified by position.
              // eslint-disable-next-line react/no-array-index-key
              key={position}
              fields={fields}
              problems={problems}
              onFields={set}
              argument={argument}
              position={position}
              profile={profiles[position]}
            />
          ))}
        </ol>
      )}
      <FormProblemList problems={problems['arguments'] === undefined ? [] : [problems['arguments']]} />
    </FormSection>
  );
}

/** What happens to a fact with an argument of another type. */
function CheckSection({ fields, set }: Pick<Editing, 'fields' | 'set'>) {
  return (
    <FormSection title="An argument of another type">
      <SegmentedControl
        aria-label="An argument of another type"
        className={styles.narrow ?? ''}
        value={fields.check}
        onChange={(value) => {
          const chosen = checkChoices.find((each) => each.value === value);
          if (chosen !== undefined) set({ ...fields, check: chosen.value });
        }}
        data={[...checkChoices]}
      />
    </FormSection>
  );
}

/** The pane of one predicate. */
export function DeclarationPane({ of, onSearch, onWithdraw }: DeclarationPaneProps) {
  const editing = useEditing(of);
  const { row, fields, problems, set, sample, next, isNew, isOutdated, rebase, write, onSave } = editing;
  const reading = rulesReading(useRules().data ?? [], of).length;
  useSubmitKey(onSave);
  return (
    <PaneFrame
      label="Declaration"
      tone="panel"
      title={
        <h2 className="pane-title truncate">
          <span className="mono">{of.name}</span>
          <span className="dim">/{of.arity}</span>
        </h2>
      }
      actions={<Actions editing={editing} onWithdraw={onWithdraw} />}
    >
      {isOutdated && (
        <AgeBanner action="Keep mine" onAgain={rebase}>
          Somebody else has declared it anew since. Discard shows that; keep yours to save it over theirs.
        </AgeBanner>
      )}
      <Figures
        of={of}
        row={row}
        reading={reading}
        onViolations={() =>
          onSearch({ part: 'violations', predicate: of.name, kind: undefined, constraint: undefined })
        }
      />
      <div className={formStyles.form}>
        {write.error !== null && <ProblemNotice failure={apiFailureOf(write.error)} />}
        <FromStored editing={editing} />
        <Arguments editing={editing} />
        {of.arity > 0 && (
          <>
            <KeySection fields={fields} problems={problems} onFields={set} sample={sample.data} />
            <CheckSection fields={fields} set={set} />
          </>
        )}
        <Textarea
          label="Description"
          description="For people and models: what a fact of it says."
          autosize
          minRows={1}
          maxRows={6}
          value={fields.description}
          error={problems['description']}
          onChange={({ currentTarget }) => set({ ...fields, description: currentTarget.value })}
        />
        {next !== null && sample.data !== undefined && next.arguments.length > 0 && (
          <SamplePreview sample={sample.data} declaration={next} isDeclared={!isNew} />
        )}
        <Uses of={of} onConstraint={(constraint) => onSearch({ part: 'constraints', constraint })} />
      </div>
    </PaneFrame>
  );
}
