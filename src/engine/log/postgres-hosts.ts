/**
 * The addresses in a URL with several hosts, as libpq takes it: `postgres://user@one,two:5433/database`, one URL for each.
 * A URL with one host stays as it is.
 */
export function hostsIn(url: string): readonly string[] {
  const [, start = '', hosts = '', rest = ''] = /^(\w+:\/\/(?:[^/?]*@)?)([^/?]*)(.*)$/s.exec(url) ?? [];
  const named = hosts.split(',');
  if (named.length < 2) return [url];
  return named.map((host) => `${start}${host}${rest}`);
}
