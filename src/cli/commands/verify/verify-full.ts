// The `verify-full` command: answers a question with several drafts, an ensemble of other models, chain of verification and best-of-N.
import type { Command } from '../../args/command.ts';
import { withOptions } from '../../args/with-usage.ts';
import { parseCount, runVerifyCommand, verifyOptions, verifyOptionsUsage } from './verify-options.ts';

const usage = `Usage: fairlead verify-full "<question>" [--against <folder>] [options]

The model writes several drafts. Models of other families answer the question without sight of them, and compare
every claim with the documents of --against and with their own answers; claims that are still open are tested by
questions about them. The draft with the best verification is the answer, or there is none.

  --drafts <n>       number of drafts (default 3)
  --samples <n>      number of answers by which the uncertainty is measured (default 5)
${verifyOptionsUsage}`;

const defaultDrafts = 3;
const defaultSamples = 5;

/** Answers with full verification; exit code 0 verified, 6 abstained or not verified, 1 an error, 2 invalid arguments. */
export const run: Command['run'] = withOptions(
  {
    usage,
    options: { ...verifyOptions, drafts: { type: 'string' }, samples: { type: 'string' } },
    allowPositionals: true,
  },
  async (values, positionals) => {
    const question = positionals.join(' ').trim();
    if (question === '') throw new TypeError('Name a question.');
    const samples = parseCount('samples', values.samples);
    return runVerifyCommand(values, {
      question,
      drafts: parseCount('drafts', values.drafts) ?? defaultDrafts,
      ...(samples === undefined ? { defaultSamples } : { samples }),
      chain: true,
    });
  },
);
