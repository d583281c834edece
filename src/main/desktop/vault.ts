/** The system's store for secrets: Keychain, DPAPI, or the secret service of a Linux desktop. */
import { safeStorage } from 'electron';
import type { Vault } from './secrets.ts';

/** The store of this platform. */
export function systemVault(platform: NodeJS.Platform): Vault {
  return {
    isAvailable: async () => {
      // Without a secret service Electron would encrypt with a publicly known password, which protects nothing.
      if (platform === 'linux' && !hasSecretService()) return false;
      return safeStorage.isAsyncEncryptionAvailable();
    },
    encrypt: (text) => safeStorage.encryptStringAsync(text),
    decrypt: async (bytes) => {
      const { result, shouldReEncrypt } = await safeStorage.decryptStringAsync(bytes);
      return { text: result, isStale: shouldReEncrypt };
    },
  };
}

function hasSecretService(): boolean {
  const backend = safeStorage.getSelectedStorageBackend();
  return backend !== 'basic_text' && backend !== 'unknown';
}
