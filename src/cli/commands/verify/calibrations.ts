// `verify calibrations`: lists the stored calibrations.
import { formatPercent, type StoredCalibration } from '../../../checks/index.ts';
import { listCalibrations } from '../../../coding-agent/calibrations/index.ts';
import { readSettings } from '../../../coding-agent/settings/index.ts';
import { escapeInvisibleLine, formatColumns } from '../../../core/index.ts';
import { print, printErr } from '../../args/stdio.ts';
import { withOptions } from '../../args/with-usage.ts';

const usage = 'Usage: fairlead verify calibrations [--json]';

/** Lists calibrations; exit code 0, also if a file is damaged, which is said on standard error. */
export const calibrationsCommand: (args: readonly string[]) => Promise<number> = withOptions(
  { usage, options: { json: { type: 'boolean', default: false } } as const },
  async ({ json }) => {
    const { calibrations, problems } = listCalibrations(readSettings().dirs);
    for (const problem of problems) printErr(`${problem}\n`);
    if (json) print(`${JSON.stringify(calibrations, null, 2)}\n`);
    else if (calibrations.length === 0)
      print('No calibrations. "fairlead verify calibrate <labels.jsonl>" makes one; until then it abstains.\n');
    else print(formatColumns([header, ...calibrations.map(formatRow)]));
    return 0;
  },
);

const header = ['MODEL', 'TASK', 'VERIFIER', 'LABELS', 'TARGET', 'THRESHOLD', 'COVERAGE', 'DATE'];

const formatRow = (each: StoredCalibration): readonly string[] => [
  escapeInvisibleLine(each.model),
  escapeInvisibleLine(each.task),
  escapeInvisibleLine(each.verifier),
  String(each.labels),
  `${formatPercent(each.maxErrorRate)} at ${formatPercent(each.probability)}`,
  each.threshold === undefined ? 'abstains' : each.threshold.toFixed(3),
  each.accepted === undefined ? '0 %' : formatPercent(each.accepted.coverage),
  each.when.slice(0, 10),
];
