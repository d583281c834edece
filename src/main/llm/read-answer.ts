/**
 * What a model wrote, read as JSON of a schema.
 *
 * Models put fences, thoughts and polite words around JSON; those are passed over. The key that the provider was called
 * with is taken out of every text before anything else sees it, whatever way it was written in the JSON. What does not
 * fit is described in words for the model, so that it can mend its answer; they are not for anyone else.
 */
import type { z } from 'zod';
import { readAs } from '../../engine/contract/validation.ts';
import { isWithinJsonLimits, maxJsonValues } from './json-limits.ts';

export type ReadAnswer<Value> =
  | { readonly isAccepted: true; readonly value: Value }
  | { readonly isAccepted: false; readonly complaint: string };

/** Shorter keys are no secret of any provider, and would be found in every other word. */
const leastKeyLength = 8;
const noObject = `The answer is not one complete JSON object of at most ${maxJsonValues} values.`;
const maxComplaints = 10;
const maxComplaintLength = 300;

export function readAnswer<Schema extends z.ZodType>(
  text: string,
  schema: Schema,
  key: string | null,
): ReadAnswer<z.output<Schema>> {
  const json = parseAround(text);
  if (json === undefined) return { isAccepted: false, complaint: noObject };
  const { value } = key === null || key.length < leastKeyLength ? { value: json } : without(key, json);
  const result = readAs(schema, value);
  return result.success
    ? { isAccepted: true, value: result.data }
    : { isAccepted: false, complaint: complaintOf(result.error) };
}

/** The JSON object in a text: the whole of it, what a fence holds, or from the first brace to the last. */
function parseAround(text: string): object | undefined {
  const trimmed = text.trim();
  return parseObject(trimmed) ?? parseObject(fenced(trimmed)) ?? parseObject(braced(trimmed));
}

function parseObject(text: string): object | undefined {
  if (!text.startsWith('{') || !isWithinJsonLimits(text)) return undefined;
  try {
    return JSON.parse(text) as object;
  } catch {
    // No JSON: the next reading is tried, and the model is told where none fits.
    return undefined;
  }
}

function fenced(text: string): string {
  const start = text.indexOf('```');
  const line = start < 0 ? -1 : text.indexOf('\n', start);
  const end = line < 0 ? -1 : text.lastIndexOf('```');
  return end > line ? text.slice(line + 1, end).trim() : '';
}

function braced(text: string): string {
  const thought = text.lastIndexOf('</think>');
  const start = text.indexOf('{', Math.max(0, thought));
  return start < 0 ? '' : text.slice(start, text.lastIndexOf('}') + 1);
}

/** The same JSON in which no text holds the key; members whose name does are left out. */
function without(key: string, json: unknown): { value: unknown } {
  const root = { value: json };
  const waiting: object[] = [root];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const holder = next as Record<string, unknown>;
    for (const [name, value] of Object.entries(holder)) {
      const kept = typeof value === 'string' ? value.replaceAll(key, '[key]') : value;
      if (name.includes(key)) delete holder[name];
      else if (kept !== value) holder[name] = kept;
      if (typeof value === 'object' && value !== null) waiting.push(value);
    }
  }
  return root;
}

function complaintOf(error: z.ZodError): string {
  const shown = error.issues.slice(0, maxComplaints).map(({ path, message }) => {
    const place = path.map(String).join('.');
    return `- ${place === '' ? 'the whole' : place}: ${message}`.slice(0, maxComplaintLength);
  });
  const left = error.issues.length - shown.length;
  return [...shown, ...(left > 0 ? [`- and ${left} more`] : [])].join('\n');
}
