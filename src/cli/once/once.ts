// One thing done, then the end: a prompt answered, a connection tested, or a list of models read.
import { randomUUID } from 'node:crypto';
import {
  parseAnswer,
  toRunResult,
  SessionCache,
  createEventTranslator,
  streamStopReason,
  type RunResult,
} from '../../agent/index.ts';
import type { OutputSchema, ToolCall, Event, RunState } from '../../core/index.ts';
import { waits } from '../conversation/asks.ts';
import { Conversation } from '../conversation/conversation.ts';
import { placeOf, talkOnly, usualPlace } from '../conversation/model.ts';
import { testConnection } from '../conversation/test-connection.ts';
import { chosenUnasked } from '../conversation/unasked-model.ts';
import type { Asked } from '../front/asked.ts';
import { exitCodeFor, exitCodes } from '../front/exit-codes.ts';
import { print, tell } from '../front/print.ts';
import { sentence } from '../front/sentence.ts';
import { endInOrder } from '../front/signals.ts';
import { logged, readKnownModels, refreshModels } from '../known-models/index.ts';
import { readSettings, type Settings } from '../settings/index.ts';
import { askInTerminal, hostInTerminal, personInTerminal } from './host.ts';
import { promptsIn, readSchema } from './input.ts';
import { failureLine, jsonPrinter, streamPrinter, textPrinter, type Printer } from './printers.ts';
import { steadyOut, type SteadyOut } from './steady-out.ts';

const noPrompt = 'There is no prompt: give one as an argument or on standard input.';

/** Does one thing and answers with the exit code. */
export async function once(asked: Asked): Promise<number> {
  const settings = readSettings();
  for (const warning of settings.warnings) tell(`${warning}\n`);
  return logged(settings, `one-shot ${asked.work?.type ?? ''}`, async () => {
    try {
      return await work(asked, settings);
    } catch (error) {
      // Whoever reads JSON reads the result in the last line, also of what never became a run.
      if (asked.output !== 'text') print(failureLine(error instanceof Error ? sentence(error) : String(error)));
      throw error;
    }
  });
}

async function work(asked: Asked, settings: Settings): Promise<number> {
  const type = asked.work?.type;
  if (type === 'test-connection' || type === 'refresh-models') {
    const place = placeOf(settings, readKnownModels(settings) ?? []) ?? usualPlace;
    if (type === 'test-connection') print(`${await testConnection(settings, place)}\n`);
    else {
      const say = (trouble: string): void => tell(`${trouble}\n`);
      for (const { id } of await refreshModels(settings, { from: place, say })) print(`${id}\n`);
    }
    return exitCodes.answered;
  }
  const answer = asked.schema === undefined ? undefined : readSchema(asked.schema);
  const prompts = promptsIn(asked);
  const first = await prompts.next();
  if (first.done) {
    tell(`${noPrompt}\nfairlead --help shows how it is used.\n`);
    if (asked.output !== 'text') print(failureLine(noPrompt));
    return exitCodes.misused;
  }
  const chosen = await chosenUnasked(asked, settings, tell);
  const poor = talkOnly(chosen);
  if (poor !== undefined) tell(`${poor}\n`);
  const talk = await Conversation.open({
    settings,
    asked,
    which: asked.which,
    chosen,
    words: first.value,
    host: hostInTerminal(tell),
    person: personInTerminal(tell),
    ...(answer ? { answer } : {}),
  });
  try {
    for (const problem of [...talk.problems, ...talk.outfit.problems]) tell(`${problem}\n`);
    if (talk.outfit.sandbox.name === 'none') tell(`No sandbox: ${talk.outfit.sandbox.description}\n`);
    const out = steadyOut(process.stdout, () => talk.session.cancel());
    let code: number = exitCodes.answered;
    for (let next: IteratorResult<string, void> = first; !next.done; next = await prompts.next()) {
      const came = await answerOne(talk, next.value, asked, answer, out);
      // Of several answers the first that did not come decides.
      code ||= came;
      if (!(await out.drained()) || came >= exitCodes.hungUp) break;
    }
    return code;
  } finally {
    await prompts.return(undefined);
    await talk.close();
  }
}

async function answerOne(
  talk: Conversation,
  prompt: string,
  asked: Asked,
  answer: OutputSchema | undefined,
  out: SteadyOut,
): Promise<number> {
  const printer = printerFor(asked, talk, out.write);
  const runId = randomUUID();
  let last: (Event & { readonly type: 'turn-ended' }) | undefined;
  const translate = createEventTranslator((event) => printer.stream(event));
  talk.watch({
    session() {},
    event(event) {
      if (event.type === 'turn-ended') last = event;
      printer.event(event);
      translate.event(event);
    },
  });
  const live =
    asked.output === 'stream-json' ? translate.chunk : (chunk: Parameters<Printer['chunk']>[0]) => printer.chunk(chunk);
  const signals = endInOrder(['SIGINT', 'SIGTERM', 'SIGHUP'], () => talk.session.cancel());
  try {
    let state = await talk.run(prompt, { runId, onChunk: live });
    while (waits(state) && (await askInTerminal(talk, state, signals.signal)))
      state = await talk.run(undefined, { onChunk: live });
    const result = resultFor(state, talk, runId, last, answer);
    printer.end(result, { session: talk.file === undefined ? undefined : talk.name, model: talk.model.name });
    if (waits(state) && talk.file !== undefined) tell(`To answer: fairlead --resume ${JSON.stringify(talk.name)}\n`);
    return (
      signals.code ??
      exitCodeFor(result.reason, result.error && 'code' in result.error ? String(result.error.code) : undefined)
    );
  } finally {
    signals.release();
  }
}

function printerFor(asked: Asked, talk: Conversation, out: (text: string) => void): Printer {
  const callOf = (id: string): ToolCall | undefined => talk.session.state.calls.find((call) => call.id === id);
  if (asked.output === 'json') return jsonPrinter(out, callOf);
  return asked.output === 'stream-json' ? streamPrinter(out) : textPrinter(out, callOf, talk.stream);
}

function resultFor(
  state: RunState,
  talk: Conversation,
  runId: string,
  last: (Event & { readonly type: 'turn-ended' }) | undefined,
  answer: OutputSchema | undefined,
): RunResult {
  const names = { runId, sessionId: state.session, runFile: talk.file };
  const result = toRunResult(state, names, last && streamStopReason(last), new SessionCache(), undefined);
  return answer && result.status === 'success' ? { ...result, object: parseAnswer(result.text) } : result;
}
