/** What the product uses of newer JavaScript than Node 18 and Chromium 114 have; runs in both, before anything else. */
/* eslint-disable */
(() => {
  const define = (holder, name, value) => {
    if (!(name in holder)) Object.defineProperty(holder, name, { value, writable: true, configurable: true });
  };
  define(URL, 'canParse', (text, base) => {
    try {
      return Boolean(new URL(text, base));
    } catch {
      return false;
    }
  });
  define(Promise, 'withResolvers', function withResolvers() {
    let resolve;
    let reject;
    const promise = new this((yes, no) => {
      resolve = yes;
      reject = no;
    });
    return { promise, resolve, reject };
  });
  define(AbortSignal, 'any', (signals) => {
    const any = new AbortController();
    for (const signal of signals) {
      const abort = () => any.abort(signal.reason);
      if (signal.aborted) abort();
      else signal.addEventListener('abort', abort, { once: true, signal: any.signal });
    }
    return any.signal;
  });
  const copied = (name) =>
    function copy(...given) {
      const copy = Array.from(this);
      copy[name](...given);
      return copy;
    };
  define(Array.prototype, 'toSorted', copied('sort'));
  define(Array.prototype, 'toReversed', copied('reverse'));
  define(Array.prototype, 'toSpliced', copied('splice'));
  define(Array.prototype, 'with', function replaced(at, value) {
    const copy = Array.from(this);
    copy[at < 0 ? copy.length + at : at] = value;
    return copy;
  });
  const grouped = (groups, add) => (items, keyOf) => {
    const found = groups();
    let at = 0;
    for (const item of items) add(found, keyOf(item, at++), item);
    return found;
  };
  define(
    Object,
    'groupBy',
    grouped(
      () => Object.create(null),
      (found, key, item) => (found[key] ??= []).push(item),
    ),
  );
  define(
    Map,
    'groupBy',
    grouped(
      () => new Map(),
      (found, key, item) => {
        if (!found.has(key)) found.set(key, []);
        found.get(key).push(item);
      },
    ),
  );
  const sets = {
    union: (left, right) => new Set([...left, ...right.keys()]),
    intersection: (left, right) => new Set([...left].filter((each) => right.has(each))),
    difference: (left, right) => new Set([...left].filter((each) => !right.has(each))),
    isSubsetOf: (left, right) => [...left].every((each) => right.has(each)),
    isSupersetOf: (left, right) => [...right.keys()].every((each) => left.has(each)),
    isDisjointFrom: (left, right) => ![...left].some((each) => right.has(each)),
  };
  for (const [name, work] of Object.entries(sets))
    define(Set.prototype, name, function of(other) {
      return work(this, other);
    });
  const iterators = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()));
  for (const name of ['map', 'filter', 'some', 'every', 'find', 'forEach', 'reduce', 'flatMap'])
    define(iterators, name, function of(...given) {
      const result = Array.from(this)[name](...given);
      return Array.isArray(result) ? result[Symbol.iterator]() : result;
    });
  define(iterators, 'toArray', function toArray() {
    return Array.from(this);
  });
  define(iterators, 'take', function take(count) {
    return Array.from(this).slice(0, count)[Symbol.iterator]();
  });
  define(iterators, 'drop', function drop(count) {
    return Array.from(this).slice(count)[Symbol.iterator]();
  });
})();
