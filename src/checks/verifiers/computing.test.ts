// Tests of recomputed unit conversions and dates.
import assert from 'node:assert/strict';
import test from 'node:test';
import { decide } from '../../../test/support/verify-claim.ts';
import { dateVerifier } from './dates.ts';
import { unitVerifier } from './units.ts';
import type { Verifier } from '../types.ts';

function expectAll(verifier: Verifier, expected: string, texts: readonly string[]): void {
  for (const text of texts) assert.equal(decide(verifier, text), expected, text);
}

test('[A26] unit conversions that are right, by exact factors and with the rounding that is written, are supported', () => {
  expectAll(unitVerifier, 'supported', [
    '5 km is 3.107 miles.',
    '5 km is 3.1 miles',
    '1 mile = 1.609 km',
    '1 inch is 2.54 cm',
    '100 °F is 37.8 °C',
    '32 degrees Fahrenheit equals 0 degrees Celsius',
    '-40 °C is -40 °F',
    '300 K is 26.85 °C',
    'There are 12 inches in a foot.',
    'An hour has 3600 seconds.',
    '1 GiB is 1024 MiB',
    '1 GB = 1000 MB',
    '1 MB = 8 Mb',
    '2 h 30 min = 150 minutes',
    '6 ft 2 in is 187.96 cm',
    '52 weeks is 364 days',
    '1 US gallon is 3.785 litres',
    '1 gallon is 4 quarts',
    'a year has 12 months',
    '100 km/h is 27.78 m/s',
    '1 ha is 10,000 m²',
    '1 km is 1000 m and 1 m is 100 cm',
    '100 km is 62 miles',
    '1 kg is about 2.2 pounds',
  ]);
});

test('[A26] unit conversions that are wrong are contradicted', () => {
  expectAll(unitVerifier, 'contradicted', [
    '5 km is 3.207 miles.',
    'There are 10 inches in a foot',
    '1 GB = 900 MB',
    '1 MB = 1 Mb',
    '365 days is 52 weeks',
    '1 kg is exactly 2.2 pounds',
    'The trail is 5 km (8 miles) long',
    '1 m² is 100 cm²',
    '999 m is 1 km',
    '100 °C is 100 °F',
    '1 km is 1000 m and 1 m is 10 cm',
    '-40 °C is 40 °F',
  ]);
});

test('[A26] compound quantities: decimals that are only their digits are not accepted, and a sign or a comma is not guessed', () => {
  expectAll(unitVerifier, 'supported', ['1 h 30 min is 1.5 h.', '2 m 5 cm is 2.05 m.', '5 lb, 3 oz = 83 oz']);
  expectAll(unitVerifier, 'contradicted', ['1 h 30 min is 1.3 h.', '2 m 5 cm is 2.5 m.', '5 lb 3 oz is 5.3 lb.']);
  expectAll(unitVerifier, 'undecided', [
    '6 ft 2 in is 6.2 ft.',
    '6.2 ft is 6 ft 2 in.',
    '5 lb 1 oz is 5.1 lb.',
    '1 h 20 min is 1.3 h.',
    '100 ft 2 in is 100 ft.',
    '-5 ft 2 in is -58 in.',
    `3' 4" is 3.4 ft.`,
    `3' 4 in = 40 in`,
    '1:30 h = 1.5 h',
    'One and a half hours is 1.3 h.',
    'We bought 2 kg, 500 g = 1.1 lb',
  ]);
});

test('[A26] units with the same letter, of two systems or without a fixed size, and claims that say more, are not decided', () => {
  expectAll(unitVerifier, 'undecided', [
    '5 m is 5 M',
    '1 mm is 1 Mm',
    '1 GB = 1024 MB',
    '1 gallon is 3.785 litres',
    '1 cup is 240 ml',
    '1 cup is 236.59 ml',
    '1 cup is 250 ml',
    '1 KB is 1000 bytes',
    '1 KB is 1024 bytes',
    '1 km is 0.6 miles',
    '1 lb is 0.45 kg',
    '1 ton is 1000 kg',
    '1 year is 365 days',
    '1 inch is 2.5 cm',
    '5 kg is 5 km',
    '1 m is 100 cm, so Paris is in Germany',
    'It is not true that 1 km is 900 m',
    'The box of 5 kg is 3 kg lighter',
    '5 km is 5000 m long',
    '1.609,344 m sind 1 Meile',
    '5 km 等于 3.107 英里',
    '1 \u043am is 1000 m',
    '1 km\u200b is 1000 m',
    'The trail is 5 km (3.1 miles) long',
  ]);
});

