// The `evals compare` command: compares two reports of the same cases.
import { compareReports, formatEvalComparison, readEvalReport } from '../../../evals/index.ts';
import { print } from '../../args/stdio.ts';
import { withOptions } from '../../args/with-usage.ts';

const usage = `Usage: fairlead evals compare <before.json> <after.json> [--json]

Compares two reports case by case: two models, two settings or two rule sets on the same dataset. Exit code 1 if the second is
worse: the whole 95 % interval of the difference is below 0.`;

/** Compares two reports; exit code 1 if the second is worse. */
export const compareCommand: (args: readonly string[]) => Promise<number> = withOptions(
  { usage, options: { json: { type: 'boolean', default: false } } as const, allowPositionals: true },
  async (values, positionals) => {
    const [before, after, ...more] = positionals;
    if (before === undefined || after === undefined || more.length > 0)
      throw new TypeError('Name two reports, written with --report <file.json> or --output-format json.');
    const comparison = compareReports(readEvalReport(before), readEvalReport(after));
    print(values.json ? `${JSON.stringify(comparison, null, 2)}\n` : formatEvalComparison(comparison));
    return comparison.verdict === 'worse' ? 1 : 0;
  },
);
