// What an export of a session holds, whatever its format.
import type { Message, UsageTotals } from '../core/index.ts';

/** What an export holds. */
export type ExportDocument = {
  readonly name: string;
  readonly id: string;
  readonly created: string;
  readonly changed: string;
  readonly model: string;
  readonly spent: UsageTotals;
  readonly messages: readonly Message[];
};

/** A text fit to stand in HTML, between tags or in quotes. */
export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (found) => `&#${found.codePointAt(0)};`);
