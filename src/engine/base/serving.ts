import { Scheduler } from './scheduler.ts';

/** The scheduler of this thread: it has one event loop, so all that it serves shares one. */
export const serving = new Scheduler({
  poll: () => new Promise((resolve) => void setImmediate(resolve)),
  afterTurn: (end) => void setImmediate(end),
  cpuNow: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
});
