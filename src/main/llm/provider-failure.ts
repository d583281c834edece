/**
 * Failures of a provider in fixed words: what happened, what to check, and whether to retry.
 *
 * A provider's own words are never passed on: they may contain its key, or text of the caller. They are only searched
 * for a few signs of what is wrong.
 */
import { maxJsonValues } from './json-limits.ts';
import type { Provider } from './providers.ts';
import { maxAnswerBytes } from './send-once.ts';

export interface ProviderFailure {
  /** For one line of the log: `status 503`, `ECONNREFUSED`, `bad answer`. */
  readonly outcome: string;
  /** A sentence without a full stop, with the provider as its subject. */
  readonly detail: string;
  /** `later`: after a pause. `asked-anew`: together with what was wrong. */
  readonly retry: 'never' | 'later' | 'asked-anew' | 'without-temperature' | 'with-another-model';
  /** Milliseconds that the provider asks to wait; null: not stated. */
  readonly retryAfterMs: number | null;
}

function failure(
  outcome: string,
  detail: string,
  retry: ProviderFailure['retry'] = 'never',
  retryAfterMs: number | null = null,
): ProviderFailure {
  return { outcome, detail, retry, retryAfterMs };
}

const certificateCodes = /^(CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERR_TLS_|ERR_SSL_)/;

/** `code`: Node's, of a system or TLS error. */
export function unreachable({ label, addressVariable }: Provider, code: string): ProviderFailure {
  if (certificateCodes.test(code))
    return failure(
      code,
      `${label} has a certificate that cannot be trusted (${code}): check ${addressVariable}`,
    );
  return failure(
    code,
    `${label} could not be reached, or ended the connection (${code}): check ${addressVariable} and the network`,
    'later',
  );
}

/** The failure of an answer that is too long. */
export function answeredTooMuch({ label }: Provider): ProviderFailure {
  return failure(
    'too large',
    `${label} answered with more than ${maxAnswerBytes / 1024 / 1024} MiB or ${maxJsonValues} values`,
  );
}

/** An answer not in the provider's format, such as a page of HTML. */
export function notItsFormat({ label, addressVariable }: Provider): ProviderFailure {
  return failure(
    'bad format',
    `${label} answered with something that is not of its format: check that ${addressVariable} is the address of an API`,
    'later',
  );
}

/** The failure of an answer that does not fit the schema. */
export function notOfTheSchema({ label }: Provider): ProviderFailure {
  return failure(
    'bad answer',
    `${label} answered with something that is not JSON of the schema asked for`,
    'asked-anew',
  );
}

/** The failure of an answer that the provider cut short. */
export function cutShort({ label }: Provider): ProviderFailure {
  return failure(
    'cut short',
    `${label} reached its limit of output before its answer was complete: send less text at once`,
    'asked-anew',
  );
}

/** The failure of an answer that the provider declined to give. */
export function declined({ label }: Provider): ProviderFailure {
  return failure('declined', `${label} declined to answer: its content filter blocks the text`);
}

/** The meaning of an answer with an error status. `body` is only searched for signs. */
export function refusedWith(
  provider: Provider,
  { status, body, retryAfterMs }: { status: number; body: string; retryAfterMs: number | null },
  request: { readonly model: string; readonly hasTemperature: boolean },
): ProviderFailure {
  const { label, addressVariable } = provider;
  const outcome = `status ${status}`;
  const about = (text: string, retry?: ProviderFailure['retry']): ProviderFailure =>
    failure(outcome, `${label} ${text} (status ${status})`, retry, retryAfterMs);
  if (status >= 300 && status < 400)
    return about(`answered with a redirect, which is not followed: set ${addressVariable} to where it leads`);
  if (status === 429) {
    if (/insufficient_quota/.test(body)) return about('has no quota left for this account');
    return about('was called too often, or the quota of the account is used up', 'later');
  }
  if (status >= 500 || status === 408) return about('failed', 'later');
  if (status === 401 || status === 403 || /API_KEY_INVALID/.test(body)) return about(keyAdvice(provider));
  if (status === 402) return about('requires payment for the account');
  if (status === 413 || signsOfLength.test(body))
    return about(
      'finds the text too long: send it in smaller parts, or set LLM_MODEL to a model that takes more',
    );
  if ((status === 400 || status === 422) && request.hasTemperature && /temperature/i.test(body))
    return about('does not take LLM_TEMPERATURE with this model', 'without-temperature');
  if (status === 404 || (status === 400 && provider.model === null && /model/i.test(body)))
    return about(
      `does not know the model ${request.model}, or the address is not its API: check LLM_MODEL and ${addressVariable}`,
      provider.model === null ? 'with-another-model' : 'never',
    );
  return about(
    `refused the request: check LLM_MODEL (${request.model}), that it can answer by a JSON schema, and ${addressVariable}`,
  );
}

const signsOfLength =
  /context_length_exceeded|maximum context length|prompt is too long|exceeds the maximum number of tokens|exceed_context_size/i;

function keyAdvice({ keyVariables, addressVariable }: Provider): string {
  if (keyVariables !== null) return `refused the key: check ${keyVariables}`;
  return `wants a key, and none is sent to ${addressVariable}: set LLM_BASE_URL and LLM_PROVIDER_B_API_KEY instead`;
}

/** A Retry-After header, in either form, in milliseconds from `now`; null if invalid. */
export function retryAfterMs(header: string | null, now: number): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const date = /[A-Za-z]/.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
