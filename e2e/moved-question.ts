/** A question that takes long enough to move to a reasoning thread. */
import { expect } from '@playwright/test';

async function call(url: string, path: string, body?: object): Promise<{ status: number; text: string }> {
  const headers = { 'content-type': 'application/json', 'x-tenant-id': 'default' };
  const given = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
  const response = await fetch(`${url}${path}`, given);
  return { status: response.status, text: await response.text() };
}

/** Asks for the closure of a chain until the answer came from a thread; it is the same there. */
export async function expectThatAQuestionMoves(url: string): Promise<void> {
  for (const text of ['path(?x, ?y) :- edge(?x, ?y)', 'path(?x, ?z) :- path(?x, ?y), edge(?y, ?z)'])
    await call(url, '/teach', { text });
  let length = 0;
  const lengthen = async (by: number): Promise<void> => {
    const edge = (_: unknown, at: number): object => ({
      predicate: 'edge',
      args: [`n${length + at}`, `n${length + at + 1}`],
    });
    await call(url, '/assert/facts', { facts: Array.from({ length: by }, edge) });
    length += by;
  };
  await lengthen(800);
  expect((await call(url, '/metrics')).text).toContain('\nservice_reasoning_threads_running 0\n');
  const moved = async (): Promise<boolean> => {
    const ask = { text: 'path(?x, ?y)', limit: 1, timeoutMs: 100_000, maxDerivations: 1_000_000_000 };
    const { status, text: answer } = await call(url, '/ask', ask);
    expect([status, (JSON.parse(answer) as { total?: number }).total]).toEqual([
      200,
      (length * (length + 1)) / 2,
    ]);
    const { text } = await call(url, '/metrics');
    if (/^service_reasoning_moved_questions_total [1-9]/m.test(text)) return true;
    // The next answer is not known yet, and takes longer: a fast machine may have kept this one.
    await lengthen(400);
    return false;
  };
  await expect.poll(moved, { timeout: 120_000 }).toBe(true);
  expect((await call(url, '/metrics')).text).toContain('\nservice_reasoning_threads_running 1\n');
}
