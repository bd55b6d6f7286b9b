// The `verify-claims` command: splits an answer into claims, verifies each, and strikes out what is not supported.
import type { Command } from '../../args/command.ts';
import { withOptions } from '../../args/with-usage.ts';
import { readAnswerFile, runVerifyCommand, verifyOptions, verifyOptionsUsage } from './verify-options.ts';

const usage = `Usage: fairlead verify-claims "<question>" [--against <folder>] [options]
       fairlead verify-claims --file <answer.md> [--against <folder>] ["<question>"] [options]

The model answers the question, or the file has the answer. Each claim is verified by exact checks, by the
documents of --against, then by models of other families. Claims that are not supported are struck out.

  --file <file>      the answer; - reads standard input
${verifyOptionsUsage}`;

/** Verifies claims; exit code 0 verified, 6 abstained or not verified, 1 an error, 2 invalid arguments. */
export const run: Command['run'] = withOptions(
  { usage, options: { ...verifyOptions, file: { type: 'string' } }, allowPositionals: true },
  async (values, positionals) => {
    const question = positionals.join(' ').trim();
    if (values.file === undefined && question === '') throw new TypeError('Name a question, or a file with --file.');
    return runVerifyCommand(values, {
      ...(question === '' ? {} : { question }),
      ...(values.file === undefined ? {} : await readAnswerFile(values.file)),
    });
  },
);
