// The foot of the screen: the entry field or the panel in its place, and the status line under it.
import { truncateToWidth, visibleWidth, type Component } from '@earendil-works/pi-tui';
import { escapeInvisible } from '../../core/index.ts';
import type { TextStyles } from './ansi-style.ts';
import { formatStatusParts, formatDuration } from './format.ts';
import type { ConversationStatus } from '../../coding-agent/index.ts';

const SPINNER = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';

/** What the foot shows. */
export type FooterState = {
  status: ConversationStatus | undefined;
  /** Since when something is waited for. */
  busySince: number;
  /** A hint in place of the status, for a moment. */
  hint: string | undefined;
  /** What stands above the status: the field, a panel, or both. */
  body: readonly Component[];
  /** Whether the person is asked something, which is then what is waited for. */
  isAsking: boolean;
  /** Nothing is drawn any more. */
  hidden: boolean;
};

/** The foot as a component. */
export function createFooter(state: FooterState, paint: TextStyles): Component {
  return {
    invalidate() {
      for (const part of state.body) part.invalidate();
    },
    render(width) {
      if (state.hidden) return [''];
      return [
        '',
        paint.dim('─'.repeat(width)),
        ...state.body.flatMap((part) => part.render(width)),
        renderStatusLine(state, width, paint),
      ];
    },
  };
}

function renderStatusLine(
  { status, busySince, hint, isAsking }: FooterState,
  width: number,
  paint: TextStyles,
): string {
  if (hint !== undefined) return truncateToWidth(paint.yellow(hint), width, '…');
  if (status === undefined) return '';
  const waited = Date.now() - busySince;
  const spin = SPINNER.charAt(Math.floor(Date.now() / 100) % SPINNER.length);
  const time = waited >= 1000 ? ` ${formatDuration(Math.floor(waited / 1000) * 1000).replace('.0s', 's')}` : '';
  const busy =
    status.busy === undefined
      ? ''
      : isAsking
        ? 'waits for you'
        : `${spin} ${escapeInvisible(status.busy)}${time} (Esc interrupts)`;
  const room = width - (busy === '' ? 0 : visibleWidth(busy) + 3);
  // The most telling parts come first; those that do not fit are left out.
  let line = '';
  for (const part of formatStatusParts(status)) {
    const longer = line === '' ? part : `${line} · ${part}`;
    if (visibleWidth(longer) > room) break;
    line = longer;
  }
  const both = busy === '' ? paint.dim(line) : paint.cyan(busy) + (line === '' ? '' : paint.dim(` · ${line}`));
  return truncateToWidth(both, width, '…');
}
