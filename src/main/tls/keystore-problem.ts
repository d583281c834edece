/** Without a checksum the two cannot be told apart. */
export const wrongPassword = 'the password is wrong, or the file is damaged';

/**
 * What is wrong with a key store: its file, or the password for it. `message` holds no secret; about a file it reads on
 * after the file's name ("which is empty"), about a password it is a sentence of its own.
 */
export class KeystoreProblem extends Error {
  readonly about: 'file' | 'password';

  constructor(about: 'file' | 'password', message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'KeystoreProblem';
    this.about = about;
  }
}
