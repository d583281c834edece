import { expect, test } from 'vitest';
import { CancellationSource } from './caller.ts';
import { EngineError } from './errors.ts';
import { defaultRunningQuestions, maxWaitingQuestions, type Owner, Scheduler } from './scheduler.ts';
import { sliceMs, type Wake } from './slices.ts';

/** A scheduler on a clock of its own, whose thread polls only when the test says so. */
function bench() {
  let now = 0;
  let cpu = 0;
  let onPolled: (() => void) | null = null;
  const ran: string[] = [];
  const scheduler = new Scheduler({
    poll: () =>
      new Promise((resolve) => {
        onPolled = resolve;
      }),
    now: () => now,
    cpuNow: () => cpu,
  });
  /** Lets the event loop poll, and what it resumes run. */
  const turn = async (): Promise<void> => {
    const polled = onPolled;
    onPolled = null;
    polled?.();
    await settled();
  };
  const pass = (milliseconds: number, ofCpu = milliseconds): void => {
    now += milliseconds;
    cpu += ofCpu;
  };
  /** A task of slices that take this long each; `wake` ends it early. */
  const task = async (
    name: string,
    owner: Owner,
    slices: number,
    takes: number,
    wake?: Wake,
  ): Promise<void> => {
    const pause = scheduler.pauseOf(owner, name);
    for (let slice = 0; slice < slices; slice++) {
      await pause(wake);
      if (wake !== undefined && (wake.signal.aborted || wake.deadline < now))
        return void ran.push(`${name} ended`);
      ran.push(name);
      pass(takes);
    }
  };
  const admit = async (caller: ReturnType<typeof callerOf>, wake = forever): Promise<(() => void) | null> =>
    scheduler.place(caller) ?? scheduler.waitForPlace(caller, wake);
  return { scheduler, admit, turn, pass, task, ran, now: () => now };
}

/** A share is exact but for the slice that begins it. */
function expectAbout(ran: readonly string[], name: string, share: number): void {
  const slices = ran.filter((each) => each === name).length;
  expect(Math.abs(slices - share), `${slices} slices of ${name}`).toBeLessThanOrEqual(1);
}

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

const tenant = (name: string) => ({ database: 'default', tenant: name });
const callerOf = (name: string, signal = new AbortController().signal) => ({ ...tenant(name), signal });
const forever: Wake = { deadline: Number.POSITIVE_INFINITY, signal: { aborted: false } };

test('runs one slice between two polls', async () => {
  const { task, turn, ran } = bench();
  for (const name of ['a', 'b', 'c']) void task(name, tenant(name), 2, 5);
  expect(ran).toEqual([]);
  for (let turns = 1; turns <= 6; turns++) {
    await turn();
    expect(ran).toHaveLength(turns);
  }
  await turn();
  expect(ran.toSorted()).toEqual(['a', 'a', 'b', 'b', 'c', 'c']);
});

test('gives each tenant an equal share, however many tasks one has', async () => {
  const { task, turn, ran } = bench();
  for (let at = 0; at < 8; at++) void task('many', tenant('many'), 100, 5);
  void task('one', tenant('one'), 100, 5);
  for (let turns = 0; turns < 40; turns++) await turn();
  expectAbout(ran, 'one', 20);
});

test('counts time, not slices: a tenant with long slices waits for the others', async () => {
  const { task, turn, ran } = bench();
  void task('long', tenant('long'), 100, 30);
  void task('short', tenant('short'), 100, 5);
  for (let turns = 0; turns < 35; turns++) await turn();
  expectAbout(ran, 'long', 5);
  expectAbout(ran, 'short', 30);
});

