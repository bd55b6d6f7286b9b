// The `rules` command: which rules there are, whether their examples hold, what others would have done, and which are heeded.
import { parseArgs } from 'node:util';
import type { Command } from '../../args/command.ts';
import { withUsage } from '../../args/with-usage.ts';
import { printErr } from '../../args/stdio.ts';
import { readSettings } from '../../../coding-agent/settings/index.ts';

const usage = `Usage: fairlead rules list
       fairlead rules test [file or folder ...]
       fairlead rules backtest <file or folder> [session, file or folder ...] [--json]
       fairlead rules report [session, file or folder ...] [--json]`;

/** Lists and measures rules: 0 done, 1 something is wrong with them, 2 misused. */
export const run: Command['run'] = async (args) => {
  const options = { json: { type: 'boolean', default: false }, help: { type: 'boolean', short: 'h' } } as const;
  return withUsage(usage, async () => {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [verb, ...words] = positionals;
    if (values.help) return printRulesResult({ text: usage, code: 0 });
    const settings = readSettings();
    const { listRules, testRules, backtestRules, reportRules } = await import('./subcommands.ts');
    if (verb === 'list' && words.length === 0) return printRulesResult(await listRules(settings));
    if (verb === 'test') return printRulesResult(await testRules(settings, words));
    const [rules, ...sessions] = words;
    if (verb === 'backtest' && rules !== undefined)
      return printRulesResult(await backtestRules(settings, rules, sessions, values.json));
    if (verb === 'report') return printRulesResult(await reportRules(settings, words, values.json));
    printErr(`${usage}\n`);
    return 2;
  });
};

function printRulesResult({ text, code }: { readonly text: string; readonly code: number }): number {
  process.stdout.write(`${text}\n`);
  return code;
}
