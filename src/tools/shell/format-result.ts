// What a command wrote and how it ended, in words for a model.
import { stripVTControlCharacters } from 'node:util';
import {
  FairleadError,
  toolOutput,
  truncateMiddle,
  escapeInvisible,
  type ToolOutput,
  type ExecResult,
  type OutputSize,
} from '../../core/index.ts';

/** Characters of output that a model is shown at once. */
export const maxShownChars = 30_000;
const maxBinaryChars = 2000;

/** How a command ended, in words; one that was aborted throws, so that its call counts as interrupted. */
export function commandResultOutput(ran: ExecResult, seconds: number): ToolOutput {
  if (ran.stopped === 'abort')
    throw new FairleadError('tool/interrupted', `The command was interrupted.\n${toReadableText(ran.text)}`.trimEnd(), {
      blame: 'user',
    });
  const how = formatCommandFailure(ran, seconds);
  return toolOutput({
    text: formatCommandOutput(ran.text, [...formatOutputSize(ran.outputSize), ...(how ? [how] : [])]) || '(no output)',
    failed: how !== undefined,
    data: {
      code: ran.code,
      signal: ran.signal,
      ...(ran.stopped ? { stopped: ran.stopped } : {}),
      ...(ran.outputSize ? { bytes: ran.outputSize.bytes } : {}),
      ...(ran.outputSize?.file ? { file: ran.outputSize.file.path } : {}),
    },
  });
}

/** Why a command did not end well, or nothing. */
export function formatCommandFailure({ code, signal, stopped }: ExecResult, seconds: number): string | undefined {
  if (stopped === 'timeout') return `Ended by us after ${seconds} s; set timeout_s if it needs longer.`;
  if (signal !== null) return `Ended by ${signal}.`;
  return code === 0 ? undefined : `Exit code: ${code}.`;
}

/** Output with remarks below it. What is hardly text at all is shown by a sample. */
export function formatCommandOutput(text: string, remarks: readonly string[]): string {
  const lost = text.match(/[\0\ufffd]/g)?.length ?? 0;
  const shown = truncateMiddle(toReadableText(text), lost > text.length / 20 ? maxBinaryChars : 2 * maxShownChars);
  const below = [...(lost > 0 ? [binaryNotice] : []), ...remarks];
  return [shown, ...(below.length ? [`[${below.join(' ')}]`] : [])].filter((each) => each !== '').join('\n');
}

const binaryNotice = 'Some of it is no text and is not shown as it is: have such bytes written to a file.';

/** How much there was, where it is not all shown, and where the rest is. */
export function formatOutputSize(long: OutputSize | undefined): readonly string[] {
  if (!long) return [];
  const { bytes, file } = long;
  const size = `It wrote ${bytes} bytes`;
  if (!file) return [`${size}, of which only this was kept.`];
  const part = file.whole ? 'all of it is' : `its beginning, ${file.bytes} bytes and no more, is`;
  return [`${size}; ${part} in ${file.path}: use read_file with offset.`];
}

/** Output as text: no colours, no cursor games, and everything else that does not show written out. */
const toReadableText = (text: string): string =>
  escapeInvisible(stripVTControlCharacters(text.split('\n').map(lastProgressState).join('\n'))).trimEnd();

/** A return goes back to the beginning of its line: of a progress bar only the last state is told. */
const lastProgressState = (line: string): string => line.split('\r').findLast((state) => state !== '') ?? '';
