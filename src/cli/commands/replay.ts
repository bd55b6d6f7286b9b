// The `replay` command: replays a recorded session, whole or from a turn on with a live model, and shows the differences side by side.
import path from 'node:path';
import { replayCodingSession } from '../../coding-agent/replay/index.ts';
import { readSettings } from '../../coding-agent/settings/index.ts';
import { FairleadError, type ApprovalHandler } from '../../core/index.ts';
import { findRecordedSessions, readRecordedEvents } from '../../evals/index.ts';
import { formatReplay, formatReplayMarkdown, readSessionModel, subagentSessionsDir } from '../../sessions/index.ts';
import type { Command } from '../args/command.ts';
import { exitCodes } from '../args/exit-codes.ts';
import { onShutdown } from '../args/shutdown-signals.ts';
import { print, printErr } from '../args/stdio.ts';
import { stringOption, withOptions } from '../args/with-usage.ts';
import { createTtyHost, isInteractiveTerminal } from '../print-mode/tty-prompter.ts';
import { warnOfDamage } from '../print-mode/warn-of-damage.ts';

const usage = `Usage: fairlead replay <session> [--json | --markdown]
       fairlead replay <session> --from <turn> [--model <model>] [--live-tools] [--json | --markdown]

Replays a session with its recorded answers and tool results, without a model and without running anything, and compares each request
with the one that would be sent now. With --from a live model answers from that turn on; tools return their recorded results, and the
replay stops at a call that was not recorded, or runs it with --live-tools after the usual approvals. Nothing is added to the session.
Exit code: 0 identical, 1 different or stopped, 2 invalid command line.`;

const options = {
  from: stringOption,
  model: { type: 'string', short: 'm' },
  'live-tools': { type: 'boolean' },
  json: { type: 'boolean' },
  markdown: { type: 'boolean' },
} as const;

/** Replays a session; exit code 0 identical, 1 different, 2 invalid arguments. */
export const run: Command['run'] = withOptions({ usage, options, allowPositionals: true }, async (values, words) => {
  const [session, ...more] = words;
  if (session === undefined || more.length > 0) throw new TypeError('Name one session.');
  if (values.json && values.markdown) throw new TypeError('--json and --markdown exclude each other.');
  const from = parseTurn(values.from);
  if (from === undefined && (values.model !== undefined || values['live-tools']))
    throw new TypeError('--model and --live-tools need --from <turn>.');
  const settings = readSettings();
  const [file, ...others] = findRecordedSessions([session], settings);
  if (!file || others.length > 0)
    throw new FairleadError('replay/one-session', 'Name one session, not a folder.', { blame: 'user' });
  await warnOfDamage(file.file);
  const host = createTtyHost(printErr);
  const onApproval: ApprovalHandler = async ({ question }) =>
    isInteractiveTerminal() ? host.confirm(question) : undefined;
  const signals = onShutdown(['SIGINT', 'SIGTERM', 'SIGHUP'], () => {});
  try {
    const replay = await replayCodingSession(await readRecordedEvents(file), {
      settings,
      cwd: process.cwd(),
      from,
      model: values.model,
      sessionModel: readSessionModel(file.file),
      runsTools: values['live-tools'] === true,
      isSubagent: path.resolve(file.file).startsWith(path.resolve(subagentSessionsDir(settings.dirs)) + path.sep),
      host,
      onApproval,
      signal: signals.signal,
    });
    if (replay.turns === 0)
      throw new FairleadError('replay/no-turn', `There is no turn in ${session}.`, { blame: 'user' });
    if (values.json) print(`${JSON.stringify(replay, undefined, 2)}\n`);
    else if (values.markdown) print(`${formatReplayMarkdown(replay)}\n`);
    else print(`${formatReplay(replay, process.stdout.columns)}\n`);
    return signals.code ?? (replay.identical ? exitCodes.answered : exitCodes.failed);
  } finally {
    signals.release();
  }
});

function parseTurn(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new TypeError(`--from is the number of a turn, not "${text}".`);
  return Number(text);
}
