import styles from './bindings.module.css';

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
    <p className={styles.bindings}>
      <span className="dim">{lead}</span>
      {bindings.map(([variable, constant]) => (
        <code key={variable} className="mono">
          <span className={styles.variable}>{variable}</span> = {constant}
        </code>
      ))}
    </p>
  );
}
