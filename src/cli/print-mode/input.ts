// Reads the prompts of a one-shot run: from the command line or a file, with the text on standard input after it; from standard input alone; with stream-json several.
import { readFileSync } from 'node:fs';
import { createOutputSchema } from '../../agent/index.ts';
import { FairleadError, isObject, errorMessage, type OutputSchema, type JsonObject } from '../../core/index.ts';
import type { CliArgs } from '../args/parse-args.ts';
import { joinPrompt, readPipedText, readStdin } from './read-stdin.ts';

/** Yields the prompts one after another. */
export async function* readPrompts(
  { action, inputFormat }: CliArgs,
  warn: (text: string) => void,
): AsyncGenerator<string> {
  if (action?.type === 'prompt' && action.text.trim())
    yield joinPrompt(action.text, action.waitsForStdin ? await readStdin() : await readPipedText(warn));
  if (action?.type === 'prompt-file') {
    const { readPromptFile } = await import('../../coding-agent/prompts/index.ts');
    yield joinPrompt(readPromptFile(action.path, process.cwd()), await readPipedText(warn));
  }
  if (action?.type !== 'stdin') return;
  if (inputFormat === 'stream-json') {
    yield* readStreamJsonMessages(process.stdin);
    return;
  }
  const text = await readStdin();
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

/** Returns the text of a line such as {"type":"user","message":{"role":"user","content":"…"}}. */
function parseUserMessage(line: string, number: number): string {
  const invalid = (reason: string): FairleadError =>
    new FairleadError('cli/bad-input', `Line ${number} of standard input is not a user message: ${reason}`, {
      blame: 'user',
      hint: 'A line is {"type":"user","message":{"role":"user","content":"…"}}.',
    });
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw invalid(errorMessage(error));
  }
  const message = isObject(value) ? value['message'] : undefined;
  const content = isObject(message) ? message['content'] : undefined;
  if (!isObject(value) || value['type'] !== 'user') throw invalid('its type is not "user".');
  if (typeof content === 'string') return content;
  const texts = Array.isArray(content)
    ? content.map((part) => (isObject(part) && part['type'] === 'text' ? part['text'] : undefined))
    : [];
  if (texts.length === 0 || !texts.every((text) => typeof text === 'string')) throw invalid('its content is not text.');
  return texts.join('\n');
}

/** Reads the schema of the answer, from a file or from the argument itself. */
export function readOutputSchema(arg: string): OutputSchema {
  try {
    return createOutputSchema(
      JSON.parse(arg.trimStart().startsWith('{') ? arg : readFileSync(arg, 'utf8')) as JsonObject,
    );
  } catch (error) {
    throw new FairleadError('cli/bad-schema', `--output-schema cannot be used: ${errorMessage(error)}`, {
      blame: 'user',
      hint: 'Give a file with a JSON Schema, or the schema itself.',
    });
  }
}
