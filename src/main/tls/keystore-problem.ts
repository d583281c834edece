/** What is wrong with a key store: its file, or the password for it. `message` holds no secret. */
export class KeystoreProblem extends Error {
  readonly about: 'file' | 'password';

  constructor(about: 'file' | 'password', message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'KeystoreProblem';
    this.about = about;
  }
}
