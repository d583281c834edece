import { ActionIcon, Button, SegmentedControl, Select, Switch, TextInput } from '@mantine/core';
import { IconArrowLeft, IconArrowRight, IconPlus, IconX } from '@tabler/icons-react';
import { useId } from 'react';
import { type Separator, separators } from '../../api/delimited.ts';
import { columnName, type Mapping, mappingProblem, withMovedColumn } from './mapping.ts';
import styles from './transfer.module.css';
import { Tooltip } from '../../ui/tooltip.tsx';

interface MappingFieldsProps {
  mapping: Mapping;
  onMapping: (mapping: Mapping) => void;
  header: readonly string[] | null;
  /** Number of columns. */
  width: number;
}

const separatorLabels: Readonly<Record<Separator, string>> = {
  ',': 'Comma',
  ';': 'Semicolon',
  '\t': 'Tab',
  '|': 'Bar',
};

/** Maximum number of columns offered; a fact has at most 64 arguments. */
const maxColumns = 256;

function numbers(width: number): number[] {
  return Array.from({ length: Math.min(width, maxColumns) }, (_, index) => index);
}

function Argument({ mapping, onMapping, header, index }: MappingFieldsProps & { index: number }) {
  const { columns } = mapping;
  const name = columnName(header, columns[index] ?? 0);
  const move = (by: 1 | -1) => onMapping({ ...mapping, columns: withMovedColumn(columns, index, by) });
  return (
    <li className={`flex-row gap-2 ${styles.argument}`}>
      <span className={`number ${styles.place}`}>{index + 1}</span>
      <span className={`truncate ${styles.columnName}`} title={name}>
        {name}
      </span>
      <ActionIcon
        size="sm"
        aria-label={`Move ${name} forward`}
        disabled={index === 0}
        onClick={() => move(-1)}
      >
        <IconArrowLeft size={14} aria-hidden />
      </ActionIcon>
      <ActionIcon
        size="sm"
        aria-label={`Move ${name} back`}
        disabled={index === columns.length - 1}
        onClick={() => move(1)}
      >
        <IconArrowRight size={14} aria-hidden />
      </ActionIcon>
      <Tooltip label="Leave out">
        <ActionIcon
          size="sm"
          aria-label={`Leave out ${name}`}
          onClick={() => onMapping({ ...mapping, columns: columns.filter((_, at) => at !== index) })}
        >
          <IconX size={14} aria-hidden />
        </ActionIcon>
      </Tooltip>
    </li>
  );
}

function Arguments(props: MappingFieldsProps) {
  const { mapping, onMapping, header, width } = props;
  const id = useId();
  const { columns, predicate } = mapping;
  const isOut = (column: number) =>
    !columns.includes(column) && !(predicate.kind === 'column' && predicate.column === column);
  const out = numbers(width).filter(isOut);
  return (
    <div role="group" aria-labelledby={id}>
      <span id={id} className={styles.label}>
        Arguments
      </span>
      <ol className="plain-list flex-row flex-wrap gap-6">
        {columns.map((column, index) => (
          <Argument key={column} {...props} index={index} />
        ))}
        {out.map((column) => (
          <li key={column}>
            <Button
              size="compact-xs"
              variant="default"
              className={styles.leftOut}
              leftSection={<IconPlus size={12} aria-hidden />}
              aria-label={`Use ${columnName(header, column)}`}
              onClick={() => onMapping({ ...mapping, columns: [...columns, column] })}
            >
              {columnName(header, column)}
            </Button>
          </li>
        ))}
      </ol>
    </div>
  );
}

function Predicate({ mapping, onMapping, header, width }: MappingFieldsProps) {
  const { predicate, columns } = mapping;
  const problem = predicate.kind === 'name' && predicate.name !== '' ? mappingProblem(mapping) : null;

  function choose(kind: string): void {
    if (kind === 'name') {
      const column = predicate.kind === 'column' ? [predicate.column] : [];
      onMapping({ ...mapping, predicate: { kind: 'name', name: '' }, columns: [...column, ...columns] });
    } else chooseColumn(0);
  }

  /** The former predicate column is dropped, and the new one is removed from the arguments. */
  function chooseColumn(column: number): void {
    onMapping({
      ...mapping,
      predicate: { kind: 'column', column },
      columns: columns.filter((other) => other !== column),
    });
  }

  return (
    <>
      <div>
        <span className={styles.label}>Predicate</span>
        <SegmentedControl
          aria-label="Where the predicate comes from"
          value={predicate.kind}
          onChange={choose}
          data={[
            { value: 'name', label: 'One name' },
            { value: 'column', label: 'A column' },
          ]}
        />
      </div>
      {predicate.kind === 'name' ? (
        <TextInput
          label="Name"
          aria-label="Predicate's name"
          placeholder="parent"
          className={styles.wide}
          autoComplete="off"
          spellCheck={false}
          value={predicate.name}
          error={problem}
          onChange={(event) =>
            onMapping({ ...mapping, predicate: { kind: 'name', name: event.currentTarget.value } })
          }
        />
      ) : (
        <Select
          label="Column"
          aria-label="Predicate's column"
          className={styles.wide}
          allowDeselect={false}
          value={String(predicate.column)}
          data={numbers(width).map((column) => ({
            value: String(column),
            label: columnName(header, column),
          }))}
          onChange={(value) => chooseColumn(Number(value))}
        />
      )}
    </>
  );
}

/** Shows the choice of the predicate, by name or column, and of the argument columns in order. */
export function MappingFields(props: MappingFieldsProps) {
  const { mapping, onMapping } = props;
  return (
    <>
      <div className={`flex-wrap align-start flex ${styles.fields}`}>
        <Predicate {...props} />
        <Select
          label="Separator"
          className={styles.narrow}
          allowDeselect={false}
          value={mapping.separator}
          data={separators.map((separator) => ({ value: separator, label: separatorLabels[separator] }))}
          onChange={(value) => {
            const separator = separators.find((known) => known === value);
            if (separator !== undefined) onMapping({ ...mapping, separator });
          }}
        />
        <Switch
          className={styles.switch}
          label="First row names the columns"
          checked={mapping.hasHeader}
          onChange={(event) => onMapping({ ...mapping, hasHeader: event.currentTarget.checked })}
        />
      </div>
      <Arguments {...props} />
    </>
  );
}
