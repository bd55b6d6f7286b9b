// The `run` command: one prompt in, one answer out, the session kept in a file.
import { parseArgs } from 'node:util';
import { FairleadError } from '../core/index.ts';
import { Agent, type AgentOptions } from '../agent/index.ts';
import { openEmbedded } from './embedded.ts';
import { chooseModel } from './model-choice.ts';
import type { Command } from './commands.ts';

const usage =
  'Usage: fairlead run [--model <provider/model>] [--max-turns <n>] [--max-budget-usd <n>] [--run-dir <folder>] <prompt>';

/** Runs once and exits: 0 answered, 1 not, 2 misused. The answer goes to standard output, everything else to standard error. */
export const run: Command['run'] = async (args) => {
  const asked = read(args);
  if (typeof asked === 'string') {
    process.stderr.write(`${asked}\n${usage}\n`);
    return 2;
  }
  const prompt = asked.prompt || (process.stdin.isTTY ? '' : await words());
  if (!prompt.trim()) {
    process.stderr.write(`There is no prompt: give one as an argument or on standard input.\n${usage}\n`);
    return 2;
  }
  try {
    return await answer(asked, prompt);
  } catch (error) {
    if (!(error instanceof FairleadError)) throw error;
    process.stderr.write(`${say(error)}\n`);
    return 1;
  }
};

const say = (error: Error): string =>
  error instanceof FairleadError && error.hint ? `${error.message} ${error.hint}` : error.message;

type Asked = {
  readonly prompt: string;
  readonly model: string | undefined;
  readonly runDir: string;
  readonly limits: NonNullable<AgentOptions['limits']>;
};

async function answer({ model, limits, runDir }: Asked, prompt: string): Promise<number> {
  const chosen = model ?? (await chooseModel());
  const agent = new Agent({ model: chosen, limits, runDir, providers: { embedded: openEmbedded } });
  let code = 1;
  for await (const event of agent.runStream(prompt)) {
    if (event.type === 'content_block_delta' && event.delta.type === 'text_delta')
      process.stdout.write(event.delta.text);
    if (event.type === 'message_stop') process.stdout.write('\n');
    if (event.type !== 'result') continue;
    const { status, reason, detail, turns, runFile, error } = event.result;
    if (status === 'success') code = 0;
    else process.stderr.write(`Stopped: ${reason}. ${error ? say(error) : (detail ?? '')}\n`);
    process.stderr.write(
      `${typeof chosen === 'string' ? chosen : `${chosen.provider}/${chosen.model}`}, ${turns} turn${turns === 1 ? '' : 's'}, kept in ${runFile}\n`,
    );
  }
  return code;
}

function read(args: readonly string[]): Asked | string {
  const options = {
    model: { type: 'string', short: 'm' },
    'max-turns': { type: 'string' },
    'max-budget-usd': { type: 'string' },
    'run-dir': { type: 'string', default: './runs' },
  } as const;
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const limit = (name: 'max-turns' | 'max-budget-usd'): number | undefined => {
      const text = values[name];
      if (text === undefined) return undefined;
      if (!(Number(text) > 0)) throw new Error(`--${name} must be a number above 0, not "${text}".`);
      return Number(text);
    };
    const [turns, usd] = [limit('max-turns'), limit('max-budget-usd')];
    const limits = { ...(turns === undefined ? {} : { turns }), ...(usd === undefined ? {} : { usd }) };
    return { prompt: positionals.join(' '), model: values.model, runDir: values['run-dir'], limits };
  } catch (error) {
    return (error as Error).message.split('\n')[0] ?? '';
  }
}

async function words(): Promise<string> {
  let text = '';
  for await (const piece of process.stdin.setEncoding('utf8')) text += piece;
  return text;
}
