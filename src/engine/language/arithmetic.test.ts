import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EngineError } from '../base/errors.ts';
import { maxConstantBytes } from '../contract/language.ts';
import { aggregate, calculate, maxIntegerDigits } from './arithmetic.ts';
import { nearestDouble } from './exact.ts';

test('computes 7 / 2 as 3.5 and 6 / 2 as 3', () => {
  expect(calculate('/', '7', '2')).toBe('3.5');
  expect(calculate('/', '6', '2')).toBe('3');
  expect(calculate('/', '-7', '2')).toBe('-3.5');
});

test("gives mod the divisor's sign", () => {
  expect(calculate('mod', '7', '3')).toBe('1');
  expect(calculate('mod', '-7', '3')).toBe('2');
  expect(calculate('mod', '7', '-3')).toBe('-2');
  expect(calculate('mod', '-7', '-3')).toBe('-1');
  expect(calculate('mod', '6', '-3')).toBe('0');
  expect(calculate('mod', '-5.5', '2')).toBe('0.5');
  expect(calculate('mod', '-100000000000000000001', '3')).toBe('1');
});

test('has no result for division or mod by 0, a result that is not finite, and arithmetic on text', () => {
  for (const zero of ['0', '-0', '0.0']) {
    expect(calculate('/', '1', zero)).toBeNull();
    expect(calculate('mod', '1', zero)).toBeNull();
  }
  expect(calculate('*', '1e200', '1e200')).toBeNull();
  expect(calculate('-', '1e400', '1e400')).toBeNull();
  expect(calculate('+', 'a', '1')).toBeNull();
  expect(calculate('+', '1', '007')).toBeNull();
});

test('computes integers exactly at any size, else a double in its shortest form', () => {
  expect(calculate('+', '9007199254740991', '2')).toBe('9007199254740993');
  expect(calculate('*', '12345678901234567890', '98765432109876543210')).toBe(
    '1219326311370217952237463801111263526900',
  );
  expect(calculate('-', '9007199254740993', '2')).toBe('9007199254740991');
  expect(calculate('/', '9007199254740993', '1')).toBe('9007199254740993');
  expect(calculate('+', '0.1', '0.2')).toBe('0.30000000000000004');
  expect(calculate('+', '0.5', '0.5')).toBe('1');
  expect(calculate('*', '1.0', '-0')).toBe('0');
  expect(calculate('*', '1e20', '10')).toBe('1e+21');
  expect(calculate('-', '3', '3.0')).toBe('0');
});

test('rounds a quotient of large integers once', () => {
  expect(calculate('/', `1${'0'.repeat(400)}`, `4${'0'.repeat(399)}`)).toBe('2.5');
  expect(calculate('/', '9007199254740993', '2')).toBe('4503599627370496');
  expect(calculate('/', '1', `3${'0'.repeat(320)}`)).toBe(String(3.3333e-321));
});

test("agrees with the machine's double wherever the machine rounds once", () => {
  const whole = fc.maxSafeInteger();
  fc.assert(
    fc.property(whole, whole, fc.integer({ min: -1074, max: 900 }), (over, under, exponent) => {
      fc.pre(under !== 0);
      expect(nearestDouble(BigInt(over), BigInt(under))).toBe(over === 0 ? 0 : over / under);
      expect(nearestDouble(BigInt(over), 1n, exponent)).toBe(over === 0 ? 0 : over * 2 ** exponent);
    }),
    { numRuns: 2000 },
  );
});

test('has no result where the text would be longer than a constant may be', () => {
  const nines = '9'.repeat(maxConstantBytes);
  const zeros = '0'.repeat(maxConstantBytes - 1);
  expect(calculate('+', nines, '0')).toBe(nines);
  expect(calculate('+', nines, '1')).toBeNull();
  expect(calculate('-', `-${nines.slice(1)}`, '0')).toBe(`-${nines.slice(1)}`);
  expect(calculate('-', `-${nines.slice(1)}`, '1')).toBeNull();
  expect(calculate('*', `1${zeros}`, '9')).toBe(`9${zeros}`);
  expect(calculate('*', `1${zeros}`, '10')).toBeNull();
  expect(calculate('*', '0', `${nines}9`)).toBe('0');
  expect(calculate('*', '9'.repeat(maxIntegerDigits), '9'.repeat(maxIntegerDigits))).toBeNull();
  expect(calculate('*', `-${nines.slice(1)}`, '2')).toBeNull();
  expect(aggregate('sum', [nines])).toBe(nines);
  expect(aggregate('sum', [nines, '1'])).toBeNull();
  expect(aggregate('avg', [nines, nines])).toBe(nines);
});

test('ends the question, not the service, at a stored integer of more than the maximum length', () => {
  const long = '9'.repeat(maxIntegerDigits);
  for (const act of [() => calculate('+', `${long}9`, '1'), () => aggregate('sum', [`${long}9`])])
    try {
      act();
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(EngineError);
      expect((error as EngineError).code).toBe('InferenceLimitExceeded');
    }
});

test('computes sum and avg exactly and rounds once', () => {
  expect(aggregate('sum', ['1', '2', '3'])).toBe('6');
  expect(aggregate('sum', ['9007199254740991', '9007199254740991'])).toBe('18014398509481982');
  expect(aggregate('sum', ['1e100', '1', '-1e100'])).toBe('1');
  expect(aggregate('sum', ['0.1', '0.2', '0.3'])).toBe('0.6');
  expect(aggregate('sum', ['1.5', '1.5'])).toBe('3');
  expect(aggregate('avg', ['1', '2'])).toBe('1.5');
  expect(aggregate('avg', ['2', '4'])).toBe('3');
  expect(aggregate('avg', ['1e308', '1e308', '1.5e308'])).toBe('1.1666666666666667e+308');
});

test('has no result for sum and avg if a value is not a number', () => {
  expect(aggregate('sum', ['1', 'x'])).toBeNull();
  expect(aggregate('avg', ['1', '007'])).toBeNull();
  expect(aggregate('sum', ['1e400'])).toBeNull();
});

test('computes sum independently of the order of the values', () => {
  const value = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.bigInt().map(String),
  );
  fc.assert(
    fc.property(fc.array(value, { maxLength: 6 }), (values) => {
      const reversed = [...values].reverse();
      expect(aggregate('sum', reversed)).toBe(aggregate('sum', values));
      expect(aggregate('avg', reversed)).toBe(aggregate('avg', values));
      expect(aggregate('min', reversed)).toBe(aggregate('min', values));
    }),
  );
});

test('compares min and max numerically if all are numbers, else by code point, ties by the least text', () => {
  expect(aggregate('min', ['10', '9'])).toBe('9');
  expect(aggregate('max', ['10', '9'])).toBe('10');
  expect(aggregate('min', ['10', '9', 'x'])).toBe('10');
  expect(aggregate('max', ['\uffff', '😀'])).toBe('😀');
  expect(aggregate('max', ['1.0', '1', '1e0'])).toBe('1');
  expect(aggregate('min', ['1.0', '1', '1e0'])).toBe('1');
});

test('gives 0 for count and sum without a match, and no result for min, max and avg', () => {
  expect(aggregate('count', [])).toBe('0');
  expect(aggregate('sum', [])).toBe('0');
  for (const name of ['min', 'max', 'avg'] as const) expect(aggregate(name, [])).toBeNull();
});
