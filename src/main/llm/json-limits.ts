/**
 * How much JSON a provider may answer with before it is parsed and held against a schema: both would hold the thread for
 * seconds over millions of values, and tell of each that it is wrong. Long texts are no trouble.
 */

/** Nearly ten times what an answer of 16,000 tokens can hold. */
export const maxJsonValues = 20_000;
const maxJsonDepth = 100;

const [quote, backslash, comma] = ['"', '\\', ','].map((sign) => sign.charCodeAt(0));
const openings = codesOf('{[');
const closings = codesOf('}]');

function codesOf(signs: string): ReadonlySet<number> {
  return new Set([...signs].map((sign) => sign.charCodeAt(0)));
}

/** Of a text that is meant to be JSON; of any other it says something, but nothing of use. */
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
