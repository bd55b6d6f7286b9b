// The conversation a person is in: one session file, one model, one working folder at a time, each of which can change while the rest stays.
import { statSync } from 'node:fs';
import path from 'node:path';
import type { RunOptions, Session, Words } from '../../agent/index.ts';
import { FairleadError, type AgentParts, type AnswerShape, type Event, type RunState } from '../../core/index.ts';
import { sessionGrants, type Grants } from '../../guards/index.ts';
import { allEvents } from '../branches/path.ts';
import type { McpServer } from '../../tools/mcp/index.ts';
import type { Person } from '../equipment/index.ts';
import type { Status } from '../face/face.ts';
import type { Asked, Which } from '../front/asked.ts';
import { readKnownModels, refreshModels, rememberModel, type KnownModel, type Whence } from '../known-models/index.ts';
import { renameSession } from '../sessions/index.ts';
import type { Settings } from '../settings/index.ts';
import { modelNamed, placeOf, unknownModel, type Chosen } from './model.ts';
import { askAnew } from './asks.ts';
import { approvalsHere, type Approvals } from './approvals.ts';
import { openModel, type Host } from './open-model.ts';
import { closeSession, openSession, type OpenSession } from './opening.ts';
import { outfitFor, type Outfit } from './outfit.ts';

/** What a conversation begins with. */
export type ConversationOptions = {
  readonly settings: Settings;
  readonly asked: Asked;
  readonly which: Which;
  readonly chosen: Chosen;
  readonly host: Host;
  /** Who is asked about what the folder brings along, and by the model; nobody unless given. */
  readonly person?: Person;
  /** MCP servers that an editor names for this session. */
  readonly servers?: readonly McpServer[];
  /** The working folder; the program's own unless another is named. */
  readonly cwd?: string;
  readonly answer?: AnswerShape;
};

/** What changes while it goes on. */
type Course = {
  auto: boolean;
  stream: boolean;
  model: Chosen;
  outfit: Outfit;
  open: OpenSession;
  parts: AgentParts;
  readonly approvals: Approvals;
};

/** A person's conversation. It owns the session's file: close it when done. */
export class Conversation {
  readonly settings: Settings;
  readonly grants: Grants;
  /** The results whose changes the person has put back, by their events. */
  readonly undone: Set<string> = new Set();
  readonly #options: ConversationOptions;
  readonly #now: Course;
  #unwatch: () => void = () => {};
  #quiet = false;
  /** Whether the last model cannot be kept, which is said once. */
  #forgetful = false;
  #seen: { session(fresh: boolean): void; event(event: Event, state: RunState): void } | undefined;

  private constructor(options: ConversationOptions, grants: Grants, now: Course) {
    this.settings = options.settings;
    this.grants = grants;
    this.#options = options;
    this.#now = now;
  }

  /** Opens the model and the session. */
  static async open(options: ConversationOptions): Promise<Conversation> {
    const { settings, asked, chosen, host, which } = options;
    const grants = sessionGrants();
    const now: Partial<Course> & Pick<Course, 'auto' | 'stream' | 'model'> = {
      // Code in a container reaches nothing of the person's, so there is nothing to ask about.
      auto: asked.auto || asked.code || settings.approve === 'auto',
      stream: asked.stream || settings.stream,
      model: chosen,
    };
    const [provider, outfit] = await Promise.all([
      openModel(chosen, settings, host),
      outfitFor({
        ...options,
        code: asked.code,
        sandbox: asked.sandbox,
        cwd: options.cwd ?? process.cwd(),
        auto: () => now.auto,
        grants,
      }),
    ]);
    const approvals = approvalsHere();
    const parts = approvals.heldBy(outfit.partsFor(provider, chosen.tools !== false));
    const open = await openSession(settings.dirs, which, parts);
    approvals.watch(open.session);
    await askAnew(open.session);
    return new Conversation(options, grants, Object.assign(now, { outfit, parts, open, approvals }));
  }

  get session(): Session {
    return this.#now.open.session;
  }
  get outfit(): Outfit {
    return this.#now.outfit;
  }
  get model(): Chosen {
    return this.#now.model;
  }
  get stream(): boolean {
    return this.#now.stream;
  }
  set stream(on: boolean) {
    this.#now.stream = on;
  }
  get auto(): boolean {
    return this.#now.auto;
  }
  set auto(on: boolean) {
    this.#now.auto = on;
  }

  /** What the session is called. */
  get name(): string {
    return this.#now.open.place?.name ?? 'kept nowhere';
  }

  /** The session's file; nothing if it is kept nowhere. */
  get file(): string | undefined {
    return this.#now.open.place?.file;
  }

  /** Whether the session was begun here and not resumed. */
  get fresh(): boolean {
    return this.#now.open.fresh;
  }

  /** What is wrong with the session's file, a sentence each; it was opened all the same. */
  get problems(): readonly string[] {
    const found = this.#now.open.log?.report ?? [];
    const more = found.length - mostProblems;
    return [
      ...found.slice(0, mostProblems).map(({ what }) => what),
      ...(more > 0 ? [`And ${more} more: fairlead sessions verify ${JSON.stringify(this.name)}`] : []),
    ];
  }

  /** Calls back for each event, and when another session, or another state of this one, takes the place of what was shown. */
  watch(seen: { session(fresh: boolean): void; event(event: Event, state: RunState): void }): void {
    this.#seen = seen;
    this.#attach();
  }

