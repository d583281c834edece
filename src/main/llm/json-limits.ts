/**
 * Limits of a provider's JSON before it is parsed and validated: both would block the thread for seconds over millions
 * of values and report each as wrong. Long texts are harmless.
 */

/** Nearly ten times what an answer of 16,000 tokens can contain. */
export const maxJsonValues = 20_000;
const maxJsonDepth = 100;

const [quote, backslash, comma] = ['"', '\\', ','].map((sign) => sign.charCodeAt(0));
const openings = codesOf('{[');
const closings = codesOf('}]');

function codesOf(signs: string): ReadonlySet<number> {
  return new Set([...signs].map((sign) => sign.charCodeAt(0)));
}

/** For a text that is meant to be JSON; for any other the result is meaningless. */
export function isWithinJsonLimits(text: string): boolean {
  let values = 1;
  let depth = 0;
  let isInText = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (isInText) {
      if (code === backslash) at += 1;
      else if (code === quote) isInText = false;
    } else if (code === quote) isInText = true;
    else if (code === comma) values += 1;
    else if (openings.has(code)) {
      values += 1;
      depth += 1;
    } else if (closings.has(code)) depth -= 1;
    if (values > maxJsonValues || depth > maxJsonDepth) return false;
  }
  return true;
}
