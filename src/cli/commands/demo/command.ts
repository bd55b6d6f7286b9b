// The `demo` command: a 2-minute tour that needs no model and no network, in a temporary directory.
import { printUsage } from '../../args/stdio.ts';
import { parseArgs } from 'node:util';
import { FairleadError, formatError } from '../../../core/index.ts';
import type { Command } from '../../args/command.ts';
import { createUi, type TerminalUI } from '../../tui/index.ts';
import { exitCodes } from '../../args/exit-codes.ts';
import { createTour, type Tour } from './tour.ts';
import { tourSteps } from './steps.ts';
import { createDemoWorkspace, type DemoWorkspace } from './workspace.ts';

const usage = `Usage: fairlead demo [--fast] [--plain]

A 2-minute tour with a scripted model. It needs no key, no server and no network, and leaves no files behind.
--fast does not wait for keys; --plain prints lines instead of the full screen.`;

/** Runs the tour; exit code 0 finished or left, 1 a check failed, 2 invalid arguments, 130 and 143 by a signal. */
export const run: Command['run'] = async (args) => {
  if (args.includes('--help') || args.includes('-h')) {
    printUsage(usage);
    return exitCodes.answered;
  }
  let flags: { readonly fast: boolean; readonly plain: boolean };
  try {
    const options = { fast: { type: 'boolean', default: false }, plain: { type: 'boolean', default: false } } as const;
    flags = parseArgs({ args: [...args], options }).values;
  } catch (error) {
    process.stderr.write(`${(error as Error).message.split('\n')[0]}\n${usage}\n`);
    return exitCodes.misused;
  }
  const workspace = createDemoWorkspace();
  const leave = enterDemoWorkspace(workspace);
  try {
    return await runTour(workspace, flags);
  } finally {
    leave();
    workspace.remove();
  }
};

/** Changes to the working directory and home of the demo; the returned function changes back. */
function enterDemoWorkspace({ cwd: demoCwd, env }: DemoWorkspace): () => void {
  const [cwd, home] = [process.cwd(), process.env['HOME']];
  process.chdir(demoCwd);
  process.env['HOME'] = env['HOME'];
  return () => {
    process.chdir(cwd);
    if (home === undefined) delete process.env['HOME'];
    else process.env['HOME'] = home;
  };
}

async function runTour(
  workspace: DemoWorkspace,
  { fast, plain }: { readonly fast: boolean; readonly plain: boolean },
): Promise<number> {
  const stop = new AbortController();
  const signals = stopOnSignal(stop);
  const exitCode = (): number => signals.code ?? exitCodes.interrupted;
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY;
  const ui = await createUi({ plain });
  try {
    if (isTerminal) stopOnQuit(ui, stop);
    await runTourSteps(createTour(ui, workspace, { interactive: isTerminal && !fast, signal: stop.signal }));
    return stop.signal.aborted ? exitCode() : exitCodes.answered;
  } catch (error) {
    // An error after the abort comes from the interruption.
    if (stop.signal.aborted) return exitCode();
    if (!(error instanceof FairleadError)) throw error;
    ui.putBlock({ type: 'notice', id: 'failed', level: 'error', text: formatError(error) });
    return exitCodes.failed;
  } finally {
    await ui.close();
    signals.release();
  }
}

async function runTourSteps(tour: Tour): Promise<void> {
  tour.showScreen(
    'Fairlead demo',
    `Two minutes: tools and an approval, a crash and the resume, an edit of the history.
No model is called and nothing is sent over the network. Everything happens in
${tour.workspace.root}, which is removed afterwards.`,
  );
  for (const [i, step] of tourSteps.entries()) {
    if (!(await tour.waitForNext())) return;
    tour.showScreen(`${i + 1} of ${tourSteps.length}  ${step.title}`, step.text);
    await step.run(tour);
  }
}

/** Ctrl+C and other ways to quit end the whole tour. */
function stopOnQuit(ui: TerminalUI, stop: AbortController): void {
  ui.onAction((action) => {
    if (action.type === 'quit' || action.type === 'interrupt') stop.abort();
  });
}

function stopOnSignal(stop: AbortController): { readonly code: number | undefined; readonly release: () => void } {
  let code: number | undefined;
  const handle = (signal: NodeJS.Signals): void => {
    code ??= signal === 'SIGTERM' ? exitCodes.terminated : exitCodes.interrupted;
    stop.abort();
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, handle);
  // A closed standard output also ends the tour; the listener stays, since there may be more output.
  process.stdout.on('error', () => stop.abort());
  return {
    get code() {
      return code;
    },
    release: () => signals.forEach((signal) => void process.off(signal, handle)),
  };
}
