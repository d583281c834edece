import { expect, it } from 'vitest';
import { present } from '../../engine/index.ts';
import { parseConfig } from '../base/config.ts';
import { refusedWith, unreachable } from './provider-failure.ts';
import { configuredProvider } from './providers.ts';

const provider = present(
  configuredProvider(parseConfig({ LLM_PROVIDER_A_API_KEY: 'a-key' })),
  'a provider is configured',
);

it.each(['SELF_SIGNED_CERT_IN_CHAIN', 'CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID'])(
  'does not retry after a certificate error (%s)',
  (code) => {
    expect(unreachable(provider, code)).toMatchObject({
      retry: 'never',
      detail: `Anthropic has a certificate that cannot be trusted (${code}): check LLM_BASE_URL`,
    });
  },
);

it('describes every status by name, without the body', () => {
  for (let status = 100; status < 600; status += 1) {
    const { detail } = refusedWith(
      provider,
      { status, body: 'the model told me a secret temperature', retryAfterMs: null },
      { model: 'm', hasTemperature: true },
    );
    expect(detail).toContain(`status ${status}`);
    expect(detail).not.toContain('secret');
  }
});
