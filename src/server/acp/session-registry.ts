// Registry of open ACP sessions of one connection; opens, loads, lists and deletes sessions, with the MCP servers that an editor names. Independent of the protocol version.
import { statSync } from 'node:fs';
import path from 'node:path';
import { FairleadError, isObject, toJson, type Json } from '../../core/index.ts';
import { getMcpServers, parseMcpConfig, type McpConfig } from '../../tools/mcp/index.ts';
import { Conversation, type ConversationFlags, type ModelHost } from '../../coding-agent/index.ts';
import { resolveModelUnattended } from '../../coding-agent/models/index.ts';
import {
  findSession,
  listSessions,
  trashSession,
  type SessionSummary,
  type SessionSelector,
} from '../../sessions/index.ts';
import { readSettings } from '../../coding-agent/settings/index.ts';
import type { UserPrompter } from '../../coding-agent/integrations/index.ts';
import { createAcpSession, type AcpClient, type AcpSession } from './acp-session.ts';

/** Creates the client of a session for its conversation. */
export type CreateAcpClient = (session: string, conversation: Conversation) => AcpClient;

/** A stored session and its working directory. */
export type AcpSessionSummary = SessionSummary & { readonly cwd: string };

/** The working directory and MCP servers of a session request. */
export type AcpSessionParams = { readonly cwd: string; readonly servers: readonly unknown[] };

/** The sessions of one connection. */
export type AcpSessionRegistry = {
  create(
    params: AcpSessionParams,
    createClient: CreateAcpClient,
  ): Promise<{ readonly id: string; readonly session: AcpSession }>;
  /** Loads a stored session; closes it first if it is open here. */
  resume(id: string, params: AcpSessionParams, createClient: CreateAcpClient): Promise<AcpSession>;
  /** Returns the open session with this id. */
  get(id: string): AcpSession;
  close(id: string): Promise<void>;
  /** Moves a session to the trash. */
  remove(id: string): Promise<void>;
  list(cwd: string | undefined): readonly AcpSessionSummary[];
  closeAll(): Promise<void>;
};

/** Creates the registry of one connection. `notify` writes warnings to the log of the process; `host` prepares models. */
export function createAcpSessionRegistry(
  flags: ConversationFlags,
  { notify, host }: { readonly notify: (text: string) => void; readonly host: ModelHost },
): AcpSessionRegistry {
  const openSessions = new Map<string, AcpSession>();
  const opening = new Set<Promise<unknown>>();

  async function openTracked(...args: Parameters<typeof open>): ReturnType<typeof open> {
    const work = open(...args);
    opening.add(work);
    try {
      return await work;
    } finally {
      opening.delete(work);
    }
  }

  async function open(
    selector: SessionSelector,
    params: AcpSessionParams,
    createClient: CreateAcpClient,
    storedId?: string,
  ): Promise<[string, AcpSession]> {
    const cwd = resolveDirectory(params.cwd);
    const settings = readSettings({ cwd });
    for (const warning of settings.warnings) notify(`${warning}\n`);
    const model = await resolveModelUnattended(flags, settings);
    const { servers, problems } = parseEditorMcpServers(params.servers);
    const prompter = createDeferredPrompter(notify);
    const conversation = await Conversation.open({
      settings,
      flags,
      selector,
      model,
      cwd,
      host,
      prompter,
      mcpServers: servers,
    });
    const id = storedId ?? conversation.session.state.session;
    const editor = createClient(id, conversation);
    const acpSession = createAcpSession(
      conversation,
      editor,
      createFirstPromptSetup(conversation, () => prompter.attach(editor), problems),
    );
    openSessions.set(id, acpSession);
    return [id, acpSession];
  }

  async function close(id: string): Promise<void> {
    const acpSession = openSessions.get(id);
    openSessions.delete(id);
    await acpSession?.close();
  }

  return {
    async create(params, createClient) {
      const [id, acpSession] = await openTracked({ type: 'new' }, params, createClient);
      return { id, session: acpSession };
    },
    async resume(id, params, createClient) {
      await close(id);
      const [, acpSession] = await openTracked({ type: 'resume', session: id }, params, createClient, id);
      return acpSession;
    },
    get(id) {
      const acpSession = openSessions.get(id);
      if (acpSession) return acpSession;
      throw new FairleadError('session/unknown', `No session with the id "${id}" is open here.`, {
        blame: 'user',
        hint: 'Begin one with session/new, or load it.',
      });
    },
    close,
    async remove(id) {
      const { dirs } = openSessions.get(id)?.conversation.settings ?? readSettings();
      await close(id);
      await trashSession(dirs, findSession(dirs, id));
    },
    list(cwd) {
      const { dirs } = readSettings();
      return listSessions(dirs)
        .flatMap((summary) => (summary.folder === undefined ? [] : [{ ...summary, cwd: summary.folder }]))
        .filter((each) => cwd === undefined || path.resolve(cwd) === each.cwd);
    },
    async closeAll() {
      // A session that is being opened already has its file.
      await Promise.allSettled(opening);
      await Promise.all([...openSessions.keys()].map(close));
    },
  };
}

