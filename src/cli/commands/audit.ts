// The `audit` command: exports which user approved what, which gate denied what and which release ran in a period, with the hash chains verified.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { getReleasesFolder, openUserReleases } from '../../coding-agent/releases/index.ts';
import { createStrictRedactor, readSettings, type Settings } from '../../coding-agent/settings/index.ts';
import { FairleadError, type FleetStore } from '../../core/index.ts';
import {
  collectAudit,
  findChangedLine,
  formatAuditLines,
  formatAuditReport,
  type AuditContent,
  type AuditPeriod,
} from '../../sessions/index.ts';
import type { Command } from '../args/command.ts';
import { exitCodes } from '../args/exit-codes.ts';
import { print, printErr } from '../args/stdio.ts';
import { stringOption, withOptions } from '../args/with-usage.ts';
import { withFleetStore } from './fleet/open-store.ts';

const usage = `Usage: fairlead audit [--from <time>] [--to <time>] [--format markdown|jsonl] [--output <file>] [--fleet] [--store <file or url>]
       fairlead audit --check <file>

Exports the approvals, denials, runs and releases of a period, by default of the last 30 days, from the sessions of this user and, with
--fleet or --store, from the store of the fleet. The hash chain of each session file is verified. --check verifies an exported JSONL file.`;

const options = {
  from: stringOption,
  to: stringOption,
  format: { type: 'string', default: 'markdown' },
  output: { type: 'string', short: 'o' },
  fleet: { type: 'boolean' },
  store: stringOption,
  check: stringOption,
} as const;

const dayMs = 86_400_000;

/** Exports or checks an audit; exit code 0 done, 1 a session or the file is not as it was written, 2 invalid arguments. */
export const run: Command['run'] = withOptions({ usage, options }, async (values) => {
  if (values.check !== undefined) return checkExport(values.check);
  const { format } = values;
  if (format !== 'markdown' && format !== 'jsonl')
    throw new TypeError(`--format is markdown or jsonl, not "${format}".`);
  const now = new Date();
  const period: AuditPeriod = {
    from: parseTime('--from', values.from) ?? new Date(now.getTime() - 30 * dayMs).toISOString(),
    to: parseTime('--to', values.to) ?? now.toISOString(),
  };
  if (period.from >= period.to) throw new TypeError('--from must be before --to.');
  const settings = readSettings();
  const audit =
    values.fleet || values.store !== undefined
      ? await withFleetStore(values.store, (store) => collect(settings, period, store))
      : await collect(settings, period);
  const text = format === 'jsonl' ? formatAuditLines(audit) : formatAuditReport(audit);
  if (values.output === undefined) print(text);
  else writeFileSync(values.output, text, { mode: 0o600 });
  const damaged = audit.sessions.filter(({ ok }) => !ok);
  for (const { session, problems } of damaged) printErr(`${session} is damaged: ${problems.join(' ')}\n`);
  return damaged.length === 0 ? exitCodes.answered : exitCodes.failed;
});

async function collect(settings: Settings, period: AuditPeriod, store?: FleetStore): Promise<AuditContent> {
  const redactor = createStrictRedactor(settings);
  const audit = await collectAudit(
    { dirs: settings.dirs, redact: (text) => redactor.redact(text), ...(store ? { store } : {}) },
    period,
  );
  const history = existsSync(getReleasesFolder(settings)) ? openUserReleases(settings).releases.readHistory() : [];
  const releases = history
    .filter(({ time }) => time >= period.from && time < period.to)
    .map(({ time, release, action, by, reason }) => ({
      time,
      release,
      action,
      by,
      ...(reason === undefined ? {} : { reason }),
    }));
  return { ...audit, releases };
}

function parseTime(option: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const time = new Date(text);
  if (Number.isNaN(time.getTime()))
    throw new TypeError(`${option} is a date or a time such as 2026-11-01, not "${text}".`);
  return time.toISOString();
}

function checkExport(file: string): number {
  if (!existsSync(file)) throw new FairleadError('audit/no-file', `There is no file ${file}.`, { blame: 'user' });
  const line = findChangedLine(readFileSync(file, 'utf8'));
  print(line === undefined ? 'Every line is as it was exported.\n' : `Line ${line} is not as it was exported.\n`);
  return line === undefined ? exitCodes.answered : exitCodes.failed;
}
