import { MultiSelect } from '@mantine/core';
import { usePredicates } from '../../api/queries.ts';
import styles from './memory.module.css';

interface PredicateChoiceProps {
  label: string;
  /** Shown if none is selected. */
  placeholder: string;
  /** Minimum arity. */
  minArity: number;
  chosen: readonly string[];
  onChosen: (predicates: string[]) => void;
}

/** Shows a choice of predicates by name. */
export function PredicateChoice(props: PredicateChoiceProps) {
  const { label, placeholder, minArity, chosen, onChosen } = props;
  const { data } = usePredicates();
  const known = (data ?? []).flatMap(({ name, arity, facts }) =>
    facts > 0 && arity >= minArity ? [name] : [],
  );
  // Predicates of the address may not exist.
  const names = [...new Set([...known, ...chosen])].sort();
  return (
    <MultiSelect
      size="xs"
      className={styles.predicates ?? ''}
      aria-label={label}
      placeholder={chosen.length === 0 ? placeholder : ''}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'Choose none' }}
      limit={100}
      hidePickedOptions
      nothingFoundMessage="No such predicate"
      data={names}
      value={[...chosen]}
      onChange={onChosen}
    />
  );
}
