// Formats the output and exit status of a command for a model.
import {
  FairleadError,
  toolOutput,
  truncateMiddle,
  escapeInvisible,
  stripControlSequences,
  type ToolOutput,
  type ExecResult,
  type OutputSize,
} from '../../core/index.ts';

/** Max characters of output shown to a model at once. */
export const maxShownChars = 30_000;
const maxBinaryChars = 2000;

/** Returns the result of a command, with hints for the model. Throws if it was aborted, so that the call counts as interrupted. */
export function commandResultOutput(result: ExecResult, seconds: number, hints: readonly string[] = []): ToolOutput {
  if (result.stopped === 'abort')
    throw new FairleadError(
      'tool/interrupted',
      `The command was interrupted.\n${toReadableText(result.text)}`.trimEnd(),
      {
        blame: 'user',
      },
    );
  const how = formatCommandFailure(result, seconds);
  return toolOutput({
    text:
      formatCommandOutput(result.text, [...formatOutputSize(result.outputSize), ...(how ? [how] : []), ...hints]) ||
      '(no output)',
    failed: how !== undefined,
    data: {
      code: result.code,
      signal: result.signal,
      ...(result.stopped ? { stopped: result.stopped } : {}),
      ...(result.outputSize ? { bytes: result.outputSize.bytes } : {}),
      ...(result.outputSize?.file ? { file: result.outputSize.file.path } : {}),
    },
  });
}

/** Returns why a command failed; undefined if it succeeded. */
export function formatCommandFailure(result: ExecResult, seconds: number): string | undefined {
  const { code, signal, stopped, stopReason } = result;
  if (stopReason !== undefined) return stopReason;
  if (stopped === 'timeout') return `Stopped after ${seconds} s; set timeout_s if it needs longer.`;
  if (signal !== null) return `Ended by ${signal}.`;
  return code === 0 ? undefined : `Exit code: ${code}.`;
}

/** Formats output followed by remarks. Output that is mostly binary is shown as a sample. */
export function formatCommandOutput(text: string, remarks: readonly string[]): string {
  const lost = text.match(/[\0\ufffd]/g)?.length ?? 0;
  const shown = truncateMiddle(toReadableText(text), lost > text.length / 20 ? maxBinaryChars : 2 * maxShownChars);
  const below = [...(lost > 0 ? [binaryNotice] : []), ...remarks];
  return [shown, ...(below.length ? [`[${below.join(' ')}]`] : [])].filter((each) => each !== '').join('\n');
}

const binaryNotice = 'Some of it is not text and is not shown as it is: write such bytes to a file.';

/** Says how much output there was, if not all is shown, and where the rest is. */
export function formatOutputSize(long: OutputSize | undefined): readonly string[] {
  if (!long) return [];
  const { bytes, file } = long;
  const size = `It wrote ${bytes} bytes`;
  if (!file) return [`${size}, of which only this was kept.`];
  const part = file.whole ? 'all of it is' : `only its first ${file.bytes} bytes are`;
  return [`${size}; ${part} in ${file.path}: use read_file with offset.`];
}

/** Converts output to readable text: no colors, no cursor movement, invisible characters escaped. */
const toReadableText = (text: string): string =>
  escapeInvisible(stripControlSequences(text.split('\n').map(lastProgressState).join('\n'))).trimEnd();

/** A carriage return goes back to the start of the line: of a progress bar only the last state is kept. */
const lastProgressState = (line: string): string => line.split('\r').findLast((state) => state !== '') ?? '';
