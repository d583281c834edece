import { afterEach, describe, expect, it } from 'vitest';
import { type ProviderName, providerNames } from '../../engine/contract/extraction.ts';
import { EngineError } from '../../engine/index.ts';
import type { Environment } from '../base/config.ts';
import { pause } from './language-model.ts';
import { good, type ModelUnderTest, secretKey, startModelUnderTest } from './testing/model-under-test.ts';
import type { Reply, Script } from './testing/scripted-provider.ts';

const running: ModelUnderTest[] = [];

async function start(name: ProviderName, script: Script, environment?: Environment): Promise<ModelUnderTest> {
  const model = await startModelUnderTest(name, script, environment);
  running.push(model);
  return model;
}

/** A model that gets these replies in turn, and the last one from then on. */
function replying(name: ProviderName, ...replies: [Reply, ...Reply[]]): Promise<ModelUnderTest> {
  return start(name, { replies });
}

afterEach(async () => {
  await Promise.all(running.splice(0).map(({ provider }) => provider.close()));
});

async function failureOf(promise: Promise<unknown>): Promise<EngineError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof EngineError) return error;
    throw error;
  }
  throw new Error('it was answered');
}

const everywhere = describe.each(providerNames);

everywhere('a question to %s', (name) => {
  it('puts model, temperature, instructions, text and schema in their places', async () => {
    const { provider, ask } = await start(
      name,
      { replies: [{ json: good }] },
      { LLM_MODEL: 'my-model', LLM_TEMPERATURE: '0.7' },
    );
    expect(await ask()).toEqual(good);
    expect(provider.asked).toHaveLength(1);
    const [asked] = provider.asked;
    expect(asked).toMatchObject({ model: 'my-model', temperature: 0.7, turns: ['Ann likes Bob.'] });
    expect(asked?.instructions).toContain('Find the facts.');
    expect(asked?.schema).toMatchObject({
      type: 'object',
      required: ['facts'],
      properties: { facts: { items: { required: ['predicate', 'args', 'confidence'] } } },
    });
    expect(asked?.body['stream']).not.toBe(true);
  });

  it('carries the key in one header and nowhere else', async () => {
    const { provider, ask } = await replying(name, { json: good });
    await ask();
    const { headers, path, body } = provider.asked[0] ?? {};
    const holders = Object.entries(headers ?? {}).filter(([, value]) => String(value).includes(secretKey));
    expect(holders).toEqual(
      {
        anthropic: [['x-api-key', secretKey]],
        openai: [['authorization', `Bearer ${secretKey}`]],
        google: [['x-goog-api-key', secretKey]],
        local: [],
      }[name],
    );
    expect(path + JSON.stringify(body)).not.toContain('0123456789');
  });

  it('records the duration and tokens of each call, and nothing of its content', async () => {
    const { calls, ask } = await replying(name, { status: 503 }, { json: good });
    await ask();
    expect(calls).toMatchObject([
      { provider: name, name: 'extraction', requestId: 'r1', outcome: 'status 503' },
      { provider: name, outcome: 'accepted', tokens: { input: 11, output: 7 } },
    ]);
    expect(JSON.stringify(calls)).not.toMatch(/Ann|likes|secret/);
  });

  it.each([-5, 1e300, 0.5, null, '12'])('counts no tokens if the provider reports %j', async (count) => {
    const { calls, ask } = await start(name, {
      replies: [{ json: good }],
      tokens: { input: count, output: count },
    });
    await ask().catch((error: unknown) => expect(error).toBeInstanceOf(EngineError));
    for (const { tokens } of calls) expect(tokens).toEqual({ input: 0, output: 0 });
  });
});

