/**
 * Gives the page's nonce to the style elements that its scripts create: the content security policy allows no others.
 * Monaco has no setting for it, and what Mantine and its parts create is covered too. Must be imported before either.
 *
 * Markup is not affected: a style element that got into the page as text has no nonce.
 */
const { nonce } = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]') ?? {};
// Unbound on purpose: it is called with the document as `this`.
const create: unknown = Reflect.get(Document.prototype, 'createElement');

if (nonce !== undefined && nonce !== '' && typeof create === 'function')
  Document.prototype.createElement = function createElement(
    this: Document,
    ...given: unknown[]
  ): HTMLElement {
    const element = Reflect.apply(create, this, given) as HTMLElement;
    if (element instanceof HTMLStyleElement) element.nonce = nonce;
    return element;
  } as Document['createElement'];

export {};
