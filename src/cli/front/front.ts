// Where a command line becomes a conversation or a single run; what goes wrong on the way is one sentence and an exit code.
import { readAsked, type Called } from './asked.ts';
import { exitCodes } from './exit-codes.ts';
import { tell } from './print.ts';
import { orSentence } from './sentence.ts';

/** Does what a command line asks for and answers with the exit code. */
export async function front(args: readonly string[], as: Called['as']): Promise<number> {
  if (args.length === 0 && as === undefined && !process.stdin.isTTY && (await isEmpty(process.stdin))) {
    const [{ helpText }, { commands }] = await Promise.all([import('./help.ts'), import('../commands.ts')]);
    process.stdout.write(helpText(commands));
    return exitCodes.answered;
  }
  const asked = readAsked(args, {
    // Looked up where it counts: opening standard input costs a start more than reading the command line.
    get typed() {
      return process.stdin.isTTY;
    },
    ...(as === undefined ? {} : { as }),
  });
  if ('wrong' in asked) {
    tell(`${asked.wrong}\nfairlead --help shows how it is used.\n`);
    return exitCodes.misused;
  }
  return orSentence(async () => {
    if (asked.mode === 'one-shot') return (await import('../once/once.ts')).once(asked);
    return (await import('../chat/chat.ts')).chat(asked);
  });
}

/** Whether nothing will come on this stream; what does come is left in it. */
async function isEmpty(stream: NodeJS.ReadStream): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  stream.once('readable', () => {
    const piece = stream.read() as Buffer | null;
    if (piece !== null) stream.unshift(piece);
    resolve(piece === null);
  });
  stream.once('error', () => resolve(true));
  return promise;
}
