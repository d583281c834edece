/** Text for the clipboard, from where there is no button that copies. */
import { notifyHint } from './notify.tsx';

/** Copies the text; false where the browser lets no page copy here, which is said. */
export async function copyText(text: string): Promise<boolean> {
  // Browsers have it on secure pages alone.
  if (!('clipboard' in navigator)) {
    notifyHint(
      'This browser lets no page copy here. Mark the text and copy it by the browser, or save it to a file.',
    );
    return false;
  }
  await navigator.clipboard.writeText(text);
  return true;
}
