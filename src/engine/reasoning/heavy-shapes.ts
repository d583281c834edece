import { LruCache } from '../base/lru-cache.ts';
import { isVariable, type Literal } from '../contract/language.ts';
import { relationsRead } from '../datalog/model/program.ts';
import { isPositiveAtom, relationOf } from '../language/terms.ts';
import type { ViewFields } from '../session/read-context.ts';
import type { TenantState } from '../state/state.ts';
import type { ThreadReply } from './messages.ts';

type Weight = Extract<ThreadReply, { readonly kind: 'answer' }>['weight'];

/** Light questions in a row after which a shape is not heavy any more. One alone may have had an easy constant. */
const maxLight = 3;
const maxHeavyShapes = 10_000;
const maxShapeBytes = 4 * 1024 * 1024;

/** Shapes of questions that took too long on the serving thread, by tenant. */
export class HeavyShapes {
  /** With how many of its questions in a row took a thread little time. */
  readonly #light = new LruCache<TenantState, { light: number }>(maxHeavyShapes, maxShapeBytes);

  has(tenant: TenantState, shape: string): boolean {
    return this.#light.get(tenant, shape) !== undefined;
  }

  /** Notes one that took long here. */
  add(tenant: TenantState, shape: string): void {
    this.#light.set(tenant, shape, { light: 0 }, 2 * shape.length);
  }

  /** Notes how long a question took on a thread; shapes of which several in a row were light are answered here again. */
  weighed(tenant: TenantState, shape: string, weight: Weight): void {
    const heavy = this.#light.get(tenant, shape);
    if (heavy === undefined || weight === 'unknown') return;
    heavy.light = weight === 'light' ? heavy.light + 1 : 0;
    if (heavy.light === maxLight) this.#light.delete(tenant, shape);
  }
}

/** Equal for questions that differ in constants and in the names of variables at most. `kind`: what is done with answers. */
export function shapeOfQuestion(input: ViewFields, body: readonly Literal[], kind: string): string {
  const shape = body.map((each) =>
    isPositiveAtom(each)
      ? `${relationOf(each)} ${each.args.map((term) => (isVariable(term) ? '?' : '_')).join('')}`
      : `not ${relationsRead([each]).join(' ')}`,
  );
  const view = input.unscoped ? 'unscoped' : input.scope === null ? 'all' : `=${input.scope}`;
  return JSON.stringify([shape, view, kind]);
}
