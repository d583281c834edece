/** Parts of a question form: sections, the editor's frame, problems. */
import { type ReactNode, useId } from 'react';
import styles from './form-section.module.css';

/** Styles of a form (`form`), an editor's frame (`editor`) and a hint (`hint`). */
export { styles as formStyles };

/** Shows a titled section of a form. */
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
    <section className="flex-column gap-6" aria-labelledby={id}>
      <h2 id={id} className="label-title">
        {title}
      </h2>
      {children}
      {hint !== undefined && <p className="dim no-margin">{hint}</p>}
    </section>
  );
}

/** Lists problems without duplicates; nothing if there are none. */
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
