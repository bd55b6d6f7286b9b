// The `permissions` command: lists what was allowed for projects with "in this project", and revokes it.
import { realpathSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { escapeInvisibleLine } from '../../core/index.ts';
import { formatGrantRule, isSameRule, type GrantRule } from '../../guards/index.ts';
import {
  changePermissions,
  getPermissionsFile,
  readPermissions,
  readSettings,
  type Permissions,
} from '../../coding-agent/settings/index.ts';
import type { Command } from '../args/command.ts';
import { printAndReturn, printErr } from '../args/stdio.ts';
import { withUsage } from '../args/with-usage.ts';

const usage = `Usage: fairlead permissions list [--all] [--json]
       fairlead permissions revoke <number>|all [--all]

Lists what you allowed in this project with numbers, or in all projects with --all, and revokes it by number.`;

/** Lists or revokes permissions; exit code 0 done, 1 the file or the number is wrong, 2 invalid arguments. */
export const run: Command['run'] = async (args) =>
  withUsage(usage, async () => {
    const options = {
      all: { type: 'boolean' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [verb = 'list', which, ...more] = positionals;
    if (values.help) return printAndReturn(usage, 0);
    const { config } = readSettings().dirs;
    const permissions = await readPermissions(config);
    const entries = listEntries(permissions, values.all === true ? undefined : realpathSync(process.cwd()));
    if (verb === 'list' && which === undefined)
      return printAndReturn(values.json === true ? JSON.stringify(entries) : formatEntries(entries, config), 0);
    if (verb === 'revoke' && which !== undefined && more.length === 0) return revoke(entries, which, config);
    printErr(`${usage}\n`);
    return 2;
  });

type PermissionEntry = { readonly project: string; readonly rule: GrantRule };

const listEntries = (permissions: Permissions, project: string | undefined): readonly PermissionEntry[] =>
  [...permissions].flatMap(([each, rules]) =>
    project === undefined || each === project ? rules.map((rule) => ({ project: each, rule })) : [],
  );

function formatEntries(entries: readonly PermissionEntry[], config: string): string {
  if (entries.length === 0) return 'No permissions granted yet.';
  const lines = entries.map(
    ({ project, rule }, index) =>
      `${index + 1}. ${escapeInvisibleLine(formatGrantRule(rule))}  (in ${escapeInvisibleLine(project)})`,
  );
  return [...lines, `They are in ${getPermissionsFile(config)}.`].join('\n');
}

async function revoke(entries: readonly PermissionEntry[], which: string, config: string): Promise<number> {
  const chosen = which === 'all' ? entries : entries.slice(Number(which) - 1, Number(which));
  if (chosen.length === 0 || !/^(?:all|[1-9]\d*)$/.test(which)) {
    printErr(`There is no permission ${JSON.stringify(which)}. "fairlead permissions list" shows the numbers.\n`);
    return 1;
  }
  await changePermissions(config, (all) => {
    for (const { project, rule } of chosen)
      all.set(
        project,
        (all.get(project) ?? []).filter((each) => !isSameRule(each, rule)),
      );
  });
  return printAndReturn(
    chosen.map(({ rule }) => `Revoked: ${escapeInvisibleLine(formatGrantRule(rule))}`).join('\n'),
    0,
  );
}
