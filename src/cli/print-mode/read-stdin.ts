// Reads text from standard input for the prompt of a one-shot run: bounded in size, text only, and without waiting forever for a pipe that stays silent.
import { fstatSync } from 'node:fs';
import { FairleadError } from '../../core/index.ts';

/** The maximum size of the text on standard input: about a million tokens. */
export const maxStdinBytes = 4_194_304;

/** How long the first byte of a pipe may take if the prompt is given elsewhere. */
const maxSilenceMs = 3000;

/** Reads standard input to its end, however long that takes; empty if there is none. */
export const readStdin = async (): Promise<string> => decodeText(await readStream(process.stdin));

/**
 * Reads what is piped to a run that has a prompt already; empty if nothing is. Only a pipe, a file or a socket is read: a terminal, `/dev/null` and
 * a closed input are not. A pipe that stays open without data, as some CI systems leave it, is ignored after three seconds, with a warning.
 */
export async function readPipedText(warn: (text: string) => void): Promise<string> {
  if (!hasPipedInput()) return '';
  if (!(await hasDataWithin(process.stdin, maxSilenceMs))) {
    warn(
      'Standard input is open but sent no data for 3 s: the prompt is sent without it. To wait longer: fairlead --prompt "<text>" - (or close it: </dev/null).\n',
    );
    // An open handle would keep the process running after the answer.
    process.stdin.destroy();
    return '';
  }
  return readStdin();
}

/** Whether standard input is a pipe, a file or a socket. Asks the operating system: opening the stream takes longer. */
export function hasPipedInput(): boolean {
  try {
    const stats = fstatSync(0);
    return stats.isFIFO() || stats.isFile() || stats.isSocket();
  } catch {
    return false;
  }
}

/** Whether a stream has data, or ends, within a time. The data stays in the stream. */
export async function hasDataWithin(stream: NodeJS.ReadStream, ms: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const onReadable = (): void => resolve(true);
  const timer = setTimeout(() => resolve(false), ms);
  stream.once('readable', onReadable).once('error', onReadable);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    stream.off('readable', onReadable).off('error', onReadable);
  }
}

async function readStream(stream: AsyncIterable<Buffer | string>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    size += bytes.length;
    if (size > maxStdinBytes)
      throw new FairleadError(
        'cli/stdin-too-large',
        `Standard input has more than ${maxStdinBytes} bytes, which is the maximum.`,
        {
          blame: 'user',
          hint: 'Write it to a file and name the file in the prompt, so that the model reads parts of it.',
        },
      );
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

function decodeText(bytes: Buffer): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return text;
  } catch {
    // Not UTF-8: refused below.
  }
  throw new FairleadError(
    'cli/stdin-not-text',
    'Standard input is not text: it has bytes that are not UTF-8, or NUL.',
    {
      blame: 'user',
      hint: 'Pipe text only; a binary file can be named in the prompt.',
    },
  );
}

/** The prompt, then the piped text between two marks that the text does not contain. A text without content adds nothing. */
export function joinPrompt(prompt: string, piped: string): string {
  if (piped.trim() === '') return prompt;
  let mark = 'stdin';
  for (let n = 2; piped.includes(`</${mark}>`); n++) mark = `stdin-${n}`;
  return `${prompt}\n\n<${mark}>\n${piped}${piped.endsWith('\n') ? '' : '\n'}</${mark}>`;
}
