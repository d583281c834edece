import { ActionIcon, Tooltip } from '@mantine/core';
import { IconArrowsMaximize, IconX } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';

interface BesideActionsProps {
  /** Such as `the proof`. */
  what: string;
  /** The view that shows it alone. */
  to: '/proof' | '/why-not' | '/trace';
  question: string;
  /** Other search parameters of that view. */
  look?: Readonly<Record<string, string | undefined>>;
  onClose: () => void;
}

/** Shows the actions of an explanation beside other content: open it alone, close it. */
export function BesideActions({ what, to, question, look = {}, onClose }: BesideActionsProps) {
  return (
    <>
      <Tooltip label="Open on its own">
        <ActionIcon
          aria-label={`Open ${what} on its own`}
          renderRoot={(props) => <Link to={to} search={{ ...look, question }} {...props} />}
        >
          <IconArrowsMaximize size={15} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Close">
        <ActionIcon aria-label={`Close ${what}`} onClick={onClose}>
          <IconX size={16} aria-hidden />
        </ActionIcon>
      </Tooltip>
    </>
  );
}
