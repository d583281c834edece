/** The editable fields of a key: its restrictions, its end, and its description. */
import { Select, TagsInput, TextInput } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { useDatabases, useWhoAmI } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { formatTime } from '../../ui/format.ts';
import {
  type EndChoice,
  endChoices,
  endOf,
  type KeyFormFields,
  type KeyProblems,
  limitOf,
} from './key-form.ts';
import styles from './keys.module.css';

/** Maximum number of databases whose tenants are suggested; other names can be typed. */
const maxDatabases = 5;

/** Names of the databases' tenants that the caller can access. */
function useTenantNames(databases: readonly string[]): string[] {
  const { call } = useSession();
  const lists = useQueries({
    queries: databases.slice(0, maxDatabases).map((name) => ({
      queryKey: ['databases', name, 'tenants'],
      queryFn: async ({ signal }: { signal: AbortSignal }) =>
        (await call('listTenants', { params: { name } }, { signal })).tenants,
      // A typed database need not exist.
      retry: false,
    })),
  });
  const names = lists.flatMap(({ data }) => (data ?? []).map(({ name }) => name));
  return [...new Set(names)].sort();
}

const endWords: Readonly<Record<Exclude<EndChoice, 'unsaid'>, string>> = {
  '1': 'In a day',
  '7': 'In a week',
  '30': 'In 30 days',
  '90': 'In 90 days',
  '365': 'In a year',
  never: 'Never',
  date: 'At a time of my choice',
};

interface FieldsProps {
  form: KeyFormFields;
  problems: KeyProblems;
  /** What leaving the end unset means. */
  unsaid: { readonly label: string; readonly hint: string };
  /** The description gets the focus. */
  isFirst?: boolean;
  onForm: (part: Partial<KeyFormFields>) => void;
}

function Restrictions({ form, problems, onForm }: FieldsProps) {
  const { space } = useSession();
  const allowed = useWhoAmI().data;
  const databases = (useDatabases().data ?? []).map(({ name }) => name);
  const tenants = useTenantNames(form.databases.length > 0 ? form.databases : [space.database]);
  const limit = limitOf(form);
  const isFree = (names: readonly string[] | undefined) => names === undefined || names.length === 0;
  const common = { size: 'xs', clearable: true, acceptValueOnBlur: true, maxDropdownHeight: 180 } as const;
  return (
    <>
      <TagsInput
        {...common}
        label="Databases"
        description="The key works only for these. Choose or type; Enter adds."
        placeholder={form.databases.length === 0 && isFree(allowed?.databases) ? 'All databases' : ''}
        data={databases}
        value={[...form.databases]}
        error={problems.databases}
        onChange={(names) => onForm({ databases: names })}
      />
      <TagsInput
        {...common}
        label="Tenants"
        description="The key works only for these, which need not exist yet."
        placeholder={form.tenants.length === 0 && isFree(allowed?.tenants) ? 'All tenants' : ''}
        data={isFree(allowed?.tenants) ? tenants : [...(allowed?.tenants ?? [])]}
        value={[...form.tenants]}
        error={problems.tenants}
        onChange={(names) => onForm({ tenants: names })}
      />
      {limit !== null && (
        <p className="small-print" role="status">
          {limit}
        </p>
      )}
    </>
  );
}

/** The chosen end in words. */
function endHint(choice: EndChoice, end: ReturnType<typeof endOf>, unsaid: FieldsProps['unsaid']): string {
  if (choice === 'unsaid') return unsaid.hint;
  if (choice === 'never') return 'Good until it is revoked';
  return typeof end === 'number' ? `Good until ${formatTime(end)}` : 'Good until a time of your choice';
}

function End({ form, problems, unsaid, onForm }: FieldsProps) {
  const now = Date.now();
  const end = endOf(form, now);
  return (
    <div className={styles.end}>
      <Select
        label="Ends"
        data={endChoices.map((value) => ({
          value,
          label: value === 'unsaid' ? unsaid.label : endWords[value],
        }))}
        value={form.end}
        allowDeselect={false}
        description={endHint(form.end, end, unsaid)}
        onChange={(value) => {
          const chosen = endChoices.find((choice) => choice === value);
          if (chosen !== undefined) onForm({ end: chosen });
        }}
      />
      {form.end === 'date' && (
        <TextInput
          type="datetime-local"
          label="At"
          description="In the time of this browser"
          value={form.date}
          error={problems.date}
          onChange={(event) => onForm({ date: event.currentTarget.value })}
        />
      )}
    </div>
  );
}

/** The fields of a key. */
export function KeyFields(props: FieldsProps) {
  const { form, problems, isFirst = false, onForm } = props;
  return (
    <>
      <TextInput
        {...(isFirst ? { 'data-autofocus': true } : {})}
        label="Description"
        spellCheck
        description="Whose key it is, and what for"
        autoComplete="off"
        value={form.description}
        error={problems.description}
        onChange={(event) => onForm({ description: event.currentTarget.value })}
      />
      {form.role === 'replica' ? (
        <p className="small-print">A follower copies everything: its key has no restrictions.</p>
      ) : (
        <Restrictions {...props} />
      )}
      <End {...props} />
    </>
  );
}
