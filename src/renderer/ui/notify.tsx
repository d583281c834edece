/** Short messages in the corner, for what happened away from where one looks. */
import { notifications } from '@mantine/notifications';
import type { ShownFailure } from './notices.tsx';

const closing = { closeButtonProps: { 'aria-label': 'Close the message' } };

export function notifyDone(message: string): void {
  notifications.show({ ...closing, message, color: 'green', autoClose: 6_000 });
}

/** Says why nothing happened, where that is no failure. */
export function notifyHint(message: string): void {
  notifications.show({ ...closing, message, color: 'gray', autoClose: 6_000 });
}

export function notifyFailure(failure: ShownFailure): void {
  notifications.show({
    ...closing,
    title: failure.title,
    message: failure.requestId === '' ? failure.detail : `${failure.detail} (request ${failure.requestId})`,
    color: 'red',
    autoClose: 10_000,
  });
}

/** Says what went wrong where no service was asked. */
export function notifyTrouble(title: string, error: unknown): void {
  notifyFailure({
    title,
    detail: error instanceof Error ? error.message : String(error),
    requestId: '',
    errors: [],
  });
}
