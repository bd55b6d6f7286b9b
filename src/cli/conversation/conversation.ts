// The conversation a person is in: one session file, one model, one working folder at a time, each of which can change while the rest stays.
import { statSync } from 'node:fs';
import path from 'node:path';
import type { RunOptions, Session, UserInput } from '../../agent/index.ts';
import { FairleadError, type Event, type RunState } from '../../core/index.ts';
import { sessionGrants, type Grants } from '../../guards/index.ts';
import { allEvents } from '../branches/path.ts';
import type { StatusLine } from '../face/face.ts';
import type { SessionSelector } from '../front/asked.ts';
import { readKnownModels, refreshModels, saveLastModel, type KnownModel, type Whence } from '../known-models/index.ts';
import { renameSession } from '../sessions/index.ts';
import type { Settings } from '../settings/index.ts';
import { isRouter, modelNamed, placeOf, unknownModel, type Chosen } from './model.ts';
import { askAnew } from './asks.ts';
import {
  become,
  beginCourse,
  keepPrivate,
  moveCourse,
  riddenBy,
  routeCourse,
  type ConversationOptions,
  type Course,
} from './course.ts';
import { heed } from './heeding.ts';
import { openModel } from './open-model.ts';
import { closeSession, openSession, problemsOf } from './opening.ts';
import type { Outfit } from './outfit.ts';
import { isPrivate, mustStayHere } from './privacy.ts';
import { statusOf } from './status.ts';

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
    const grants = sessionGrants();
    return new Conversation(options, grants, await beginCourse(options, grants));
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
    return problemsOf(this.#now.open);
  }

  /** Calls back for each event, and when another session, or another state of this one, takes the place of what was shown. */
  watch(seen: { session(fresh: boolean): void; event(event: Event, state: RunState): void }): void {
    this.#seen = seen;
    this.#attach();
  }

  /** Runs the model with these words, or from where the session stands. */
  async run(words: UserInput | undefined, options: RunOptions = {}): Promise<RunState> {
    const { settings, asked, host } = this.#options;
    const { router } = this.#now;
    const trouble = this.#forgetful ? undefined : saveLastModel(settings, router?.name ?? this.model.name);
    if (trouble !== undefined) {
      this.#forgetful = true;
      host.say(trouble);
    }
    await heed(this, words);
    await keepPrivate(this.#now, this.#options);
    const given = { ...options, limits: { turns: usualTurns, ...settings.limits, ...asked.limits } };
    return router ? router.run(riddenBy(this.#now), words, given) : this.session.run(words, given);
  }

  /** Tells that the session stands elsewhere than what is shown: after an edit, or a step back. */
  moved(): void {
    this.#seen?.session(false);
  }

  /** Leaves this session for another. */
  async go(which: SessionSelector): Promise<void> {
    const open = await openSession(this.settings.dirs, which, this.#now.parts);
    const old = this.#now.open;
    if (!this.#now.router && isPrivate(open.session))
      await mustStayHere(this.model, this.settings).catch(async (error: unknown) => {
        await closeSession(open);
        throw error;
      });
    Object.assign(this.#now, { open, private: false });
    await keepPrivate(this.#now, this.#options);
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
    if (isRouter(name)) return routeCourse(this.#now, this.#options, name);
    const known = this.models();
    const place = placeOf(this.settings, known);
    const chosen = modelNamed(name, known, place);
    if (!chosen) throw unknownModel(name, known, place);
    if (this.#now.private) await mustStayHere(chosen, this.settings);
    const provider = await openModel(chosen, this.settings, this.#options.host);
    await become(this.#now, this.outfit, { chosen, provider }, undefined);
  }

  /** Goes on in another working folder, named from the one it is in. */
  async moveTo(folder: string): Promise<void> {
    const cwd = path.resolve(this.outfit.workspace.cwd, folder);
    if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
      throw new FairleadError('cli/no-folder', `There is no folder ${cwd}.`, { blame: 'user' });
    const old = this.outfit;
    await moveCourse(this.#now, this.#options, this.grants, cwd);
    await old.close(this.outfit);
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
  status(): StatusLine {
    const { router, model, parts } = this.#now;
    return statusOf({
      model: router ? `${router.name}: ${model.name}` : model.name,
      session: this.name,
      auto: this.auto,
      stream: this.stream,
      state: this.session.state,
      provider: parts.provider,
      sandbox: this.#options.asked.codeOnly ? undefined : this.outfit.sandbox,
    });
  }

  /** Lets go of the session. */
  async close(): Promise<void> {
    this.#unwatch();
    await Promise.all([closeSession(this.#now.open), this.outfit.close()]);
  }

  #attach(): void {
    this.#unwatch();
    this.#unwatch = this.session.subscribe((event, state) => {
      if (!this.#quiet) this.#seen?.event(event, state);
      this.outfit.ears?.onEvent(event, state);
    });
  }
}

/** Turns of one run unless the person says otherwise: work in a folder takes more than an answer does. */
const usualTurns = 100;
