// The `config` command: shows settings with their origin, and changes the user's settings file. Secrets are never printed.
import { parseArgs } from 'node:util';
import { FairleadError, errorMessage, escapeInvisible, formatError, formatColumns } from '../../core/index.ts';
import type { Command } from '../args/command.ts';
import { print, printErr, printUsage } from '../args/stdio.ts';
import {
  parseConfig,
  readConfig,
  setConfigValue,
  writeConfig,
  checkConfig,
  readSettings,
  getUserConfigFile,
  type SettingOrigin,
  type Setting,
  type Settings,
  getSettingEntry,
  settingsSchema,
  parseSettingValue,
} from '../../coding-agent/settings/index.ts';
import { readTextIfExists, writeTextAtomic } from '../../stores/index.ts';

const usage = `Usage: fairlead config [list] [--json]      list the settings and their origin
       fairlead config get <key>            print one value
       fairlead config set <key> <value>    set it in your settings file
       fairlead config unset <key>          remove it from your settings file
       fairlead config path                 print the path of your settings file
       fairlead config edit                 open it in your editor`;

/** Shows or changes settings; exit code 0 done, 1 failed, 2 invalid arguments. */
export const run: Command['run'] = async (args) => {
  const parsed = parseConfigArgs(args);
  if (parsed === undefined) {
    printUsage(usage);
    return 0;
  }
  if (typeof parsed === 'string') return printErrAndReturn(`${parsed}\n${usage}`, 2);
  try {
    return await runSubcommand(parsed);
  } catch (error) {
    if (!(error instanceof FairleadError)) throw error;
    return printErrAndReturn(formatError(error), 1);
  }
};

/** The subcommands, and how many arguments each takes. */
export const configSubcommands: Readonly<Record<string, number>> = {
  list: 0,
  get: 1,
  set: 2,
  unset: 1,
  path: 0,
  edit: 0,
};

type ConfigArgs = { readonly verb: string; readonly args: readonly string[]; readonly json: boolean };

/** Parses the arguments; returns a message if they are invalid, undefined for --help. */
function parseConfigArgs(args: readonly string[]): ConfigArgs | string | undefined {
  const options = { json: { type: 'boolean', default: false }, help: { type: 'boolean', short: 'h' } } as const;
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    if (values.help) return undefined;
    const [verb = 'list', ...rest] = positionals;
    const expected = Object.hasOwn(configSubcommands, verb) ? configSubcommands[verb] : undefined;
    if (expected === undefined) return `There is no "fairlead config ${verb}".`;
    if (rest.length === expected) return { verb, args: rest, json: values.json };
    return `"fairlead config ${verb}" takes ${expected || 'no'} argument${expected === 1 ? '' : 's'}, not ${rest.length}.`;
  } catch (error) {
    return (error as Error).message.replace(/\. To specify[^]*$/, '.');
  }
}

async function runSubcommand({ verb, args: [key = '', value = ''], json }: ConfigArgs): Promise<number> {
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
  const unset = Object.entries(settingsSchema).filter(
    ([key, { secret }]) => !all.has(key) && !secret && !key.startsWith('urls.'),
  );
  const rest = unset.length > 0 ? `\nNot set: ${unset.map(([key]) => key).join(', ')}.\n` : '';
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

/** Reads only the user's settings file: an error in another file, or in the value to replace, must not prevent the change. */
function changeSetting(key: string, text: string | undefined): number {
  const entry = getSettingEntry(key);
  const file = getUserConfigFile();
  const value = text === undefined ? undefined : parseSettingValue(key, entry, text, key);
  writeConfig(file, setConfigValue(readConfig(file), key, value));
  process.stderr.write(`${key} is ${value === undefined ? 'no longer set' : 'set'} in ${file}.\n`);
  const { variable } = entry;
  if (value !== undefined && variable !== undefined && process.env[variable]?.trim())
    process.stderr.write(`${variable} is set in the environment and overrides it.\n`);
  return 0;
}

async function editConfigFile(): Promise<number> {
  const file = getUserConfigFile();
  const { openEditor } = await import('../editor/open-editor.ts');
  const edited = await openEditor(readTextIfExists(file) ?? '{\n}\n', { suffix: '.json' });
  if (edited.type === 'unchanged') return printErrAndReturn('Nothing was changed.', 0);
  if (edited.type === 'failed')
    return printErrAndReturn(
      edited.draftPath === undefined ? edited.message : `${edited.message} Your text is in ${edited.draftPath}.`,
      1,
    );
  try {
    checkConfig(parseConfig(edited.text, 'The edited file'), 'the edited file');
  } catch (error) {
    const rejected = `${file}.rejected`;
    writeTextAtomic(rejected, edited.text);
    return printErrAndReturn(`${errorMessage(error)} Nothing was changed; your text is in ${rejected}.`, 1);
  }
  writeTextAtomic(file, edited.text);
  return printErrAndReturn(`Saved to ${file}.`, 0);
}

function printErrAndReturn(text: string, code: number): number {
  process.stderr.write(`${text}\n`);
  return code;
}
