/**
 * Matching of key combinations written as `Mod+K`, `Alt+1` or `?`.
 *
 * A single character without a modifier counts only outside of fields, where it would be text, and can be
 * switched off altogether, since speech input types such characters by accident.
 */

type KeyPress = Pick<KeyboardEvent, 'key' | 'code' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>;

/** True where the press is the combination. `Mod` is Ctrl, or Cmd on a Mac. */
export function matchesKeys(press: KeyPress, keys: string, isMac: boolean): boolean {
  const parts = keys.split('+');
  const key = parts.at(-1) ?? '';
  const wants = new Set(parts.slice(0, -1));
  const mod = isMac ? press.metaKey : press.ctrlKey;
  const otherMod = isMac ? press.ctrlKey : press.metaKey;
  if (mod !== wants.has('Mod') || otherMod || press.altKey !== wants.has('Alt')) return false;
  // Alt changes what digits and letters type on some layouts, so the physical key decides there.
  if (wants.has('Alt') && /^[0-9]$/.test(key)) return press.code === `Digit${key}`;
  if (wants.has('Alt') && /^[a-z]$/i.test(key))
    return press.code === `Key${key.toUpperCase()}` && press.shiftKey === wants.has('Shift');
  const isCharacterWithoutCase = key.length === 1 && key.toLowerCase() === key.toUpperCase();
  if (!isCharacterWithoutCase && press.shiftKey !== wants.has('Shift')) return false;
  return press.key.toLowerCase() === key.toLowerCase();
}

export function isSingleCharacter(keys: string): boolean {
  return !keys.includes('+') && keys.length === 1;
}

/** True where typing a character would write it. */
export function isTextField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  // Some editors take text in an element that is no field; they say so by its role.
  const isEditor = target.isContentEditable || target.role === 'textbox';
  return isEditor || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

/** True within a dialog, which has keys of its own. */
export function isInDialog(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('[role="dialog"]') !== null;
}
