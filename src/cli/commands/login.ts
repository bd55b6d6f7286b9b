// The `login` command: asks for a key without showing it, or reads it from standard input, verifies it and stores it in the private settings file.
import { parseArgs } from 'node:util';
import { FairleadError, formatError } from '../../core/index.ts';
import { formatLoginTarget, login } from '../../coding-agent/models/index.ts';
import { readSettings, type Settings } from '../../coding-agent/settings/index.ts';
import type { Command } from '../args/command.ts';
import { exitCodeForError, exitCodes } from '../args/exit-codes.ts';
import { printErr, printUsage } from '../args/stdio.ts';
import { formatLogin } from '../login/enter-key.ts';

const usage = `Usage: fairlead login [<provider>]                 enter a key, which is verified before it is stored; then choose a model
       fairlead login <provider> < file             read the key from a file or a pipe
       fairlead login openai-compatible --url <url> a server of yours, with or without a key`;

/** Stores a key; exit code 0 stored, 1 failed or cancelled, 2 invalid arguments, 7 provider not reached. */
export const run: Command['run'] = async (args) => {
  const parsed = parseLoginArgs(args);
  if (parsed === undefined) {
    printUsage(usage);
    return exitCodes.answered;
  }
  if (typeof parsed === 'string') {
    printErr(`${parsed}\n${usage}\n`);
    return exitCodes.misused;
  }
  try {
    const settings = readSettings();
    return process.stdin.isTTY ? await loginOnTerminal(parsed, settings) : await loginFromPipe(parsed, settings);
  } catch (error) {
    if (!(error instanceof FairleadError)) throw error;
    printErr(`${formatError(error)}\n`);
    return exitCodeForError(error.code);
  }
};

type LoginArgs = { readonly provider: string | undefined; readonly url: string | undefined };

/** Parses the arguments; returns a message if they are invalid, undefined for --help. */
function parseLoginArgs(args: readonly string[]): LoginArgs | string | undefined {
  const options = { url: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const;
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    if (values.help) return undefined;
    const [provider, more] = positionals;
    if (more !== undefined)
      return 'A key on the command line would stay in the history of the shell: enter it at the question, or send it to standard input.';
    if (provider === undefined && !process.stdin.isTTY) return 'Name the provider of the key.';
    return { provider, url: values.url };
  } catch (error) {
    return (error as Error).message.split('\n')[0] ?? '';
  }
}

async function loginFromPipe({ provider = '', url }: LoginArgs, settings: Settings): Promise<number> {
  const { text } = await import('node:stream/consumers');
  const key = await text(process.stdin);
  return store({ provider, url }, key, settings);
}

async function store({ provider = '', url }: LoginArgs, key: string, settings: Settings): Promise<number> {
  const target = formatLoginTarget(provider, url, settings);
  const stored = await login(settings, { provider, key, ...(url === undefined ? {} : { url }) });
  printErr(`${formatLogin(stored, target)}\n`);
  printErr(`fairlead models ${stored.provider} lists its models; fairlead chooses one of them at its start.\n`);
  return exitCodes.answered;
}

async function loginOnTerminal({ provider, url }: LoginArgs, settings: Settings): Promise<number> {
  if (provider !== undefined && url !== undefined) {
    const { readSecret } = await import('../login/read-secret.ts');
    const target = formatLoginTarget(provider, url, settings);
    const key = await readSecret(`Key for ${target} (not shown; Esc cancels): `);
    if (key === undefined) return exitCodes.failed;
    return store({ provider, url }, key, settings);
  }
  // An unknown name is an error before a question.
  if (provider !== undefined) formatLoginTarget(provider, url, settings);
  const [{ createUi }, { enterKey }] = await Promise.all([
    import('../tui/create-ui.ts'),
    import('../login/enter-key.ts'),
  ]);
  const ui = await createUi();
  try {
    const entered = await enterKey(ui, settings, provider);
    if (entered === undefined) return exitCodes.failed;
    const { chooseDefaultModel } = await import('../login/choose-default.ts');
    await chooseDefaultModel(ui, readSettings(), entered);
    return exitCodes.answered;
  } finally {
    await ui.close();
  }
}
