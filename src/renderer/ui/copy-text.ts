import { notifyHint } from './notify.tsx';

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