test('the first slices of what one poll begins are one slice together, and the next poll begins another', async () => {
  let now = 0;
  const ends: (() => void)[] = [];
  const scheduler = new Scheduler({
    poll: () => new Promise(() => {}),
    afterTurn: (end) => void ends.push(end),
    now: () => now,
  });
  /** How long a task may run that begins now. */
  const left = (name: string): number => {
    scheduler.enter('ask', tenant(name));
    const since = scheduler.pauseOf(tenant(name)).sliceSince?.() ?? Number.NaN;
    return sliceMs - (now - since);
  };
  expect(left('a')).toBe(5);
  now += 2;
  expect(left('b')).toBe(3);
  for (let at = 0; at < 14; at++) {
    now += 5;
    // What is short must not wait for a poll.
    expect(left(at % 2 === 0 ? 'a' : 'c')).toBe(0.5);
  }
  for (const end of ends.splice(0)) end();
  expect(left('d')).toBe(5);
});

test('a task that begins in a slice of another one goes on with it', async () => {
  let now = 0;
  let polled = (): void => {};
  const scheduler = new Scheduler({
    poll: () =>
      new Promise((resolve) => {
        polled = resolve;
      }),
    afterTurn: () => {},
    now: () => now,
  });
  const paused = scheduler.pauseOf(tenant('a'))();
  polled();
  await paused;
  now += 3;
  expect(scheduler.pauseOf(tenant('a')).sliceSince?.()).toBe(0);
});

test('the tasks of a tenant take turns', async () => {
  const { task, turn, ran } = bench();
  void task('x', tenant('a'), 2, 5);
  void task('y', tenant('a'), 2, 5);
  for (let turns = 0; turns < 4; turns++) await turn();
  expect(ran).toEqual(['x', 'y', 'x', 'y']);
});

test('work of the system has a share as a tenant has', async () => {
  const { task, turn, ran } = bench();
  void task('snapshot', null, 100, 5);
  for (let at = 0; at < 3; at++) void task('question', tenant('a'), 100, 5);
  for (let turns = 0; turns < 20; turns++) await turn();
  expectAbout(ran, 'snapshot', 10);
});

test('a tenant that was idle has saved up nothing, and one that was alone owes nothing', async () => {
  const { task, turn, ran } = bench();
  void task('alone', tenant('alone'), 1000, 5);
  for (let turns = 0; turns < 100; turns++) await turn();
  ran.length = 0;
  void task('late', tenant('late'), 1000, 5);
  for (let turns = 0; turns < 20; turns++) await turn();
  expectAbout(ran, 'late', 10);
});

test('charges first slices, which run at once', async () => {
  const { scheduler, admit, task, turn, pass, ran } = bench();
  void task('waiting', tenant('other'), 100, 5);
  for (let at = 0; at < 10; at++) {
    scheduler.enter('ask', tenant('busy'));
    pass(5);
  }
  void task('busy', tenant('busy'), 100, 5);
  for (let turns = 0; turns < 4; turns++) await turn();
  // The other tenant catches up before the busy one goes on.
  expect(ran).not.toContain('busy');
  expect(await admit(callerOf('idle'))).toBeTypeOf('function');
  const admitted = admit(callerOf('busy'));
  let isAdmitted = false;
  void admitted.then(() => {
    isAdmitted = true;
  });
  await settled();
  expect(isAdmitted).toBe(false);
  for (let turns = 0; turns < 20; turns++) await turn();
  expect(isAdmitted).toBe(true);
});

test('charges a first slice as a slice at most: the machine or the collector took the rest', async () => {
  const { scheduler, admit, task, turn, pass } = bench();
  void task('long', tenant('other'), 100, 5);
  scheduler.enter('tell', tenant('small'));
  pass(80);
  await turn();
  let isAdmitted = false;
  void admit(callerOf('small')).then(() => {
    isAdmitted = true;
  });
  for (let turns = 0; turns < 2; turns++) await turn();
  expect(isAdmitted).toBe(true);
});

