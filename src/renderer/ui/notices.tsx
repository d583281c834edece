/** Notices of a view: empty, failed, out of date. */
import { Button, Loader } from '@mantine/core';
import { IconAlertTriangle, IconInfoCircle, IconRefresh } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { CopyButton } from './copy-button.tsx';
import styles from './notices.module.css';

/** A failure to show; errors of the api fit. */
export interface ShownFailure {
  readonly title: string;
  readonly detail: string;
  readonly requestId: string;
  readonly errors: readonly { readonly path: string; readonly message: string }[];
  /** Where the action is possible instead; null for nowhere. */
  readonly leader?: string | null;
}

/** Shows a failure: what happened, what to do, and the request id for the service's log. */
export function ProblemNotice({ failure, onRetry }: { failure: ShownFailure; onRetry?: () => void }) {
  const errors = failure.errors.filter((error) => !failure.detail.includes(error.message));
  return (
    <div className={styles.problem} role="alert">
      <IconAlertTriangle size={18} className={styles.icon} aria-hidden />
      <div style={{ minWidth: 0, flex: 1 }}>
        <h3>{failure.title}</h3>
        <p>{failure.detail}</p>
        {errors.length > 0 && (
          <ul>
            {errors.slice(0, 10).map((error) => (
              <li key={`${error.path} ${error.message}`}>
                {error.path !== '' && <code className="mono">{error.path}</code>} {error.message}
              </li>
            ))}
          </ul>
        )}
        {typeof failure.leader === 'string' && (
          <p>
            <a href={failure.leader} target="_blank" rel="noreferrer">
              Open the leader’s workbench
            </a>
          </p>
        )}
        {failure.requestId !== '' && (
          <div className={`flex-row small-print gap-6 ${styles.request}`}>
            <span>
              Request <code className="mono">{failure.requestId}</code>
            </span>
            <CopyButton text={failure.requestId} label="Copy the request id" />
          </div>
        )}
        {onRetry !== undefined && (
          <Button mt={8} variant="default" onClick={onRetry}>
            Try again
          </Button>
        )}
      </div>
    </div>
  );
}

/** Shows a failure in place of a pane's content. */
export function PaneProblem(props: { failure: ShownFailure; onRetry?: () => void }) {
  return (
    <div className="padded">
      <ProblemNotice {...props} />
    </div>
  );
}

/** Shows that content is loading. */
export function Loading() {
  return (
    <div className="flex-row gap-8 padded dim" role="status">
      <Loader size={16} aria-hidden /> Loading
    </div>
  );
}

/** Shows a line above a view whose content is not current. */
export function Banner({ children, action }: { children: ReactNode; action?: ReactNode }) {
  return (
    <div className={`flex-row gap-8 ${styles.banner}`} role="status">
      <IconInfoCircle size={16} aria-hidden />
      <span className="rest-width">{children}</span>
      {action}
    </div>
  );
}

interface AgeBannerProps {
  /** Label of the refresh button: `Prove again`. */
  action: string;
  onAgain: () => void;
  children: ReactNode;
}

/** Shows that a result is older than the knowledge; it stays until the user refreshes it. */
export function AgeBanner({ action, onAgain, children }: AgeBannerProps) {
  return (
    <Banner
      action={
        <Button
          size="compact-xs"
          variant="default"
          leftSection={<IconRefresh size={13} aria-hidden />}
          onClick={onAgain}
        >
          {action}
        </Button>
      }
    >
      {children}
    </Banner>
  );
}

interface EmptyStateProps {
  icon?: ReactNode;
  title: string;
  children?: ReactNode;
  actions?: ReactNode;
}

/** Shows that there is no content, and how to get some. */
export function EmptyState({ icon, title, children, actions }: EmptyStateProps) {
  return (
    <div className={`flex-column gap-6 ${styles.empty}`}>
      {icon}
      <h3>{title}</h3>
      {children !== undefined && <p>{children}</p>}
      {actions !== undefined && <div className={styles.emptyActions}>{actions}</div>}
    </div>
  );
}
