// One-shot mode: answers a prompt, tests a connection or lists models, and exits.
import { formatCliError, withProgramName } from '../args/program-name.ts';
import {
  verificationKey,
  type OutputSchema,
  type ToolCall,
  type Event,
  type Json,
  type RunState,
} from '../../core/index.ts';
import { randomUUID } from 'node:crypto';
import {
  createEventTranslator,
  isAwaitingApproval,
  messageStopReason,
  parseOutput,
  toRunResult,
  type RunResult,
} from '../../agent/index.ts';
import {
  attachNamedFiles,
  Conversation,
  isVerificationDemanded,
  type ConversationOptions,
} from '../../coding-agent/index.ts';
import {
  getModelEndpoint,
  formatNoToolsWarning,
  defaultEndpoint,
  resolveModelUnattended,
  testConnection,
} from '../../coding-agent/models/index.ts';
import type { SessionModel } from '../../sessions/index.ts';
import type { CliArgs } from '../args/parse-args.ts';
import { version } from '../version.ts';
import { exitCodeForRun, exitCodes } from '../args/exit-codes.ts';
import { print, printErr } from '../args/stdio.ts';
import { onShutdown } from '../args/shutdown-signals.ts';
import { withDebugLog, readKnownModels, refreshModels } from '../../coding-agent/state/index.ts';
import { readSettings, type Settings } from '../../coding-agent/settings/index.ts';
import { createTtyApproval, createTtyHost, createTtyPrompter } from './tty-prompter.ts';
import { readPrompts, readOutputSchema } from './input.ts';
import {
  formatFailureJson,
  createJsonPrinter,
  createStreamJsonPrinter,
  createTextPrinter,
  type RunPrinter,
  createBufferedStdout,
  type BufferedStdout,
} from './printers.ts';

const noPromptMessage = 'No prompt was given: pass one as an argument or on standard input.';

/** Does one action and returns the exit code. */
export async function runPrintMode(args: CliArgs): Promise<number> {
  const settings = readSettings();
  for (const warning of settings.warnings) printErr(`${warning}\n`);
  return withDebugLog(settings, `one-shot ${args.action?.type ?? ''}`, printErr, () => runAction(args, settings));
}

async function runAction(args: CliArgs, settings: Settings): Promise<number> {
  const type = args.action?.type;
  if (type === 'test-connection' || type === 'refresh-models') {
    const endpoint = getModelEndpoint(settings, readKnownModels(settings) ?? []) ?? defaultEndpoint;
    if (type === 'test-connection') print(`${await testConnection(settings, endpoint)}\n`);
    else {
      const warn = (text: string): void => printErr(`${text}\n`);
      for (const { id } of await refreshModels(settings, { endpoint, onWarning: warn })) print(`${id}\n`);
    }
    return exitCodes.answered;
  }
  const outputSchema = args.outputSchema === undefined ? undefined : readOutputSchema(args.outputSchema);
  const prompts = readPrompts(args, printErr);
  const first = await prompts.next();
  if (first.done) {
    printErr(`${noPromptMessage}\n${withProgramName('Run fairlead --help for usage.')}\n`);
    if (args.outputFormat !== 'text') print(formatFailureJson(noPromptMessage));
    return exitCodes.misused;
  }
  const model = await resolveModelUnattended(
    { model: args.model, ofSession: await checkSession(args, settings) },
    settings,
  );
  const noTools = formatNoToolsWarning(model);
  if (noTools !== undefined) printErr(`${noTools}\n`);
  const conversation = await openCancellable({
    settings,
    flags: args,
    selector: args.session,
    model,
    firstPrompt: first.value,
    host: createTtyHost(printErr),
    prompter: createTtyPrompter(printErr),
    ...(outputSchema ? { outputSchema } : {}),
  });
  if (typeof conversation === 'number') return conversation;
  try {
    for (const problem of [...conversation.problems, ...conversation.agent.problems]) printErr(`${problem}\n`);
    if (conversation.agent.sandbox.name === 'none') printErr(`No sandbox: ${conversation.agent.sandbox.description}\n`);
    const out = createBufferedStdout(process.stdout, () => conversation.session.cancel());
    if (args.outputFormat === 'stream-json') out.write(formatInitJson(conversation));
    let code: number = exitCodes.answered;
    for (let next: IteratorResult<string, void> = first; !next.done; next = await prompts.next()) {
      const promptCode = await runPrompt(conversation, next.value, args, outputSchema, out);
      // The first failed prompt decides the exit code.
      code ||= promptCode;
      if (!(await out.flush()) || promptCode >= exitCodes.hangup) break;
    }
    return code;
  } finally {
    await prompts.return(undefined);
    await conversation.close();
  }
}

