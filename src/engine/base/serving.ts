import { Polls } from './polls.ts';
import { Scheduler } from './scheduler.ts';

/** The polls of this thread's event loop. */
export const polls = new Polls((polled) => void setImmediate(polled));

/** The scheduler of this thread: it has one event loop, so all that it serves shares one. */
export const serving = new Scheduler({
  poll: () => polls.next(),
  afterTurn: (end) => void setImmediate(end),
  cpuNow: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
});
