/** A notification of the system. */
import { Notification } from 'electron';

/** Whether the system has notifications. A Linux desktop without a program that shows them counts as having them. */
export function canNotify(): boolean {
  return Notification.isSupported();
}

/** Shows a notification without a sound; returns how to remove it. */
export function showNotification(
  { title, body }: { readonly title: string; readonly body: string },
  onClick: () => void,
): () => void {
  const notification = new Notification({ title, body, silent: true });
  // Not `close`: Linux also reports a notification that nobody has looked at.
  notification.once('click', onClick);
  notification.show();
  return () => notification.close();
}
