import { z } from 'zod';
import { readAs } from '../../engine/contract/validation.ts';
import { isWithinJsonLimits } from './json-limits.ts';
import { sendOnce } from './send-once.ts';

const listSchema = z.object({ data: z.array(z.object({ id: z.string().regex(/^[\x21-\x7e]{1,256}$/) })) });

/**
 * The first model that an OpenAI-compatible address lists and that is not one for embeddings; null where it lists none,
 * or does not answer.
 */
export async function firstModelOf(address: string, signal: AbortSignal): Promise<string | null> {
  const sent = await sendOnce(`${address}/models`, { method: 'GET', headers: {}, body: null, signal });
  if (sent.kind !== 'answered' || sent.status !== 200) return null;
  const list = readAs(listSchema, jsonOf(sent.body.toString()));
  return list.data?.data.find(({ id }) => !/embed/i.test(id))?.id ?? null;
}

function jsonOf(text: string): unknown {
  if (!isWithinJsonLimits(text)) return null;
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON is no list of models, which the schema says too.
    return null;
  }
}