test('work that one poll makes ready runs one slice between two polls', async () => {
  const { scheduler, task, turn, pass, ran } = bench();
  void task('question', tenant('other'), 100, 5);
  // Six connections accept more in the same poll.
  for (let at = 0; at < 6; at++)
    void scheduler
      .resumeOf(tenant('exports'), 'export')()
      .then(() => {
        ran.push('export');
        pass(5);
      });
  expect(ran).toEqual([]);
  for (let turns = 1; turns <= 12; turns++) {
    await turn();
    expect(ran).toHaveLength(turns);
  }
  expectAbout(ran, 'export', 6);
});

test('charges nothing for the time in which work waited for I/O', async () => {
  const { scheduler, task, turn, ran, pass } = bench();
  void task('other', tenant('other'), 100, 5);
  const resume = scheduler.resumeOf(tenant('slow'), 'export');
  // Its reader takes a part now and then: no other tenant runs more than a slice before it.
  for (let part = 0; part < 20; part++) {
    for (let turns = 0; turns < 3; turns++) await turn();
    void resume().then(() => {
      ran.push('part');
      pass(1);
    });
    await turn();
    if (ran.at(-1) !== 'part') await turn();
    expect(ran.at(-1)).toBe('part');
  }
});

test('wakes a paused task at its deadline, and when its caller has gone, whoever is first', async () => {
  const { task, turn, ran, pass } = bench();
  for (let at = 0; at < 10; at++) void task('many', tenant('a'), 100, 5);
  const gone = new CancellationSource();
  void task('late', tenant('a'), 100, 5, { deadline: 20, signal: { aborted: false } });
  void task('gone', tenant('a'), 100, 5, { deadline: 1e9, signal: gone });
  await turn();
  gone.cancel();
  await turn();
  expect(ran).toEqual(['many', 'gone ended', 'many']);
  pass(11);
  await turn();
  expect(ran).toEqual(['many', 'gone ended', 'many', 'late ended', 'many']);
});

test('runs a bounded number of questions of a tenant, and the others in the order of their arrival', async () => {
  const { scheduler, admit } = bench();
  scheduler.maxRunning = () => 2;
  const admitted: number[] = [];
  const leaves: (() => void)[] = [];
  for (let at = 0; at < 5; at++)
    void admit(callerOf('a')).then((leave) => {
      admitted.push(at);
      leaves.push(leave as () => void);
    });
  await settled();
  expect(admitted).toEqual([0, 1]);
  expect(scheduler.figures()).toEqual({ pausedTasks: 0, runningQuestions: 2, waitingQuestions: 3 });
  expect(await admit(callerOf('b'))).toBeTypeOf('function');
  leaves[1]?.();
  await settled();
  expect(admitted).toEqual([0, 1, 2]);
  leaves[0]?.();
  leaves[2]?.();
  await settled();
  expect(admitted).toEqual([0, 1, 2, 3, 4]);
});

test('refuses a question when too many of its tenant wait, and takes it again when one has left', async () => {
  const { scheduler, admit } = bench();
  const leave = await admit(callerOf('a'));
  for (let at = 1; at < defaultRunningQuestions; at++) await admit(callerOf('a'));
  for (let at = 0; at < maxWaitingQuestions; at++) void admit(callerOf('a'));
  const refused = await admit(callerOf('a')).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(EngineError);
  expect(refused).toMatchObject({ code: 'NotReady', status: 503, members: { retryAfterSeconds: 1 } });
  leave?.();
  void admit(callerOf('a'));
  await settled();
  expect(scheduler.figures().waitingQuestions).toBe(maxWaitingQuestions);
});

test('a question that waits for its place leaves the queue at its deadline, and with its caller', async () => {
  const { scheduler, admit, now } = bench();
  scheduler.maxRunning = () => 1;
  await admit(callerOf('a'));
  expect(await admit(callerOf('a'), { deadline: now() + 1, signal: { aborted: false } })).toBeNull();
  const gone = new AbortController();
  const waiting = admit(callerOf('a', gone.signal));
  await settled();
  expect(scheduler.figures().waitingQuestions).toBe(1);
  gone.abort();
  expect(await waiting).toBeNull();
  expect(scheduler.figures().waitingQuestions).toBe(0);
});

