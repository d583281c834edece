/** The fields for a tool's arguments. */
import { Select, Textarea, TextInput } from '@mantine/core';
import type { Field, FieldKind, FieldTexts } from './tool-form.ts';
import styles from './agents.module.css';

const kindHints: Partial<Record<FieldKind, string>> = {
  texts: 'One per line',
  json: 'JSON',
  'number-or-text': 'A number or a text',
};

function descriptionOf({ kind, description, fallback }: Field): string | undefined {
  const said = [
    description,
    kindHints[kind] ?? null,
    fallback === null || fallback === '' ? null : `Default ${fallback}`,
  ].filter((part) => part !== null);
  return said.length === 0 ? undefined : said.join(' · ');
}

interface FieldInputProps {
  field: Field;
  text: string;
  problem: string | undefined;
  onText: (text: string) => void;
}

function FieldInput({ field, text, problem, onText }: FieldInputProps) {
  const { name, kind, choices } = field;
  const description = descriptionOf(field);
  const common = {
    label: name,
    withAsterisk: field.isRequired,
    error: problem,
    ...(description === undefined ? {} : { description }),
  };
  switch (kind) {
    case 'boolean':
    case 'choice': {
      const data = kind === 'boolean' ? ['true', 'false'] : [...choices];
      return (
        <Select
          {...common}
          clearable
          placeholder="not given"
          data={data}
          value={text === '' ? null : text}
          onChange={(value) => onText(value ?? '')}
        />
      );
    }
    case 'texts':
    case 'json':
    case 'long-text':
      return (
        <Textarea
          {...common}
          autosize
          minRows={2}
          maxRows={10}
          spellCheck={false}
          classNames={{ input: styles.monoInput ?? '' }}
          value={text}
          onChange={(event) => onText(event.currentTarget.value)}
        />
      );
    case 'number':
    case 'number-or-text':
    case 'text':
      return (
        <TextInput
          {...common}
          spellCheck={false}
          {...(kind === 'number' ? { inputMode: 'decimal' as const } : {})}
          value={text}
          onChange={(event) => onText(event.currentTarget.value)}
        />
      );
  }
}

interface ToolFieldsProps {
  fields: readonly Field[];
  texts: FieldTexts;
  problems: FieldTexts;
  onTexts: (texts: FieldTexts) => void;
}

/** A field for each argument of a tool. */
export function ToolFields({ fields, texts, problems, onTexts }: ToolFieldsProps) {
  if (fields.length === 0) return <p className="dim">It takes no arguments.</p>;
  return (
    <div className={styles.fields}>
      {fields.map((field) => (
        <FieldInput
          key={field.name}
          field={field}
          text={texts[field.name] ?? ''}
          problem={problems[field.name]}
          onText={(text) => onTexts({ ...texts, [field.name]: text })}
        />
      ))}
    </div>
  );
}
