/** The form of a question: conditions chosen from predicates and arguments, in step with the text. */
import { ActionIcon, Autocomplete, Button, MultiSelect, Select, TextInput } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { aggregateNames } from '../../../engine/contract/language.ts';
import { ArgumentNames } from '../../../engine/language/argument-names.ts';
import { argumentTitle, type PredicateRow, typeInWords } from '../../api/declared.ts';
import { queryKeyOf } from '../../api/live.ts';
import { ApiError } from '../../api/problem.ts';
import { usePredicates } from '../../api/queries.ts';
import { useSession, type WorkbenchSession } from '../../api/session.tsx';
import { Tooltip } from '../../ui/tooltip.tsx';
import styles from './ask.module.css';
import {
  aggregateWords,
  arithmeticWords,
  comparisonWords,
  type ComposedPattern,
  type ComposedTerm,
  composedOf,
  composedText,
  type Condition,
  conditionProblem,
  freshVariable,
  newPattern,
  type PatternMode,
  variablesOfForm,
} from './composed-question.ts';

/** A term as a field shows it: nothing for anything, `""` for the empty constant. */
function fieldTextOf(term: ComposedTerm): string {
  if (term.kind === 'anything') return '';
  return term.kind === 'constant' && term.text === '' ? '""' : term.text;
}

function termOfField(text: string): ComposedTerm {
  if (text === '' || text === '?_') return { kind: 'anything' };
  if (text.startsWith('?')) return { kind: 'variable', text };
  return { kind: 'constant', text: text === '""' ? '' : text };
}

/** Answers and facts looked at for values. */
const lookedAt = 200;
const typedMs = 250;
/** A suggestion is not worth a long inference. */
const valuesTimeoutMs = 1_500;
const maxValues = 40;

interface WantedValues {
  readonly row: PredicateRow;
  readonly position: number;
  /** A part of the facts that have them; empty: any. */
  readonly part: string;
}

/** Values that an argument has: of stored facts, or of conclusions if there are none. */
async function valuesOf(
  call: WorkbenchSession['call'],
  { row: { name, arity, facts }, position, part }: WantedValues,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (facts > 0) {
    const query = { predicate: name, limit: String(lookedAt), ...(part === '' ? {} : { q: part }) };
    const page = await call('listFacts', { query }, { signal });
    return page.facts.flatMap(({ args }) => (args.length === arity ? [args[position] ?? ''] : []));
  }
  const args = Array.from({ length: arity }, (_, at) => `?a${at}`);
  const body = { predicate: name, args, limit: lookedAt, timeoutMs: valuesTimeoutMs };
  const answer = await call('ask', { body }, { signal }).catch((error: unknown) => {
    // A question that is too heavy for a suggestion suggests nothing.
    if (error instanceof ApiError) return null;
    throw error;
  });
  return answer?.bindings.map((binding) => String(binding[`a${position}`] ?? '')) ?? [];
}

interface TermFieldProps {
  label: string;
  term: ComposedTerm;
  /** Variables of the question. */
  variables: readonly string[];
  /** What it is an argument of, if the predicate is known. */
  argument: { readonly row: PredicateRow; readonly position: number } | null;
  onTerm: (term: ComposedTerm) => void;
}

/** The field of one term: a value, a variable, or nothing. */
function TermField({ label, term, variables, argument, onTerm }: TermFieldProps) {
  const { call, endpoint } = useSession();
  const [isOpen, setIsOpen] = useState(false);
  const shown = fieldTextOf(term);
  const [typed] = useDebouncedValue(shown, typedMs);
  // Of few facts, the first page has all values; of conclusions, only the first are looked at.
  const isPartial = argument !== null && argument.row.facts > lookedAt;
  const part = isPartial && term.kind === 'constant' && typed !== '""' && !typed.startsWith('?') ? typed : '';
  const values = useQuery({
    queryKey: queryKeyOf(
      'answers',
      endpoint,
      'values',
      argument?.row.name,
      argument?.row.arity,
      argument?.position,
      part,
    ),
    queryFn: ({ signal }) => (argument === null ? [] : valuesOf(call, { ...argument, part }, signal)),
    enabled: isOpen && argument !== null,
    retry: false,
    staleTime: 30_000,
    // The values stay listed while others are looked for.
    placeholderData: (before) => before,
  });
  const stored = [...new Set(values.data)].filter((value) => value !== '' && !value.startsWith('?')).sort();
  const others = variables.filter((name) => name !== '?_');
  return (
    <Autocomplete
      size="xs"
      className={styles.term ?? ''}
      label={label}
      aria-label={label}
      placeholder="anything"
      classNames={{ input: term.kind === 'variable' ? (styles.variable ?? '') : 'mono' }}
      value={shown}
      spellCheck={false}
      selectFirstOptionOnChange={false}
      maxDropdownHeight={260}
      data={[
        ...(others.length === 0 ? [] : [{ group: 'Same as', items: others }]),
        ...(stored.length === 0 ? [] : [{ group: 'Values', items: stored.slice(0, maxValues) }]),
      ]}
      // Opened on a filled field, it offers everything, not only what is there.
      {...(stored.includes(shown) || others.includes(shown) ? { filter: ({ options }) => options } : {})}
      onDropdownOpen={() => setIsOpen(true)}
      onChange={(text) => onTerm(termOfField(text))}
    />
  );
}

