// The `proxy` command: an HTTP proxy in front of any model server that applies rules; clients only change their base URL.
import path from 'node:path';
import type { Command } from '../../args/command.ts';
import { exitCodes } from '../../args/exit-codes.ts';
import { printErr } from '../../args/stdio.ts';
import { stringOption, withOptions } from '../../args/with-usage.ts';
import { readSettings, type Settings } from '../../../coding-agent/settings/index.ts';
import { isLoopbackHost } from '../../../core/index.ts';
import type { DlpPolicy } from '../../../guards/dlp/index.ts';
import type { FlowDeclarations, FlowMode } from '../../../guards/flow/index.ts';

const usage = `Usage: fairlead proxy --target <url> [--rules <file or directory>] [--port <port>] [--host <address>] [--sessions <directory>] [--memory]
                      [--flow <ask|deny|observe|off>] [--read-only <tool,tool>] [--strict]

Listens on http://127.0.0.1:4774 (--port 0 for a free port) and forwards every request to the model server at <url>. The
rules apply to chat completions, responses, messages and Gemini contents: notes are appended to the request, denied tool
calls are withheld and the model is asked again, and runs are stopped. Set the base URL of any client to the proxy; the key
of the client is forwarded and not saved. Conversations are saved as sessions in a directory, or with --memory only kept
while the proxy runs. An address that other machines can reach needs a token in FAIRLEAD_PROXY_TOKEN.

The flow policy decides about every call: values that only tool results name decide nothing. With --flow ask (default: the
setting "flow") questions are asked on this terminal; without a terminal such calls are not forwarded. --read-only names
tools of the client that change nothing; "fairlead policy declare" says more about a tool.

Requests of other formats are forwarded without rules, and each path is named once; --strict refuses them.`;

const options = {
  target: stringOption,
  rules: stringOption,
  port: stringOption,
  host: stringOption,
  sessions: stringOption,
  memory: { type: 'boolean' },
  flow: stringOption,
  'read-only': stringOption,
  strict: { type: 'boolean' },
} as const;

type ProxyArgs = {
  readonly target: string;
  readonly rules: string | undefined;
  readonly port: number | undefined;
  readonly host: string | undefined;
  readonly folder: string | undefined;
  readonly flow: FlowMode | 'off';
  readonly readOnlyTools: readonly string[];
  readonly strict: boolean;
};

const flowModes = ['ask', 'deny', 'observe', 'off'] as const;

/** Serves until a signal; exit code 130 or 143 by a signal, 1 failed, 2 invalid arguments. */
export const run: Command['run'] = withOptions({ usage, options }, async (values) => {
  const { target, rules, host, sessions, memory } = values;
  if (target === undefined) throw new TypeError('--target is needed: the URL of the model server.');
  const port = values.port === undefined ? undefined : Number(values.port);
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port < 65_536))
    throw new TypeError(`--port needs a number from 0 to 65535, not "${values.port}".`);
  if (memory && sessions !== undefined) throw new TypeError('--memory and --sessions cannot be given together.');
  const settings = readSettings();
  const folder = memory ? undefined : (sessions ?? path.join(settings.dirs.data, 'proxy'));
  const flow = flowModes.find((mode) => mode === (values.flow ?? settings.flowMode));
  if (!flow) throw new TypeError(`--flow is one of ${flowModes.join(', ')}, not "${values.flow}".`);
  const readOnlyTools = (values['read-only'] ?? '').split(',').filter((name) => name !== '');
  return serveProxy(
    { target, rules, port, host, folder, flow, readOnlyTools, strict: values.strict === true },
    settings,
  );
});

async function serveProxy(
  { target, rules, port, host, folder, flow: mode, readOnlyTools, strict }: ProxyArgs,
  settings: Settings,
): Promise<number> {
  const { dirs } = settings;
  const threshold = settings.all.get('detector.threshold')?.value;
  const [{ openProxy }, { loadProxyRules }, { createTtyPrompter, isInteractiveTerminal }] = await Promise.all([
    import('../../../bridges/index.ts'),
    import('../../../bridges/proxy/index.ts'),
    import('../../print-mode/tty-prompter.ts'),
  ]);
  const canAsk = isInteractiveTerminal();
  const prompter = createTtyPrompter(printErr);
  const declarations = async (): Promise<FlowDeclarations | undefined> =>
    (await import('../../../coding-agent/flow/index.ts')).readDeclarations(dirs, process.cwd());
  const token = process.env['FAIRLEAD_PROXY_TOKEN'];
  const proxy = await openProxy({
    target,
    ...(rules === undefined ? {} : await loadProxyRules(rules)),
    ...(port === undefined ? {} : { port }),
    ...(host === undefined ? {} : { host }),
    ...(folder === undefined ? {} : { folder }),
    ...(token ? { token } : {}),
    ...(isOwnHost(target, settings) ? {} : { dlp: await readProxyPolicy(settings) }),
    flow: { mode, declarations, ...(typeof threshold === 'number' ? { detectorThreshold: threshold } : {}) },
    readOnlyTools,
    strict,
    ...(canAsk ? { askUser: (_call, question) => prompter.confirm(question) } : {}),
    notify: (text) => printErr(`${text}\n`),
  });
  const { promise: signalled, resolve } = Promise.withResolvers<number>();
  process.once('SIGINT', () => resolve(exitCodes.interrupted)).once('SIGTERM', () => resolve(exitCodes.terminated));
  printErr(`Listening at ${proxy.url}, in front of ${target}\n`);
  if (rules === undefined) printErr('No rules are given (--rules).\n');
  printErr(`${flowTexts[mode === 'ask' && !canAsk ? 'deny' : mode]}\n`);
  try {
    return await signalled;
  } finally {
    await proxy.close();
  }
}

const flowTexts: Readonly<Record<FlowMode | 'off', string>> = {
  ask: 'The flow policy asks here about calls whose target comes from tool results, or that the user did not ask for.',
  deny: 'The flow policy forwards no call whose target comes from tool results, or that the user did not ask for. Name tools that change nothing with --read-only; --flow observe only records.',
  observe: 'The flow policy only records what it would do: fairlead policy explain <session>.',
  off: 'The flow policy is off.',
};

/** Whether a model server is on a machine of the user. */
const isOwnHost = (target: string, { privateHosts }: Settings): boolean => {
  const url = URL.parse(target);
  return (
    url !== null &&
    (isLoopbackHost(url.hostname) || [url.hostname, url.host].some((each) => privateHosts.includes(each)))
  );
};

const readProxyPolicy = async (settings: Settings): Promise<DlpPolicy> =>
  (await import('../../../coding-agent/dlp/index.ts')).readDlpPolicy(settings);
