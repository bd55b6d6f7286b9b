// Next times of cron expressions, and errors for invalid ones.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { nextCronTime } from './cron.ts';

const next = (cron: string, after: string): string =>
  new Date(nextCronTime(cron, Date.parse(after))).toISOString().slice(0, 16);

const cases: readonly (readonly [cron: string, after: string, due: string])[] = [
  ['* * * * *', '2026-03-01T10:00:00Z', '2026-03-01T10:01'],
  ['* * * * *', '2026-03-01T10:00:59.999Z', '2026-03-01T10:01'],
  ['30 6 * * 1-5', '2026-11-13T06:30:00Z', '2026-11-16T06:30'],
  ['*/15 * * * *', '2026-11-15T14:50:00Z', '2026-11-15T15:00'],
  ['5-20/5,40 2 * * *', '2026-11-15T02:20:00Z', '2026-11-15T02:40'],
  ['10/20 * * * *', '2026-11-15T02:31:00Z', '2026-11-15T02:50'],
  ['0 0 1 jan *', '2026-11-15T00:00:00Z', '2027-01-01T00:00'],
  ['0 0 29 2 *', '2096-03-01T00:00:00Z', '2104-02-29T00:00'],
  ['0 12 31 * *', '2026-03-31T12:00:00Z', '2026-05-31T12:00'],
  ['0 0 * * 7', '2026-11-15T00:00:00Z', '2026-11-22T00:00'],
  ['0 0 * * SUN', '2026-11-16T00:00:00Z', '2026-11-22T00:00'],
  ['0 0 13 * fri', '2026-11-15T00:00:00Z', '2026-11-20T00:00'],
  ['0 0 13 * fri', '2026-12-11T00:00:00Z', '2026-12-13T00:00'],
  ['59 23 31 12 *', '2026-12-31T23:59:00Z', '2027-12-31T23:59'],
];

for (const [cron, after, due] of cases)
  test(`after ${after}, "${cron}" is due at ${due}`, () => assert.equal(next(cron, after), due));

const wrong = ['', '* * * *', '* * * * * *', '60 * * * *', '* 24 * * *', '* * 0 * *', '* * * 13 *', '* * * * 8'];
for (const cron of [...wrong, '5-1 * * * *', '*/0 * * * *', 'a * * * *', '1- * * * *', '0 0 30 2 *', '* * * foo *'])
  test(`"${cron}" is not a valid schedule`, () =>
    assert.throws(() => nextCronTime(cron, 0), { code: 'queue/bad-cron' }));

test('the next time is the first match: no time between matches', () => {
  const numbers = fc.tuple(
    fc.integer({ min: 0, max: 59 }),
    fc.integer({ min: 0, max: 23 }),
    fc.integer({ min: 0, max: 6 }),
  );
  fc.assert(
    fc.property(numbers, fc.integer({ min: 0, max: 4e12 }), ([minute, hour, day], after) => {
      const found = nextCronTime(`${minute} ${hour} * * ${day}`, after);
      let time = Math.floor(after / 60_000) * 60_000 + 60_000;
      const fits = (at: Date): boolean =>
        at.getUTCMinutes() === minute && at.getUTCHours() === hour && at.getUTCDay() === day;
      while (!fits(new Date(time))) time += 60_000;
      assert.equal(found, time);
    }),
    { numRuns: 30 },
  );
});
