// The footer of the screen: the input field or a panel, and the status line below it.
import { truncateToWidth, visibleWidth, type Component } from '@earendil-works/pi-tui';
import { escapeInvisible, formatRetryStatus } from '../../core/index.ts';
import type { TextStyles } from './ansi-style.ts';
import { formatStatusLine, formatDuration } from './format.ts';
import type { ConversationStatus } from '../../coding-agent/index.ts';

const SPINNER = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';

/** What the footer shows. */
export type FooterState = {
  status: ConversationStatus | undefined;
  /** When the current activity started. */
  busySince: number;
  /** A hint that is shown instead of the status for a short time. */
  hint: string | undefined;
  /** The components above the status line: the input field, a panel, or both. */
  body: readonly Component[];
  /** Whether a question to the user is open; the status line then shows that. */
  isAsking: boolean;
  /** Whether drawing is off. */
  hidden: boolean;
};

/** Creates the state of an empty footer. */
export const createFooterState = (): FooterState => ({
  status: undefined,
  busySince: 0,
  hint: undefined,
  body: [],
  isAsking: false,
  hidden: false,
});

/** Creates the footer component. */
export function createFooter(state: FooterState, styles: TextStyles): Component {
  return {
    invalidate() {
      for (const part of state.body) part.invalidate();
    },
    render(width) {
      if (state.hidden) return [''];
      return [
        '',
        styles.dim('─'.repeat(width)),
        ...state.body.flatMap((part) => part.render(width)),
        renderStatusLine(state, width, styles),
      ];
    },
  };
}

function renderStatusLine(
  { status, busySince, hint, isAsking }: FooterState,
  width: number,
  styles: TextStyles,
): string {
  if (hint !== undefined) return truncateToWidth(styles.yellow(hint), width, '…');
  if (status === undefined) return '';
  const elapsed = Date.now() - busySince;
  const spin = SPINNER.charAt(Math.floor(Date.now() / 100) % SPINNER.length);
  const time = elapsed >= 1000 ? ` ${formatDuration(Math.floor(elapsed / 1000) * 1000).replace('.0s', 's')}` : '';
  const busy =
    status.busy === undefined
      ? ''
      : isAsking
        ? 'waiting for you'
        : `${spin} ${formatBusy(status, time)} (Esc interrupts)`;
  const space = width - (busy === '' ? 0 : visibleWidth(busy) + 3);
  const line = formatStatusLine(status, space, visibleWidth);
  const text = busy === '' ? styles.dim(line) : styles.cyan(busy) + (line === '' ? '' : styles.dim(` · ${line}`));
  return truncateToWidth(text, width, '…');
}

/** The activity with its duration; while a failed request waits for its next attempt, the time until then. */
function formatBusy({ busy = '', retry }: ConversationStatus, time: string): string {
  if (retry === undefined) return escapeInvisible(busy) + time;
  return formatRetryStatus(retry.notice, Math.max(0, retry.at - Date.now()));
}
