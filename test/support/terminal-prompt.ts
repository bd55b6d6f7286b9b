// The interactive program in a real terminal, with its own home and working directory and a scripted model server.
import path from 'node:path';
import type { TestContext } from 'node:test';
import { parseToolResult, type JsonObject } from '../../src/core/index.ts';
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

/** The environment of the program: its directories, its model server, and the variables that point to them. */
export type PromptEnvironment = {
  readonly server: ScriptedServer;
  /** The working directory. */
  readonly cwd: string;
  /** The data directory of the program. */
  readonly data: string;
  readonly env: Readonly<Record<string, string>>;
};

/** The program at its prompt. */
export type TerminalPrompt = Terminal & {
  /** Types a line and submits it. */
  enter(line: string): Promise<void>;
  /** Submits a line and waits for a pattern. */
  enterAndWait(line: string, then: RegExp): Promise<string>;
};

/** Creates an environment that is removed when the test ends; `files` are written to its working directory. */
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
    // An empty home, so that the test sees what the program leaves there.
    env: {
      ...env,
      HOME: path.join(root, 'home'),
      HARNESS_INFERENCE_PROVIDER: 'lm-studio',
      OLLAMA_API_URL: server.url,
    },
  };
}

/** Starts the program, with the command of `wrap` before it and without a sandbox unless `sandbox` is set, and waits for the prompt; when it has ended, its exit code is on the screen. */
export async function openPrompt(
  t: TestContext,
  environment: PromptEnvironment,
  args: readonly string[] = ['--refresh-models', '--model', 'alpha'],
  options: TerminalOptions & { readonly wrap?: readonly string[]; readonly sandbox?: boolean } = {},
): Promise<TerminalPrompt> {
  const env = { ...environment.env, ...options.env };
  const size = { columns: 100, rows: 40 };
  // Not every machine has a sandbox, and its absence is shown on the screen.
  const sandboxArgs = options.sandbox === true ? [] : ['--no-sandbox'];
  const command = [...(options.wrap ?? []), process.execPath, bin, ...sandboxArgs, ...args];
  const inShell = ['sh', '-c', '"$@"; echo "exit code $?"', 'sh', ...command];
  const terminal = await openTerminal(t, inShell, { ...size, ...options, cwd: environment.cwd, env });
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

/** A request to a model: the model, and the roles and texts of the messages. */
export type SentRequest = {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly text: string }[];
};

/** A scripted model that makes one call per prompt and then answers with the result. */
export const scriptByPrompt =
  (callFor: (prompt: string) => ScriptedResponse): Script<JsonObject> =>
  ({ body, prompt, results }) => {
    const { role } = (body as unknown as Body).messages.at(-1) ?? {};
    return role === 'tool' ? says(`Result: ${results.at(-1)}`) : callFor(prompt);
  };

/** Returns all requests to the models so far, in order. */
export function getSentRequests(server: ScriptedServer): readonly SentRequest[] {
  return server.requests
    .filter(({ format }) => format !== undefined)
    .map(({ body }) => {
      const { model, messages } = body as unknown as Body;
      const texts = messages.map(({ role, content }) => ({ role, text: parseToolResult(getContentText(content)) }));
      return { model, messages: texts };
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
