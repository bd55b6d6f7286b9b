// The notice of plain mode about a silent wait: printed once, when nothing has arrived for a while.

/** How long nothing arrives before the notice is printed. */
const WAITING_NOTICE_MS = 1000;

/** A notice that is printed after a silent wait. */
export type WaitingNotice = {
  /** Waits again, for this text. */
  start(text: string): void;
  /** Records that output arrived: the wait begins again. */
  refresh(): void;
  stop(): void;
};

/** Creates the notice over a print function. */
export function createWaitingNotice(print: (text: string) => void): WaitingNotice {
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  let shown = '';
  const start = (text: string): void => {
    stop();
    shown = text;
    timer = setTimeout(() => {
      timer = undefined;
      print(text);
    }, WAITING_NOTICE_MS);
  };
  return {
    start,
    refresh() {
      if (timer !== undefined) start(shown);
    },
    stop,
  };
}