everywhere('an answer of %s', (name) => {
  it.each([
    ['in a fence', `Sure:\n\`\`\`json\n${JSON.stringify(good)}\n\`\`\`\nDone.`],
    ['after thoughts', `<think>{perhaps}</think>\n${JSON.stringify(good)}`],
    ['among words', `Here it is: ${JSON.stringify(good)} I hope it helps.`],
  ])('is found %s', async (_, text) => {
    const { provider, ask } = await replying(name, { text });
    expect(await ask()).toEqual(good);
    expect(provider.asked).toHaveLength(1);
  });

  it.each<[string, Reply]>([
    ['no JSON', { text: 'I cannot do that.' }],
    ['nothing', { text: '' }],
    ['truncated JSON', { text: JSON.stringify(good).slice(0, 30), stop: 'length' }],
    ['another schema', { json: { facts: [{ predicate: '', args: 'ann', confidence: 2 }] } }],
    ['an array', { text: '[]' }],
    ['fields that nobody asked for', { json: { ...good, more: 1 } }],
  ])('that is %s gets one repair request with the errors', async (_, bad) => {
    const { provider, pauses, calls, ask } = await replying(name, bad, { json: good });
    expect(await ask()).toEqual(good);
    expect(provider.asked).toHaveLength(2);
    const [first, second] = provider.asked;
    expect(first?.turns).toHaveLength(1);
    expect(second?.turns).toHaveLength(3);
    expect(second?.turns[0]).toBe('Ann likes Bob.');
    expect(second?.turns[2]).toMatch(/could not be used:\n.+/);
    expect(second?.instructions).toBe(first?.instructions);
    expect(pauses).toEqual([]);
    expect(calls.map(({ outcome }) => outcome)).toEqual([
      expect.stringMatching(/^(bad answer|cut short|bad format)$/),
      'accepted',
    ]);
  });

  it('names the wrong paths in a repair request', async () => {
    const { provider, ask } = await replying(
      name,
      { json: { facts: [{ predicate: 'p', args: [], confidence: 2 }] } },
      { json: good },
    );
    await ask();
    expect(provider.asked[1]?.turns[2]).toContain('facts.0.confidence');
  });

  it('that stays invalid is refused after three calls, one of them a repair', async () => {
    const { provider, ask } = await replying(name, { text: 'no' });
    const error = await failureOf(ask());
    expect(error).toMatchObject({ code: 'LlmProviderException', members: { provider: name } });
    expect(error.message).toMatch(/not JSON of the schema/);
    expect(provider.asked.map(({ turns }) => turns.length)).toEqual([1, 3, 1]);
  });

  it('that is cut off at its limit is reported as such', async () => {
    const { ask } = await replying(name, { text: '{"facts": [', stop: 'length' });
    expect((await failureOf(ask())).message).toMatch(/limit of output.+send less text/);
  });

  it('that the content filter withheld is not requested again', async () => {
    const { provider, ask } = await replying(name, { text: '', stop: 'filter' });
    expect((await failureOf(ask())).message).toMatch(/declined to answer/);
    expect(provider.asked).toHaveLength(1);
  });
});

