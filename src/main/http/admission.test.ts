/** What a service refuses before it knows anything of a request. */
import type { FastifyRequest } from 'fastify';
import { expect, it } from 'vitest';
import { createAdmission } from './admission.ts';
import type { HttpHost, ServicePhase } from './host.ts';
import { nodeHeader } from './node-requests.ts';

it.each<ServicePhase>(['starting', 'closing'])(
  'a service that is %s is not ready, and tells another node that it does not have the log',
  (phase) => {
    const codeFor = (headers: Record<string, string>, nodes: object | null) => {
      const host = { phase: () => phase, nodes, settings: { corsAllowedOrigins: [], allowedHosts: [] } };
      const request = { headers, routeOptions: { url: '/tell' } };
      try {
        createAdmission(host as unknown as HttpHost).admit(request as unknown as FastifyRequest);
        return null;
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    const fromNode = { [nodeHeader]: 'signed' };
    expect([codeFor({}, {}), codeFor(fromNode, {}), codeFor(fromNode, null)]).toEqual([
      'NotReady',
      'NoOwner',
      'NotReady',
    ]);
  },
);