test('names the operation of a long turn, and counts processor time', async () => {
  const { scheduler, task, turn, pass } = bench();
  const told: [string, number][] = [];
  scheduler.turns.onLong = (operation, milliseconds) => void told.push([operation, milliseconds]);
  scheduler.enter('GET /facts', tenant('a'));
  pass(49);
  scheduler.enter('POST /tell', tenant('a'));
  pass(80);
  void task('apply', null, 1, 70);
  await turn();
  await turn();
  scheduler.enter('POST /ask');
  // Another process had the processor for most of the time.
  pass(500, 20);
  scheduler.enter('POST /ask');
  expect(told).toEqual([
    ['POST /tell', 80],
    ['apply', 70],
  ]);
  expect([...scheduler.turns.long]).toEqual([
    ['POST /tell', { count: 1, longestMs: 80 }],
    ['apply', { count: 1, longestMs: 70 }],
  ]);
});

test('forgets tenants without work', async () => {
  const { scheduler, task, turn } = bench();
  for (let at = 0; at < 1000; at++) {
    void task('short', tenant(`t${at}`), 1, 1);
    await turn();
  }
  expect(scheduler.figures()).toEqual({ pausedTasks: 0, runningQuestions: 0, waitingQuestions: 0 });
  expect(scheduler.tenants).toBeLessThan(200);
});

test('what a turn has finished goes out before the next slice', async () => {
  const ran: string[] = [];
  let onPolled = (): void => {};
  const ends: (() => void)[] = [];
  const scheduler = new Scheduler({
    poll: () =>
      new Promise((resolve) => {
        onPolled = resolve;
      }),
    afterTurn: (end) => void ends.push(end),
  });
  const pause = scheduler.pauseOf(tenant('long'));
  void (async () => {
    for (let slice = 1; slice <= 2; slice++) {
      await pause();
      ran.push(`slice ${slice}`);
    }
  })();
  // Requests are answered while the event loop polls.
  for (const answer of ['a', 'b']) scheduler.atEndOfTurn(() => ran.push(`answer ${answer}`));
  onPolled();
  await settled();
  expect(ran).toEqual(['answer a', 'answer b', 'slice 1']);
  // A slice answers its own request: that too goes out without waiting for the next one.
  scheduler.atEndOfTurn(() => ran.push('answer c'));
  for (const end of ends.splice(0)) end();
  expect(ran.at(-1)).toBe('answer c');
  onPolled();
  await settled();
  expect(ran).toEqual(['answer a', 'answer b', 'slice 1', 'answer c', 'slice 2']);
});

test('a slice waits for a short write that the disk has, a millisecond at most', async () => {
  const { scheduler, task, turn, pass, ran } = bench();
  void task('long', tenant('long'), 4, 5);
  const durable = scheduler.shortWrite();
  for (let polls = 0; polls < 3; polls++) {
    await turn();
    pass(0.3);
  }
  expect(ran).toEqual([]);
  durable();
  await turn();
  expect(ran).toEqual(['long']);
  const slow = scheduler.shortWrite();
  await turn();
  expect(ran).toEqual(['long']);
  pass(1);
  await turn();
  expect(ran).toEqual(['long', 'long']);
  slow();
});

test('small requests beside long work owe it nothing: their next question waits for no more than its own time', async () => {
  const { scheduler, task, turn, pass, ran } = bench();
  for (let at = 0; at < 8; at++) void task('many', tenant('many'), 1000, 5);
  for (let round = 0; round < 500; round++) {
    scheduler.enter('ask', tenant('few'));
    pass(2);
    await turn();
  }
  // A longer request than usual: the work beside it catches up.
  scheduler.enter('ask', tenant('few'));
  pass(20);
  ran.length = 0;
  void task('few', tenant('few'), 1, 1);
  for (let turns = 0; turns < 6; turns++) await turn();
  expect(ran).toContain('few');
});
