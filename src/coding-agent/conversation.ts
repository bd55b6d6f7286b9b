// The conversation a person is in: one session file, one model, one working folder at a time, each of which can change while the rest stays.
import { statSync } from 'node:fs';
import path from 'node:path';
import type { RunOptions, Session, UserInput } from '../agent/index.ts';
import { FairleadError, type Event, type RunState } from '../core/index.ts';
import { sessionGrants, type Grants } from '../guards/index.ts';
import { collectEvents } from '../sessions/reports/branch-path.ts';
import { readKnownModels, refreshModels, saveLastModel, type KnownModel, type ModelEndpoint } from './state/index.ts';
import { renameSession, type SessionSelector } from '../sessions/index.ts';
import type { Settings } from './settings/index.ts';
import {
  isRouterName,
  findModel,
  getModelEndpoint,
  unknownModelError,
  type ResolvedModel,
} from './models/resolve-model.ts';
import { refreshApprovalQuestions } from './approvals.ts';
import {
  switchAgent,
  openConversationState,
  enforcePrivacy,
  changeWorkingDirectory,
  toRoutedConversation,
  switchToRouter,
  type ConversationOptions,
  type ConversationState,
} from './conversation-state.ts';
import { runPromptHooks } from './prompt-hooks.ts';
import { openModel } from './models/open-model.ts';
import { closeSession, openSession, formatSessionProblems } from '../sessions/open-session.ts';
import type { CodingAgent } from './create-agent.ts';
import { isPrivateSession, assertLocalModel } from './privacy.ts';
import { getConversationStatus, type ConversationStatus } from './conversation-status.ts';

/** A person's conversation. It owns the session's file: close it when done. */
export class Conversation {
  readonly settings: Settings;
  readonly grants: Grants;
  /** The results whose changes the person has put back, by their events. */
  readonly undoneEvents: Set<string> = new Set();
  readonly #options: ConversationOptions;
  readonly #state: ConversationState;
  #unwatch: () => void = () => {};
  #isMuted = false;
  /** Whether the last model cannot be kept, which is said once. */
  #isLastModelUnsaved = false;
  #listener: { session(fresh: boolean): void; event(event: Event, state: RunState): void } | undefined;

  private constructor(options: ConversationOptions, grants: Grants, now: ConversationState) {
    this.settings = options.settings;
    this.grants = grants;
    this.#options = options;
    this.#state = now;
  }

  /** Opens the model and the session. */
  static async open(options: ConversationOptions): Promise<Conversation> {
    const grants = sessionGrants();
    return new Conversation(options, grants, await openConversationState(options, grants));
  }

  get session(): Session {
    return this.#state.open.session;
  }
  get agent(): CodingAgent {
    return this.#state.agent;
  }
  get model(): ResolvedModel {
    return this.#state.model;
  }
  get stream(): boolean {
    return this.#state.stream;
  }
  set stream(on: boolean) {
    this.#state.stream = on;
  }
  get autoApprove(): boolean {
    return this.#state.autoApprove;
  }
  set autoApprove(on: boolean) {
    this.#state.autoApprove = on;
  }

  /** What the session is called. */
  get name(): string {
    return this.#state.open.sessionFile?.name ?? 'kept nowhere';
  }

  /** The session's file; nothing if it is kept nowhere. */
  get file(): string | undefined {
    return this.#state.open.sessionFile?.file;
  }

  /** Whether the session was begun here and not resumed. */
  get isNew(): boolean {
    return this.#state.open.isNew;
  }

