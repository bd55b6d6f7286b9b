// An interactive conversation: one session file, one model and one working directory at a time; each can change while the others stay.
import {
  continueWithApprovals,
  isAwaitingApproval,
  runWithApprovals,
  type AdvanceOptions,
  type ApprovalLoopOptions,
  type Session,
  type UserInput,
} from '../agent/index.ts';
import type { Event, InputSource, RunState } from '../core/index.ts';
import type { Grants, PermissionMode } from '../guards/index.ts';
import { collectEvents } from '../sessions/reports/index.ts';
import {
  type SessionRecords,
  type OpenSession,
  type SessionFileEdit,
  type SessionSelector,
  type ForkPoint,
  createForkSelector,
  getOpenTitle,
  renameOpenSession,
  closeSession,
  editSessionFile,
  openSession,
  formatSessionProblems,
  noRecords,
  readSessionRecords,
  setSessionTitle,
} from '../sessions/index.ts';
import { readKnownModels, refreshModels, type KnownModel, type ModelEndpoint } from './state/index.ts';
import type { Effort, Settings } from './settings/index.ts';
import { expandModelName, isRouterName, type ResolvedModel } from './models/resolve-model.ts';
import { refreshApprovalQuestions } from './approval-prompts.ts';
import {
  switchAgent,
  recordDemands,
  changeWorkingDirectory,
  toRoutedConversation,
  switchToRouter,
  type ConversationListener,
  type ConversationOptions,
  type ConversationState,
  getConversationStatus,
  type ConversationStatus,
} from './conversation-state.ts';
import { openStateWithGrants } from './conversation-grants.ts';
import { getListedEndpoint, isSentAsIs, requireNamedModel } from './conversation-models.ts';
import { createTurnHandler } from './turn-handler.ts';
import { openModel } from './models/open-model.ts';
import { resolveFolder } from './resolve-folder.ts';
import { runPromptHooks } from './prompt-hooks.ts';
import { defaultMaxTurns, type CodingAgent } from './create-agent.ts';
import { createModeInstructions, permissionModeKey } from './mode-instructions.ts';
import { isPrivateSession, assertLocalModel } from './private-sessions.ts';

/** A conversation of the user with an agent. It owns the session file: close it after use. */
export class Conversation {
  readonly grants: Grants;
  /** The ids of the events whose file changes the user has undone. */
  readonly undoneEvents: Set<string> = new Set();
  #options: ConversationOptions;
  readonly #state: ConversationState;
  #unsubscribe: () => void = () => {};
  #isMuted = false;
  readonly #turns = createTurnHandler();
  #listener: ConversationListener | undefined;
  #records: SessionRecords = noRecords;
  readonly #modeInstructions = createModeInstructions();

  private constructor(options: ConversationOptions, grants: Grants, state: ConversationState) {
    this.grants = grants;
    this.#options = options;
    this.#state = state;
  }

  /** Opens the model and the session. */
  static async open(options: ConversationOptions): Promise<Conversation> {
    const { grants, state } = await openStateWithGrants(options);
    const conversation = new Conversation(options, grants, state);
    await conversation.#readRecords();
    return conversation;
  }