const modeWords: readonly { value: PatternMode; label: string }[] = [
  { value: 'is', label: 'is true' },
  { value: 'not', label: 'not known' },
  { value: 'false', label: 'is false' },
  { value: 'not-false', label: 'not false' },
];

interface PatternFieldsProps {
  pattern: ComposedPattern;
  conditions: readonly Condition[];
  onPattern: (pattern: ComposedPattern) => void;
}

/** The fields of a pattern: predicate, arguments, and how it is meant. */
function PatternFields({ pattern, conditions, onPattern }: PatternFieldsProps) {
  const rows = usePredicates().data ?? [];
  const { predicate, terms, mode } = pattern;
  const row = rows.find(({ name, arity }) => name === predicate && arity === terms.length);
  const chosen = predicate === '' ? null : `${predicate}/${terms.length}`;
  const names = [
    ...new Set([...rows.map(({ name, arity }) => `${name}/${arity}`), ...(chosen === null ? [] : [chosen])]),
  ];
  function choose(value: string | null): void {
    const [, name = '', arity = '0'] = /^(.*)\/(\d+)$/s.exec(value ?? '') ?? [];
    const found = rows.find((each) => each.name === name && each.arity === Number(arity));
    const argumentNames = found?.declaration?.arguments.map((argument) => argument.name) ?? [];
    const made = newPattern(conditions, { name, arity: Number(arity) }, argumentNames);
    // What is filled in stays.
    onPattern({ ...made, mode, terms: made.terms.map((term, at) => terms[at] ?? term) });
  }
  return (
    <>
      <Select
        size="xs"
        className={styles.predicate ?? ''}
        label="Predicate"
        classNames={{ input: 'mono' }}
        placeholder="Choose"
        searchable
        maxDropdownHeight={280}
        data={names.sort()}
        value={chosen}
        onChange={choose}
      />
      {terms.map((term, position) => {
        const argument = row?.declaration?.arguments[position];
        const title = argumentTitle(argument, position);
        const type =
          argument === undefined || argument.type === 'any' ? '' : ` (${typeInWords(argument.type)})`;
        return (
          <TermField
            // Arguments are known by their position.
            key={`${predicate} ${position}`}
            label={`${title}${type}`}
            term={term}
            variables={variablesOfForm([...conditions, { kind: 'pattern', ...pattern }])}
            argument={row === undefined ? null : { row, position }}
            onTerm={(next) =>
              onPattern({ ...pattern, terms: terms.map((each, at) => (at === position ? next : each)) })
            }
          />
        );
      })}
      <Select
        size="xs"
        className={styles.mode ?? ''}
        label="Which"
        allowDeselect={false}
        data={modeWords}
        value={mode}
        onChange={(value) =>
          onPattern({ ...pattern, mode: modeWords.find((each) => each.value === value)?.value ?? 'is' })
        }
      />
    </>
  );
}

interface ConditionFieldsProps {
  condition: Condition;
  conditions: readonly Condition[];
  onCondition: (condition: Condition) => void;
}

interface OperandProps {
  label: string;
  term: ComposedTerm;
  conditions: readonly Condition[];
  onTerm: (term: ComposedTerm) => void;
}

/** The field of one side of a comparison or calculation. */
function Operand({ label, term, conditions, onTerm }: OperandProps) {
  const variables = variablesOfForm(conditions);
  return <TermField label={label} term={term} variables={variables} argument={null} onTerm={onTerm} />;
}