/**
 * Runs once before the first prompt of a session: the editor then knows the session, so the user can be asked about MCP servers and changed instruction files.
 * If a run is still open this waits, because the tools of a run do not change.
 */
function createFirstPromptSetup(
  conversation: Conversation,
  attachPrompter: () => void,
  problems: readonly string[],
): () => Promise<readonly string[]> {
  let done = false;
  return async () => {
    if (done || conversation.session.state.run !== undefined) return [];
    done = true;
    attachPrompter();
    const hasOpenServer = getMcpServers(conversation.agent.tools)
      .status()
      .some(({ state }) => state === 'new' || state === 'changed');
    if (hasOpenServer || conversation.agent.hasPendingInstructions) await conversation.changeDirectory('.');
    return [...problems, ...conversation.agent.problems];
  };
}

function resolveDirectory(cwd: string): string {
  if (path.isAbsolute(cwd) && statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) return path.resolve(cwd);
  throw new FairleadError('acp/no-folder', `There is no folder ${cwd}.`, {
    blame: 'user',
    hint: 'The working folder of a session is the whole path of a folder.',
  });
}

/** A prompter that can be connected later. */
type DeferredPrompter = UserPrompter & { attach(editor: AcpClient): void };

/** Creates an unconnected prompter; `notify` gets messages until it is connected. */
function createDeferredPrompter(notify: (text: string) => void): DeferredPrompter {
  let editor: AcpClient | undefined;
  const showNotice = (text: string): void =>
    editor
      ? editor.transcript.putBlock({ type: 'notice', id: crypto.randomUUID(), level: 'info', text })
      : notify(`${text}\n`);
  return {
    attach: (client) => void (editor = client),
    get isAbsent() {
      return editor === undefined;
    },
    async confirm(question, detail = '', signal = new AbortController().signal) {
      // If the client cannot ask the user, or has disconnected, the answer is no.
      return (await editor?.confirm(question, detail, signal).catch(() => false)) ?? false;
    },
    async askApproval(prompt, signal) {
      return (await editor?.ask(prompt, signal).catch(() => undefined)) ?? 'no';
    },
    // Editors have no display for transient progress.
    progress() {},
    notify: showNotice,
  };
}

/** Returns the usable servers, and a sentence for each unusable one. */
export function parseEditorMcpServers(editorServers: readonly unknown[] | null | undefined): McpConfig {
  const entries = (editorServers ?? []).flatMap((each) =>
    isObject(each) && typeof each['name'] === 'string' ? [[each['name'], toConfigEntry(each)]] : [],
  );
  const text = JSON.stringify({ mcpServers: toJson(Object.fromEntries(entries)) });
  const { servers, problems } = parseMcpConfig(text, { file: 'The editor', origin: 'editor' });
  // An approval applies to the server name, independent of the working directory.
  return { servers: servers.map((server) => ({ ...server, source: 'editor' })), problems };
}

/** Parses one server; unknown transports are rejected. */
function toConfigEntry({ type, command, args = [], env, url, headers }: Readonly<Record<string, unknown>>): unknown {
  if (command !== undefined) return { type: type ?? 'stdio', command, args, env: toRecord(env) };
  return { type: type ?? 'unknown', url, headers: toRecord(headers) };
}

/** Converts name/value pairs to an object. */
const toRecord = (pairs: unknown): Readonly<Record<string, Json>> =>
  Object.fromEntries(
    (Array.isArray(pairs) ? pairs : []).map((each: unknown) =>
      isObject(each) ? [String(each['name']), toJson(each['value'])] : ['', null],
    ),
  );
