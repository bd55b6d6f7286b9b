// Formats sizes and times of an index, and shows progress on one line of a terminal.

/** Formats bytes with one digit after the point. */
export function formatBytes(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit] ?? ''}`;
}

/** Formats milliseconds as seconds. */
export const formatSeconds = (ms: number): string => `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 0)} s`;

/** A line on standard error that is replaced by the next one; nothing if it is not a terminal. */
export function createProgressLine(): { show(text: string): void; clear(): void } {
  let isShown = false;
  let last = 0;
  return {
    show(text) {
      if (!process.stderr.isTTY || performance.now() - last < 100) return;
      last = performance.now();
      isShown = true;
      process.stderr.write(`\r\x1b[K${text}`);
    },
    clear() {
      if (isShown) process.stderr.write('\r\x1b[K');
      isShown = false;
    },
  };
}
