// The `doctor` command: proves each part of the installation and says how to mend what does not work.
import { parseArgs } from 'node:util';
import type { Command } from '../args/command.ts';
import { createTextStyles, wantsColors } from '../tui/ansi-style.ts';
import { createBufferedStdout } from '../print-mode/buffered-stdout.ts';
import { runDoctorChecks, type NamedCheckResult } from '../doctor/run-checks.ts';
import { formatCheckResult, formatCheckSummary } from '../doctor/format-report.ts';

const usage = 'Usage: fairlead doctor [--offline] [--model <name>] [--json]';

/** Examines everything: 0 nothing failed, 1 something did, 2 misused. */
export const run: Command['run'] = async (args) => {
  const options = {
    offline: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    model: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  } as const;
  try {
    const { values } = parseArgs({ args: [...args], options });
    if (values.help) {
      process.stdout.write(`${usage}\n`);
      return 0;
    }
    return await printReport(values.json, { offline: values.offline, model: values.model });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    process.stderr.write(`${error.message.split('\n')[0]}\n${usage}\n`);
    return 2;
  }
};

async function printReport(
  json: boolean,
  asked: { readonly offline: boolean; readonly model: string | undefined },
): Promise<number> {
  const { stdout, stderr } = process;
  const stop = new AbortController();
  const { write, flush } = createBufferedStdout(stdout, () => stop.abort());
  const paint = createTextStyles(wantsColors(process.env, stdout.isTTY) ? 'colors' : 'none');
  const all: NamedCheckResult[] = [];
  const wait = (text: string): void => void (stderr.isTTY && !json && stderr.write(`\r\x1b[K${text}`));
  for await (const each of runDoctorChecks({
    ...asked,
    signal: stop.signal,
    onCheckStarted: (name) => wait(`looking at: ${name} …`),
  })) {
    wait('');
    all.push(each);
    if (!json) write(`${formatCheckResult(each, paint)}\n`);
    await flush();
  }
  // Nobody reads any more, and not everything was looked at.
  if (stop.signal.aborted) return 1;
  const failed = all.some(({ standing }) => standing === 'fail');
  if (json) write(`${JSON.stringify({ ok: !failed, checks: all }, null, 2)}\n`);
  else stderr.write(`${formatCheckSummary(all)}\n`);
  await flush();
  return failed ? 1 : 0;
}
