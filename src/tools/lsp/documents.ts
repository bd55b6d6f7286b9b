// The open documents of a server, synchronized with the workspace: the server sees the latest edits.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { FairleadError, isObject, escapeInvisibleLine, type Workspace } from '../../core/index.ts';
import { readTextFile } from '../text.ts';
import type { LanguageServerDefinition } from './definition.ts';
import type { LspConnection } from './connection.ts';

const maxOpenDocuments = 40;
const maxDocumentChars = 4_000_000;

/** A document that a server has open. */
export type OpenDocument = {
  readonly path: string;
  readonly uri: string;
  readonly version: number;
  /** Its text as the server counts it, without a byte order mark. */
  readonly text: string;
};

/** The documents of one server. */
export type DocumentStore = {
  /** Opens a file, or sends its changes. */
  sync(path: string): Promise<OpenDocument>;
  /** Sends the changes of every open file, and closes deleted ones. */
  refresh(): Promise<void>;
  /** Returns the open documents, the latest opened or changed first. */
  open(): readonly OpenDocument[];
};

/** Creates an empty document store. */
export function createDocumentStore(
  live: LspConnection,
  workspace: Workspace,
  definition: LanguageServerDefinition,
): DocumentStore {
  const open = new Map<string, OpenDocument>();
  let versions = 0;

  function close(document: OpenDocument): void {
    open.delete(document.path);
    live.published.delete(document.uri);
    live.notify('textDocument/didClose', { textDocument: { uri: document.uri } });
  }

  async function show(given: string): Promise<OpenDocument> {
    const { content } = await readTextFile(workspace, given, { unseen: true });
    const { path: file, text: raw } = content;
    const text = raw.replace(/^\ufeff/, '');
    if (text.length > maxDocumentChars)
      throw new FairleadError('lsp/too-large', `${escapeInvisibleLine(given)} is too large for a language server.`, {
        blame: 'model',
      });
    const known = open.get(file);
    if (known?.text === text) return known;
    const document = { path: file, uri: pathToFileURL(file).href, version: ++versions, text };
    tell(known, document);
    // The latest used entry is last.
    open.delete(file);
    open.set(file, document);
    const [oldest] = open.values();
    if (open.size > maxOpenDocuments && oldest) close(oldest);
    return document;
  }

  function tell(known: OpenDocument | undefined, { uri, version, text, path: file }: OpenDocument): void {
    live.published.delete(uri);
    if (known && acceptsChanges(live)) {
      live.notify('textDocument/didChange', { textDocument: { uri, version }, contentChanges: [{ text }] });
      live.notify('textDocument/didSave', { textDocument: { uri } });
      return;
    }
    if (known) close(known);
    const languageId = definition.languages[path.extname(file).toLowerCase()] ?? definition.name;
    live.notify('textDocument/didOpen', { textDocument: { uri, languageId, version, text } });
  }

  return {
    sync: show,
    open: () => [...open.values()].toReversed(),
    async refresh() {
      for (const document of Array.from(open.values()))
        try {
          await show(document.path);
        } catch (error) {
          if (!(error instanceof FairleadError)) throw error;
          close(document);
        }
    },
  };
}

/** Returns true if the server accepts change notifications; otherwise the document is closed and opened again. */
function acceptsChanges({ capabilities }: LspConnection): boolean {
  const { textDocumentSync: sync } = capabilities;
  const how = isObject(sync) ? sync['change'] : sync;
  return how === 1 || how === 2;
}
