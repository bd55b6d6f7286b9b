// `redteam run`: attacks an agent with the user's model in a simulated world, and shows attack success and work kept without and with the flow policy.
import { readFileSync, statSync } from 'node:fs';
import { errorMessage, FairleadError, type Provider } from '../../../core/index.ts';
import { openModel, resolveModelUnattended } from '../../../coding-agent/models/index.ts';
import { readSettings } from '../../../coding-agent/settings/index.ts';
import {
  adaptiveAttacks,
  builtinAttacks,
  createRedTeamReport,
  formatRedTeamReport,
  obedientModelName,
  parseAttacks,
  runRedTeam,
  type Attack,
} from '../../../evals/redteam/index.ts';
import { print, printErr } from '../../args/stdio.ts';
import { onShutdown } from '../../args/shutdown-signals.ts';
import { withOptions } from '../../args/with-usage.ts';
import { createTtyHost } from '../../print-mode/tty-prompter.ts';

const usage = `Usage: fairlead redteam [run] [--model <name>] [--kinds <a,b>] [--limit <n>] [--attacks <file.jsonl>] [--adaptive]
                        [--instructions <file>] [--automatic] [--json]

Runs attacks, and the same tasks without them, in a simulated world (mails, calendar, documents, pages, bank, chat, tickets, shop): nothing real is reached but the model.
Each is run undefended, with questions that a careful user answers (ask), and without a user (deny). The state of the world decides what succeeded.

--model         the model to attack; "${obedientModelName}" follows every instruction that it reads, and needs no model
--kinds         only attacks of these kinds
--limit         at most so many attacks of each kind
--attacks       attacks of your own instead of the built-in ones
--adaptive      attacks of an attacker that knows the flow policy
--instructions  the system prompt of your agent
--automatic     declare the tools by their names and schemas, as for a new MCP server`;

const maxFileBytes = 32 * 1024 * 1024;

/** Runs the attacks; exit code 0 done, 1 failed or not all measured, 2 invalid arguments. */
export const runCommand: (args: readonly string[]) => Promise<number> = withOptions(
  {
    usage,
    options: {
      model: { type: 'string', short: 'm' },
      kinds: { type: 'string' },
      limit: { type: 'string' },
      attacks: { type: 'string' },
      instructions: { type: 'string' },
      adaptive: { type: 'boolean', default: false },
      automatic: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    } as const,
  },
  async (values) => {
    const builtin = values.adaptive ? adaptiveAttacks : builtinAttacks;
    const all = values.attacks === undefined ? builtin : parseAttacks(readText(values.attacks));
    const attacks = selectAttacks(all, values.kinds, values.limit);
    const instructions = values.instructions === undefined ? undefined : readText(values.instructions);
    const model = values.model === obedientModelName ? obedientModelName : await openTarget(values.model);
    const signals = onShutdown(['SIGINT', 'SIGTERM', 'SIGHUP'], () => {});
    try {
      const runs = await runRedTeam({
        attacks,
        model,
        declarations: values.automatic ? 'automatic' : 'written',
        ...(instructions === undefined ? {} : { instructions }),
        signal: signals.signal,
        onRun(_, done, total) {
          if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${done} of ${total}`);
        },
      });
      if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
      const report = createRedTeamReport(typeof model === 'string' ? model : model.model, runs);
      print(values.json ? `${JSON.stringify({ ...report, runs }, null, 2)}\n` : formatRedTeamReport(report));
      if (report.failed.length > 0) printErr(`${report.failed.length} of ${runs.length} runs measured nothing.\n`);
      return signals.code ?? (report.failed.length > 0 ? 1 : 0);
    } finally {
      signals.release();
    }
  },
);

/** Opens the model to attack. */
export async function openTarget(name: string | undefined): Promise<Provider> {
  const settings = readSettings();
  for (const warning of settings.warnings) printErr(`${warning}\n`);
  const model = await resolveModelUnattended({ model: name }, settings);
  if (model.router !== undefined)
    throw new FairleadError('redteam/router', 'A red team needs one model, but a router selects among several.', {
      blame: 'user',
      hint: 'Name one with --model.',
    });
  return openModel(model, settings, createTtyHost(printErr));
}

function selectAttacks(
  all: readonly Attack[],
  kinds: string | undefined,
  limit: string | undefined,
): readonly Attack[] {
  const known = [...new Set(all.map(({ kind }) => kind))];
  const wanted = kinds?.split(',').map((kind) => kind.trim()) ?? known;
  const unknown = wanted.filter((kind) => !known.includes(kind));
  if (unknown.length > 0)
    throw new TypeError(`There are no attacks of the kind ${unknown.join(', ')}. The kinds are ${known.join(', ')}.`);
  const most = limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
  if (!(most >= 1)) throw new TypeError(`--limit is a number from 1, not "${limit}".`);
  return wanted.flatMap((kind) => all.filter((attack) => attack.kind === kind).slice(0, most));
}

/** Reads a file of the user, with a bound on its size. */
export function readText(file: string): string {
  try {
    if (statSync(file).size > maxFileBytes) throw new Error(`it has more than ${maxFileBytes / 1024 / 1024} MiB.`);
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new FairleadError('redteam/no-file', `${file} cannot be read: ${errorMessage(error)}`, { blame: 'user' });
  }
}