everywhere('a failing %s', (name) => {
  it.each<[string, Reply, RegExp]>([
    ['a rate limit', { status: 429 }, /called too often.+status 429/],
    ['an error of its own', { status: 500, body: '<html>oops</html>' }, /failed \(status 500\)/],
    ['being overloaded', { status: 529 }, /failed \(status 529\)/],
    ['a page of HTML', { status: 200, body: '<html>hello</html>' }, /not of its format/],
    ['nothing', { status: 200, body: '' }, /not of its format/],
    ['no content', { status: 204 }, /not of its format/],
    [
      'JSON of no format',
      { status: 200, body: '{"choices": 1, "content": 2, "candidates": 3}' },
      /not of its format/,
    ],
    ['a closed connection', { cut: 'before head' }, /ended the connection \(ECONNRESET\)/],
    ['half a body', { cut: 'in body' }, /ended the connection \(ECONNRESET\)/],
  ])('that returns %s is called three times, with doubling pauses', async (_, reply, detail) => {
    const { provider, pauses, ask } = await replying(name, reply);
    const error = await failureOf(ask());
    expect(error).toMatchObject({ code: 'LlmProviderException', members: { provider: name } });
    expect(error.message).toMatch(detail);
    expect(provider.asked).toHaveLength(3);
    expect(pauses).toEqual([375, 750]);
  });

  it.each<[string, Reply]>([
    ['a rate limit', { status: 429 }],
    ['an error', { status: 502 }],
    ['a closed connection', { cut: 'before head' }],
    ['a page of HTML', { status: 200, body: '<html>' }],
  ])('is tolerated %s', async (_, reply) => {
    const { provider, ask } = await replying(name, reply, reply, { json: good });
    expect(await ask()).toEqual(good);
    expect(provider.asked).toHaveLength(3);
  });

  it('counts calls together, whatever their reasons', async () => {
    const { provider, ask } = await replying(
      name,
      { status: 500 },
      { text: 'no' },
      { status: 429 },
      { json: good },
    );
    await failureOf(ask());
    expect(provider.asked.map(({ turns }) => turns.length)).toEqual([1, 1, 3]);
  });

  it.each<[string, Reply, RegExp]>([
    ['400', { status: 400 }, /refused the request.+LLM_MODEL/],
    [
      '401',
      { status: 401 },
      name === 'local' ? /wants a key/ : /refused the key: check LLM_PROVIDER_._API_KEY/,
    ],
    ['403', { status: 403 }, name === 'local' ? /wants a key/ : /refused the key/],
    ['404', { status: 404 }, /does not know the model .+LLM_MODEL/],
    ['413', { status: 413 }, /text too long/],
    [
      'a full context',
      { status: 400, body: '{"error":{"code":"context_length_exceeded"}}' },
      /text too long/,
    ],
    ['a spent quota', { status: 429, body: '{"error":{"code":"insufficient_quota"}}' }, /no quota left/],
    ['too much', { endless: true }, /more than 4 MiB/],
  ])('that returns %s is not called again', async (_, reply, detail) => {
    const { provider, pauses, ask } = await replying(name, reply);
    expect((await failureOf(ask())).message).toMatch(detail);
    expect(provider.asked).toHaveLength(1);
    expect(pauses).toEqual([]);
  });

  it('that is unreachable is called three times', async () => {
    const { provider, calls, ask } = await replying(name, { json: good });
    await provider.close();
    expect((await failureOf(ask())).message).toMatch(/could not be reached.+ECONNREFUSED.+LLM_BASE_URL/);
    expect(calls.map(({ outcome }) => outcome)).toEqual(['ECONNREFUSED', 'ECONNREFUSED', 'ECONNREFUSED']);
  });

  it('that redirects is not followed, so the key goes nowhere else', async () => {
    const elsewhere = await replying('openai', { json: good });
    const location = `${elsewhere.provider.address}/v1/chat/completions`;
    for (const status of [301, 307, 308]) {
      const { provider, ask } = await replying(name, { status, headers: { location } });
      expect((await failureOf(ask())).message).toMatch(/redirect, which is not followed/);
      expect(provider.asked).toHaveLength(1);
    }
    expect(elsewhere.provider.paths).toEqual([]);
  });

  it.each<[string, string, number]>([
    ['seconds', '3', 3000],
    ['nothing at all', '0', 375],
    ['a date', 'Tue, 01 Jan 2030 00:00:07 GMT', 7000],
    ['a date that has passed', 'Tue, 01 Jan 2019 00:00:07 GMT', 375],
    ['no time', 'soon', 375],
    ['a negative number', '-1', 375],
  ])('that asks to wait for %s gets that pause', async (_, header, pause) => {
    const reply = { status: 429, headers: { 'retry-after': header } };
    const { pauses, ask } = await replying(name, reply, { json: good });
    expect(await ask()).toEqual(good);
    expect(pauses).toEqual([pause]);
  });

  it('that asks to wait longer than the remaining time is not called again', async () => {
    const { provider, pauses, ask } = await replying(name, { status: 503, headers: { 'retry-after': '60' } });
    expect((await failureOf(ask())).message).toMatch(
      /status 503.+asks to wait 60 s, longer than LLM_TIMEOUT_MS/,
    );
    expect(provider.asked).toHaveLength(1);
    expect(pauses).toEqual([]);
  });

  it('that rejects temperature for this model is called without it from then on', async () => {
    const refusal = { status: 400, body: '{"error":{"message":"`temperature` is not supported"}}' };
    const { provider, ask } = await replying(name, refusal, { json: good });
    await ask();
    await ask();
    expect(provider.asked.map(({ temperature }) => temperature)).toEqual([0.1, undefined, undefined]);
  });

  it('that refuses for another reason but mentions temperature keeps its temperature', async () => {
    const refusal = { status: 400, body: '{"error":{"message":"not a temperature in sight"}}' };
    const { provider, ask } = await replying(name, refusal, refusal, { json: good });
    await failureOf(ask());
    await ask();
    expect(provider.asked.map(({ temperature }) => temperature)).toEqual([0.1, undefined, 0.1]);
  });
});