  /** What is wrong with the session's file, a sentence each; it was opened all the same. */
  get problems(): readonly string[] {
    return formatSessionProblems(this.#state.open);
  }

  /** Calls back for each event, and when another session, or another state of this one, takes the place of what was shown. */
  subscribe(seen: { session(fresh: boolean): void; event(event: Event, state: RunState): void }): void {
    this.#listener = seen;
    this.#attach();
  }

  /** Runs the model with these words, or from where the session stands. */
  async run(words: UserInput | undefined, options: RunOptions = {}): Promise<RunState> {
    const { settings, flags, host } = this.#options;
    const { router } = this.#state;
    const trouble = this.#isLastModelUnsaved ? undefined : saveLastModel(settings, router?.name ?? this.model.name);
    if (trouble !== undefined) {
      this.#isLastModelUnsaved = true;
      host.notify(trouble);
    }
    await runPromptHooks(this, words);
    await enforcePrivacy(this.#state, this.#options);
    const given = { ...options, limits: { turns: defaultMaxTurns, ...settings.limits, ...flags.limits } };
    return router ? router.run(toRoutedConversation(this.#state), words, given) : this.session.run(words, given);
  }

  /** Tells that the session stands elsewhere than what is shown: after an edit, or a step back. */
  notifyMoved(): void {
    this.#listener?.session(false);
  }

  /** Leaves this session for another. */
  async switchSession(which: SessionSelector): Promise<void> {
    const open = await openSession(this.settings.dirs, which, this.#state.parts);
    const old = this.#state.open;
    if (!this.#state.router && isPrivateSession(open.session))
      await assertLocalModel(this.model, this.settings).catch(async (error: unknown) => {
        await closeSession(open);
        throw error;
      });
    Object.assign(this.#state, { open, private: false });
    await enforcePrivacy(this.#state, this.#options);
    this.#state.approvals.watch(open.session);
    await Promise.all([closeSession(old), this.agent.stopCommands()]);
    for (const kind of this.grants.list()) this.grants.revoke(kind);
    await refreshApprovalQuestions(open.session);
    this.#attach();
    this.#listener?.session(open.isNew);
  }

  /** Gives the session another name; the file moves with it. */
  async rename(name: string): Promise<void> {
    const { sessionFile, log } = this.#state.open;
    if (!sessionFile) return;
    this.#state.open = {
      ...this.#state.open,
      sessionFile: await renameSession(this.settings.dirs, sessionFile, name, log),
    };
  }

  /** The models that the list has. */
  models(): readonly KnownModel[] {
    return readKnownModels(this.settings) ?? [];
  }

  /** Where its models are listed. */
  get endpoint(): ModelEndpoint {
    const { provider, baseUrl } = this.model.ref;
    return (
      getModelEndpoint(this.settings, this.models()) ?? { provider, ...(baseUrl === undefined ? {} : { baseUrl }) }
    );
  }

  /** Asks the provider again which models it has. */
  async refresh(signal: AbortSignal): Promise<readonly KnownModel[]> {
    const { host } = this.#options;
    return refreshModels(this.settings, {
      endpoint: this.endpoint,
      signal,
      onWarning: (trouble) => host.notify(trouble),
    });
  }

  /** Goes on with another model. */
  async useModel(name: string): Promise<void> {
    if (isRouterName(name)) return switchToRouter(this.#state, this.#options, name);
    const known = this.models();
    const place = getModelEndpoint(this.settings, known);
    const chosen = findModel(name, known, place);
    if (!chosen) throw unknownModelError(name, known, place);
    if (this.#state.private) await assertLocalModel(chosen, this.settings);
    const provider = await openModel(chosen, this.settings, this.#options.host);
    await switchAgent(this.#state, this.agent, { model: chosen, provider }, undefined);
  }

  /** Goes on in another working folder, named from the one it is in. */
  async changeDirectory(folder: string): Promise<void> {
    const cwd = path.resolve(this.agent.workspace.cwd, folder);
    if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
      throw new FairleadError('cli/no-folder', `There is no folder ${cwd}.`, { blame: 'user' });
    const old = this.agent;
    await changeWorkingDirectory(this.#state, this.#options, this.grants, cwd);
    await old.close(this.agent);
  }

  /** Every event of the session, all branches, in the order written. */
  events(): Promise<readonly Event[]> {
    return collectEvents(this.session.log, this.session.state.seq);
  }

  /** Adds words that the model reads with the next message, without showing them as said. */
  async addNote(words: string): Promise<void> {
    this.#isMuted = true;
    try {
      await this.session.steer(words);
    } finally {
      this.#isMuted = false;
    }
  }

  /** What the status line says. */
  status(): ConversationStatus {
    const { router, model, parts } = this.#state;
    return getConversationStatus({
      model: router ? `${router.name}: ${model.name}` : model.name,
      session: this.name,
      autoApprove: this.autoApprove,
      stream: this.stream,
      state: this.session.state,
      provider: parts.provider,
      sandbox: this.#options.flags.codeOnly ? undefined : this.agent.sandbox,
    });
  }

  /** Lets go of the session. */
  async close(): Promise<void> {
    this.#unwatch();
    await Promise.all([closeSession(this.#state.open), this.agent.close()]);
  }

  #attach(): void {
    this.#unwatch();
    this.#unwatch = this.session.subscribe((event, state) => {
      if (!this.#isMuted) this.#listener?.event(event, state);
      this.agent.hooks?.onEvent(event, state);
    });
  }
}

/** Turns of one run unless the person says otherwise: work in a folder takes more than an answer does. */
const defaultMaxTurns = 100;
