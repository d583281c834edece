/** The fields of the form of one fact. */
import { ActionIcon, Autocomplete, Button, NumberInput, SegmentedControl, TextInput } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import { usePredicates, useScopes } from '../../api/queries.ts';
import type { FactForm, FormProblems } from './fact-form.ts';
import styles from './facts.module.css';

interface FactFormFieldsProps {
  form: FactForm;
  onForm: (form: FactForm) => void;
  problems: FormProblems;
}

function Arguments({ form, onForm, problems }: FactFormFieldsProps) {
  function set(index: number, value: string): void {
    onForm({ ...form, args: form.args.map((arg, at) => (at === index ? value : arg)) });
  }
  return (
    <fieldset className={styles.fieldset}>
      <legend>Arguments</legend>
      {form.args.map((arg, index) => (
        <TextInput
          // An argument is its place.
          key={`argument ${index + 1}`}
          aria-label={`Argument ${index + 1}`}
          placeholder={`Argument ${index + 1}`}
          value={arg}
          error={problems[`args.${index}`]}
          onChange={(event) => set(index, event.currentTarget.value)}
          rightSection={
            <ActionIcon
              size="sm"
              aria-label={`Remove argument ${index + 1}`}
              onClick={() => onForm({ ...form, args: form.args.filter((_, at) => at !== index) })}
            >
              <IconX size={14} aria-hidden />
            </ActionIcon>
          }
        />
      ))}
      <Button
        variant="subtle"
        leftSection={<IconPlus size={14} aria-hidden />}
        onClick={() => onForm({ ...form, args: [...form.args, ''] })}
      >
        Argument
      </Button>
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
          { value: 'true', label: 'It is so' },
          { value: 'false', label: 'It is explicitly not so' },
        ]}
      />
    </div>
  );
}

export function FactFormFields({ form, onForm, problems }: FactFormFieldsProps) {
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
