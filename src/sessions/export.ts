// Exports a session as Markdown, HTML, JSON or text.
import path from 'node:path';
import { FairleadError, type Message, type UsageTotals } from '../core/index.ts';
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
};

/** The export formats. */
export const exportFormats = ['md', 'html', 'json'] as const;

/** An export format. */
export type ExportFormat = (typeof exportFormats)[number];

/** Returns the named format, or the format of the file extension; default Markdown. */
export function parseExportFormat(given: string | undefined, file: string | undefined): ExportFormat {
  const ending = file === undefined ? '' : path.extname(file).slice(1).toLowerCase();
  const wanted = given ?? (exportFormats.some((each) => each === ending) ? ending : 'md');
  const format = exportFormats.find((each) => each === wanted);
  if (format !== undefined) return format;
  throw new FairleadError('cli/bad-format', `--format is ${exportFormats.join(', ')}, not "${wanted}".`, {
    blame: 'user',
  });
}

/** Reads a session file and exports it. */
export const exportSession = async (place: SessionFile, format: ExportFormat): Promise<string> =>
  exportDocument(await readExportDocument(place), format);

/** Formats an export. */
export async function exportDocument(paper: ExportDocument, format: ExportFormat): Promise<string> {
  switch (format) {
    case 'md':
      return (await import('./export-markdown.ts')).formatMarkdownExport(paper);
    case 'html':
      return (await import('./export-html.ts')).formatHtmlExport(paper);
    case 'json':
      return `${JSON.stringify(paper, null, 2)}\n`;
  }
}

async function readExportDocument(place: SessionFile): Promise<ExportDocument> {
  const { id, state, messages } = await readSession(place.file);
  const seen = summarizeSession(place);
  return {
    name: place.name,
    id,
    created: seen?.created ?? '',
    changed: seen?.changed ?? '',
    model: state.model,
    spent: state.total,
    messages,
  };
}
