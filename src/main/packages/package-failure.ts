/** A package that cannot be read at all; the message says what is wrong and where. */
export class PackageFailure extends Error {}
