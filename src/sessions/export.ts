// Exports a session as Markdown, HTML, JSON or text.
import path from 'node:path';
import { FairleadError, type Message, type UsageTotals } from '../core/index.ts';
import type { AddedInputs } from './added-inputs.ts';
import type { CallRecords } from './call-records.ts';
import { summarizeSession, type SessionFile } from './session-directory.ts';
import { readSession } from './transcript.ts';

/** The contents of an export. */
export type ExportDocument = {
  readonly name: string;
  readonly id: string;
  readonly created: string;
  readonly changed: string;
  readonly model: string;
  readonly spent: UsageTotals;
  readonly messages: readonly Message[];
  readonly title?: string;
  readonly folder?: string;
  /** How the calls of the messages ended, and the diffs of edits. */
  readonly calls?: CallRecords;
  /** The texts of user messages that the user did not write. */
  readonly added?: AddedInputs;
};

/** The export formats. */
export const exportFormats = ['md', 'html', 'json'] as const;

/** An export format. */
export type ExportFormat = (typeof exportFormats)[number];

/** Returns the named format, or the format of the file extension; default Markdown. */
export function parseExportFormat(requested: string | undefined, file: string | undefined): ExportFormat {
  const extension = file === undefined ? '' : path.extname(file).slice(1).toLowerCase();
  const known = extension === 'htm' ? 'html' : extension;
  const name = requested ?? (exportFormats.some((each) => each === known) ? known : 'md');
  const format = exportFormats.find((each) => each === name);
  if (format !== undefined) return format;
  throw new FairleadError(
    'sessions/bad-format',
    `Cannot export as "${name}": the formats are ${exportFormats.join(', ')}.`,
    {
      blame: 'user',
      ...(name === 'pdf' ? { hint: 'Export html and print it as PDF in a browser.' } : {}),
    },
  );
}

/** Reads a session file and exports it. */
export const exportSession = async (sessionFile: SessionFile, format: ExportFormat): Promise<string> =>
  exportDocument(await readExportDocument(sessionFile), format);

/** Formats an export. */
export async function exportDocument(document: ExportDocument, format: ExportFormat): Promise<string> {
  switch (format) {
    case 'md':
      return (await import('./export-markdown.ts')).formatMarkdownExport(document);
    case 'html':
      return (await import('./export-html.ts')).formatHtmlExport(document);
    case 'json': {
      const { calls, added, ...rest } = document;
      const unconfirmed = [...(added?.unconfirmed?.values() ?? [])].flat();
      const checkedAnswers = added ? (await import('./checked-answers.ts')).listCheckedAnswers(added) : [];
      const records = {
        ...(calls ? { calls: Object.fromEntries(calls) } : {}),
        ...(unconfirmed.length > 0 ? { unconfirmedClaims: unconfirmed } : {}),
        ...(checkedAnswers.length > 0 ? { checkedAnswers } : {}),
      };
      return `${JSON.stringify({ ...rest, ...records }, null, 2)}\n`;
    }
  }
}

async function readExportDocument(sessionFile: SessionFile): Promise<ExportDocument> {
  const { id, state, messages, calls, added } = await readSession(sessionFile.file);
  const summary = summarizeSession(sessionFile);
  return {
    name: sessionFile.name,
    id,
    created: summary?.created ?? '',
    changed: summary?.changed ?? '',
    model: state.model,
    spent: state.total,
    messages,
    calls,
    added,
    ...(summary ? { title: summary.title } : {}),
    ...(summary?.folder === undefined ? {} : { folder: summary.folder }),
  };
}
