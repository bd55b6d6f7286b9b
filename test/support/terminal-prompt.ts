// The program at its prompt, in a real terminal: a home and a working folder of its own, and a scripted server for its model.
import path from 'node:path';
import type { TestContext } from 'node:test';
import type { JsonObject } from '../../src/core/index.ts';
import {
  says,
  scriptedServer,
  type ScriptedResponse,
  type ListedModel,
  type Script,
  type ScriptedServer,
} from '../../src/testing/index.ts';
import { bin, createProgramDirs, writeFiles } from './program-dirs.ts';
import { openTerminal, type Terminal, type TerminalOptions } from './terminal.ts';

export { writeFiles };

/** A place for the program to run in: its folders, its model server, and the environment that leads it there. */
export type PromptEnvironment = {
  readonly server: ScriptedServer;
  /** The working folder. */
  readonly cwd: string;
  /** Where the program keeps what it must not lose. */
  readonly data: string;
  readonly env: Readonly<Record<string, string>>;
};

/** The program, waiting at its prompt. */
export type TerminalPrompt = Terminal & {
  /** Types a line and sends it. */
  enter(line: string): Promise<void>;
  /** Sends a line and waits for what must then be there. */
  enterAndWait(line: string, then: RegExp): Promise<string>;
};

/** Makes a place that is gone when the test ends; `files` are put into its working folder. */
export async function createPromptEnvironment(
  t: TestContext,
  script: Script<JsonObject>,
  options: { readonly files?: Readonly<Record<string, string>>; readonly models?: readonly ListedModel[] } = {},
): Promise<PromptEnvironment> {
  const { home: root, cwd, data, env } = createProgramDirs(t);
  const {
    models = [
      { id: 'alpha', tools: true },
      { id: 'beta', tools: true },
    ],
  } = options;
  const server = await scriptedServer(script, { models, listingStyle: 'lm-studio' });
  t.after(() => server.close());
  writeFiles(root, { 'home/.keep': '', 'work/.keep': '' });
  writeFiles(cwd, options.files ?? {});
  return {
    server,
    cwd,
    data: data(),
    // A home with nothing in it shows what the program leaves there.
    env: {
      ...env,
      HOME: path.join(root, 'home'),
      HARNESS_INFERENCE_PROVIDER: 'lm-studio',
      OLLAMA_API_URL: server.url,
    },
  };
}

/** Starts the program in a place, with the words of `wrap` before it and without a sandbox unless it is wanted, and waits until it can be typed to; when it has ended, its exit code is on the screen. */
export async function openPrompt(
  t: TestContext,
  place: PromptEnvironment,
  args: readonly string[] = ['--refresh-models', '--model', 'alpha'],
  options: TerminalOptions & { readonly wrap?: readonly string[]; readonly sandbox?: boolean } = {},
): Promise<TerminalPrompt> {
  const env = { ...place.env, ...options.env };
  const size = { columns: 100, rows: 40 };
  // Not every machine has one, and the program says so on the screen.
  const without = options.sandbox === true ? [] : ['--no-sandbox'];
  const command = [...(options.wrap ?? []), process.execPath, bin, ...without, ...args];
  const inShell = ['sh', '-c', '"$@"; echo "exit code $?"', 'sh', ...command];
  const terminal = await openTerminal(t, inShell, { ...size, ...options, cwd: place.cwd, env });
  await terminal.waitFor(/Fairlead with \w+, session/);
  const enter = async (line: string): Promise<void> => {
    await terminal.type(line);
    await terminal.keys('Enter');
  };
  return {
    ...terminal,
    enter,
    async enterAndWait(line, then) {
      await enter(line);
      return terminal.waitFor(then);
    },
  };
}

/** What a model was sent: its name, and the roles and texts of the messages. */
export type SentRequest = {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly text: string }[];
};

/** A model that does what is said, by one call a message, and then tells the result. */
export const scriptByPrompt =
  (callFor: (words: string) => ScriptedResponse): Script<JsonObject> =>
  ({ body, prompt, results }) => {
    const { role } = (body as unknown as Body).messages.at(-1) ?? {};
    return role === 'tool' ? says(`Result: ${results.at(-1)}`) : callFor(prompt);
  };

/** Everything that was asked of the models so far, in order. */
export function getSentRequests(server: ScriptedServer): readonly SentRequest[] {
  return server.requests
    .filter(({ format }) => format !== undefined)
    .map(({ body }) => {
      const { model, messages } = body as unknown as Body;
      const said = messages.map(({ role, content }) => ({ role, text: getContentText(content) }));
      return { model, messages: said };
    });
}

type Content = string | readonly { readonly text?: string }[] | null | undefined;
type Body = {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content?: Content }[];
};

function getContentText(content: Content): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map(({ text = '' }) => text).join('');
}
