// The settings of verification.
import { booleanParser, listParser, positiveNumberParser, ratioParser, textParser } from './parsers.ts';
import type { SettingEntry } from './schema.ts';

const count = positiveNumberParser(true);
const parseNames = listParser(textParser('names of models: a list, or names separated by spaces or commas'));

/** More judges add cost but little information. */
export const maxJudges = 5;

function parseQuorum(value: unknown): ReturnType<SettingEntry['parse']> {
  const parsed = count(value);
  return 'value' in parsed && Number(parsed.value) > maxJudges
    ? { wrong: `a whole number from 1 to ${maxJudges}: there are at most ${maxJudges} judges` }
    : parsed;
}

const entry = (description: string, parse: SettingEntry['parse']): SettingEntry => ({
  project: 'never',
  description,
  parse,
});

/** The settings `verify.*` by their key. */
export const verifyEntries: Readonly<Record<string, SettingEntry>> = {
  'verify.actions': entry('compare what an answer says was done with the log: true or false', booleanParser),
  'verify.answers': entry('verify the answer of every run', booleanParser),
  'verify.judges': entry('models that judge answers, separated by spaces', parseNames),
  'verify.quorum': entry('model families that must agree, at most 5', parseQuorum),
  'verify.independent': entry(
    'let what other models remember support claims although there are documents',
    booleanParser,
  ),
  'verify.samples': entry('answers that the uncertainty is measured by', count),
  'verify.maxErrorRate': entry('error rate of accepted answers, from 0 to 1', ratioParser),
};
