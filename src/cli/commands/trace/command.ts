// The `trace` command: shows the trace and the cache ledger of a session, and exports the trace of a recorded session.
import { statSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import {
  arrangeSpans,
  buildTrace,
  createTraceRequest,
  exportSpans,
  formatTrace,
  readTracingOptions,
  createConversion,
  type Span,
  type TracingOptions,
} from '../../../tracing/index.ts';
import { getTracingVariables } from '../../../coding-agent/tracing/index.ts';
import { createStrictRedactor, readSettings, type Settings } from '../../../coding-agent/settings/index.ts';
import { priceOf } from '../../../providers/index.ts';
import {
  findSession,
  formatCacheLedger,
  readFleetSessionTree,
  readSessionTree,
  reportCache,
  type SessionTree,
} from '../../../sessions/index.ts';
import { withFileError } from '../../../stores/index.ts';
import { version } from '../../version.ts';
import type { Command } from '../../args/command.ts';
import { print, printAndReturn, printErr, printUsage } from '../../args/stdio.ts';
import { withUsage } from '../../args/with-usage.ts';
import { warnOfDamage } from '../../print-mode/warn-of-damage.ts';

const usage = `Usage: fairlead trace <session> [--cache] [--json] [--fleet] [--store <store>]
       fairlead trace export <session> [--endpoint <url>] [--protocol http/json|http/protobuf] [--file <path>] [--content]

Shows the runs of a session as a tree with time, tokens and cost; --cache: what the prompt cache of the provider saved or lost in each turn, and why.
export sends a recorded session to a receiver of OpenTelemetry, with the same ids every time: to --endpoint, or to OTEL_EXPORTER_OTLP_ENDPOINT; or writes it as OTLP JSON to a file.
A session is a name, an id or a file; with --fleet, that of a queued run.`;

const options = {
  cache: { type: 'boolean' },
  json: { type: 'boolean' },
  fleet: { type: 'boolean' },
  store: { type: 'string' },
  endpoint: { type: 'string' },
  protocol: { type: 'string' },
  file: { type: 'string' },
  content: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

type TraceOptions = ReturnType<typeof parseArgs<{ options: typeof options; args: string[] }>>['values'];

/** Shows or exports a trace; exit code 0 done, 1 no such session or not everything delivered, 2 invalid arguments. */
export const run: Command['run'] = async (args) => {
  if (isPromptForModel(args)) {
    const { runConversationCommand } = await import('../conversation.ts');
    return runConversationCommand(['trace', ...args], 'run');
  }
  return withUsage(usage, async () => {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const isExport = positionals[0] === 'export' && positionals.length > 1;
    const session = isExport ? positionals[1] : positionals[0];
    if (values.help) {
      printUsage(usage);
      return 0;
    }
    if (session === undefined || session === 'export') {
      printErr(`${usage}\n`);
      return 2;
    }
    const settings = readSettings();
    const recorded = await readSessions(session, values, settings);
    return isExport ? exportTrace(recorded, values, settings) : showTrace(recorded, values);
  });
};

/** Whether the arguments are a prompt that starts with "trace". */
function isPromptForModel(args: readonly string[]): boolean {
  const words = args.filter((arg) => !arg.startsWith('-'));
  return !args.some((arg) => arg.startsWith('-')) && words.length > (words[0] === 'export' ? 2 : 1);
}

async function readSessions(session: string, values: TraceOptions, settings: Settings): Promise<SessionTree> {
  if (!values.fleet && values.store === undefined) {
    const isFile = statSync(session, { throwIfNoEntry: false })?.isFile() === true;
    const file = isFile ? session : findSession(settings.dirs, session).file;
    await warnOfDamage(file);
    return readSessionTree(settings.dirs, file);
  }
  const { withFleetStore } = await import('../fleet/open-store.ts');
  return withFleetStore(values.store, (store) => readFleetSessionTree(store, session));
}

async function showTrace({ main, children }: SessionTree, values: TraceOptions): Promise<number> {
  if (values.cache) {
    const ledger = reportCache(main.events, { priceOf: (provider, model) => priceOf(provider ?? '', model) });
    return printAndReturn(values.json ? JSON.stringify(ledger, undefined, 2) : formatCacheLedger(ledger), 0);
  }
  const spans = buildTrace(main, children);
  if (values.json) return printAndReturn(JSON.stringify(spans, undefined, 2), 0);
  const { visibleWidth } = await import('@earendil-works/pi-tui');
  const width = process.stdout.isTTY ? process.stdout.columns : 120;
  return printAndReturn(formatTrace(arrangeSpans(spans), { width, measure: visibleWidth }), 0);
}

async function exportTrace({ main, children }: SessionTree, values: TraceOptions, settings: Settings): Promise<number> {
  const given = {
    ...getTracingVariables(settings),
    OTEL_SDK_DISABLED: 'false',
    OTEL_TRACES_EXPORTER: 'otlp',
    OTEL_METRICS_EXPORTER: 'none',
    ...(values.endpoint === undefined
      ? {}
      : { OTEL_EXPORTER_OTLP_ENDPOINT: values.endpoint, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: '' }),
    ...(values.protocol === undefined
      ? {}
      : { OTEL_EXPORTER_OTLP_PROTOCOL: values.protocol, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: '' }),
    ...(values.content ? { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' } : {}),
  };
  const tracing = readTracingOptions(given);
  for (const problem of tracing?.problems ?? []) printErr(`${problem}\n`);
  if (!tracing?.traces) return 1;
  const redactor = tracing.content ? createStrictRedactor(settings) : undefined;
  const redact = redactor && ((text: string) => redactor.redact(text));
  const spans = buildTrace(main, children, { content: tracing.content });
  if (values.file !== undefined) return writeTrace(spans, values.file, tracing, redact);
  const { delivered, added, lost, problem } = await exportSpans(spans, {
    options: tracing,
    version,
    ...(redact ? { redact } : {}),
  });
  const open = spans.length - added;
  printErr(
    `${delivered} of ${added} spans delivered to ${new URL(tracing.traces.url).origin}${open > 0 ? `, ${open} have not ended` : ''}.\n`,
  );
  if (lost > 0) printErr(`${lost} were not delivered: ${problem ?? 'unknown'}.\n`);
  return lost > 0 ? 1 : 0;
}

function writeTrace(
  spans: readonly Span[],
  file: string,
  tracing: TracingOptions,
  redact: ((text: string) => string) | undefined,
): number {
  const ended = spans.filter(({ end }) => end !== undefined);
  const text = `${JSON.stringify(createTraceRequest(ended, createConversion(tracing, version, redact)))}\n`;
  if (file === '-') print(text);
  else {
    withFileError(file, 'write', () => writeFileSync(file, text, { flag: 'wx', mode: 0o600 }));
    printErr(`${ended.length} spans written to ${file}.\n`);
  }
  return 0;
}
