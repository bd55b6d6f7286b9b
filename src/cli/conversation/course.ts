// What changes while a conversation goes on, and how: another model, another folder, another router, with what is private kept where it may be.
import type { ResolvedAgent, OutputSchema } from '../../core/index.ts';
import type { Grants } from '../../guards/index.ts';
import type { McpServer } from '../../tools/mcp/index.ts';
import type { Person } from '../equipment/index.ts';
import type { CliArgs, SessionSelector } from '../front/asked.ts';
import type { LiveRouter, Opened, Ridden } from '../routing/live-router.ts';
import type { Settings } from '../settings/index.ts';
import type { Approvals } from '../../agent/agents/child.ts';
import { approvalsHere } from './approvals.ts';
import { askAnew } from './asks.ts';
import type { Chosen } from './model.ts';
import { modelOrRouter, type Host } from './open-model.ts';
import { closeSession, openSession, type OpenSession } from './opening.ts';
import { outfitFor, type Outfit } from './outfit.ts';
import { isHere, isPrivate, labelled, labelOf, mustStayHere, withViews } from './privacy.ts';

/** What a conversation begins with. */
export type ConversationOptions = {
  readonly settings: Settings;
  readonly asked: CliArgs;
  readonly which: SessionSelector;
  readonly chosen: Chosen;
  readonly host: Host;
  /** Who is asked about what the folder brings along, and by the model; nobody unless given. */
  readonly person?: Person;
  /** MCP servers that an editor names for this session. */
  readonly servers?: readonly McpServer[];
  /** The working folder; the program's own unless another is named. */
  readonly cwd?: string;
  /** The first words, where they are known before anything is opened. */
  readonly words?: string;
  readonly answer?: OutputSchema;
};

/** What changes while it goes on. */
export type Course = {
  auto: boolean;
  stream: boolean;
  model: Chosen;
  /** Who chooses the model for each message; nobody unless the person wants it so. */
  router: LiveRouter | undefined;
  outfit: Outfit;
  open: OpenSession;
  parts: ResolvedAgent;
  /** Whether this session was private at any time since it was opened here: a step back does not make what was said public. */
  private: boolean;
  readonly approvals: Approvals;
};

/** Opens the model, the folder's equipment and the session. */
export async function beginCourse(options: ConversationOptions, grants: Grants): Promise<Course> {
  const { settings, asked, chosen, host, which } = options;
  const now: Partial<Course> & Pick<Course, 'auto' | 'stream' | 'private'> = {
    private: false,
    // Code in a container reaches nothing of the person's, so there is nothing to ask about.
    auto: asked.autoApprove || asked.codeOnly || settings.approve === 'auto',
    stream: asked.stream || settings.stream,
  };
  const [model, outfit] = await Promise.all([
    modelOrRouter(chosen, settings, host),
    outfitIn(now, options, grants, options.cwd ?? process.cwd()),
  ]);
  const router = 'first' in model ? model : undefined;
  const label = labelOf(asked, settings, outfit.instructions);
  const opened = 'first' in model ? await model.first(options.words, label) : { chosen, provider: model };
  const approvals = approvalsHere();
  const parts = approvals.heldBy(withViews(partsOf(outfit, opened), router));
  const open = await openSession(settings.dirs, which, parts);
  approvals.watch(open.session);
  await askAnew(open.session);
  const course: Course = Object.assign(now, { outfit, parts, open, approvals, router, model: opened.chosen });
  await keepPrivate(course, options).catch(async (error: unknown) => {
    await Promise.all([closeSession(open), outfit.close()]);
    throw error;
  });
  return course;
}

/** What an agent in this folder needs. */
function outfitIn(
  now: Pick<Course, 'auto' | 'private'> & { open?: OpenSession; outfit?: Outfit },
  options: ConversationOptions,
  grants: Grants,
  cwd: string,
): Promise<Outfit> {
  const { asked, settings } = options;
  return outfitFor({
    ...options,
    code: asked.codeOnly,
    sandbox: asked.sandbox,
    cwd,
    auto: () => now.auto,
    grants,
    // What goes on in the background of this folder goes on.
    ...(now.outfit?.workspace.cwd === cwd ? { background: now.outfit.background } : {}),
    transcript: () => now.open?.place?.file,
    mayUse: async (other) => (now.private ? mustStayHere(other, settings) : undefined),
  });
}

const partsOf = (outfit: Outfit, { provider, chosen }: Opened): ResolvedAgent =>
  outfit.partsFor(provider, chosen.tools !== false);

/** Goes on with this model, in this folder. */
export async function become(
  now: Course,
  outfit: Outfit,
  opened: Opened,
  router: LiveRouter | undefined,
): Promise<void> {
  const parts = now.approvals.heldBy(withViews(partsOf(outfit, opened), router));
  await now.open.session.setAgent(parts);
  Object.assign(now, { outfit, model: opened.chosen, parts, router });
}

/** Goes on in another folder; one that is private is not entered with a model that is elsewhere. */
export async function moveCourse(
  now: Course,
  options: ConversationOptions,
  grants: Grants,
  cwd: string,
): Promise<void> {
  const { asked, settings } = options;
  const outfit = await outfitIn(now, options, grants, cwd);
  const { model, parts, router } = now;
  if (!router && labelOf(asked, settings, outfit.instructions) !== undefined)
    await mustStayHere(model, settings).catch(async (error: unknown) => {
      await outfit.close(now.outfit);
      throw error;
    });
  await become(now, outfit, { chosen: model, provider: parts.provider }, router);
  await keepPrivate(now, options);
}

/** Lets a router choose from now on. */
export async function routeCourse(now: Course, { settings, host }: ConversationOptions, name: string): Promise<void> {
  const { liveRouter } = await import('../routing/live-router.ts');
  const router = await liveRouter(name, settings, host);
  const label = now.private ? earlier : undefined;
  await become(now, now.outfit, await router.first(undefined, label), router);
}

/** Writes a label down, and leaves a model elsewhere that may not read what is private. */
export async function keepPrivate(now: Course, { asked, settings }: ConversationOptions): Promise<void> {
  const { model, router, outfit } = now;
  const { session } = now.open;
  const label = labelOf(asked, settings, outfit.instructions) ?? (now.private ? earlier : undefined);
  await labelled(session, label);
  now.private = isPrivate(session);
  if (!now.private || (await isHere(model, settings))) return;
  if (!router) return mustStayHere(model, settings);
  await become(now, outfit, await router.first(undefined, earlier), router);
}

/** Who labelled a session whose label a step back or an edit has left behind. */
const earlier = 'what was said before';

/** The conversation as its router knows it. */
export const riddenBy = (now: Course): Ridden => ({
  session: now.open.session,
  private: now.private,
  current: now.model.name,
  use: async (opened) => {
    if (opened.chosen.name !== now.model.name) await become(now, now.outfit, opened, now.router);
  },
});
