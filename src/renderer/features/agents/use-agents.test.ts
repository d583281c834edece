import { describe, expect, test } from 'vitest';
import type { AgentRoute } from '../../../engine/contract/agent-setup.ts';
import { adviceFor, testedBridge, testedUrl, testedWords } from './use-agents.ts';

const http: AgentRoute = { via: 'http', url: 'http://127.0.0.1:9300/mcp', headers: {} };
const bridged = {
  isConnected: true,
  server: 'corollary 0.1.0',
  revision: '2025-11-25',
  tools: 9,
  elapsedMs: 34.2,
  detail: null,
};

describe('the test of a configuration', () => {
  test('says how many tools answered, how quickly, and in which revision', () => {
    expect(testedWords(testedBridge(bridged))).toBe('9 tools answered in 34 ms, revision 2025-11-25.');
  });

  test('reports the message of a bridge that did not connect', () => {
    const failed = {
      ...bridged,
      isConnected: false,
      server: null,
      revision: null,
      tools: 0,
      detail: 'no service',
    };
    expect(() => testedBridge(failed)).toThrow('no service');
    expect(() => testedBridge({ ...failed, detail: null })).toThrow('It did not say why.');
  });

  test('goes to the service that served the page, under any of its names', () => {
    expect(testedUrl('http://127.0.0.1:9300/mcp', 'http://localhost:9300')).toBe('http://localhost:9300/mcp');
    expect(testedUrl('http://127.0.0.1:9300/mcp', 'https://kb.example:9443')).toBe(
      'https://kb.example:9443/mcp',
    );
  });

  test('advises on a refused key, a missing database, an unreachable service', () => {
    expect(adviceFor('Unauthenticated', http, true)).toContain('Make another');
    expect(adviceFor('Unauthenticated', http, false)).toContain('type one');
    expect(adviceFor('DatabaseNotFound', http, false)).toContain('Admin');
    expect(adviceFor('Unreachable', http, false)).toContain('runs');
    expect(adviceFor('Internal', http, false)).toBeNull();
  });
});
