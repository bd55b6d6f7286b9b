// The `doctor` command: checks each part of the installation and prints how to fix what does not work.
import { withUsage } from '../args/with-usage.ts';
import { printUsage } from '../args/stdio.ts';
import { parseArgs } from 'node:util';
import type { Command } from '../args/command.ts';
import { createTextStyles, wantsColors } from '../tui/ansi-style.ts';
import { createBufferedStdout } from '../print-mode/printers.ts';
import { runDoctorChecks, type NamedCheckResult } from '../doctor/run-checks.ts';
import { formatCheckResult, formatCheckSummary } from '../doctor/format-report.ts';

const usage = `Usage: fairlead doctor [--offline] [--model <name>] [--json]
       fairlead doctor --flows [<MCP configuration>]... [--json]`;

/** Runs all checks; exit code 0 if none failed, 1 if one failed, 2 invalid arguments. */
export const run: Command['run'] = async (args) => {
  const options = {
    offline: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    flows: { type: 'boolean', default: false },
    model: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  } as const;
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    if (positionals.length > 0 && !values.flows) throw new TypeError(`Unexpected argument '${positionals[0]}'.`);
    if (values.help) {
      printUsage(usage);
      return 0;
    }
    if (values.flows)
      return await withUsage(usage, async () =>
        (await import('../doctor/flows-report.ts')).printFlowsReport(positionals, values.json),
      );
    return await printReport(values.json, { offline: values.offline, model: values.model });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    process.stderr.write(`${error.message.split('\n')[0]}\n${usage}\n`);
    return 2;
  }
};

async function printReport(
  json: boolean,
  target: { readonly offline: boolean; readonly model: string | undefined },
): Promise<number> {
  const { stdout, stderr } = process;
  const stop = new AbortController();
  const { write, flush } = createBufferedStdout(stdout, () => stop.abort(), { isEscaped: true });
  const styles = createTextStyles(wantsColors(process.env, stdout.isTTY) ? 'colors' : 'none');
  const results: NamedCheckResult[] = [];
  const showProgress = (text: string): void => void (stderr.isTTY && !json && stderr.write(`\r\x1b[K${text}`));
  for await (const result of runDoctorChecks({
    ...target,
    signal: stop.signal,
    onCheckStarted: (name) => showProgress(`checking: ${name} …`),
  })) {
    showProgress('');
    results.push(result);
    if (!json) write(`${formatCheckResult(result, styles, stdout.isTTY ? stdout.columns : undefined)}\n`);
    await flush();
  }
  // The reader has closed the pipe, and not every check has run.
  if (stop.signal.aborted) return 1;
  const failed = results.some(({ status }) => status === 'fail');
  if (json) write(`${JSON.stringify({ ok: !failed, checks: results }, null, 2)}\n`);
  else stderr.write(`${formatCheckSummary(results)}\n`);
  await flush();
  return failed ? 1 : 0;
}
