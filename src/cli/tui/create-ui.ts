// Chooses the face for where the program runs; the screen's libraries load only when it is the one.
import type { TerminalUI } from './ui.ts';
import { wantsColors } from './ansi-style.ts';

/** What decides on the face besides the terminal itself. */
export type UiOptions = {
  /** Wants the plain face, as `--plain` and FAIRLEAD_PLAIN=1 do. */
  readonly plain?: boolean;
  readonly env?: NodeJS.ProcessEnv;
};

/** Opens the screen on a capable terminal, and the plain face everywhere else. */
export async function createUi(options: UiOptions = {}): Promise<TerminalUI> {
  const env = options.env ?? process.env;
  const { stdin: input, stdout: output } = process;
  const person = input.isTTY && output.isTTY;
  const dumb = env['TERM'] === 'dumb';
  const plainly = options.plain === true || !['', '0', undefined].includes(env['FAIRLEAD_PLAIN']);
  const colours = wantsColors(env, output.isTTY);
  if (person && !dumb && !plainly) {
    const { createScreenUi } = await import('./screen.ts');
    return createScreenUi({ colours });
  }
  const { createPlainUi } = await import('./plain.ts');
  return createPlainUi({ input, output, colors: colours, lineEditing: person && !dumb && colours });
}
