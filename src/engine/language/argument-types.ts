import type { ArgumentType, DeclaredArgument } from '../contract/declarations.ts';
import { parseTime } from '../contract/time-text.ts';
import { renderConstant } from './print.ts';
import { isInteger, isNumber } from './numbers.ts';

const date = /^\d{4}-\d{2}-\d{2}$/;
const dateWithTime = /^[+-]?\d{4,6}-\d{2}-\d{2}[T ]\d{2}:/i;
/** Milliseconds of the earliest and latest instants that a clock can show. */
const maxInstant = 8_640_000_000_000_000;
/** Choices that a message lists. */
const maxListed = 10;

/** True if every constant is of the type. */
export function acceptsAny(type: ArgumentType): boolean {
  return type === 'any' || type === 'text' || type === 'entity';
}

/** True if the constant is of the type. */
export function isOfType(type: ArgumentType, constant: string): boolean {
  if (typeof type === 'object') return type.oneOf.includes(constant);
  switch (type) {
    case 'any':
    case 'text':
    case 'entity':
      return true;
    case 'integer':
      return isInteger(constant);
    case 'number':
      return isNumber(constant);
    case 'boolean':
      return constant === 'true' || constant === 'false';
    case 'date':
      return date.test(constant) && parseTime(constant) !== null;
    case 'instant':
      return isInteger(constant)
        ? Math.abs(Number(constant)) <= maxInstant
        : dateWithTime.test(constant) && parseTime(constant) !== null;
  }
}

/** Says that the constant is not of the argument's type, and what would be. */
export function misfit({ name, type }: DeclaredArgument, constant: string): string {
  const shown = constant.length > 200 ? `${constant.slice(0, 200)}…` : constant;
  return `${name} is ${renderConstant(shown)}: it must be ${wanted(type)}`;
}

function wanted(type: ArgumentType): string {
  if (typeof type === 'object') {
    const listed = type.oneOf.slice(0, maxListed).map(renderConstant).join(', ');
    return type.oneOf.length > maxListed ? `one of ${listed}, …` : `one of ${listed}`;
  }
  switch (type) {
    case 'any':
    case 'text':
    case 'entity':
      return 'a constant';
    case 'integer':
      return 'an integer, such as 42';
    case 'number':
      return 'a number, such as 4.2';
    case 'boolean':
      return 'true or false';
    case 'date':
      return 'a date, YYYY-MM-DD';
    case 'instant':
      return 'an instant: ISO 8601 with a time, or milliseconds';
  }
}
