import { expect, it, onTestFinished } from 'vitest';
import { postgresMissing, postgresNotice, startPostgres } from '../testing/private-postgres.ts';
import { PostgresConnection } from './postgres-connection.ts';
import { hostsIn } from './postgres-hosts.ts';

it.each([
  ['postgres://u:p@one/d', ['postgres://u:p@one/d']],
  ['postgres://u:p@one:1,two:2/d?a=b,c', ['postgres://u:p@one:1/d?a=b,c', 'postgres://u:p@two:2/d?a=b,c']],
  ['postgresql://u:a,b@[::1],two', ['postgresql://u:a,b@[::1]', 'postgresql://u:a,b@two']],
  ['postgres:///d?host=one,two', ['postgres:///d?host=one,two']],
])('the hosts in %s', (url, hosts) => {
  expect(hostsIn(url)).toEqual(hosts);
});

it.skipIf(postgresMissing !== null)(
  `a connection goes to the host that takes writes, also when that is another one later${postgresNotice}`,
  async () => {
    const primary = await startPostgres();
    onTestFinished(() => primary.remove());
    const standby = await primary.standby();
    onTestFinished(() => standby.remove());
    const url = `postgres://postgres@127.0.0.1:1,127.0.0.1:${standby.port},127.0.0.1:${primary.port}/postgres`;
    const connection = new PostgresConnection(url);
    onTestFinished(() => connection.close());
    const port = async (): Promise<unknown> =>
      (await connection.run<{ port: string }>("SELECT current_setting('port') AS port")).rows[0]?.port;
    expect(await port()).toBe(String(primary.port));
    await primary.stop();
    await standby.promote();
    await expect.poll(() => port().catch(() => null)).toBe(String(standby.port));
    await primary.start();
    expect(await port()).toBe(String(standby.port));
  },
);
