const underscores = String.raw`(?:_|\\u005[fF]){2}`;
const o = String.raw`(?:o|\\u006[fF])`;
/** Matches `"__proto__":`, with any of its characters escaped. */
const prototypeField = new RegExp(
  String.raw`"${underscores}(?:p|\\u0070)(?:r|\\u0072)${o}(?:t|\\u0074)${o}${underscores}"\s*:`,
);

/**
 * True if the JSON has a field named `__proto__`: it would be lost or, copied carelessly, change an object's prototype.
 */
export function namesPrototype(text: string): boolean {
  if (!text.includes('__') && !text.includes('\\u005')) return false;
  return prototypeField.test(text);
}
