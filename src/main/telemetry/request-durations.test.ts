import { expect, it } from 'vitest';
import { Histogram, Registry } from 'prom-client';
import { RequestDurations } from './metrics.ts';

it('exports exactly what a histogram of the library exports', async () => {
  const bounds = [0.001, 0.01, 0.1];
  const [ours, theirs] = [new Registry(), new Registry()];
  const requests = new RequestDurations('service_requests_seconds', 'Time it took', bounds, ours);
  const histogram = new Histogram({
    name: 'service_requests_seconds',
    help: 'Time it took',
    labelNames: ['method', 'route', 'status'],
    buckets: bounds,
    registers: [theirs],
  });
  const none = await theirs.metrics();
  expect(await ours.metrics()).toBe(none);
  for (const [method, route, status, seconds] of [
    ['POST', '/tell', 200, 0.001],
    ['POST', '/tell', 200, 0.0011],
    ['POST', '/tell', 400, 0],
    ['GET', '/rules/:id', 200, 5],
    ['PUT', '/rules/:id', 200, 0.05],
    ['POST', '/tell', 200, 0.1],
  ] as const) {
    requests.observe(method, route, status, seconds);
    histogram.observe({ method, route, status: String(status) }, seconds);
  }
  const told = await ours.metrics();
  expect(told).toBe(await theirs.metrics());
  expect(told).toContain('_bucket{le="0.01",method="POST",route="/tell",status="200"} 2');
});