interface OperatorProps {
  label: string;
  /** The operators, with their words. */
  words: Readonly<Record<string, string>>;
  value: string;
  onOperator: (operator: string) => void;
}

function Operator({ label, words, value, onOperator }: OperatorProps) {
  return (
    <Select
      size="xs"
      className={styles.mode ?? ''}
      label={label}
      allowDeselect={false}
      data={Object.entries(words).map(([operator, text]) => ({ value: operator, label: text }))}
      value={value}
      onChange={(operator) => onOperator(operator ?? value)}
    />
  );
}

function OperationFields({
  condition,
  conditions,
  onCondition,
}: ConditionFieldsProps & { condition: Condition & { kind: 'comparison' | 'calculation' } }) {
  const isCalculation = condition.kind === 'calculation';
  return (
    <>
      {isCalculation && (
        <Operand
          label="Result"
          term={condition.result}
          conditions={conditions}
          onTerm={(result) => onCondition({ ...condition, result })}
        />
      )}
      <Operand
        label="Left"
        term={condition.left}
        conditions={conditions}
        onTerm={(left) => onCondition({ ...condition, left })}
      />
      <Operator
        label={isCalculation ? 'Calculation' : 'Comparison'}
        words={isCalculation ? arithmeticWords : comparisonWords}
        value={condition.operator}
        onOperator={(operator) => onCondition({ ...condition, operator })}
      />
      <Operand
        label="Right"
        term={condition.right}
        conditions={conditions}
        onTerm={(right) => onCondition({ ...condition, right })}
      />
    </>
  );
}

function AggregateFields({
  condition,
  conditions,
  onCondition,
}: ConditionFieldsProps & { condition: Condition & { kind: 'aggregate' } }) {
  const { operation, result, over, patterns } = condition;
  const inside = variablesOfForm(patterns.map((pattern) => ({ kind: 'pattern', ...pattern })));
  function setPatterns(next: readonly ComposedPattern[]): void {
    const left = variablesOfForm(next.map((pattern) => ({ kind: 'pattern', ...pattern })));
    const kept = over.filter((name) => left.includes(name));
    const last = left.at(-1);
    onCondition({
      ...condition,
      patterns: next,
      over: kept.length > 0 || last === undefined ? kept : [last],
    });
  }
  return (
    <>
      <TextInput
        size="xs"
        className={styles.term ?? ''}
        label="Result"
        classNames={{ input: styles.variable ?? '' }}
        value={result}
        spellCheck={false}
        onChange={({ currentTarget }) => onCondition({ ...condition, result: currentTarget.value })}
      />
      <Operator
        label="Is the"
        words={aggregateWords}
        value={operation}
        onOperator={(next) =>
          onCondition({ ...condition, operation: aggregateNames.find((name) => name === next) ?? operation })
        }
      />
      <MultiSelect
        size="xs"
        className={styles.predicate ?? ''}
        // A sum over values alone would add equal ones once.
        label={operation === 'count' ? 'Different' : 'The first, for each of these'}
        placeholder={over.length === 0 ? 'variables' : ''}
        data={[...new Set([...inside, ...over])]}
        value={[...over]}
        onChange={(next) => onCondition({ ...condition, over: next })}
      />
      {patterns.map((pattern, at) => (
        // Patterns are known by their position.
        <div key={at} className={styles.counted} role="group" aria-label={`Pattern ${at + 1} within`}>
          <PatternFields
            pattern={pattern}
            conditions={[...conditions, ...patterns.map((each): Condition => ({ kind: 'pattern', ...each }))]}
            onPattern={(next) => setPatterns(patterns.map((each, index) => (index === at ? next : each)))}
          />
        </div>
      ))}
      <Button
        size="compact-xs"
        variant="subtle"
        leftSection={<IconPlus size={12} aria-hidden />}
        onClick={() => setPatterns([...patterns, { predicate: '', terms: [], mode: 'is' }])}
      >
        Pattern within
      </Button>
    </>
  );
}

function ConditionFields({ condition, ...rest }: ConditionFieldsProps) {
  switch (condition.kind) {
    case 'pattern':
      return (
        <PatternFields
          pattern={condition}
          conditions={rest.conditions.filter((each) => each !== condition)}
          onPattern={(pattern) => rest.onCondition({ kind: 'pattern', ...pattern })}
        />
      );
    case 'comparison':
    case 'calculation':
      return <OperationFields condition={condition} {...rest} />;
    case 'aggregate':
      return <AggregateFields condition={condition} {...rest} />;
  }
}

