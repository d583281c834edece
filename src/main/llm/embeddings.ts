/**
 * The configured provider of embeddings: an OpenAI-compatible address.
 *
 * A call is sent once, with the limits of every provider; the engine decides when to call again. Failures are told in our
 * own words, since a provider's may contain the key or the texts.
 */
import type { EmbeddingModelV3 } from '@ai-sdk/provider';
import { z } from 'zod';
import type { Embedded, Embedder } from '../../engine/index.ts';
import type { Config } from '../base/config.ts';
import { retryAfterMs } from './provider-failure.ts';
import { type SendOutcome, sendOnce } from './send-once.ts';

type EmbeddingSettings = Pick<
  Config,
  'embeddingsBaseUrl' | 'embeddingsModel' | 'embeddingsApiKey' | 'embeddingsMinScore'
>;

/** What the engine takes. */
interface ConfiguredEmbeddings {
  readonly embedder: Embedder;
  readonly minScore: number;
}

/** The configured provider; null: none is. `now` in epoch milliseconds. */
export function createEmbeddings(
  settings: EmbeddingSettings,
  now: () => number,
): ConfiguredEmbeddings | null {
  const { embeddingsBaseUrl: address, embeddingsModel: model, embeddingsMinScore: minScore } = settings;
  if (address === null || model === null) return null;
  return { embedder: new ConfiguredEmbedder(address, model, settings.embeddingsApiKey, now), minScore };
}

const vectorsSchema = z.array(z.array(z.number()).min(1).max(8_192));

class ConfiguredEmbedder implements Embedder {
  readonly model: string;
  readonly #key: string | null;
  readonly #now: () => number;
  /** Where the API may be, the most likely first. */
  #addresses: readonly string[];

  constructor(address: string, model: string, key: string | null, now: () => number) {
    this.model = model;
    this.#key = key;
    this.#now = now;
    const { origin, pathname } = new URL(address);
    this.#addresses =
      pathname === '/' ? [`${origin}/v1`, origin] : [`${origin}${pathname.replace(/\/+$/, '')}`];
  }

  async embed(texts: readonly string[], signal: AbortSignal): Promise<Embedded> {
    for (const [at, address] of this.#addresses.entries()) {
      const { sent, vectors } = await this.#send(address, texts, signal);
      const isElsewhere = sent?.kind === 'answered' && sent.status === 404;
      if (isElsewhere && at < this.#addresses.length - 1) continue;
      if (!isElsewhere) this.#addresses = [address];
      return vectors === null ? this.#failureOf(sent) : this.#checked(vectors, texts.length);
    }
    return failed('has no address');
  }

  async #send(
    address: string,
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<{ readonly sent: SendOutcome | null; readonly vectors: unknown }> {
    let sent: SendOutcome | null = null;
    const send: typeof globalThis.fetch = async (url, init = {}) => {
      if (typeof url !== 'string' || typeof init.body !== 'string')
        throw new Error('not a request as expected');
      const headers = new Headers(init.headers);
      if (this.#key === null) headers.delete('authorization');
      sent = await sendOnce(url, {
        method: 'POST',
        headers: Object.fromEntries(headers),
        body: init.body,
        signal,
      });
      if (sent.kind !== 'answered' || sent.status < 200 || sent.status > 299) throw new Error('no answer');
      return new Response(sent.body.toString(), { headers: { 'content-type': 'application/json' } });
    };
    const model = await this.#client(address, send);
    try {
      const { embeddings } = await model.doEmbed({ values: [...texts] });
      return { sent, vectors: embeddings };
    } catch {
      // `sent` says what went wrong; if its status is a success, the answer did not have the format.
      return { sent, vectors: null };
    }
  }

  async #client(address: string, fetch: typeof globalThis.fetch): Promise<EmbeddingModelV3> {
    const { createOpenAI } = await import('@ai-sdk/openai');
    return createOpenAI({ baseURL: address, apiKey: this.#key ?? 'none', fetch }).embedding(this.model);
  }

  /** The vectors if they are what was asked for. */
  #checked(vectors: unknown, count: number): Embedded {
    const read = vectorsSchema.safeParse(vectors);
    if (!read.success || read.data.length !== count) return failed(notItsFormat);
    const dimensions = read.data[0]?.length;
    const isUsable = read.data.every(
      (vector) => vector.length === dimensions && vector.some((value) => value !== 0),
    );
    return isUsable ? { kind: 'vectors', vectors: read.data } : failed(notItsFormat);
  }

  #failureOf(sent: SendOutcome | null): Embedded {
    if (sent === null || sent.kind === 'too large') return failed(notItsFormat);
    if (sent.kind === 'ended') return failed('did not answer in time');
    if (sent.kind === 'unreachable')
      return failed(`could not be reached (${sent.code}): check EMBEDDINGS_BASE_URL and the network`);
    const { status } = sent;
    if (status === 400 || status === 413 || status === 422) return { kind: 'refused' };
    if (status === 401 || status === 403)
      return failed(`refused the key (status ${status}): check EMBEDDINGS_API_KEY`);
    if (status === 404)
      return failed(
        'does not know the model, or the address is not its API (status 404): check EMBEDDINGS_MODEL and EMBEDDINGS_BASE_URL',
      );
    if (status >= 200 && status <= 299) return failed(notItsFormat);
    return failed(`failed (status ${status})`, retryAfterMs(sent.retryAfter, this.#now()));
  }
}

const notItsFormat =
  'answered with something that is not of its format: check that EMBEDDINGS_BASE_URL is the address of an API';

/** `what`: goes on from "the provider". */
function failed(what: string, afterMs: number | null = null): Embedded {
  return { kind: 'failed', why: `the provider ${what}`, retryAfterMs: afterMs };
}
