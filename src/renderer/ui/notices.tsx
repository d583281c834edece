/** What a view shows beside or in place of content: empty, failed, out of date, running. */
import { Button, Loader, TextInput } from '@mantine/core';
import {
  IconAlertTriangle,
  IconBook2,
  IconInfoCircle,
  IconPlayerStop,
  IconPlus,
  IconRefresh,
} from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { CopyButton } from './copy-button.tsx';
import { formatDuration } from './format.ts';
import styles from './notices.module.css';

/** A failure to show; errors of the api fit. */
export interface ShownFailure {
  readonly title: string;
  readonly detail: string;
  readonly requestId: string;
  readonly errors: readonly { readonly path: string; readonly message: string }[];
  /** Where the action is possible instead; null for nowhere. */
  readonly leader?: string | null;
  readonly code?: string;
}

/** Codes of what was not tried, since the workbench shows the past: nothing failed, and nothing can be tried again. */
const ofThePast: ReadonlySet<string> = new Set(['PresentOnly', 'ReadOnlyPast']);

/** Shows a failure: what happened, what to do, and the request id for the service's log. */
export function ProblemNotice({ failure, onRetry }: { failure: ShownFailure; onRetry?: () => void }) {
  const errors = failure.errors.filter((error) => !failure.detail.includes(error.message));
  const isOfThePast = ofThePast.has(failure.code ?? '');
  const Icon = isOfThePast ? IconInfoCircle : IconAlertTriangle;
  return (
    <div className={styles.problem} data-quiet={isOfThePast} role={isOfThePast ? 'status' : 'alert'}>
      <Icon size={18} className={styles.icon} aria-hidden />
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
        {onRetry !== undefined && !isOfThePast && (
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
    <div className={`flex-row gap-8 fixed-size padded-6 line-below ${styles.banner}`} role="status">
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

/** Shows how to add first facts, for views of an empty knowledge base. */
export function FirstFacts() {
  return (
    <>
      <Button
        leftSection={<IconPlus size={14} aria-hidden />}
        renderRoot={(props) => <Link to="/facts" {...props} />}
      >
        Go to Facts
      </Button>
      <Button
        variant="default"
        leftSection={<IconBook2 size={14} aria-hidden />}
        renderRoot={(props) => <Link to="/start" {...props} />}
      >
        Open a sample
      </Button>
    </>
  );
}

interface NoQuestionProps {
  icon: ReactNode;
  title: string;
  /** Label of the field, and an example. */
  label: string;
  placeholder: string;
  /** Label of the button. */
  action: string;
  /** A question that a link has filled in. */
  initial: string;
  onQuestion: (question: string) => void;
  children: ReactNode;
}

/** Shows a question field in place of an explanation whose address has none. */
export function NoQuestion(props: NoQuestionProps) {
  const { icon, title, label, placeholder, action, initial, onQuestion, children } = props;
  const [text, setText] = useState(initial);
  const question = text.trim();
  return (
    <EmptyState
      icon={icon}
      title={title}
      actions={
        <form
          className={`flex-wrap flex gap-8 ${styles.form}`}
          onSubmit={(event) => {
            event.preventDefault();
            if (question !== '') onQuestion(question);
          }}
        >
          <TextInput
            className={styles.field ?? ''}
            classNames={{ input: 'mono' }}
            aria-label={label}
            placeholder={placeholder}
            autoComplete="off"
            spellCheck={false}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
          <Button type="submit" disabled={question === ''}>
            {action}
          </Button>
          <Button variant="default" renderRoot={(root) => <Link to="/ask" {...root} />}>
            Ask something
          </Button>
        </form>
      }
    >
      {children}
    </EmptyState>
  );
}

interface BusyFrameProps {
  isBusy: boolean;
  /** Shown above the content, which fills the rest. */
  banner?: ReactNode;
  children: ReactNode;
}

/** Shows a result with a thin progress line while the next one is computed. */
export function BusyFrame({ isBusy, banner, children }: BusyFrameProps) {
  return (
    <div className={`flex-column full-height ${styles.frame}`} aria-busy={isBusy}>
      {banner}
      <div className="rest-height">{children}</div>
    </div>
  );
}

/** Shows how long a task has run, once noticeable. `since` is a `performance.now()` value. */
export function Elapsed({ since }: { since: number }) {
  const [now, setNow] = useState(since);
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 100);
    return () => clearInterval(timer);
  }, []);
  return now - since < 300 ? null : (
    <span className="dim number fixed-size">{formatDuration(now - since)}</span>
  );
}

/** Shows a running task in place of its result. */
export function Running({ what, since, onCancel }: { what: string; since: number; onCancel: () => void }) {
  return (
    <div className="flex-row gap-8 padded">
      <Loader size={18} aria-hidden />
      {/* Screen readers do not announce the elapsed time. */}
      <span role="status">{what}</span>
      <Elapsed since={since} />
      <Button className="fixed-size" size="compact-xs" variant="default" onClick={onCancel}>
        Cancel
      </Button>
    </div>
  );
}

/** Shows elapsed time and cancel in a pane's bar. */
export function RunningActions({ since, onCancel }: { since: number; onCancel: () => void }) {
  return (
    <>
      <Elapsed since={since} />
      <Button
        color="red"
        variant="light"
        leftSection={<IconPlayerStop size={14} aria-hidden />}
        onClick={onCancel}
      >
        Cancel
      </Button>
    </>
  );
}

/** Shows after how many milliseconds a task was cancelled. */
export function CancelledNote({ after }: { after: number }) {
  return (
    <span role="status" className="dim">
      Cancelled after {formatDuration(after)}
    </span>
  );
}
