// A session as one of several to choose from.
import type { Choice } from '../face/face.ts';
import type { SessionSummary } from '../sessions/index.ts';

/** What a list shows of a session: its name, when it was changed, and its first words. */
export const sessionChoice = ({ name, changed, first = '' }: SessionSummary): Choice => ({
  value: name,
  label: name,
  about: `${changed.slice(0, 16).replace('T', ' ')}  ${first.replaceAll(/\s+/g, ' ').slice(0, 60)}`.trim(),
});
