// The settings of verification.
import { booleanParser, positiveNumberParser, ratioParser, textParser } from './parsers.ts';
import type { SettingEntry } from './schema.ts';

const count = positiveNumberParser(true);
const names = textParser('names of models');

const entry = (description: string, parse: SettingEntry['parse']): SettingEntry => ({
  project: 'never',
  description,
  parse,
});

/** The settings `verify.*` by their key. */
export const verifyEntries: Readonly<Record<string, SettingEntry>> = {
  'verify.actions': entry('compare what an answer says was done with the log: true or false', booleanParser),
  'verify.answers': entry('verify the answer of every run', booleanParser),
  'verify.judges': entry('models that judge answers, separated by spaces', (value) =>
    names(Array.isArray(value) ? value.join(' ') : value),
  ),
  'verify.quorum': entry('model families that must agree', count),
  'verify.independent': entry(
    'let what other models remember support claims although there are documents',
    booleanParser,
  ),
  'verify.samples': entry('answers that the uncertainty is measured by', count),
  'verify.maxErrorRate': entry('error rate of accepted answers, from 0 to 1', ratioParser),
};
