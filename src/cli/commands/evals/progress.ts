// The progress of an evaluation as one line of the terminal, which is replaced as trials end.
import type { EvalProgress } from '../../../evals/index.ts';
import { escapeInvisibleLine } from '../../../core/index.ts';

/** Shows progress on standard error if that is a terminal. */
export type ProgressLine = { show(progress: EvalProgress): void; clear(): void };

/** Creates the line. */
export function createProgressLine(stream: NodeJS.WriteStream = process.stderr): ProgressLine {
  const since = performance.now();
  let atStart: number | undefined;
  return {
    show(progress) {
      if (!stream.isTTY) return;
      // Trials of an earlier start took no time in this one.
      atStart ??= progress.done;
      const text = formatProgress(progress, performance.now() - since, progress.done - atStart);
      stream.write(`\r\u001B[K${text.slice(0, Math.max(20, (stream.columns || 80) - 1))}`);
    },
    clear() {
      if (stream.isTTY) stream.write('\r\u001B[K');
    },
  };
}

/** Formats the progress: counts, cost, time, and what runs now. */
export function formatProgress(progress: EvalProgress, elapsedMs: number, endedNow: number): string {
  const { done, total, right, wrong, withoutResponse, usd, running } = progress;
  const left =
    endedNow > 0 && done < total ? `, about ${formatTime((elapsedMs / endedNow) * (total - done))} left` : '';
  const names = running.map(({ id, trial }) => (trial > 1 ? `${id} (${trial})` : id)).join(', ');
  const parts = [
    `${done} of ${total}`,
    `${right} right, ${wrong} wrong${withoutResponse > 0 ? `, ${withoutResponse} without response` : ''}`,
    ...(usd > 0 ? [`$${usd.toFixed(4)}`] : []),
    `${formatTime(elapsedMs)}${left}`,
    ...(names === '' ? [] : [escapeInvisibleLine(names)]),
  ];
  return parts.join(' · ');
}

const formatTime = (ms: number): string => {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
};
