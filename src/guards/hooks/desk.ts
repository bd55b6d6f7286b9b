// Where hooks are asked: all that an event concerns, side by side, each with what it is about in the fields that it expects.
import type { JsonObject } from '../../core/index.ts';
import { answerOf, type HookAnswer } from './answer.ts';
import { guisesOf, namesOf, type Guise } from './guises.ts';
import type { Hook, HookEvent } from './hook.ts';
import { runHook } from './run.ts';

/** What hooks are told beside the event, and who hears what they say to a person. */
export type HookGround = {
  readonly hooks: readonly Hook[];
  readonly cwd: string;
  /** The environment of a hook's command, without secrets. */
  readonly env: NodeJS.ProcessEnv;
  /** The file of the session, where there is one. */
  readonly transcript: () => string | undefined;
  readonly mode: () => string;
  readonly say: (text: string) => void;
};

/** What one hook said, and of which guise of the call. */
export type HookSaid = { readonly hook: Hook; readonly guise?: Guise; readonly answer: HookAnswer };

/** How a hook is called in a sentence. */
export function nameOf({ command, from }: Hook): string {
  const plain = command.replaceAll(/"?\$\{?(?:CLAUDE|FAIRLEAD)_PROJECT_DIR\}?"?\//g, '');
  return plain === '' ? `of ${from}` : `"${plain.length > 80 ? `${plain.slice(0, 79)}…` : plain}"`;
}

/** Asks the hooks of an event that match one of these names. */
export async function ask(
  ground: HookGround,
  event: HookEvent,
  names: readonly string[],
  payload: JsonObject,
  session: string,
): Promise<readonly HookSaid[]> {
  const meant = ground.hooks.filter((hook) => hook.event === event && names.some((name) => hook.matches(name)));
  // The same command in two files is one.
  const once = [...new Map(meant.map((hook) => [hook.broken ?? hook.command, hook])).values()];
  const said = await Promise.all(once.map(async (hook) => one(ground, hook, payload, session)));
  for (const { answer } of said) if (answer.message !== undefined) ground.say(answer.message);
  return said;
}

async function one(ground: HookGround, hook: Hook, payload: JsonObject, session: string): Promise<HookSaid> {
  const { cwd, env } = ground;
  const common = {
    session_id: session,
    transcript_path: ground.transcript() ?? '',
    cwd,
    permission_mode: ground.mode(),
    hook_event_name: hook.event,
  };
  const ran = await runHook(
    hook,
    { ...common, ...payload },
    { cwd, env: { ...env, CLAUDE_PROJECT_DIR: cwd, FAIRLEAD_PROJECT_DIR: cwd } },
  );
  return { hook, answer: answerOf(hook.event, ran) };
}

/** Asks the hooks of an event about a call, in each guise that it has for them. */
export async function askAbout(
  ground: HookGround,
  event: HookEvent,
  call: Parameters<typeof guisesOf>[0],
  more: JsonObject,
  session: string,
): Promise<readonly HookSaid[]> {
  const said: HookSaid[] = [];
  for (const guise of guisesOf(call, ground.cwd)) {
    const payload = { tool_name: guise.name, tool_input: guise.input, fairlead_tool: call.tool, ...more };
    const heard = await ask(ground, event, namesOf(call.tool, guise), payload, session);
    said.push(...heard.map((each) => ({ ...each, guise })));
  }
  return said;
}

/** Tells the person of hooks that gave no answer, where nothing depends on it. */
export function tellTrouble({ say }: Pick<HookGround, 'say'>, said: readonly HookSaid[]): void {
  for (const { hook, answer } of said)
    if (answer.trouble !== undefined) say(`The ${hook.event} hook ${nameOf(hook)} gave no answer: ${answer.trouble}.`);
}
