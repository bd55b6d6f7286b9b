// A client of a tmux server in control mode: it answers many commands without a process for each.
import { spawn } from 'node:child_process';

/** A connected client. */
export type TmuxClient = {
  /** Runs a command and returns its output. */
  run(command: string): Promise<string>;
  close(): void;
};

type Reply = { readonly resolve: (output: string) => void; readonly reject: (error: Error) => void };

/** Connects to a server. The client gets no output of the panes, and the windows keep their size. */
export function connectToTmux(name: string, env: Readonly<Record<string, string>>): TmuxClient {
  const args = ['-L', name, '-u', '-C', 'attach-session', '-f', 'no-output,ignore-size'];
  const child = spawn('tmux', args, { env, stdio: ['pipe', 'pipe', 'ignore'] });
  const waiting: Reply[] = [];
  let received = '';
  let isClosed = false;
  const fail = (): void => {
    isClosed = true;
    for (const { reject } of waiting.splice(0)) reject(new Error(`The tmux server ${name} has ended.`));
  };
  child.on('error', fail).on('close', fail);
  child.stdin.on('error', () => undefined);
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    received += text;
    for (let reply = takeReply(); reply !== undefined; reply = takeReply()) {
      const { isError, output } = reply;
      if (isError) waiting.shift()?.reject(new Error(output));
      else waiting.shift()?.resolve(output);
    }
  });

  /** Takes the first complete reply; the numbers of its first line are those of its last one, whatever a screen shows between. */
  function takeReply(): { readonly isError: boolean; readonly output: string } | undefined {
    const begin = /^%begin (\d+ \d+ 1)\n/m.exec(received);
    if (!begin) return undefined;
    const start = begin.index + begin[0].length;
    for (const word of ['%end', '%error']) {
      const last = `${word} ${begin[1]}\n`;
      const end = received.startsWith(last, start) ? start : received.indexOf(`\n${last}`, start - 1) + 1;
      if (end === 0) continue;
      const output = received.slice(start, end);
      received = received.slice(end + last.length);
      return { isError: word === '%error', output };
    }
    return undefined;
  }

  return {
    run(command) {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      if (isClosed) reject(new Error(`The tmux server ${name} has ended.`));
      else {
        waiting.push({ resolve, reject });
        child.stdin.write(`${command}\n`);
      }
      return promise;
    },
    close: () => child.stdin.end(),
  };
}