  get settings(): Settings {
    return this.#options.settings;
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
  /** The reasoning effort; undefined if the model decides. */
  get effort(): Effort | undefined {
    return this.#state.effort;
  }
  set effort(effort: Effort | undefined) {
    this.#state.effort = effort;
  }
  /** The permission mode. */
  get mode(): PermissionMode {
    return this.#state.mode;
  }

  /** The name of the session. */
  get name(): string {
    return this.#state.open.sessionFile?.name ?? 'not saved';
  }

  /** The file of the session; absent if the session is not saved. */
  get file(): string | undefined {
    return this.#state.open.sessionFile?.file;
  }

  /** Whether the session is new, and not resumed. */
  get isNew(): boolean {
    return this.#state.open.isNew;
  }

  /** The damage found in the session file, one sentence each; the session was opened without the damaged parts. */
  get problems(): readonly string[] {
    return formatSessionProblems(this.#state.open);
  }

  /** Sets the listener for events and for changes of the session. */
  subscribe(listener: ConversationListener): void {
    this.#listener = listener;
    this.#attach();
  }

  /** Runs the session with this input, or from its current state, to an answer, or until the pending calls were left undecided. */
  async run(input: UserInput | undefined, options: Omit<ApprovalLoopOptions, 'advance'> = {}): Promise<RunState> {
    const { session } = this;
    const loop: ApprovalLoopOptions = { ...options, advance: (next, step) => this.#advance(next, step) };
    return input === undefined && isAwaitingApproval(session.state)
      ? continueWithApprovals(session, session.state, loop)
      : runWithApprovals(session, input, loop);
  }

  /** Advances the session by one step, with the model that the router selects and within the limits of the user. */
  async #advance(input: UserInput | undefined, options: AdvanceOptions = {}): Promise<RunState> {
    const { settings, flags } = this.#options;
    const { router } = this.#state;
    const modeText = input === undefined ? undefined : this.#modeInstructions(this.mode);
    if (modeText !== undefined) await this.addNote(modeText);
    await runPromptHooks(this, input);
    await recordDemands(this.#state, this.#options, true);
    const limited = {
      ...options,
      asIs: isSentAsIs(settings, this.model),
      limits: { turns: defaultMaxTurns, ...settings.limits, ...flags.limits },
    };
    return router
      ? router.run(toRoutedConversation(this.#state), input, limited)
      : this.session.advance(input, limited);
  }

  /** Changes the permission mode and records it; the gates apply it to the next call, also of sub-agents. */
  async setMode(mode: PermissionMode): Promise<void> {
    if (mode === this.#state.mode) return;
    this.#state.mode = mode;
    await this.session.annotate(permissionModeKey, mode);
  }

  /** Informs the listener that the session is at another event, after an edit or a rewind. */
  async notifyMoved(): Promise<void> {
    await this.#readRecords(false);
    this.#listener?.session(false);
  }

  /** What the log records besides the messages, as it was when the session was opened or moved; a new session has nothing. */
  get records(): SessionRecords {
    return this.#records;
  }

  /** Closes this session and opens another. */
  async switchSession(selector: SessionSelector): Promise<void> {
    const open = await openSession(this.settings.dirs, selector, this.#state.parts);
    if (!this.#state.router && isPrivateSession(open.session))
      await assertLocalModel(this.model, this.settings).catch(async (error: unknown) => {
        await closeSession(open);
        throw error;
      });
    await this.#adoptSession(open, this.#state.open);
  }

  async #readRecords(isNew = this.isNew): Promise<void> {
    this.#records = isNew ? noRecords : await readSessionRecords(this.session.log);
  }

  async #adoptSession(open: OpenSession, previous?: OpenSession): Promise<void> {
    Object.assign(this.#state, { open, private: false });
    await recordDemands(this.#state, this.#options);
    this.#state.approvals.watch(open.session);
    if (previous) await Promise.all([closeSession(previous), this.agent.stopCommands()]);
    this.grants.clearSession();
    await refreshApprovalQuestions(open.session);
    await this.#readRecords();
    this.#attach();
    this.#listener?.session(open.isNew);
  }

  /** Begins another session with this conversation, up to an event or with these messages; the current session stays as it is. */
  fork(from: ForkPoint = {}): Promise<void> {
    return this.switchSession(createForkSelector(this.#state.open, from));
  }

  /** Closes the file of the session, lets `edit` change it, and reads it again: a change is recorded as a new branch. */
  async editFile(edit: (file: string) => Promise<void>): Promise<SessionFileEdit> {
    const { open, result } = await editSessionFile(this.#state.open, this.settings.dirs, this.#state.parts, edit);
    if (open !== this.#state.open) await this.#adoptSession(open);
    return result;
  }

  /** Renames the session and its file; the new name is its title. */
  async rename(name: string): Promise<void> {
    this.#state.open = await renameOpenSession(this.settings.dirs, this.#state.open, name);
  }

  /** The title of the session: the one that was chosen, its name, or its first message. */
  get title(): string {
    return getOpenTitle(this.#state.open) ?? this.name;
  }

  /** Gives the session a title; the file keeps its name. Without a title it has its name or its first message as its title. */
  async setTitle(title: string | undefined): Promise<void> {
    await setSessionTitle(this.#state.open, title);
  }

  /** The models in the cached list. */
  models(): readonly KnownModel[] {
    return readKnownModels(this.settings) ?? [];
  }

  /** The provider whose models are listed. */
  get endpoint(): ModelEndpoint {
    return getListedEndpoint(this.model.ref, this.settings, this.models());
  }

  /** Reads the list of models from the provider again. */
  refresh(signal: AbortSignal): Promise<readonly KnownModel[]> {
    const onWarning = (text: string): void => this.#options.host.notify(text);
    return refreshModels(this.settings, { endpoint: this.endpoint, signal, onWarning });
  }

  /** Continues with another model or router, by its name. */
  async useModel(name: string, signal?: AbortSignal): Promise<void> {
    const full = expandModelName(name, this.settings);
    if (isRouterName(full)) return switchToRouter(this.#state, this.#options, full);
    return this.switchModel(await requireNamedModel(full, this.settings), signal);
  }

  /** Continues with a model that was chosen; the signal ends its download. */
  async switchModel(model: ResolvedModel, signal?: AbortSignal): Promise<void> {
    if (this.#state.private) await assertLocalModel(model, this.settings);
    const host = signal ? { ...this.#options.host, signal } : this.#options.host;
    const opened = { model, provider: await openModel(model, this.settings, host) };
    await switchAgent(Object.assign(this.#state, { env: this.settings.env }), this.agent, opened, undefined);
  }

  /** Continues with other settings, such as those with a new key: the agent is created again, so that it hides the key in tool outputs. */
  async useSettings(settings: Settings): Promise<void> {
    this.#options = { ...this.#options, settings };
    await this.changeDirectory('.');
  }

  /** Continues in another working directory; a relative path starts at the current one. */
  async changeDirectory(directory: string): Promise<void> {
    const previous = this.agent;
    const cwd = resolveFolder(previous.workspace.cwd, directory);
    await changeWorkingDirectory(this.#state, this.#options, this.grants, cwd);
    await previous.close(this.agent);
  }

  /** Every event of the session, on all branches, in the order written. */
  events(): Promise<readonly Event[]> {
    return collectEvents(this.session.log, this.session.state.seq);
  }

  /** Adds a text of the program or of a hook that the model reads with the next message; the listener is not informed of it. */
  async addNote(text: string, by: InputSource = 'program'): Promise<void> {
    this.#isMuted = true;
    try {
      await this.session.steer(text, { by });
    } finally {
      this.#isMuted = false;
    }
  }

  /** The status for a status line. */
  status(): ConversationStatus {
    return getConversationStatus(this.#state, this.name, this.#options.flags, this.grants.list());
  }

  /** Closes the session and the agent. */
  async close(): Promise<void> {
    this.#unsubscribe();
    this.#turns.stop();
    await Promise.all([closeSession(this.#state.open), this.agent.close()]);
  }

  #attach(): void {
    this.#unsubscribe();
    this.#unsubscribe = this.session.subscribe((event, state) => {
      if (!this.#isMuted) this.#listener?.event(event, state);
      this.agent.hooks?.onEvent(event, state);
      if (event.type === 'turn-ended') this.#turns.onTurnEnded(this.#options, this.#state);
    });
  }
}
