// The `config` command: shows what is set and where it came from, and changes the person's own file. Keys are never shown.
import { parseArgs } from 'node:util';
import { FairleadError, errorMessage, escapeInvisible, formatError } from '../../core/index.ts';
import type { Command } from '../args/command.ts';
import { print, printErr } from '../args/stdio.ts';
import { formatColumns } from '../../core/format-columns.ts';
import { parseConfig, readConfig, setConfigValue, writeConfig } from '../../coding-agent/settings/config-file.ts';
import { readTextIfExists, writeTextAtomic } from '../../stores/private-file.ts';
import {
  checkConfig,
  readSettings,
  getUserConfigFile,
  type SettingOrigin,
  type Setting,
  type Settings,
} from '../../coding-agent/settings/settings.ts';
import { getSettingEntry, settingsSchema, parseSettingValue } from '../../coding-agent/settings/schema.ts';

const usage = `Usage: fairlead config [list] [--json]      what is set, and where it came from
       fairlead config get <key>            one value
       fairlead config set <key> <value>    set it in your own file
       fairlead config unset <key>          take it out of your own file
       fairlead config path                 where your own file is
       fairlead config edit                 open it in your editor`;

/** Shows or changes settings: 0 done, 1 not, 2 misused. */
export const run: Command['run'] = async (args) => {
  const asked = parseConfigArgs(args);
  if (asked === undefined) {
    process.stdout.write(`${usage}\n`);
    return 0;
  }
  if (typeof asked === 'string') return printErrAndReturn(`${asked}\n${usage}`, 2);
  try {
    return await runSubcommand(asked);
  } catch (error) {
    if (!(error instanceof FairleadError)) throw error;
    return printErrAndReturn(formatError(error), 1);
  }
};

/** What can be done with settings, and how many words each takes. */
export const configSubcommands: Readonly<Record<string, number>> = {
  list: 0,
  get: 1,
  set: 2,
  unset: 1,
  path: 0,
  edit: 0,
};

type ConfigArgs = { readonly verb: string; readonly words: readonly string[]; readonly json: boolean };

/** What is asked for, what is wrong with it, or nothing where only the usage is. */
function parseConfigArgs(args: readonly string[]): ConfigArgs | string | undefined {
  const options = { json: { type: 'boolean', default: false }, help: { type: 'boolean', short: 'h' } } as const;
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    if (values.help) return undefined;
    const [verb = 'list', ...words] = positionals;
    const wanted = Object.hasOwn(configSubcommands, verb) ? configSubcommands[verb] : undefined;
    if (wanted === undefined) return `There is no "fairlead config ${verb}".`;
    if (words.length === wanted) return { verb, words, json: values.json };
    return `"fairlead config ${verb}" takes ${wanted || 'no'} word${wanted === 1 ? '' : 's'} more, not ${words.length}.`;
  } catch (error) {
    return (error as Error).message.replace(/\. To specify[^]*$/, '.');
  }
}

async function runSubcommand({ verb, words: [key = '', value = ''], json }: ConfigArgs): Promise<number> {
  switch (verb) {
    case 'get':
      return showSetting(key);
    case 'set':
      return changeSetting(key, value);
    case 'unset':
      return changeSetting(key, undefined);
    case 'path':
      process.stdout.write(`${getUserConfigFile()}\n`);
      return 0;
    case 'edit':
      return editConfigFile();
    default:
      return listSettings(json);
  }
}

function listSettings(json: boolean): number {
  const settings = readSettings();
  if (json) {
    const all = Object.fromEntries(
      [...settings.all].map(([key, setting]) => [key, { value: displayValue(key, setting), origin: setting.origin }]),
    );
    process.stdout.write(`${JSON.stringify({ settings: all }, null, 2)}\n`);
  } else process.stdout.write(formatSettings(settings));
  for (const warning of settings.warnings) printErr(`${warning}\n`);
  return 0;
}

function formatSettings({ all }: Settings): string {
  const set = [...all].map(([key, setting]) => [
    key,
    toOneLine(displayValue(key, setting)),
    formatOrigin(setting.origin),
  ]);
  const free = Object.entries(settingsSchema).filter(([key, { secret }]) => !all.has(key) && !secret);
  const rest = free.length > 0 ? `\nNot set: ${free.map(([key]) => key).join(', ')}.\n` : '';
  return `${formatColumns([['setting', 'value', 'from'], ...set])}${rest}`;
}

const displayValue = (key: string, { value }: Setting): string | number | boolean =>
  settingsSchema[key]?.secret ? 'set' : value;

function toOneLine(value: string | number | boolean): string {
  const line = escapeInvisible(String(value)).replaceAll(/\s+/g, ' ');
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}

function formatOrigin(origin: SettingOrigin): string {
  switch (origin.type) {
    case 'environment':
      return `${origin.name} in the environment`;
    case 'env-file':
      return `${origin.name} in ${origin.file}`;
    case 'project':
      return `the project's ${origin.file}`;
    case 'user':
      return origin.file;
    case 'default':
      return 'default';
  }
}

function showSetting(key: string): number {
  const setting = readSettings().all.get(key);
  if (!setting) {
    getSettingEntry(key);
    process.stderr.write(`${key} is not set.\n`);
    return 1;
  }
  print(`${displayValue(key, setting)}\n`);
  return 0;
}

/** Goes by the person's own file alone: a mistake in another place, or in the value to be replaced, must not be in the way. */
function changeSetting(key: string, given: string | undefined): number {
  const entry = getSettingEntry(key);
  const file = getUserConfigFile();
  const value = given === undefined ? undefined : parseSettingValue(key, entry, given, key);
  writeConfig(file, setConfigValue(readConfig(file), key, value));
  process.stderr.write(`${key} is ${value === undefined ? 'no longer set' : 'set'} in ${file}.\n`);
  const { variable } = entry;
  if (value !== undefined && variable !== undefined && process.env[variable]?.trim())
    process.stderr.write(`${variable} is set in the environment and comes before it.\n`);
  return 0;
}

async function editConfigFile(): Promise<number> {
  const file = getUserConfigFile();
  const { openEditor } = await import('../editor/open-editor.ts');
  const edited = await openEditor(readTextIfExists(file) ?? '{\n}\n', { suffix: '.json' });
  if (edited.type === 'unchanged') return printErrAndReturn('Nothing was changed.', 0);
  if (edited.type === 'failed')
    return printErrAndReturn(
      edited.draftPath === undefined ? edited.message : `${edited.message} What you wrote is in ${edited.draftPath}.`,
      1,
    );
  try {
    checkConfig(parseConfig(edited.text, 'What you wrote'), 'what you wrote');
  } catch (error) {
    const kept = `${file}.rejected`;
    writeTextAtomic(kept, edited.text);
    return printErrAndReturn(`${errorMessage(error)} Nothing was changed; what you wrote is kept in ${kept}.`, 1);
  }
  writeTextAtomic(file, edited.text);
  return printErrAndReturn(`Saved in ${file}.`, 0);
}

function printErrAndReturn(words: string, code: number): number {
  process.stderr.write(`${words}\n`);
  return code;
}
