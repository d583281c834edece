/** Exits with 0 if the service of this container is ready, else with 1 and the reason. */
const address = `http://127.0.0.1:${process.env['PORT'] || '9300'}/health/ready`;
try {
  const response = await fetch(address, { signal: AbortSignal.timeout(4_000) });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
} catch (error) {
  process.stderr.write(`${address}: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
