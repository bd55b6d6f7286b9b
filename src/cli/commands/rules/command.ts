// The `rules` command: lists rules, tests their examples, backtests other rules, and measures how often rules are followed.
import { parseArgs } from 'node:util';
import type { Command } from '../../args/command.ts';
import { withUsage } from '../../args/with-usage.ts';
import { printAndReturn, printErr } from '../../args/stdio.ts';
import type { RulesCommandResult } from './subcommands.ts';
import { readSettings } from '../../../coding-agent/settings/index.ts';

const usage = `Usage: fairlead rules list
       fairlead rules test [file or folder ...]
       fairlead rules backtest <file or folder> [session, file or folder ...] [--json]
       fairlead rules report [session, file or folder ...] [--json]`;

/** Lists and measures rules; exit code 0 done, 1 a rule has a problem, 2 invalid arguments. */
export const run: Command['run'] = async (args) => {
  const options = { json: { type: 'boolean', default: false }, help: { type: 'boolean', short: 'h' } } as const;
  return withUsage(usage, async () => {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [verb, ...rest] = positionals;
    if (values.help) return printAndReturn(usage, 0);
    const settings = readSettings();
    const { listRules, testRules, backtestRules, reportRules } = await import('./subcommands.ts');
    if (verb === 'list' && rest.length === 0) return printRulesResult(await listRules(settings));
    if (verb === 'test') return printRulesResult(await testRules(settings, rest));
    const [rules, ...sessions] = rest;
    if (verb === 'backtest' && rules !== undefined)
      return printRulesResult(await backtestRules(settings, rules, sessions, values.json));
    if (verb === 'report') return printRulesResult(await reportRules(settings, rest, values.json));
    printErr(`${usage}\n`);
    return 2;
  });
};

const printRulesResult = ({ text, code }: RulesCommandResult): number => printAndReturn(text, code);