  /** Runs the model with these words, or from where the session stands. */
  async run(words: Words | undefined, options: RunOptions = {}): Promise<RunState> {
    const { settings, asked, host } = this.#options;
    const trouble = this.#forgetful ? undefined : rememberModel(settings, this.model.name);
    if (trouble !== undefined) {
      this.#forgetful = true;
      host.say(trouble);
    }
    return this.session.run(words, { ...options, limits: { turns: usualTurns, ...settings.limits, ...asked.limits } });
  }

  /** Tells that the session stands elsewhere than what is shown: after an edit, or a step back. */
  moved(): void {
    this.#seen?.session(false);
  }

  /** Leaves this session for another. */
  async go(which: Which): Promise<void> {
    const open = await openSession(this.settings.dirs, which, this.#now.parts);
    const old = this.#now.open;
    this.#now.open = open;
    this.#now.approvals.watch(open.session);
    await Promise.all([closeSession(old), this.outfit.endCommands()]);
    for (const kind of this.grants.list()) this.grants.revoke(kind);
    await askAnew(open.session);
    this.#attach();
    this.#seen?.session(open.fresh);
  }

  /** Gives the session another name; the file moves with it. */
  async rename(name: string): Promise<void> {
    const { place, log } = this.#now.open;
    if (!place) return;
    this.#now.open = { ...this.#now.open, place: await renameSession(this.settings.dirs, place, name, log) };
  }

  /** The models that the list has. */
  models(): readonly KnownModel[] {
    return readKnownModels(this.settings) ?? [];
  }

  /** Where its models are listed. */
  get whence(): Whence {
    const { provider, baseUrl } = this.model.ref;
    return placeOf(this.settings, this.models()) ?? { provider, ...(baseUrl === undefined ? {} : { baseUrl }) };
  }

  /** Asks the provider again which models it has. */
  async refresh(signal: AbortSignal): Promise<readonly KnownModel[]> {
    const { host } = this.#options;
    return refreshModels(this.settings, { from: this.whence, signal, say: (trouble) => host.say(trouble) });
  }

  /** Goes on with another model. */
  async useModel(name: string): Promise<void> {
    const known = this.models();
    const place = placeOf(this.settings, known);
    const chosen = modelNamed(name, known, place);
    if (!chosen) throw unknownModel(name, known, place);
    const provider = await openModel(chosen, this.settings, this.#options.host);
    await this.#become(this.outfit, chosen, this.outfit.partsFor(provider, chosen.tools !== false));
  }

  /** Goes on in another working folder, named from the one it is in. */
  async moveTo(folder: string): Promise<void> {
    const { asked } = this.#options;
    const cwd = path.resolve(this.outfit.workspace.cwd, folder);
    if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
      throw new FairleadError('cli/no-folder', `There is no folder ${cwd}.`, { blame: 'user' });
    const old = this.outfit;
    const outfit = await outfitFor({
      ...this.#options,
      code: asked.code,
      sandbox: asked.sandbox,
      cwd,
      auto: () => this.auto,
      grants: this.grants,
      ...(cwd === old.workspace.cwd ? { background: old.background } : {}),
    });
    await this.#become(outfit, this.model, outfit.partsFor(this.#now.parts.provider, this.model.tools !== false));
    await old.close(outfit);
  }

  /** Every event of the session, all branches, in the order written. */
  events(): Promise<readonly Event[]> {
    return allEvents(this.session.log, this.session.state.seq);
  }

  /** Adds words that the model reads with the next message, without showing them as said. */
  async note(words: string): Promise<void> {
    this.#quiet = true;
    try {
      await this.session.steer(words);
    } finally {
      this.#quiet = false;
    }
  }

  /** What the status line says. */
  status(): Status {
    const { context, total, pending } = this.session.state;
    const { window } = this.#now.parts.provider;
    return {
      model: this.model.name,
      session: this.name,
      mode: this.auto ? 'auto' : 'ask',
      stream: this.stream,
      context: { used: context, ...(window === undefined ? {} : { window }) },
      ...(total.unpriced === 0 ? { usd: total.usd } : {}),
      queued: pending.length,
      // Code runs in a container, whatever else there is.
      ...(this.#options.asked.code ? {} : { sandbox: sandboxWord(this.outfit.sandbox) }),
    };
  }

  /** Lets go of the session. */
  async close(): Promise<void> {
    this.#unwatch();
    await Promise.all([closeSession(this.#now.open), this.outfit.close()]);
  }

  async #become(outfit: Outfit, model: Chosen, unheld: AgentParts): Promise<void> {
    const parts = this.#now.approvals.heldBy(unheld);
    await this.session.become(parts);
    Object.assign(this.#now, { outfit, model, parts });
  }

  #attach(): void {
    this.#unwatch();
    this.#unwatch = this.session.watch((event, state) => {
      if (!this.#quiet) this.#seen?.event(event, state);
    });
  }
}

/** A sandbox in the status line. */
function sandboxWord({ name }: Outfit['sandbox']): string {
  if (name === 'none') return 'NO SANDBOX';
  return name === 'refused' ? 'no commands' : name;
}

/** How much is said about a damaged file before the rest is only counted. */
const mostProblems = 5;

/** Turns of one run unless the person says otherwise: work in a folder takes more than an answer does. */
const usualTurns = 100;
