// The `why` command: explains why the model saw each note of a turn, and why its calls were denied.
import { parseArgs } from 'node:util';
import type { Command } from '../args/command.ts';
import { withUsage } from '../args/with-usage.ts';
import { printAndReturn, printErr } from '../args/stdio.ts';
import { readSettings } from '../../coding-agent/settings/index.ts';

const usage = 'Usage: fairlead why <session> <turn> [--json]';

/** Explains a turn; exit code 0 done, 1 no such session or turn, 2 invalid arguments. */
export const run: Command['run'] = async (args) => {
  if (isPromptForModel(args)) {
    const { runConversationCommand } = await import('./conversation.ts');
    return runConversationCommand(['why', ...args], 'run');
  }
  const options = { json: { type: 'boolean', default: false }, help: { type: 'boolean', short: 'h' } } as const;
  return withUsage(usage, async () => {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [session, turn, ...more] = positionals;
    if (values.help) return printAndReturn(usage, 0);
    if (session === undefined || more.length > 0 || !/^\d+$/.test(turn ?? '')) {
      printErr(`${usage}\n`);
      return 2;
    }
    const [
      { readRecordedEvents, findRecordedSessions, loadActiveRuleParts },
      { explainTurn, getDirectoryOfEvents },
      { formatTurnExplanation },
    ] = await Promise.all([
      import('../../evals/index.ts'),
      import('../../evals/index.ts'),
      import('../../evals/index.ts'),
    ]);
    const settings = readSettings();
    const [sessionFile] = findRecordedSessions([session], settings);
    const events = sessionFile ? await readRecordedEvents(sessionFile) : [];
    const explanation = explainTurn(
      events,
      await loadActiveRuleParts(settings, getDirectoryOfEvents(events)),
      Number(turn),
    );
    return printAndReturn(
      values.json ? JSON.stringify(explanation, undefined, 2) : formatTurnExplanation(explanation),
      0,
    );
  });
};

/** Whether the arguments are a question to the model that starts with "why". */
function isPromptForModel(args: readonly string[]): boolean {
  const [, second] = args.filter((arg) => !arg.startsWith('-'));
  return second !== undefined && !/^\d+$/.test(second);
}
