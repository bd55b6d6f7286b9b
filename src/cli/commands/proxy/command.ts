// The `proxy` command: an endpoint in front of any model, so that agents in any language are guided by a change of their base URL.
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Command } from '../../args/command.ts';
import { exitCodes } from '../../args/exit-codes.ts';
import { printErr } from '../../args/stdio.ts';
import { exitCodeOf } from '../../args/with-usage.ts';
import { readSettings } from '../../../coding-agent/settings/index.ts';

const usage = `Usage: fairlead proxy --target <url> [--rules <file or folder>] [--port <port>] [--host <address>] [--sessions <folder>] [--memory]

Listens on http://127.0.0.1:4774 (--port 0 for a free port) and passes everything on to the model server at <url>. Chat
completions, responses, messages and Gemini's contents are guided by the rules on the way: notes are added at the end of
what the model reads, forbidden tool calls are held back and the model is asked again, and runs are stopped. Point the base
URL of any client at it; the client's key is passed on and kept nowhere. Conversations are kept as sessions in a folder, or
with --memory only as long as the proxy runs. An address that others can reach needs a token in FAIRLEAD_PROXY_TOKEN.`;

type ProxyArgs = {
  readonly target: string;
  readonly rules: string | undefined;
  readonly port: number | undefined;
  readonly host: string | undefined;
  readonly folder: string | undefined;
};

/** Serves until it is told to end: 130 or 143 by a signal, 1 where it cannot, 2 misused. */
export const run: Command['run'] = async (args) => {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(`${usage}\n`);
    return exitCodes.answered;
  }
  const wanted = parseProxyArgs(args);
  if (typeof wanted === 'string') {
    printErr(`${wanted}\n${usage}\n`);
    return exitCodes.misused;
  }
  return exitCodeOf(() => serveProxy(wanted));
};

function parseProxyArgs(args: readonly string[]): ProxyArgs | string {
  const text = { type: 'string' } as const;
  const options = {
    target: text,
    rules: text,
    port: text,
    host: text,
    sessions: text,
    memory: { type: 'boolean' },
  } as const;
  try {
    const { target, rules, port, host, sessions, memory } = parseArgs({ args: [...args], options }).values;
    if (target === undefined) return '--target is needed: the address of the model server.';
    const number = port === undefined ? undefined : Number(port);
    if (number !== undefined && !(Number.isInteger(number) && number >= 0 && number < 65_536))
      return `--port needs a number from 0 to 65535, not "${port}".`;
    if (memory && sessions !== undefined) return '--memory and --sessions exclude each other.';
    const folder = memory ? undefined : (sessions ?? path.join(readSettings().dirs.data, 'proxy'));
    return { target, rules, port: number, host, folder };
  } catch (error) {
    return (error as Error).message.split('\n')[0] ?? '';
  }
}

async function serveProxy({ target, rules, port, host, folder }: ProxyArgs): Promise<number> {
  const [{ openProxy }, { loadProxyRules }] = await Promise.all([
    import('../../../bridges/index.ts'),
    import('../../../bridges/proxy/load-rules.ts'),
  ]);
  const token = process.env['FAIRLEAD_PROXY_TOKEN'];
  const proxy = await openProxy({
    target,
    ...(rules === undefined ? {} : await loadProxyRules(rules)),
    ...(port === undefined ? {} : { port }),
    ...(host === undefined ? {} : { host }),
    ...(folder === undefined ? {} : { folder }),
    ...(token ? { token } : {}),
    notify: (sentence) => printErr(`${sentence}\n`),
  });
  const { promise: over, resolve } = Promise.withResolvers<number>();
  process.once('SIGINT', () => resolve(exitCodes.interrupted)).once('SIGTERM', () => resolve(exitCodes.terminated));
  printErr(`Listening at ${proxy.url}, in front of ${target}\n`);
  if (rules === undefined) printErr('There are no rules (--rules), so everything passes and is only kept.\n');
  try {
    return await over;
  } finally {
    await proxy.close();
  }
}
