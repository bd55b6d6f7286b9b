// `/export`: writes the conversation to a file, as Markdown, as a page or as JSON.
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readTranscript, exportDocument, parseExportFormat, exportFormats } from '../../sessions/index.ts';
import { withFileError } from '../../stores/private-file.ts';
import type { SlashCommand } from './context.ts';

/** The command that exports. */
export const exportCommand: SlashCommand = {
  name: 'export',
  description: 'write the conversation to a file, as Markdown, HTML or JSON',
  argumentHint: 'md|html|json <file>',
  complete: () => exportFormats.map((value) => ({ value: `${value} `, label: value })),
  async run(args, { conversation, notify }) {
    const { session, agent, name } = conversation;
    if (session.messages.length === 0) return notify('Nothing was said yet, so there is nothing to export.', 'warning');
    const [, first = '', rest = ''] = /^(\S*)\s*([^]*)$/.exec(args.trim()) ?? [];
    const named = exportFormats.find((each) => each === first);
    const given = named ? rest : args.trim();
    const format = parseExportFormat(named, given);
    const file = path.resolve(agent.workspace.cwd, given || `${toFileName(name)}.${format}`);
    if (existsSync(file)) return notify(`${file} is there already: name another file.`, 'warning');
    const events = await conversation.events();
    const { state, messages } = await readTranscript(session.log);
    const text = await exportDocument(
      {
        name,
        id: state.session,
        created: events[0]?.time ?? '',
        changed: events.at(-1)?.time ?? '',
        model: state.model,
        spent: state.total,
        messages,
      },
      format,
    );
    withFileError(file, 'write', () => writeFileSync(file, text, { flag: 'wx', mode: 0o600 }));
    return notify(`Written to ${file}`);
  },
};

/** A name as the name of a file, in whatever folder. */
const toFileName = (name: string): string =>
  name.replaceAll(/[^\p{L}\p{N}._-]+/gu, '-').replace(/^[.-]+/, '') || 'session';
