/** What a view says when it has nothing, when something failed, and when what it shows has grown old. */
import { Button, Loader } from '@mantine/core';
import { IconAlertTriangle, IconInfoCircle, IconRefresh } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { CopyButton } from './copy-button.tsx';
import styles from './notices.module.css';

/** A failure as it is shown; the errors of the api fit. */
export interface ShownFailure {
  readonly title: string;
  readonly detail: string;
  readonly requestId: string;
  readonly errors: readonly { readonly path: string; readonly message: string }[];
  /** Where it can be done instead; null: nowhere. */
  readonly leader?: string | null;
}

/** A failure in place: what happened, what to do, and the id that finds it in the service's log. */
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
          <div className={styles.request}>
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

/** The same in place of what a pane would show. */
export function PaneProblem(props: { failure: ShownFailure; onRetry?: () => void }) {
  return (
    <div className={styles.inPane}>
      <ProblemNotice {...props} />
    </div>
  );
}

/** In place of what is on its way. */
export function Loading() {
  return (
    <div className={`${styles.running} dim`} role="status">
      <Loader size={16} aria-hidden /> Loading
    </div>
  );
}

/** A line over a view: what it shows is no longer the whole truth. */
export function Banner({ children, action }: { children: ReactNode; action?: ReactNode }) {
  return (
    <div className={styles.banner} role="status">
      <IconInfoCircle size={16} aria-hidden />
      <span className={styles.bannerText}>{children}</span>
      {action}
    </div>
  );
}

interface AgeBannerProps {
  /** What makes it new: `Prove again`. */
  action: string;
  onAgain: () => void;
  children: ReactNode;
}

/** Over what was worked out before the knowledge moved on: it stays, until somebody asks for it anew. */
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

/** In place of content that is not there, with the way to get some. */
export function EmptyState({ icon, title, children, actions }: EmptyStateProps) {
  return (
    <div className={styles.empty}>
      {icon}
      <h3>{title}</h3>
      {children !== undefined && <p>{children}</p>}
      {actions !== undefined && <div className={styles.emptyActions}>{actions}</div>}
    </div>
  );
}
