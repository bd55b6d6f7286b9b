// The settings of verification.
import { booleanParser, positiveNumberParser, ratioParser, textParser } from './parsers.ts';
import type { SettingEntry } from './schema.ts';

/** The settings `verify.*` by their key. */
export const verifyEntries: Readonly<Record<string, SettingEntry>> = {
  'verify.answers': { project: 'demands', description: 'verify the answer of every run', parse: booleanParser },
  'verify.judges': {
    project: 'never',
    description: 'models that judge answers, separated by spaces; default: one of each other family',
    parse: (value) => textParser('names of models')(Array.isArray(value) ? value.join(' ') : value),
  },
  'verify.quorum': {
    project: 'never',
    description: 'model families that must agree; default 2',
    parse: positiveNumberParser(true),
  },
  'verify.samples': {
    project: 'never',
    description: 'answers that uncertainty is measured by',
    parse: positiveNumberParser(true),
  },
  'verify.maxErrorRate': {
    project: 'never',
    description: 'the error rate of accepted answers, from 0 to 1',
    parse: ratioParser,
  },
};
