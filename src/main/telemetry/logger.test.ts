import { expect, it } from 'vitest';
import { setImmediate } from 'node:timers/promises';
import { createLogger, inTurns, plainLine } from './logger.ts';

it('writes JSON lines with time, level and fields', () => {
  const lines: string[] = [];
  const log = createLogger({ level: 'INFO', format: 'json', write: (line) => lines.push(line) });
  log.debug('not shown');
  log.info({ requestId: 'r1', status: 200 }, 'answered');
  expect(lines).toHaveLength(1);
  expect(lines[0]?.endsWith('\n')).toBe(true);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 'INFO',
    requestId: 'r1',
    status: 200,
    msg: 'answered',
  });
});

it('writes plain lines for a terminal, with the stack of an error below', () => {
  const lines: string[] = [];
  const log = createLogger({ level: 'DEBUG', format: 'plain', write: (line) => lines.push(line) });
  log.warn({ requestId: 'r 1', route: '/tell' }, 'careful');
  log.error({ err: new TypeError('inside') }, 'a bug');
  expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d\.\d{3} WARN {2}careful requestId="r 1" route=\/tell\n$/);
  expect(lines[1]).toMatch(/ERROR a bug\n {2}TypeError: inside\n {6}at /);
});

it.each([
  'a\nb',
  'a\r\u001b[2Kb',
  'a\u009b2Jb',
  '\u001b]0;title\u0007',
  'a\u2028b',
  '\u202eback',
  'x\u{e0001}',
  '\u007f',
])('keeps any value, message or error within its line and away from the terminal: %j', (text) => {
  const lines: string[] = [];
  const log = createLogger({ level: 'INFO', format: 'plain', write: (line) => lines.push(line) });
  log.info({ client: text, list: [text] }, text);
  log.error({ err: new Error(text) }, 'a bug');
  expect(lines[0]?.match(/\n/g)).toHaveLength(1);
  // Lines of an error are indented, so that none looks like a log line.
  for (const line of lines[1]?.trimEnd().split('\n').slice(1) ?? []) expect(line).toMatch(/^ {2}/);
  // eslint-disable-next-line no-control-regex
  for (const line of lines) expect(line.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
});

it("logs an error's kind, message, stack and causes, but no attached or quoted data", () => {
  const lines: string[] = [];
  const log = createLogger({ level: 'INFO', format: 'json', write: (line) => lines.push(line) });
  let quoting: unknown = null;
  try {
    JSON.parse('the-secret');
  } catch (error) {
    quoting = error;
  }
  const request = { body: 'the-secret', headers: { authorization: 'the-secret' } };
  log.error({ err: Object.assign(new TypeError('inside', { cause: quoting }), { request }) }, 'a bug');
  log.error({ err: 'the-secret' }, 'a bug');
  const [entry] = lines.map((line) => JSON.parse(line) as { err: Record<string, unknown> });
  expect(entry?.err).toMatchObject({ type: 'TypeError', message: 'inside', cause: { type: 'SyntaxError' } });
  expect(entry?.err['stack']).toMatch(/^TypeError: inside\n {4}at /);
  expect(lines.join('')).not.toContain('secret');
});

it("keeps one event on one line, whatever the client's request id", () => {
  const line = plainLine(JSON.stringify({ level: 'INFO', msg: 'm', requestId: 'a" b=c' }));
  expect(line).toBe(' INFO  m requestId="a\\" b=c"\n');
});

it('writes the lines of one turn together and in order, at its end or when they become many', async () => {
  const written: string[] = [];
  const write = inTurns((lines) => written.push(lines));
  write('one\n');
  write('two\n');
  expect(written).toEqual([]);
  await setImmediate();
  expect(written).toEqual(['one\ntwo\n']);
  const long = `${'x'.repeat(70_000)}\n`;
  write('three\n');
  write(long);
  expect(written.slice(1)).toEqual([`three\n${long}`]);
  write('four\n');
  await setImmediate();
  await setImmediate();
  expect(written.slice(2)).toEqual(['four\n']);
});

it('flushes at process exit the lines that wait for the end of the turn', () => {
  const before = process.listeners('exit');
  const written: string[] = [];
  const write = inTurns((lines) => written.push(lines));
  const added = process.listeners('exit').filter((listener) => !before.includes(listener));
  write('last words\n');
  for (const atExit of added) atExit(1);
  expect(written).toEqual(['last words\n']);
  for (const atExit of added) process.off('exit', atExit);
});
