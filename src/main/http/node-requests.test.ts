import type { FastifyRequest } from 'fastify';
import { describe, expect, it } from 'vitest';
import { forwardedFor, type ForwardedFor, nodeHeader, signedFor } from './node-requests.ts';

const secret = 'a secret of at least 32 characters';
const now = 1_700_000_000_000;
const client: ForwardedFor = {
  identity: { credential: 'k1', role: 'writer', databases: ['a'], tenants: [], keyName: 'one' },
  peer: '10.0.0.9',
};
const tell = { method: 'POST', url: '/tell?x=1' };

function received(header: string | undefined, raw = tell): FastifyRequest {
  return { raw, headers: header === undefined ? {} : { [nodeHeader]: header } } as unknown as FastifyRequest;
}

describe('a request that another node passed on', () => {
  const header = signedFor(secret, tell, client, now);

  it('says for whom, if it is signed with the same secret', () => {
    expect(forwardedFor(received(header), secret, now + 29_000)).toEqual(client);
  });

  it('is one of a client without the header, or without a secret', () => {
    expect(forwardedFor(received(undefined), secret, now)).toBeNull();
    expect(forwardedFor(received(header), null, now)).toBeNull();
  });

  it.each([
    ['another secret', () => forwardedFor(received(header), 'another secret', now)],
    ['another address', () => forwardedFor(received(header, { ...tell, url: '/retract' }), secret, now)],
    ['another method', () => forwardedFor(received(header, { ...tell, method: 'PUT' }), secret, now)],
    ['another client', () => forwardedFor(received(`e30.${header.split('.')[1]}`), secret, now)],
    ['no signature', () => forwardedFor(received(header.split('.')[0]), secret, now)],
    ['nonsense', () => forwardedFor(received('...'), secret, now)],
    ['an old signature', () => forwardedFor(received(header), secret, now + 31_000)],
  ])('is refused with %s', (_what, receive) => {
    expect(receive).toThrow(expect.objectContaining({ code: 'Forbidden' }));
  });
});
