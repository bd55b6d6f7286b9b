// The parsers of setting values: each returns the normalised value, or what the value must be.
import type { SettingEntry } from './schema.ts';

/** A parser for any text that is not empty. */
export const textParser = (wrong = 'a text'): SettingEntry['parse'] => textParserWith((value) => value, wrong);

/** A parser for a text; the value is invalid if `normalize` returns nothing. */
export function textParserWith(normalize: (value: string) => string | undefined, wrong: string): SettingEntry['parse'] {
  return (value) => {
    const text = typeof value === 'string' && value.trim() !== '' ? normalize(value.trim()) : undefined;
    return text === undefined ? { wrong } : { value: text };
  };
}

/** A parser for a text that matches a pattern. */
export const patternParser = (pattern: RegExp, wrong: string): SettingEntry['parse'] =>
  textParserWith((value) => (pattern.test(value) ? value : undefined), wrong);

/** A parser for a number above 0. */
export const positiveNumberParser =
  (whole: boolean): SettingEntry['parse'] =>
  (value) => {
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    const isPositive = typeof number === 'number' && Number.isFinite(number) && number > 0;
    return isPositive && (!whole || Number.isSafeInteger(number))
      ? { value: number }
      : { wrong: `a ${whole ? 'whole ' : ''}number above 0` };
  };

/** A parser for a number from one to another. */
export const numberParser =
  (min: number, max: number): SettingEntry['parse'] =>
  (value) => {
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    return typeof number === 'number' && number >= min && number <= max
      ? { value: number }
      : { wrong: `a number from ${min} to ${max}` };
  };

/** A parser for a number above 0 and up to 1. */
export const ratioParser: SettingEntry['parse'] = (value) => {
  const read = positiveNumberParser(false)(value);
  return 'value' in read && Number(read.value) <= 1 ? read : { wrong: 'a number above 0 and up to 1' };
};

/** A parser for true and false, also as on, off, yes and no. */
export const booleanParser: SettingEntry['parse'] = (value) => {
  const parsed = { true: true, false: false, on: true, off: false, yes: true, no: false }[String(value)];
  return parsed === undefined ? { wrong: 'true or false' } : { value: parsed };
};

/** A parser for the address of an HTTP server. */
export const urlParser: SettingEntry['parse'] = textParserWith((value) => {
  const url = URL.parse(/^[a-z]+:\/\//i.test(value) ? value : `http://${value}`);
  return url && /^https?:$/.test(url.protocol) && url.username === '' ? value : undefined;
}, 'an address such as http://localhost:11434, without a user name in it');

/** A parser for names of hosts separated by spaces. */
export const hostsParser: SettingEntry['parse'] = patternParser(
  /^(\*\.)?[a-z\d][a-z\d.-]*(:\d+)?( +(\*\.)?[a-z\d][a-z\d.-]*(:\d+)?)*$/i,
  'names of hosts, such as example.com *.example.org',
);

/** A parser for names: a list, a list as JSON, or a text; the value is the names with a space between them, as `parse` accepts it. */
export const listParser =
  (parse: SettingEntry['parse']): SettingEntry['parse'] =>
  (value) => {
    const text = Array.isArray(value) ? JSON.stringify(value) : value;
    if (typeof text !== 'string') return parse(undefined);
    const [, list] = /^\s*\[((?:"[^"\s,]+"|[\s,])*)\]\s*$/.exec(text) ?? [];
    return parse(text.includes('[') && list === undefined ? '' : (list ?? text).replaceAll(/["\s,]+/g, ' '));
  };
