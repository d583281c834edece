/** Short messages in the corner, for events outside of the user's focus. */
import { Button } from '@mantine/core';
import type { NotificationData } from '@mantine/notifications';
import { create } from 'zustand';
import { later } from './later.tsx';
import type { ShownFailure } from './notices.tsx';

/** Whether there was a message: the code that shows them is fetched with the first. */
const useMessages = create<{ readonly isAny: boolean }>()(() => ({ isAny: false }));

const Notifications = later(async () => (await import('@mantine/notifications')).Notifications);

/** Shows the messages. */
export function MessageArea() {
  const isAny = useMessages((state) => state.isAny);
  return isAny ? <Notifications position="bottom-right" limit={4} /> : null;
}

async function show(message: NotificationData): Promise<void> {
  useMessages.setState({ isAny: true });
  const { notifications } = await import('@mantine/notifications');
  notifications.show(message);
}

async function hide(id: string): Promise<void> {
  const { notifications } = await import('@mantine/notifications');
  notifications.hide(id);
}

let waitingMade = 0;

const closing = { closeButtonProps: { 'aria-label': 'Close the message' } };

/** Reports success. */
export function notifyDone(message: string): void {
  void show({ ...closing, message, color: 'green', autoClose: 6_000 });
}

/** Explains why nothing happened, if that is no failure. */
export function notifyHint(message: string): void {
  void show({ ...closing, message, color: 'gray', autoClose: 6_000 });
}

/** Says what waits for the user, and does it on demand. It stays until then or until it is closed. */
export function notifyWaiting(message: string, action: string, run: () => void): void {
  waitingMade += 1;
  const id = `waiting-${waitingMade}`;
  void show({
    ...closing,
    id,
    message: (
      <div className="flex-row gap-8">
        <span className="grow">{message}</span>
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => {
            void hide(id);
            run();
          }}
        >
          {action}
        </Button>
      </div>
    ),
    color: 'gray',
    autoClose: false,
  });
}

/** Reports a failed call. */
export function notifyFailure(failure: ShownFailure): void {
  void show({
    ...closing,
    title: failure.title,
    message: failure.requestId === '' ? failure.detail : `${failure.detail} (request ${failure.requestId})`,
    color: 'red',
    autoClose: 10_000,
  });
}

/** Reports an error outside of any call. */
export function notifyTrouble(title: string, error: unknown): void {
  notifyFailure({
    title,
    detail: error instanceof Error ? error.message : String(error),
    requestId: '',
    errors: [],
  });
}

/** Copies a text without a copy button. Returns false, after telling the user, if the browser refuses. */
export async function copyText(text: string): Promise<boolean> {
  // Browsers expose it only on secure pages.
  if (!('clipboard' in navigator)) {
    notifyHint(
      'This browser does not let pages copy here. Select the text and copy it with the browser, or save it to a file.',
    );
    return false;
  }
  await navigator.clipboard.writeText(text);
  return true;
}
