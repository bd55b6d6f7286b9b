// A session as one of several to choose from.
import type { UiChoice } from '../cli/tui/ui.ts';
import type { SessionSummary } from './index.ts';

/** What a list shows of a session: its name, when it was changed, and its first words. */
export const toSessionChoice = ({ name, changed, first = '' }: SessionSummary): UiChoice => ({
  value: name,
  label: name,
  description: `${changed.slice(0, 16).replace('T', ' ')}  ${first.replaceAll(/\s+/g, ' ').slice(0, 60)}`.trim(),
});