test('[A26] weekdays, distances, leap years and lengths of months that are right are supported', () => {
  expectAll(dateVerifier, 'supported', [
    '17 November 2026 is a Tuesday',
    'The 17th of November 2026 is a Tuesday.',
    '2026-11-17 was a Tuesday',
    'November 17, 2026 falls on a Tuesday.',
    '17/11/2026 is a Tuesday',
    '05/05/2026 is a Tuesday',
    '4 July 1776 was a Thursday',
    'There are 30 days between 1 November 2026 and 1 December 2026',
    '2026-11-24 is 7 days after 2026-11-17',
    '2 weeks after 2026-11-17 is 2026-12-01',
    '2024 is a leap year',
    '1900 was not a leap year.',
    'February 2024 has 29 days',
    'March has 31 days',
    '17 November 2026 is not a Monday',
    '17 November 2026 is a Tuesday and 2024 is a leap year',
  ]);
});

test('[A26] wrong dates, and days that do not exist, are contradicted', () => {
  expectAll(dateVerifier, 'contradicted', [
    '17 November 2026 is a Wednesday.',
    'The release is on Monday, 17 November 2026',
    'There are 35 days between 1 November 2026 and 1 December 2026',
    '2100 is a leap year',
    '31 February 2026 is a Tuesday',
    'The meeting takes place on 2026-02-30.',
    'February 2023 has 29 days',
    'April has 31 days',
    '2026-11-24 is 7 days before 2026-11-17',
    '17 November 2026 is a Tuesday and 2023 is a leap year',
  ]);
});

test('[A26] dates that can be read in two ways, old dates and claims that say more are not decided', () => {
  expectAll(dateVerifier, 'undecided', [
    '03/04/2026 is a Friday',
    '03.04.2026 is a Saturday',
    '1 January 1700 was a Friday',
    'There are 31 days between 1 November 2026 and 1 December 2026',
    'The release is on Tuesday, 17 November 2026',
    '17 November 2026 is a Tuesday, so Paris is in Germany',
    'It is false that 17 November 2026 is a Monday',
    'February has 28 days',
    '17. November 2026 ist ein Dienstag',
    '2026年11月17日是星期二',
    '\u{f0000} is a Tuesday in 2026',
  ]);
});

test('[A26] hostile claims of 100 kB end in both verifiers', () => {
  for (const part of [
    '1 ',
    '1 km ',
    'a ',
    '17 November 2026 ',
    'there are ',
    '1 km is ',
    '(',
    '2026-11-17',
    '1,1',
    ' ',
  ])
    for (const verifier of [unitVerifier, dateVerifier])
      assert.notEqual(decide(verifier, part.repeat(Math.ceil(100_000 / part.length))), 'supported', part);
});

test('[A26] a date plus days, the day before a date and the day of a year are recomputed', () => {
  expectAll(dateVerifier, 'supported', [
    '2024-02-28 plus 2 days is 2024-03-01.',
    '2024-03-01 minus 1 day is 2024-02-29.',
    'The day before 1 March 2024 was 29 February 2024.',
    '31 December 2024 was day 366 of the year.',
  ]);
  expectAll(dateVerifier, 'contradicted', [
    '2023-02-28 plus 2 days is 2023-03-01.',
    'The day after 28 February 2024 was 1 March 2024.',
    '31 December 2023 was day 366 of the year.',
  ]);
  expectAll(dateVerifier, 'undecided', [
    'The day before 1 March 2024 was 29 February 2024, and it rained.',
    '31 December 2024 was not day 366 of the year.',
  ]);
});
