/**
 * For tests: reads and runs pages that a reader follows with a shell and curl.
 *
 * A `sh` block is a step; the block right after it, `json` or `text`, is its output. A step that starts the program is
 * not run: it begins another service with the variables that it sets. A page that starts none assumes a running one.
 * The steps of one service share one shell, and functions that a step defines exist in all later ones. A block marked
 * `sh not-run` is no step: documentation.test.ts lists those, and checks what they name.
 */
import { execFile } from 'node:child_process';
import { present } from '../../../engine/index.ts';

interface Step {
  readonly command: string;
  /** What the page shows as its output; null: it prints nothing. */
  readonly shown: { readonly kind: 'json' | 'text'; readonly text: string } | null;
  /** The line of the page on which the command begins. */
  readonly line: number;
}

export interface Leg {
  /** The variables set for the start of the service. */
  readonly environment: Readonly<Record<string, string>>;
  /** Functions of the shell that were defined before. */
  readonly definitions: readonly string[];
  readonly steps: readonly Step[];
}

/** The output of a step, beside what the page shows, both normalized for comparison. */
export interface Walked {
  readonly line: number;
  readonly shown: unknown;
  readonly printed: unknown;
}

const start = /^((?:[A-Z_]+=\S+ )*)(?:node out\/main\/headless\.js|npm start(?: .*\nnpm test .*)?)$/;

/** A block of code: its info string, its text, and its position. */
export interface Block {
  readonly kind: string;
  readonly text: string;
  /** The line of the page after the fence. */
  readonly line: number;
}

export function blocksOf(page: string): Block[] {
  return [...page.matchAll(/^```([^\n]*)\n([\s\S]*?)\n?^```$/gm)].map(
    ({ 1: kind = '', 2: text = '', index }) => ({
      kind,
      text,
      line: page.slice(0, index).split('\n').length + 1,
    }),
  );
}

/** The page as services with the steps for each. */
export function readTour(page: string): Leg[] {
  const legs: { environment: Record<string, string>; definitions: string[]; steps: Step[] }[] = [];
  const definitions: string[] = [];
  const blocks = blocksOf(page);
  for (const [at, { kind, text, line }] of blocks.entries()) {
    if (kind !== 'sh') continue;
    const variables = start.exec(text)?.[1];
    if (variables !== undefined) {
      const pairs = variables.trim().split(' ');
      legs.push({
        environment: Object.fromEntries(pairs.map((pair) => pair.split('='))),
        definitions: [...definitions],
        steps: [],
      });
      continue;
    }
    if (/^\w+\(\)/.test(text)) definitions.push(text);
    const next = blocks[at + 1];
    const answer =
      next?.kind === 'json' || next?.kind === 'text' ? { kind: next.kind, text: next.text } : null;
    if (legs.length === 0) legs.push({ environment: {}, definitions: [], steps: [] });
    present(legs.at(-1), 'a service runs').steps.push({
      command: text,
      shown: answer as Step['shown'],
      line,
    });
  }
  return legs;
}

const mark = '\u001e';

/** Runs the steps at the service, one after the other, in this folder, and returns the output of each. */
export async function walk({ definitions, steps }: Leg, address: string, folder: string): Promise<string[]> {
  const script = [definitions.join('\n'), ...steps.map(({ command }) => `${command}\nprintf '${mark}'`)]
    .join('\n')
    .replaceAll('http://127.0.0.1:9300', address);
  const output = await new Promise<string>((resolve, reject) => {
    const options = {
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '' },
      timeout: 25_000,
      maxBuffer: 64 * 1024 * 1024,
    };
    execFile('bash', ['--noprofile', '--norc', '-c', script], options, (error, stdout, stderr) => {
      if (error !== null || stderr !== '') reject(new Error(`the shell said: ${stderr}`, { cause: error }));
      else resolve(stdout);
    });
  });
  return output.split(mark).slice(0, -1);
}

/** The shown and the actual output, without what differs between runs. */
export function compared({ steps }: Leg, outputs: readonly string[]): Walked[] {
  return steps.map(({ line, shown }, at) => {
    const output = outputs[at] ?? '';
    if (shown?.kind === 'json')
      return { line, shown: alike(jsonValues(shown.text)), printed: alike(jsonValues(output)) };
    return { line, shown: alikeText(shown?.text ?? ''), printed: alikeText(output.trim()) };
  });
}

/** The consecutive JSON values of a text. */
export function jsonValues(text: string): unknown[] {
  const values: unknown[] = [];
  let [begin, depth, inString] = [0, 0, false];
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (inString) {
      if (character === '\\') at++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') {
      depth--;
      if (depth > 0) continue;
      values.push(JSON.parse(text.slice(begin, at + 1)));
      begin = at + 1;
    }
  }
  const rest = text.slice(begin).trim();
  if (rest !== '') throw new Error(`this is no JSON object or array: ${rest}`);
  return values;
}

/** Numbers and texts under these names differ between runs. */
const volatile =
  /^(?:elapsedMs|uptimeMs|generatedAt|createdAt|updatedAt|expiresAt|lastUsedAt|time|first|last|salience|minSalience|maxSalience|version|key|prefix)$/;

function alike(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => alike(item));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, alike(inner, key)]));
  if (value !== null && volatile.test(name)) return `a ${typeof value}`;
  return typeof value === 'string' ? alikeText(value) : value;
}

function alikeText(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'an id')
    .replaceAll(/"time":\d{13}/g, '"time":now');
}
