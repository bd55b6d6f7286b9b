// The `index` command: indexes a folder or a file for search, lists the indexes, and removes one.
import path from 'node:path';
import { escapeInvisibleLine, formatColumns } from '../../../core/index.ts';
import type { UpdateReport } from '../../../retrieval/index.ts';
import { listIndexes, openFolderIndex, removeIndex } from '../../../coding-agent/documents/index.ts';
import { readSettings } from '../../../coding-agent/settings/index.ts';
import type { Command } from '../../args/command.ts';
import { onShutdown } from '../../args/shutdown-signals.ts';
import { print, printErr } from '../../args/stdio.ts';
import { stringOption, withOptions } from '../../args/with-usage.ts';
import { createProgressLine, formatBytes, formatSeconds } from './format.ts';

const usage = `Usage: fairlead index <folder or file>... [--embedding <model>] [--store <postgres://...>] [--json]
       fairlead index --sessions                  index your session logs
       fairlead index --remove <folder or file>   delete the index
       fairlead index                             list the indexes

Indexes text, Markdown by headings, code by symbol, HTML, PDF and JSONL records ({"id", "title", "text"} per line), so that
fairlead search finds passages with file, lines and hash. Run it again to add what changed: unchanged files are not read.
Files that .gitignore ignores or that usually hold secrets are left out. The index is a private file in your data
directory, not in the project. --embedding adds vectors, for a search by meaning: ollama/nomic-embed-text,
openai/text-embedding-3-small, or local (needs the package @huggingface/transformers). It is remembered for later updates.`;

const options = {
  embedding: stringOption,
  store: stringOption,
  sessions: { type: 'boolean' },
  remove: { type: 'boolean' },
  json: { type: 'boolean' },
} as const;

/** Indexes folders; exit code 0 done, 1 failed, 2 invalid arguments, 130 or 143 by a signal. */
export const run: Command['run'] = withOptions(
  { usage, options, allowPositionals: true },
  async (values, positionals) => {
    const settings = readSettings();
    const roots = [...positionals, ...(values.sessions ? [path.join(settings.dirs.data, 'sessions')] : [])];
    if (roots.length === 0) {
      if (values.remove || values.embedding !== undefined || values.store !== undefined)
        throw new TypeError('Name a folder or a file.');
      return printIndexes(values.json === true);
    }
    if (values.remove) {
      for (const root of roots) await remove(root);
      return 0;
    }
    const signals = onShutdown(['SIGINT', 'SIGTERM', 'SIGHUP'], () => {});
    try {
      for (const root of roots) await update(root);
      return 0;
    } catch (error) {
      if (!signals.signal.aborted) throw error;
      printErr('Stopped. What was indexed until now is kept; run the command again to continue.\n');
      return signals.code ?? 1;
    } finally {
      signals.release();
    }

    async function remove(root: string): Promise<void> {
      let removed: boolean;
      if (values.store === undefined) removed = removeIndex(settings.dirs, root);
      else {
        const index = await openFolderIndex({ settings, root, store: values.store, embedding: 'none' });
        removed = (await index.counts()).files > 0;
        await index.destroy();
      }
      print(removed ? `The index of ${root} was removed.\n` : `${root} has no index.\n`);
    }

    async function update(root: string): Promise<void> {
      const { embedding, store } = values;
      const index = await openFolderIndex({
        settings,
        root,
        ...(embedding === undefined ? {} : { embedding }),
        ...(store === undefined ? {} : { store }),
      });
      const progress = createProgressLine();
      try {
        const report = await index.update({
          signal: signals.signal,
          onProgress: ({ phase, done, changed }) =>
            progress.show(
              phase === 'reading' ? `${done} files looked at, ${changed} read` : `${done} passages embedded`,
            ),
        });
        progress.clear();
        for (const notice of report.notices) printErr(`${notice}\n`);
        print(values.json ? `${JSON.stringify({ root: index.root, ...report })}\n` : formatReport(index.root, report));
      } finally {
        progress.clear();
        await index.close();
      }
    }

    function printIndexes(asJson: boolean): number {
      const indexes = listIndexes(settings.dirs);
      if (asJson) print(`${JSON.stringify(indexes)}\n`);
      else if (indexes.length === 0) print('There are no indexes. Index a folder with: fairlead index <folder>\n');
      else
        print(
          formatColumns(
            indexes.map(({ root, bytes, updated, embedding = 'words only' }) => [
              escapeInvisibleLine(root),
              formatBytes(bytes),
              updated.toISOString().slice(0, 16).replace('T', ' '),
              embedding,
            ]),
          ),
        );
      return 0;
    }
  },
);

function formatReport(root: string, report: UpdateReport): string {
  const { files, passages, vectors, added, changed, removed, unchanged, skipped, bytes, ms } = report;
  const left = Object.entries(skipped).map(([reason, count]) => `${count} ${reason}`);
  return [
    `Indexed ${escapeInvisibleLine(root)} in ${formatSeconds(ms)}: ${added} new, ${changed} changed, ${removed} removed, ${unchanged} unchanged.`,
    `${files} ${files === 1 ? 'file' : 'files'}, ${passages} ${passages === 1 ? 'passage' : 'passages'}, ${vectors === 0 ? 'no vectors' : `${vectors} vectors`}, ${formatBytes(bytes)} on disk.`,
    ...(left.length > 0 ? [`Without text: ${left.join(', ')}.`] : []),
    '',
  ].join('\n');
}
