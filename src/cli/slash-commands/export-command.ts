// The slash command /export: writes the conversation to a file as Markdown, HTML or JSON.
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readTranscript, exportDocument, parseExportFormat, exportFormats } from '../../sessions/index.ts';
import { withFileError } from '../../stores/index.ts';
import type { SlashCommand } from './slash-command.ts';

/** The slash command `/export`. */
export const exportCommand: SlashCommand = {
  name: 'export',
  description: 'write the conversation to a file, as Markdown, HTML or JSON',
  argumentHint: 'md|html|json <file>',
  complete: () => exportFormats.map((value) => ({ value: `${value} `, label: value })),
  async run(args, { conversation, notify }) {
    const { session, agent, name } = conversation;
    if (session.messages.length === 0) return notify('There are no messages to export yet.', 'warning');
    const [, first = '', rest = ''] = /^(\S*)\s*([^]*)$/.exec(args.trim()) ?? [];
    // A first word without a dot before a file is a format, also one that does not exist: "pdf x" is not a file name.
    const named =
      exportFormats.some((each) => each === first) || (rest !== '' && /^\w+$/.test(first)) || first === 'pdf'
        ? first
        : undefined;
    const fileArg = named === undefined ? args.trim() : rest;
    const format = parseExportFormat(named, fileArg);
    const file = path.resolve(agent.workspace.cwd, fileArg || `${toFileName(name)}.${format}`);
    if (existsSync(file)) return notify(`${file} already exists. Choose another name.`, 'warning');
    const events = await conversation.events();
    const { state, messages, calls, added } = await readTranscript(session.log);
    const exported = await exportDocument(
      {
        name,
        id: state.session,
        created: events[0]?.time ?? '',
        changed: events.at(-1)?.time ?? '',
        model: state.model,
        spent: state.total,
        messages,
        calls,
        added,
        title: conversation.title,
        folder: agent.workspace.cwd,
      },
      format,
    );
    const { dlpAuditKey, formatCounts, guardExport } = await import('../../coding-agent/dlp/index.ts');
    const { text, removed } = guardExport(exported, format);
    withFileError(file, 'write', () => writeFileSync(file, text, { flag: 'wx', mode: 0o600 }));
    if (Object.keys(removed).length === 0) return notify(`Written to ${file}`);
    await conversation.session.annotate(dlpAuditKey, { way: 'exports', action: 'redact', counts: removed, to: format });
    return notify(`Written to ${file} without ${formatCounts(removed)} (setting dlp)`);
  },
};

/** Replaces the characters of a session name that are unsafe in a file name. */
const toFileName = (name: string): string =>
  name.replaceAll(/[^\p{L}\p{N}._-]+/gu, '-').replace(/^[.-]+/, '') || 'session';
