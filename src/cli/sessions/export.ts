// A session to take along: what an export holds, in each of its formats.
import type { Paper } from './paper.ts';
import { summaryOf, type SessionPlace } from './sessions.ts';
import { readSession } from './transcript.ts';

/** The formats an export can have. */
export const formats = ['md', 'html', 'json'] as const;

/** A format of an export. */
export type Format = (typeof formats)[number];

/** The session as a text in this format. */
export async function exportSession(place: SessionPlace, format: Format): Promise<string> {
  const paper = await paperOf(place);
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
