// Turns a turn of a recorded session into a regression case: a Markdown file, and a copy of the recording beside it.
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { cutBeforeTurn } from '../agent/recording/index.ts';
import { branchOfLastEvent, FairleadError, messageText, messageToolCalls, type Event } from '../core/index.ts';
import { copyJsonl, writeTextAtomic } from '../stores/index.ts';
import { parseMarkdownDataset } from './dataset-markdown.ts';
import { recordingEnding, type EvalCase } from './dataset.ts';
import { parseExpectation } from './expectation.ts';

/** The options of `createSessionCase`. */
export type SessionCaseOptions = {
  readonly events: readonly Event[];
  /** The turn that is run again. */
  readonly at: number;
  readonly id: string;
  /** What is expected from there on; by default, that the recorded turn is not repeated. */
  readonly expect?: Readonly<Record<string, unknown>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly tags?: readonly string[];
  /** `live` by default. */
  readonly mode?: 'live' | 'recorded';
};

/** A case as fields of a dataset. */
export type SessionCase = Pick<EvalCase, 'id' | 'prompt' | 'tags' | 'tools' | 'files'> & {
  readonly must: true;
  readonly session: NonNullable<EvalCase['session']>;
  readonly expect: Readonly<Record<string, unknown>>;
};

/** Creates the case of a turn. The recording is named after the case. */
export function createSessionCase(options: SessionCaseOptions): SessionCase {
  const { events, at, id, files = {}, tags = ['regression'], mode = 'live' } = options;
  const expect = options.expect ?? findDefaultExpectation(events, at);
  const problem = parseExpectation(expect);
  if (typeof problem === 'string')
    throw new FairleadError('eval/bad-dataset', `The case is not valid: ${problem}.`, { blame: 'user' });
  const prefix = cutBeforeTurn(events, at);
  const input = prefix.findLast((event) => event.type === 'input-received' && event.how !== 'continue');
  const prompt = input?.type === 'input-received' ? messageText({ role: 'user', parts: input.parts }) : '';
  return {
    id,
    prompt: prompt.trim() === '' ? `Turn ${at} of a recorded session.` : prompt,
    tags,
    tools: true,
    must: true,
    files,
    session: { file: `${id}${recordingEnding}`, at, mode },
    expect,
  };
}

const maxAnswerChars = 200;

/** What the recorded turn did must not be repeated: its tools, or its answer. */
function findDefaultExpectation(events: readonly Event[], at: number): Readonly<Record<string, unknown>> {
  const ended = branchOfLastEvent(events).find((event) => event.type === 'turn-ended' && event.turn === at);
  if (ended?.type !== 'turn-ended') return { abstains: false };
  const tools = [...new Set(messageToolCalls(ended.message).map(({ tool }) => tool))];
  if (tools.length > 0) return { toolNotUsed: tools };
  const text = messageText(ended.message).trim();
  return text === '' ? { abstains: false } : { lacks: [text.slice(0, maxAnswerChars)] };
}

/** Returns a case for each run of a recording: it starts before the first turn of the run, and expects the tools that ran in it, or else an answer. */
export function toSessionCases(events: readonly Event[], file: string, name: string): readonly EvalCase[] {
  const runs: { at: number | undefined; tools: Set<string>; prompt: string }[] = [];
  let prompt = '';
  const tools = new Map<string, string>();
  for (const event of branchOfLastEvent(events)) {
    const run = runs.at(-1);
    if (event.type === 'input-received' && event.how !== 'continue')
      prompt = messageText({ role: 'user', parts: event.parts });
    if (event.type === 'run-started') runs.push({ at: undefined, tools: new Set(), prompt });
    if (event.type === 'turn-started' && run) run.at ??= event.turn;
    if (event.type === 'tool-started') tools.set(event.call, event.tool);
    if (event.type === 'tool-ended' && event.outcome === 'ok') run?.tools.add(tools.get(event.call) ?? '');
  }
  const cases = runs.flatMap(({ at, tools: used, prompt: asked }): readonly EvalCase[] => {
    if (at === undefined) return [];
    const names = [...used].filter((each) => each !== '');
    return [
      {
        id: `${name}-turn-${at}`,
        prompt: asked.trim() === '' ? `Turn ${at} of a recorded session.` : asked,
        expect: names.length > 0 ? { toolUsed: names } : { abstains: false },
        tags: ['recorded'],
        tools: true,
        files: {},
        session: { file, at, mode: 'live' },
      },
    ];
  });
  if (cases.length > 0) return cases;
  throw new FairleadError('eval/bad-dataset', `${file} has no turn.`, { blame: 'user' });
}

/** Writes a case as Markdown, and a copy of its recording beside it. Neither file may exist. */
export async function writeSessionCase(file: string, recording: string, given: SessionCase): Promise<void> {
  const copy = path.join(path.dirname(path.resolve(file)), given.session.file);
  for (const each of [file, copy])
    if (existsSync(each))
      throw new FairleadError('eval/case-exists', `${each} exists already.`, {
        blame: 'user',
        hint: 'Remove it, or name another file with --output or another id with --id.',
      });
  const text = await formatSessionCase(given);
  // A case that cannot be read again is not written.
  await parseMarkdownDataset(text, file);
  mkdirSync(path.dirname(copy), { recursive: true });
  await copyJsonl(recording, copy);
  writeTextAtomic(path.resolve(file), text);
}

/** Formats a case as Markdown. The prompt is in a fenced block: headings in it are text. */
export async function formatSessionCase({ id, prompt, files, expect, ...settings }: SessionCase): Promise<string> {
  const { stringify } = await import('yaml');
  const { tags, tools, must, session } = settings;
  const blocks = Object.entries(files).map(([name, text]) => `### File ${name}\n\n${fence(text)}\n`);
  return [
    `## ${id}\n\n${fence(prompt)}\n`,
    `### Settings\n\n${fence(stringify({ tags, tools, must, session }))}\n`,
    `### Expect\n\n${fence(stringify(expect))}\n`,
    ...blocks,
  ].join('\n');
}

/** A fenced block that its text cannot close. */
function fence(text: string): string {
  let marks = '```';
  while (text.includes(marks)) marks += '`';
  return `${marks}\n${text.endsWith('\n') ? text : `${text}\n`}${marks}`;
}
