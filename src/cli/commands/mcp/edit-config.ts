// The subcommands `fairlead mcp add` and `fairlead mcp remove`: change the configuration file of the user or of the project.
import { realpathSync } from 'node:fs';
import {
  addMcpServer,
  getMcpConfigFile,
  removeMcpServer,
  type McpScope,
  type McpServerEntry,
} from '../../../coding-agent/integrations/index.ts';
import { readSettings } from '../../../coding-agent/settings/index.ts';
import { exitCodes } from '../../args/exit-codes.ts';
import { printErr } from '../../args/stdio.ts';
import { exitCodeOf } from '../../args/with-usage.ts';

/** Adds or removes a server; exit code 0 done, 1 failed, 2 invalid arguments. */
export async function runConfigEdit(args: readonly string[], usage: string): Promise<number> {
  const parsed = parseEditArgs(args);
  if (typeof parsed === 'string') {
    printErr(parsed === '' ? `${usage}\n` : `${parsed}\n${usage}\n`);
    return parsed === '' ? exitCodes.answered : exitCodes.misused;
  }
  return exitCodeOf(async () => {
    const { name, entry, scope } = parsed;
    const dirs = { config: readSettings().dirs.config, cwd: realpathSync(process.cwd()) };
    if (entry) {
      const file = getMcpConfigFile(scope ?? 'user', dirs);
      addMcpServer(file, scope ?? 'user', name, entry);
      printErr(`Added the MCP server ${name} to ${file}. "fairlead mcp approve ${name}" starts and approves it.\n`);
      return exitCodes.answered;
    }
    for (const each of scope ? [scope] : (['user', 'project'] as const)) {
      const file = getMcpConfigFile(each, dirs);
      if (!removeMcpServer(file, each, name)) continue;
      printErr(`Removed the MCP server ${name} from ${file}.\n`);
      return exitCodes.answered;
    }
    printErr(`There is no MCP server ${name}. "fairlead mcp list" lists them.\n`);
    return exitCodes.failed;
  });
}

type EditArgs = { readonly name: string; readonly entry?: McpServerEntry; readonly scope?: McpScope };

type OptionValues = Readonly<Record<'env' | 'header' | 'scope' | 'type', readonly string[]>>;

/** Parses the arguments; returns a message if they are invalid, an empty one for --help. Words after `--`, and options that are not ours, belong to the command of the server. */
function parseEditArgs(args: readonly string[]): EditArgs | string {
  const [verb = '', ...rest] = args;
  const values = { env: [], header: [], scope: [], type: [] } as Record<keyof OptionValues, string[]>;
  const words: string[] = [];
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? '';
    if (word === '--') {
      words.push(...rest.slice(at + 1));
      break;
    }
    const [, option, value] = /^--(env|header|scope|type)(?:=([^]*))?$/.exec(word) ?? [];
    if (option === undefined) words.push(word);
    else {
      const given = value ?? rest[++at];
      if (given === undefined) return `--${option} needs a value.`;
      values[option as keyof OptionValues].push(given);
    }
  }
  const [name, target, ...more] = words;
  if (name === '--help' || name === '-h') return '';
  if (name === undefined || name.startsWith('-')) return `Missing argument: <name>`;
  const scope = values.scope.at(-1);
  if (scope !== undefined && scope !== 'user' && scope !== 'project')
    return `--scope is user or project, not "${scope}".`;
  const scoped: { readonly scope?: McpScope } = scope === undefined ? {} : { scope };
  if (verb === 'remove') return target === undefined ? { name, ...scoped } : `Unexpected argument "${target}".`;
  if (target === undefined) return 'Missing argument: <command …|url>';
  const entry = toEntry(target, more, values);
  return typeof entry === 'string' ? entry : { name, entry, ...scoped };
}

function toEntry(
  target: string,
  args: readonly string[],
  { env, header, type }: OptionValues,
): McpServerEntry | string {
  const variables = toPairs(env, '=', '--env K=V');
  if (typeof variables === 'string') return variables;
  const headers = toPairs(header, ':', '--header "K: V"');
  if (typeof headers === 'string') return headers;
  const kind = type.at(-1);
  if (/^(https?|wss?):\/\//.test(target)) {
    if (kind !== undefined && kind !== 'http' && kind !== 'sse' && kind !== 'ws')
      return `--type is http, sse or ws, not "${kind}".`;
    if (args.length > 0) return `Unexpected argument "${args[0]}" after a URL.`;
    if (env.length > 0) return '--env is for a server that is a command.';
    return {
      ...(kind === undefined ? {} : { type: kind }),
      url: target,
      ...(header.length > 0 ? { headers } : {}),
    };
  }
  if (header.length > 0 || kind !== undefined) return '--header and --type are for a server with a URL.';
  return { command: target, ...(args.length > 0 ? { args } : {}), ...(env.length > 0 ? { env: variables } : {}) };
}

function toPairs(
  texts: readonly string[],
  separator: string,
  usage: string,
): Readonly<Record<string, string>> | string {
  const pairs: [string, string][] = [];
  for (const text of texts) {
    const at = text.indexOf(separator);
    if (at <= 0) return `"${text}" is not of the form ${usage}.`;
    pairs.push([text.slice(0, at).trim(), text.slice(at + 1).trim()]);
  }
  return Object.fromEntries(pairs);
}
