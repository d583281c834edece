/**
 * Matching of shortcuts such as `Mod+K`, `Alt+1` or `?`.
 *
 * A single character without a modifier counts only outside of text fields and can be disabled, since speech input
 * types such characters by accident.
 */

type KeyPress = Pick<KeyboardEvent, 'key' | 'code' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>;

/** Returns true if the press matches the shortcut. `Mod` is Ctrl, or Cmd on a Mac. */
export function matchesKeys(press: KeyPress, keys: string, isMac: boolean): boolean {
  const parts = keys.split('+');
  const key = parts.at(-1) ?? '';
  const wants = new Set(parts.slice(0, -1));
  const mod = isMac ? press.metaKey : press.ctrlKey;
  const otherMod = isMac ? press.ctrlKey : press.metaKey;
  if (mod !== wants.has('Mod') || otherMod || press.altKey !== wants.has('Alt')) return false;
  // On some layouts Alt changes the typed character, so the physical key decides.
  if (wants.has('Alt') && /^[0-9]$/.test(key)) return press.code === `Digit${key}`;
  if (wants.has('Alt') && /^[a-z]$/i.test(key))
    return press.code === `Key${key.toUpperCase()}` && press.shiftKey === wants.has('Shift');
  const isCharacterWithoutCase = key.length === 1 && key.toLowerCase() === key.toUpperCase();
  if (!isCharacterWithoutCase && press.shiftKey !== wants.has('Shift')) return false;
  return press.key.toLowerCase() === key.toLowerCase();
}

/** Returns true for a shortcut of one character. */
export function isSingleCharacter(keys: string): boolean {
  return !keys.includes('+') && keys.length === 1;
}

/** Returns true if typing would write text there. */
export function isTextField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  // Some editors accept text in an element that is not a field; its role says so.
  const isEditor = target.isContentEditable || target.role === 'textbox';
  return isEditor || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

/** Returns true inside a dialog, which has its own keys. */
export function isInDialog(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('[role="dialog"]') !== null;
}
