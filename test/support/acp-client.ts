// An ACP editor for the real program: the SDK's client on a child process, which records all updates and requests.
import { spawn, type ChildProcess } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { TestContext } from 'node:test';
import {
  client,
  methods,
  ndJsonStream,
  type ClientContext,
  type RequestPermissionRequest,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';
import { bin, type TestProgram } from './cli-harness.ts';

/** Answers a permission request with the id of an option, or cancels it. */
export type PermissionResponder = (
  question: RequestPermissionRequest,
) => string | undefined | Promise<string | undefined>;

/** A connected editor. */
export type AcpClient = {
  readonly agent: ClientContext;
  readonly child: ChildProcess;
  /** The updates of a session, in order. */
  updatesOf(session: string): readonly SessionUpdate[];
  readonly permissionRequests: readonly RequestPermissionRequest[];
  /** Everything on standard error so far. */
  stderr(): string;
  readonly ended: Promise<number | null>;
};

/** Starts the program as an editor would, without the initialize request. */
export function startAcpClient(
  t: TestContext,
  made: TestProgram,
  answers: PermissionResponder = () => undefined,
  args: readonly string[] = [],
): AcpClient {
  const child = spawn(process.execPath, [bin, 'acp', ...args], { cwd: made.home, env: made.env });
  t.after(() => void child.kill('SIGKILL'));
  let err = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const { promise: ended, resolve } = Promise.withResolvers<number | null>();
  child.on('close', resolve);
  child.stdin.on('error', () => undefined);
  const told: { readonly session: string; readonly update: SessionUpdate }[] = [];
  const asked: RequestPermissionRequest[] = [];
  const { agent } = client({ name: 'a test' })
    .onNotification(methods.client.session.update, ({ params }) => {
      told.push({ session: params.sessionId, update: params.update });
    })
    .onRequest(methods.client.session.requestPermission, async ({ params }) => {
      asked.push(params);
      const optionId = await answers(params);
      return { outcome: optionId === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId } };
    })
    .connect(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>));
  return {
    agent,
    child,
    updatesOf: (session) => told.flatMap((each) => (each.session === session ? [each.update] : [])),
    permissionRequests: asked,
    stderr: () => err,
    ended,
  };
}

/** The text of the agent or the user in these updates. */
export const getUpdateText = (updates: readonly SessionUpdate[], type: SessionUpdate['sessionUpdate']): string =>
  updates
    .map((update) =>
      update.sessionUpdate === type && 'content' in update && update.content && 'type' in update.content
        ? update.content.type === 'text'
          ? update.content.text
          : ''
        : '',
    )
    .join('');

/** The client may resolve an answer before it delivers earlier updates: after this call they have been delivered. */
export const flushUpdates = (): Promise<void> => setImmediate();

/** Sends initialize and starts a session in the working directory of the program. */
export async function openAcpSession(editor: AcpClient, made: TestProgram): Promise<string> {
  await editor.agent.request(methods.agent.initialize, { protocolVersion: 1 });
  const { sessionId } = await editor.agent.request(methods.agent.session.new, { cwd: made.cwd, mcpServers: [] });
  return sessionId;
}

/** Sends a prompt in a session and waits for the end of the run. */
export async function sendPrompt(editor: AcpClient, sessionId: string, text: string): Promise<string> {
  const { stopReason } = await editor.agent.request(methods.agent.session.prompt, {
    sessionId,
    prompt: [{ type: 'text', text }],
  });
  await flushUpdates();
  return stopReason;
}