everywhere('the time of %s', (name) => {
  it.each<[string, Reply]>([
    ['says nothing', { silence: 'before head' }],
    ['does not end its answer', { silence: 'in body' }],
  ])('times out after LLM_TIMEOUT_MS if it %s', async (_, reply) => {
    const { provider, calls, ask } = await start(name, { replies: [reply] }, { LLM_TIMEOUT_MS: '150' });
    const error = await failureOf(ask());
    expect(error).toMatchObject({ code: 'LlmProviderException', members: { provider: name } });
    expect(error.message).toMatch(/did not answer within LLM_TIMEOUT_MS \(150 ms\)/);
    expect(provider.asked).toHaveLength(1);
    expect(calls.map(({ outcome }) => outcome)).toEqual(['ended']);
    await closed(provider);
  });

  it('reports the earlier error when it times out', async () => {
    const replies: Script['replies'] = [{ status: 500 }, { silence: 'before head' }];
    // Long beside a pause of this thread before the first reply.
    const { ask } = await start(name, { replies }, { LLM_TIMEOUT_MS: '700' });
    expect((await failureOf(ask())).message).toMatch(/LLM_TIMEOUT_MS.+before that, .+ failed \(status 500\)/);
  });

  it('ends at once when the caller cancels, which is no failure', async () => {
    const caller = new AbortController();
    const { provider, calls, ask } = await start(name, {
      replies: () => {
        setImmediate(() => caller.abort());
        return { silence: 'in body' };
      },
    });
    await expect(ask(caller.signal)).rejects.toMatchObject({ name: 'AbortError' });
    expect(provider.asked).toHaveLength(1);
    expect(calls.map(({ outcome }) => outcome)).toEqual(['ended']);
    await closed(provider);
  });

  it('is never made if the caller cancelled before', async () => {
    const { provider, ask } = await replying(name, { json: good });
    await expect(ask(AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' });
    expect(provider.paths).toEqual([]);
  });
});

describe('a pause', () => {
  it('lasts until its time is over or its signal aborts it', async () => {
    await pause(1, new AbortController().signal);
    await pause(1_000_000, AbortSignal.abort());
    const ending = new AbortController();
    const pausing = pause(1_000_000, ending.signal);
    ending.abort();
    await pausing;
  });

  it('ends when the caller cancels, and nothing more is sent', async () => {
    const caller = new AbortController();
    const { provider, pauses, ask } = await replying('openai', { status: 500 });
    pauses.push = (...made) => {
      caller.abort();
      return made.length;
    };
    await expect(ask(caller.signal)).rejects.toMatchObject({ name: 'AbortError' });
    expect(provider.asked).toHaveLength(1);
  });
});

describe.each(['anthropic', 'openai', 'google'] as const)('a hostile %s', (name) => {
  const escaped = [...secretKey]
    .map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');

  it('cannot put the key into an error message', async () => {
    for (const status of [302, 400, 401, 404, 418, 429, 500]) {
      const reply = {
        status,
        headers: {
          'x-key': secretKey,
          'retry-after': secretKey,
          location: `/${encodeURIComponent(secretKey)}`,
        },
        body: JSON.stringify({
          error: { message: `your key is ${secretKey}`, type: secretKey, status: secretKey },
        }),
      };
      const { calls, ask } = await replying(name, reply);
      const error = await failureOf(ask());
      const seen = JSON.stringify([error.message, error.members, error.stack, String(error.cause), calls]);
      expect(seen).not.toContain('0123456789');
      expect(error.cause).toBeUndefined();
    }
  });

  it('cannot put the key into an answer, in any encoding', async () => {
    const text = `{"facts": [{"predicate": "x${escaped}y", "args": ["${escaped}"], "confidence": 1}]}`;
    const { ask } = await replying(name, { text });
    expect(await ask()).toEqual({ facts: [{ predicate: 'x[key]y', args: ['[key]'], confidence: 1 }] });
  });

  it('cannot break the service with deep nesting or prototype names', async () => {
    const deep = `{"facts": ${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
    for (const text of [deep, '{"__proto__": {"facts": []}, "facts": 1}']) {
      const { ask } = await replying(name, { text });
      expect((await failureOf(ask())).code).toBe('LlmProviderException');
    }
    const many = '1,'.repeat(1_000_000);
    for (const body of ['['.repeat(1_000_000) + ']'.repeat(1_000_000), `{"content": [${many}1]}`]) {
      const { provider, ask } = await replying(name, { status: 200, body });
      expect((await failureOf(ask())).message).toMatch(/more than 4 MiB or 20000 values/);
      expect(provider.asked).toHaveLength(1);
    }
  });

  it('cannot break the service with a million wrong values', async () => {
    const { ask } = await replying(name, { text: `{"facts": [${'{},'.repeat(1_000_000)}{}]}` });
    expect((await failureOf(ask())).message).toMatch(/not JSON of the schema/);
  });
});

describe('Google', () => {
  it('cannot cause more than one request a call', async () => {
    const body = JSON.stringify({
      candidates: [
        { content: { parts: [{ text: '{' }] }, finishReason: 'CONTINUATION', continuationToken: 'again' },
      ],
    });
    const { provider, calls, ask } = await replying('google', { status: 200, body });
    await failureOf(ask());
    expect(provider.asked).toHaveLength(3);
    expect(calls).toHaveLength(3);
  });

  it('that reports a bad key with status 400 is understood', async () => {
    const body = JSON.stringify({ error: { code: 400, details: [{ reason: 'API_KEY_INVALID' }] } });
    const { ask } = await replying('google', { status: 400, body });
    expect((await failureOf(ask())).message).toMatch(/refused the key: check LLM_PROVIDER_C_API_KEY/);
  });
});

describe('Anthropic', () => {
  it.each([
    ['claude-haiku-4-5', 'format'],
    ['claude-3-haiku-20240307', 'tool'],
    ['a-gateway-model', 'tool'],
  ])('is asked for JSON in the way that %s supports: by a %s', async (model, way) => {
    const { provider, ask } = await start('anthropic', { replies: [{ json: good }] }, { LLM_MODEL: model });
    expect(await ask()).toEqual(good);
    expect(provider.asked[0]?.jsonBy).toBe(way);
  });

  it('may answer a request for a format with a tool call', async () => {
    const body = JSON.stringify({
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'm',
      stop_reason: 'tool_use',
      content: [
        { type: 'text', text: 'I use the tool.' },
        { type: 'tool_use', id: 't', name: 'extraction', input: good },
      ],
      usage: { input_tokens: 1, output_tokens: 1 },
    });
    const { ask } = await replying('anthropic', { status: 200, body });
    expect(await ask()).toEqual(good);
  });
});

describe('a local address without LLM_MODEL', () => {
  it('is called with a placeholder name for any model', async () => {
    const { provider, model, ask } = await replying('local', { json: good });
    await ask();
    expect(provider.paths).toEqual(['/v1/chat/completions']);
    expect(model.model).toBe('default');
  });

  const knowing = (models: string[]): Script => ({
    models,
    replies: ({ model }) => (models.includes(model) ? { json: good } : { status: 404 }),
  });

  it('that rejects that name is asked once for its first text model', async () => {
    const { provider, model, pauses, ask } = await start(
      'local',
      knowing(['nomic-embed-text', 'llama3.2:3b']),
    );
    await ask();
    await ask();
    expect(provider.asked.map((asked) => asked.model)).toEqual(['default', 'llama3.2:3b', 'llama3.2:3b']);
    expect(provider.paths.filter((path) => path.endsWith('/models'))).toHaveLength(1);
    expect(model.model).toBe('llama3.2:3b');
    expect(pauses).toEqual([]);
  });

  it.each([[[]], [['two words']], [['only-embed']]])('that offers %j is refused', async (models) => {
    const { ask } = await start('local', knowing(models));
    expect((await failureOf(ask())).message).toMatch(/does not know the model default.+LLM_MODEL/);
  });
});

async function closed(provider: ModelUnderTest['provider']): Promise<void> {
  await expect.poll(() => provider.connections()).toBe(0);
}
