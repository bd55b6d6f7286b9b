// What a single run is given: a prompt from the command line, a file or standard input, one or, in stream-json, many.
import { readFileSync } from 'node:fs';
import { createOutputSchema } from '../../agent/index.ts';
import { FairleadError, isObject, errorMessage, type OutputSchema, type JsonObject } from '../../core/index.ts';
import type { CliArgs } from '../args/parse-args.ts';
import { readPromptFile } from '../state/prompt-files.ts';

/** The prompts, one after the other. */
export async function* readPrompts({ action, inputFormat }: CliArgs): AsyncGenerator<string> {
  if (action?.type === 'prompt' && action.text.trim()) yield action.text;
  if (action?.type === 'prompt-file') yield readPromptFile(action.path, process.cwd());
  if (action?.type !== 'stdin') return;
  if (inputFormat === 'stream-json') {
    yield* readStreamJsonMessages(process.stdin);
    return;
  }
  let text = '';
  for await (const piece of process.stdin.setEncoding('utf8')) text += piece;
  if (text.trim()) yield text;
}

async function* readStreamJsonMessages(stream: NodeJS.ReadableStream): AsyncGenerator<string> {
  let number = 0;
  const { createInterface } = await import('node:readline');
  for await (const line of createInterface({ input: stream })) {
    number++;
    if (line.trim()) yield parseUserMessage(line, number);
  }
}

/** The words of a line such as {"type":"user","message":{"role":"user","content":"…"}}. */
function parseUserMessage(line: string, number: number): string {
  const wrong = (why: string): FairleadError =>
    new FairleadError('cli/bad-input', `Line ${number} of standard input is not a user message: ${why}`, {
      blame: 'user',
      hint: 'A line is {"type":"user","message":{"role":"user","content":"…"}}.',
    });
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw wrong(errorMessage(error));
  }
  const message = isObject(value) ? value['message'] : undefined;
  const content = isObject(message) ? message['content'] : undefined;
  if (!isObject(value) || value['type'] !== 'user') throw wrong('its type is not "user".');
  if (typeof content === 'string') return content;
  const texts = Array.isArray(content)
    ? content.map((part) => (isObject(part) && part['type'] === 'text' ? part['text'] : undefined))
    : [];
  if (texts.length === 0 || !texts.every((text) => typeof text === 'string')) throw wrong('its content is not text.');
  return texts.join('\n');
}

/** The schema in a file, or given as it is, that an answer is held to. */
export function readOutputSchema(given: string): OutputSchema {
  try {
    return createOutputSchema(
      JSON.parse(given.trimStart().startsWith('{') ? given : readFileSync(given, 'utf8')) as JsonObject,
    );
  } catch (error) {
    throw new FairleadError('cli/bad-schema', `--output-schema cannot be used: ${errorMessage(error)}`, {
      blame: 'user',
      hint: 'Give a file that holds a JSON Schema, or the schema itself.',
    });
  }
}
