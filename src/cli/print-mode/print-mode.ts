// One thing done, then the end: a prompt answered, a connection tested, or a list of models read.
import { formatError } from '../../core/index.ts';
import { randomUUID } from 'node:crypto';
import {
  createEventTranslator,
  messageStopReason,
  parseOutput,
  toRunResult,
  type RunResult,
} from '../../agent/index.ts';
import type { OutputSchema, ToolCall, Event, RunState } from '../../core/index.ts';
import { isAwaitingApproval } from '../../coding-agent/approvals.ts';
import { Conversation } from '../../coding-agent/conversation.ts';
import {
  getModelEndpoint,
  formatNoToolsWarning,
  defaultEndpoint,
  resolveModelUnattended,
} from '../../coding-agent/models/resolve-model.ts';
import { testConnection } from '../../coding-agent/models/test-connection.ts';
import type { CliArgs } from '../args/parse-args.ts';
import { exitCodeForRun, exitCodes } from '../args/exit-codes.ts';
import { print, printErr } from '../args/stdio.ts';
import { onShutdown } from '../args/shutdown-signals.ts';
import { withDebugLog, readKnownModels, refreshModels } from '../../coding-agent/state/index.ts';
import { readSettings, type Settings } from '../../coding-agent/settings/index.ts';
import { answerApprovalsOnTty, createTtyHost, createTtyPrompter } from './tty-prompter.ts';
import { readPrompts, readOutputSchema } from './input.ts';
import {
  formatFailureJson,
  createJsonPrinter,
  createStreamJsonPrinter,
  createTextPrinter,
  type RunPrinter,
} from './printers.ts';
import { createBufferedStdout, type BufferedStdout } from './buffered-stdout.ts';

const noPromptMessage = 'There is no prompt: give one as an argument or on standard input.';

/** Does one thing and answers with the exit code. */
export async function runPrintMode(asked: CliArgs): Promise<number> {
  const settings = readSettings();
  for (const warning of settings.warnings) printErr(`${warning}\n`);
  return withDebugLog(settings, `one-shot ${asked.action?.type ?? ''}`, printErr, async () => {
    try {
      return await runAction(asked, settings);
    } catch (error) {
      // Whoever reads JSON reads the result in the last line, also of what never became a run.
      if (asked.outputFormat !== 'text')
        print(formatFailureJson(error instanceof Error ? formatError(error) : String(error)));
      throw error;
    }
  });
}

async function runAction(asked: CliArgs, settings: Settings): Promise<number> {
  const type = asked.action?.type;
  if (type === 'test-connection' || type === 'refresh-models') {
    const place = getModelEndpoint(settings, readKnownModels(settings) ?? []) ?? defaultEndpoint;
    if (type === 'test-connection') print(`${await testConnection(settings, place)}\n`);
    else {
      const say = (trouble: string): void => printErr(`${trouble}\n`);
      for (const { id } of await refreshModels(settings, { endpoint: place, onWarning: say })) print(`${id}\n`);
    }
    return exitCodes.answered;
  }
  const answer = asked.outputSchema === undefined ? undefined : readOutputSchema(asked.outputSchema);
  const prompts = readPrompts(asked);
  const first = await prompts.next();
  if (first.done) {
    printErr(`${noPromptMessage}\nRun fairlead --help for usage.\n`);
    if (asked.outputFormat !== 'text') print(formatFailureJson(noPromptMessage));
    return exitCodes.misused;
  }
  const chosen = await resolveModelUnattended(asked, settings, printErr);
  const poor = formatNoToolsWarning(chosen);
  if (poor !== undefined) printErr(`${poor}\n`);
  const talk = await Conversation.open({
    settings,
    flags: asked,
    selector: asked.session,
    model: chosen,
    firstPrompt: first.value,
    host: createTtyHost(printErr),
    prompter: createTtyPrompter(printErr),
    ...(answer ? { outputSchema: answer } : {}),
  });
  try {
    for (const problem of [...talk.problems, ...talk.agent.problems]) printErr(`${problem}\n`);
    if (talk.agent.sandbox.name === 'none') printErr(`No sandbox: ${talk.agent.sandbox.description}\n`);
    const out = createBufferedStdout(process.stdout, () => talk.session.cancel());
    let code: number = exitCodes.answered;
    for (let next: IteratorResult<string, void> = first; !next.done; next = await prompts.next()) {
      const came = await runPrompt(talk, next.value, asked, answer, out);
      // Of several answers the first that did not come decides.
      code ||= came;
      if (!(await out.flush()) || came >= exitCodes.hungUp) break;
    }
    return code;
  } finally {
    await prompts.return(undefined);
    await talk.close();
  }
}

async function runPrompt(
  talk: Conversation,
  prompt: string,
  asked: CliArgs,
  answer: OutputSchema | undefined,
  out: BufferedStdout,
): Promise<number> {
  const printer = createPrinter(asked, talk, out.write);
  const runId = randomUUID();
  let last: (Event & { readonly type: 'turn-ended' }) | undefined;
  const translate = createEventTranslator(
    (event) => printer.stream(event),
    () => talk.session.state.model,
  );
  talk.subscribe({
    session() {},
    event(event) {
      if (event.type === 'turn-ended') last = event;
      printer.event(event);
      translate.event(event);
    },
  });
  const live =
    asked.outputFormat === 'stream-json'
      ? translate.chunk
      : (chunk: Parameters<RunPrinter['chunk']>[0]) => printer.chunk(chunk);
  const signals = onShutdown(['SIGINT', 'SIGTERM', 'SIGHUP'], () => talk.session.cancel());
  try {
    let state = await talk.run(prompt, { runId, onChunk: live });
    while (isAwaitingApproval(state) && (await answerApprovalsOnTty(talk, state, signals.signal)))
      state = await talk.run(undefined, { onChunk: live });
    const result = createRunResult(state, runId, last, answer);
    printer.end(result, { session: talk.file === undefined ? undefined : talk.name, model: talk.model.name });
    if (isAwaitingApproval(state) && talk.file !== undefined)
      printErr(`To answer: fairlead --resume ${JSON.stringify(talk.name)}\n`);
    return (
      signals.code ??
      exitCodeForRun(result.reason, result.error && 'code' in result.error ? String(result.error.code) : undefined)
    );
  } finally {
    signals.release();
  }
}

function createPrinter(asked: CliArgs, talk: Conversation, out: (text: string) => void): RunPrinter {
  const callOf = (id: string): ToolCall | undefined => talk.session.state.calls.find((call) => call.id === id);
  if (asked.outputFormat === 'json') return createJsonPrinter(out, callOf);
  return asked.outputFormat === 'stream-json'
    ? createStreamJsonPrinter(out)
    : createTextPrinter(out, callOf, talk.stream);
}

function createRunResult(
  state: RunState,
  runId: string,
  last: (Event & { readonly type: 'turn-ended' }) | undefined,
  answer: OutputSchema | undefined,
): RunResult {
  const stopReason = last && messageStopReason(last);
  const result = toRunResult(state, { runId, sessionId: state.session, stopReason });
  return answer && result.status === 'success' ? { ...result, object: parseOutput(answer, result.text) } : result;
}
