// An editor beside the real program: the SDK's own client on a child process, with everything it was told and asked kept.
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

/** Answers a question with the id of an option, or leaves it. */
export type PermissionResponder = (
  question: RequestPermissionRequest,
) => string | undefined | Promise<string | undefined>;

/** An editor that is connected. */
export type AcpClient = {
  readonly agent: ClientContext;
  readonly child: ChildProcess;
  /** What it was told about a session, in order. */
  updatesOf(session: string): readonly SessionUpdate[];
  readonly permissionRequests: readonly RequestPermissionRequest[];
  /** Everything on standard error so far. */
  stderr(): string;
  readonly ended: Promise<number | null>;
};

/** Starts the program as an editor would, without saying hello. */
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

/** The words of an agent or a person in these updates. */
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

/** The client hands on an answer before the news that came before it: what was read so far is told after this. */
export const flushUpdates = (): Promise<void> => setImmediate();

/** Says hello and begins a session in the program's working folder. */
export async function openAcpSession(editor: AcpClient, made: TestProgram): Promise<string> {
  await editor.agent.request(methods.agent.initialize, { protocolVersion: 1 });
  const { sessionId } = await editor.agent.request(methods.agent.session.new, { cwd: made.cwd, mcpServers: [] });
  return sessionId;
}

/** Says something in a session and waits for the end of the run. */
export async function sendPrompt(editor: AcpClient, sessionId: string, text: string): Promise<string> {
  const { stopReason } = await editor.agent.request(methods.agent.session.prompt, {
    sessionId,
    prompt: [{ type: 'text', text }],
  });
  await flushUpdates();
  return stopReason;
}
