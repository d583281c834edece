/** Parts of a form that asks something: titled sections, the frame of an editor, what cannot be read of it. */
import { type ReactNode, useId } from 'react';
import styles from './form-section.module.css';

/** Styles of the form itself (`form`), of the frame of an editor (`editor`) and of a hint (`hint`). */
export { styles as formStyles };

export function FormSection({
  title,
  hint,
  children,
}: {
  title: string;
  hint?: ReactNode;
  children: ReactNode;
}) {
  const id = useId();
  return (
    <section className={styles.section} aria-labelledby={id}>
      <h2 id={id} className={styles.heading}>
        {title}
      </h2>
      {children}
      {hint !== undefined && <p className={`dim ${styles.hint}`}>{hint}</p>}
    </section>
  );
}

/** What cannot be read, each once; nothing where all can. */
export function FormProblemList({ problems }: { problems: readonly string[] }) {
  if (problems.length === 0) return null;
  return (
    <div role="status">
      <ul className={styles.problems}>
        {problems.map((problem) => (
          <li key={problem}>{problem}</li>
        ))}
      </ul>
    </div>
  );
}
