// A session to take along: what an export holds, in each of its formats.
import path from 'node:path';
import { FairleadError } from '../../core/index.ts';
import type { Paper } from './paper.ts';
import { summaryOf, type SessionPlace } from './sessions.ts';
import { readSession } from './transcript.ts';

/** The formats an export can have. */
export const formats = ['md', 'html', 'json'] as const;

/** A format of an export. */
export type Format = (typeof formats)[number];

/** The format that was named, or the one that a file's name ends with, or Markdown. */
export function formatOf(given: string | undefined, file: string | undefined): Format {
  const ending = file === undefined ? '' : path.extname(file).slice(1).toLowerCase();
  const wanted = given ?? (formats.some((each) => each === ending) ? ending : 'md');
  const format = formats.find((each) => each === wanted);
  if (format !== undefined) return format;
  throw new FairleadError('cli/bad-format', `--format is ${formats.join(', ')}, not "${wanted}".`, { blame: 'user' });
}

/** The session in this place as a text in this format. */
export const exportSession = async (place: SessionPlace, format: Format): Promise<string> =>
  exportPaper(await paperOf(place), format);

/** A session as a text in this format. */
export async function exportPaper(paper: Paper, format: Format): Promise<string> {
  switch (format) {
    case 'md':
      return (await import('./export-markdown.ts')).markdownOf(paper);
    case 'html':
      return (await import('./export-html.ts')).htmlOf(paper);
    case 'json':
      return `${JSON.stringify(paper, null, 2)}\n`;
  }
}

async function paperOf(place: SessionPlace): Promise<Paper> {
  const { id, state, messages } = await readSession(place.file);
  const seen = summaryOf(place);
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
