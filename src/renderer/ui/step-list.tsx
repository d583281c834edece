import styles from './step-list.module.css';

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
