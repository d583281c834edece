/** Blocks of a view: texts, named values, substitutions, hints, steps. */
import type { ReactNode } from 'react';
import styles from './blocks.module.css';
import { CopyButton } from './copy-button.tsx';
import { formatCount } from './format.ts';
import { EntityLink } from './knowledge-links.tsx';

interface CodeBlockProps {
  /** Accessible name. */
  label: string;
  text: string;
  /** Limits its height among other content. */
  low?: boolean;
}

/** Shows preformatted text that scrolls if high. */
export function CodeBlock({ label, text, low = false }: CodeBlockProps) {
  return (
    <pre className={`mono ${styles.code} ${low ? styles.low : ''}`} tabIndex={0} aria-label={label}>
      {text}
    </pre>
  );
}

/** In UTF-16 code units. */
const maxShown = 100_000;

interface BlockProps {
  title: string;
  note?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

interface TextBlockProps {
  title: string;
  text: string;
  /** Label of the copy button. */
  label: string;
  /** Shown beside the title. */
  note?: ReactNode;
}

/** Shows content under a title, with actions at its right. */
export function Block({ title, note, actions, children }: BlockProps) {
  return (
    <section className="flex-column gap-4 flat-text">
      <div className={`flex-row gap-8 ${styles.blockTitle}`}>
        <h3>{title}</h3>
        {note}
        <span className={styles.gap} />
        {actions}
      </div>
      {children}
    </section>
  );
}

/** Shows a text under a title with a copy button. A text too long to lay out is shown in part and copied whole. */
export function TextBlock({ title, text, label, note }: TextBlockProps) {
  return (
    <Block title={title} note={note} actions={<CopyButton text={text} label={label} />}>
      <CodeBlock label={title} text={text.slice(0, maxShown)} />
      {text.length > maxShown && (
        <p className="dim">
          The first {formatCount(maxShown)} of {formatCount(text.length)} characters; the copy has all.
        </p>
      )}
    </Block>
  );
}

/** Shows names and values as a definition list of `dt` and `dd`. */
export function Pairs({ children }: { children: ReactNode }) {
  return <dl className={styles.pairs}>{children}</dl>;
}

/** Shows metadata as names and values, non-text values as JSON. */
export function MetadataPairs({ metadata }: { metadata: Readonly<Record<string, unknown>> }) {
  return (
    <Pairs>
      {Object.entries(metadata).map(([name, value]) => (
        <div key={name} style={{ display: 'contents' }}>
          <dt>{name}</dt>
          <dd className="mono">{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
        </div>
      ))}
    </Pairs>
  );
}

interface BindingsProps {
  /** Text before the first: `with`. */
  lead: string;
  /** Variables, with their `?`, and constants. */
  bindings: readonly (readonly [variable: string, constant: string])[];
}

/** Shows the substitution of a rule's variables. */
export function Bindings({ lead, bindings }: BindingsProps) {
  if (bindings.length === 0) return null;
  return (
    <p className="gap-2-12 flex-wrap flex no-margin">
      <span className="dim">{lead}</span>
      {bindings.map(([variable, constant]) => (
        <code key={variable} className="mono">
          <span className={styles.variable}>{variable}</span> = <EntityLink constant={constant} />
        </code>
      ))}
    </p>
  );
}

/** Shows hints, one per line; nothing without hints. */
export function HintLines({ hints }: { hints: readonly string[] }) {
  return hints.map((hint) => <p key={hint}>Hint: {hint}</p>);
}

interface StripProps {
  label: string;
  /** `StripItem`s. */
  children: ReactNode;
  /** Shown below the values, such as their failure. */
  under?: ReactNode;
}

/** Shows a row of named values above a view. */
export function Strip({ label, children, under }: StripProps) {
  return (
    <section className="flex-column gap-8 fixed-size padded-8 line-below on-panel" aria-label={label}>
      <dl className="gap-6-24 flex-wrap flex no-margin">{children}</dl>
      {under}
    </section>
  );
}

/** Shows one value of a strip under its name. */
export function StripItem({ title, hint, children }: { title: string; hint?: string; children: ReactNode }) {
  return (
    <div className={styles.item} title={hint}>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  );
}

interface ListedStep {
  readonly kind: 'staged' | 'stored';
  readonly label: string;
  readonly stuck: string | null;
}

/** Lists steps, newest first, marking those undone and those that cannot be undone or redone. */
export function StepList({ done, undone }: { done: readonly ListedStep[]; undone: readonly ListedStep[] }) {
  const steps = [
    ...undone.map((step) => ({ step, isUndone: true })),
    ...[...done].reverse().map((step) => ({ step, isUndone: false })),
  ];
  if (steps.length === 0) return <p className="dim">Nothing was done yet.</p>;
  return (
    <ol className={`flex-column gap-4 ${styles.steps}`} aria-label="Steps, the newest first" tabIndex={0}>
      {steps.map(({ step, isUndone }, index) => (
        // Identified by position: the list is rebuilt with every step.
        <li key={`${index} ${step.label}`} className={isUndone ? 'dim' : ''}>
          {isUndone ? <s>{step.label}</s> : step.label}
          {isUndone && ' (undone)'}
          {!isUndone && step.kind === 'staged' && <span className="dim"> staged</span>}
          {step.stuck !== null && (
            <span className={styles.stuck}>
              Cannot be {isUndone ? 'redone' : 'undone'}: {step.stuck}
            </span>
          )}
        </li>
      ))}
    </ol>
  );
}