/** The conditions of a form, and the text that they are of. */
interface Form {
  readonly text: string;
  readonly conditions: readonly Condition[];
}

/** The form of a text: what the user has filled in so far, or what the text says if that is newer. */
function useForm(text: string, onText: (text: string) => void) {
  const rows = usePredicates().data;
  const names = useMemo(
    () => new ArgumentNames((rows ?? []).flatMap((row) => row.declaration ?? [])),
    [rows],
  );
  const [form, setForm] = useState<Form | null>(null);
  const reading =
    form !== null && form.text === text ? { conditions: form.conditions } : composedOf(text, names);
  function set(conditions: readonly Condition[]): void {
    const isSound = conditions.every((condition) => conditionProblem(condition) === null);
    const next = isSound ? composedText(conditions, names) : text;
    setForm({ text: next, conditions });
    if (next !== text) onText(next);
  }
  return { reading, set };
}

interface AddButtonsProps {
  conditions: readonly Condition[];
  onAdd: (condition: Condition) => void;
}

/** The buttons that add a condition of each kind. */
function AddButtons({ conditions, onAdd }: AddButtonsProps) {
  const look = { size: 'compact-xs', variant: 'default', leftSection: <IconPlus size={12} aria-hidden /> };
  const pattern: ComposedPattern = { predicate: '', terms: [], mode: 'is' };
  const anything: ComposedTerm = { kind: 'anything' };
  const [first] = variablesOfForm(conditions);
  const left: ComposedTerm = first === undefined ? anything : { kind: 'variable', text: first };
  const result = freshVariable(conditions, 'n');
  const resultTerm: ComposedTerm = { kind: 'variable', text: result };
  return (
    <div className="flex-row gap-6">
      <Button {...look} onClick={() => onAdd({ kind: 'pattern', ...pattern })}>
        Pattern
      </Button>
      <Button {...look} onClick={() => onAdd({ kind: 'comparison', operator: '=', left, right: anything })}>
        Comparison
      </Button>
      <Button
        {...look}
        onClick={() =>
          onAdd({ kind: 'calculation', operator: '+', result: resultTerm, left, right: anything })
        }
      >
        Calculation
      </Button>
      <Button
        {...look}
        onClick={() =>
          onAdd({ kind: 'aggregate', operation: 'count', result, over: [], patterns: [pattern] })
        }
      >
        Aggregate
      </Button>
      {conditions.length === 0 && (
        <span className="small-print">Choose a predicate; leave an argument empty for anything.</span>
      )}
    </div>
  );
}

interface ComposeFormProps {
  /** The question. */
  text: string;
  onText: (text: string) => void;
}

/** Shows a question as a form; every change that makes a whole question is written into the text at once. */
export function ComposeForm({ text, onText }: ComposeFormProps) {
  const { reading, set } = useForm(text, onText);
  if ('reason' in reading)
    return (
      <p className={`small-print ${styles.beyond}`} role="status">
        {reading.reason}. Edit the text above; the form follows as soon as it can show it.
      </p>
    );
  const { conditions } = reading;
  function add(condition: Condition): void {
    set([...conditions, condition]);
  }
  return (
    <section className={styles.compose} aria-label="Compose">
      {conditions.map((condition, at) => {
        const problem = conditionProblem(condition);
        return (
          // Conditions are known by their position.
          <div key={at} className={styles.condition} role="group" aria-label={`Condition ${at + 1}`}>
            <ConditionFields
              condition={condition}
              conditions={conditions}
              onCondition={(next) => set(conditions.map((each, index) => (index === at ? next : each)))}
            />
            {problem !== null && <span className={`small-print ${styles.missing}`}>{problem}</span>}
            <Tooltip label="Remove">
              <ActionIcon
                className={styles.removed ?? ''}
                aria-label={`Remove condition ${at + 1}`}
                onClick={() => set(conditions.filter((_, index) => index !== at))}
              >
                <IconX size={14} aria-hidden />
              </ActionIcon>
            </Tooltip>
          </div>
        );
      })}
      <AddButtons conditions={conditions} onAdd={add} />
    </section>
  );
}