/** Throws if the session to resume belongs to another folder; returns the model that it used. */
async function checkSession({ session, cwd }: CliArgs, { dirs }: Settings): Promise<SessionModel | undefined> {
  if (!['resume', 'clone', 'latest'].includes(session.type)) return undefined;
  const { assertSessionFolder, readSelectedModel } = await import('../../sessions/index.ts');
  if (cwd === undefined) assertSessionFolder(session, dirs, process.cwd());
  return readSelectedModel(session, dirs, process.cwd());
}

/** Opens the conversation; a signal ends a download, and its exit code is returned. */
async function openCancellable(options: ConversationOptions): Promise<Conversation | number> {
  const signals = onShutdown(['SIGINT', 'SIGTERM', 'SIGHUP'], () => {});
  try {
    return await Conversation.open({ ...options, host: { ...options.host, signal: signals.signal } });
  } catch (error) {
    if (signals.code === undefined) throw error;
    printErr(`${error instanceof Error ? formatCliError(error) : String(error)}\n`);
    return signals.code;
  } finally {
    signals.release();
  }
}

async function runPrompt(
  conversation: Conversation,
  prompt: string,
  args: CliArgs,
  outputSchema: OutputSchema | undefined,
  out: BufferedStdout,
): Promise<number> {
  const printer = createPrinter(args, conversation, out.write);
  const runId = randomUUID();
  let lastTurn: (Event & { readonly type: 'turn-ended' }) | undefined;
  let verification: Json | undefined;
  const translate = createEventTranslator(
    (event) => printer.stream(event),
    () => conversation.session.state.model,
  );
  conversation.subscribe({
    session() {},
    event(event) {
      if (event.type === 'turn-ended') lastTurn = event;
      if (event.type === 'annotation-added' && event.key === verificationKey) verification = event.value;
      printer.event(event);
      translate.event(event);
    },
  });
  const onChunk =
    args.outputFormat === 'stream-json'
      ? translate.chunk
      : (chunk: Parameters<RunPrinter['chunk']>[0]) => printer.chunk(chunk);
  const signals = onShutdown(['SIGINT', 'SIGTERM', 'SIGHUP'], () => conversation.session.cancel());
  try {
    const onApproval = createTtyApproval(conversation);
    // Standard input is data: only the prompt of the command line may name files.
    const { input, notices } =
      args.action?.type === 'prompt'
        ? await attachNamedFiles(conversation, prompt, args.action.text)
        : { input: prompt, notices: [] };
    for (const notice of notices) printErr(`${notice}\n`);
    const state = await conversation.run(input, {
      runId,
      onChunk,
      onApproval,
      waitSignal: signals.signal,
      ...(process.env['TRACEPARENT'] && (await import('./read-trace-context.ts')).readTraceContext(process.env)),
    });
    const result = createRunResult(state, runId, lastTurn, outputSchema);
    printer.end(result, {
      session: conversation.file === undefined ? undefined : conversation.name,
      model: conversation.model.name,
      ...(verification && (await import('./verification-report.ts')).formatVerification(verification, args)),
    });
    if (isAwaitingApproval(state) && conversation.file !== undefined)
      printErr(`${withProgramName('To answer: fairlead --resume')} ${JSON.stringify(conversation.name)}\n`);
    return (
      signals.code ??
      exitCodeForRun(result.reason, result.error && 'code' in result.error ? String(result.error.code) : undefined)
    );
  } finally {
    signals.release();
  }
}

/** The first line of stream-json: what a reader must know if the program is killed before the result. */
const formatInitJson = ({ session, name, file, model, agent, mode }: Conversation): string =>
  `${JSON.stringify({
    type: 'system',
    subtype: 'init',
    session_id: session.id,
    session: file === undefined ? null : name,
    model: model.name,
    tools: session.state.tools.map((tool) => tool.name),
    cwd: agent.workspace.cwd,
    permission_mode: mode,
    version,
  })}\n`;

function createPrinter(args: CliArgs, conversation: Conversation, out: (text: string) => void): RunPrinter {
  const findCall = (id: string): ToolCall | undefined =>
    conversation.session.state.calls.find((call) => call.id === id);
  if (args.outputFormat === 'json') return createJsonPrinter(out, findCall);
  const isVerified =
    args.verify || conversation.settings.verifiesAnswers || isVerificationDemanded(conversation.session.state);
  return args.outputFormat === 'stream-json'
    ? createStreamJsonPrinter(out, isVerified)
    : createTextPrinter(out, findCall, conversation.stream && !isVerified && (args.stream ?? process.stdout.isTTY));
}

function createRunResult(
  state: RunState,
  runId: string,
  lastTurn: (Event & { readonly type: 'turn-ended' }) | undefined,
  outputSchema: OutputSchema | undefined,
): RunResult {
  const stopReason = lastTurn && messageStopReason(lastTurn);
  const result = toRunResult(state, { runId, sessionId: state.session, stopReason });
  return outputSchema && result.status === 'success'
    ? { ...result, object: parseOutput(outputSchema, result.text) }
    : result;
}
